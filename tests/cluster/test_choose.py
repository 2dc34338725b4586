"""A spelling becomes a choice, and a wrong one names the right ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labkit.cluster import ClusterSpec, Owner, choose
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterChoiceError


@pytest.mark.parametrize(
    ("spelled", "spec"),
    [
        ("embedded", ClusterSpec("embedded")),
        ("embedded:/some/where", ClusterSpec("embedded", path=Path("/some/where"))),
        ("minikube", ClusterSpec("minikube", profile="labkit")),
        ("minikube:course-2", ClusterSpec("minikube", profile="course-2")),
        ("kubeconfig:/etc/a b", ClusterSpec("kubeconfig", path=Path("/etc/a b"))),
        ("kubeconfig:/etc/a#me@there:6443", ClusterSpec("kubeconfig", path=Path("/etc/a"), context="me@there:6443")),
        ("", ClusterSpec("any")),
    ],
)
def test_legal_spellings(spelled: str, spec: ClusterSpec) -> None:
    assert choose.resolve(spelled, environ={}) == spec
    assert choose.resolve(None, environ={"LABKIT_CLUSTER": spelled}) == spec


def test_an_explicit_choice_comes_before_the_variable() -> None:
    assert choose.resolve("embedded", environ={"LABKIT_CLUSTER": "minikube"}).backend == "embedded"
    assert choose.resolve(None, environ={}).backend == "any"


def test_the_home_of_a_person_is_spelled_with_a_tilde() -> None:
    assert choose.resolve("kubeconfig:~/.kube/config", environ={}).path == Path.home() / ".kube" / "config"


@pytest.mark.parametrize(
    "spelled",
    ["embeded", "embedded:", "minikube:", "minikube:No Profile", "kubeconfig", "kubeconfig:", "kubeconfig:#c", "kind"],
)
def test_other_spellings_name_the_legal_ones(spelled: str) -> None:
    with pytest.raises(ClusterChoiceError) as caught:
        choose.resolve(spelled, environ={})
    assert repr(spelled) in caught.value.evidence
    for legal in choose.SPELLINGS:
        assert legal in caught.value.next_act


def test_what_was_only_attached_to_is_not_stopped_with_the_block(cluster: EmbeddedCluster) -> None:
    with choose.opened(choose.resolve(f"embedded:{cluster.state_dir}")) as attached:
        assert attached.info().name == f"embedded:{cluster.state_dir}"
    assert cluster.gone() is None


def test_a_named_running_cluster_is_used_whoever_asks(cluster: EmbeddedCluster) -> None:
    for owner in Owner:
        found = choose.attach_or_start(choose.resolve(f"embedded:{cluster.state_dir}"), owner=owner, lessee=os.getpid())
        assert found.info().server == cluster.ready.server
