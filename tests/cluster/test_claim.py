"""A cluster labkit did not start is claimed once, with consent, and only its claimed names are ever touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Api, Kubectl, claim
from labkit.cluster.claim import ANNOTATION, COST_DEFINITIONS, COST_LIMIT, COURSE_NAMES, CourseName
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.errors import ClaimRefused
from tests.cluster.backends import write_kubeconfig


@pytest.fixture
def foreign(cluster: EmbeddedCluster, tmp_path: Path) -> Iterator[ExistingCluster]:
    """The session's cluster as somebody's kubeconfig leads to it; empty of the course before and after."""
    cluster.reset()
    path = tmp_path / "config"
    write_kubeconfig(path, cluster.kubeconfig, context="theirs")
    one = ExistingCluster(path, "theirs")
    one.start()
    yield one
    cluster.reset()


def annotate(cluster: EmbeddedCluster, text: str) -> None:
    with Api(cluster) as api:
        api.patch("/api/v1/namespaces/ch54", {"metadata": {"annotations": {ANNOTATION: text}}})


def there(cluster: EmbeddedCluster, path: str) -> bool:
    with Api(cluster) as api:
        return api.get(path) is not None


ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/colis-lecture"


def test_labkits_own_cluster_needs_no_claim(cluster: EmbeddedCluster) -> None:
    assert claim.claim(cluster, yes=False) == COURSE_NAMES == claim.claimed_names(cluster)


def test_without_a_yes_nothing_is_changed_and_everything_wanted_is_named(foreign: ExistingCluster) -> None:
    with pytest.raises(ClaimRefused, match="nobody said yes") as caught:
        claim.claim(foreign, yes=False)
    for name in COURSE_NAMES:
        assert str(name) in caught.value.evidence
    assert "--yes" in caught.value.next_act
    assert "LABKIT_CLAIM=1" in caught.value.next_act
    assert claim.claimed_names(foreign) == ()
    assert Kubectl(foreign).run(["get", "namespace", "ch54"]).exit_code == 1


def test_it_is_claimed_once_and_recognised_later(foreign: ExistingCluster) -> None:
    assert claim.claim(foreign, yes=True) == COURSE_NAMES
    written = Kubectl(foreign).run(["get", "namespace", "ch54", "-o", "json"]).json["metadata"]["annotations"]
    assert json.loads(written[ANNOTATION]) == [str(name) for name in COURSE_NAMES]
    assert claim.claim(foreign, yes=False) == COURSE_NAMES
    assert claim.claimed_names(foreign) == COURSE_NAMES


def test_taken_names_are_refused_even_with_a_yes(foreign: ExistingCluster) -> None:
    kubectl = Kubectl(foreign)
    kubectl.run(["create", "namespace", "ch54"])
    kubectl.run(["create", "clusterrole", "colis-lecture", "--verb=get", "--resource=pods"])
    with pytest.raises(ClaimRefused, match="already taken") as caught:
        claim.claim(foreign, yes=True)
    assert caught.value.evidence == "namespaces/ch54, clusterroles/colis-lecture"
    assert claim.claimed_names(foreign) == ()


def test_a_reset_without_a_claim_deletes_nothing(foreign: ExistingCluster, cluster: EmbeddedCluster) -> None:
    theirs = Kubectl(foreign)
    theirs.run(["create", "clusterrole", "colis-lecture", "--verb=get", "--resource=pods"])
    theirs.run(["create", "namespace", "ch54"])
    theirs.run(["create", "configmap", "theirs", "-n", "ch54"])
    foreign.reset()
    assert there(cluster, ROLE)
    assert there(cluster, "/api/v1/namespaces/ch54/configmaps/theirs")


def test_only_names_in_the_claim_are_deleted(foreign: ExistingCluster, cluster: EmbeddedCluster) -> None:
    claim.claim(foreign, yes=True)
    annotate(cluster, json.dumps(["namespaces/ch54"]))
    Kubectl(foreign).run(["create", "clusterrole", "colis-lecture", "--verb=get", "--resource=pods"])
    foreign.reset()
    assert there(cluster, ROLE), "a name outside the claim was deleted"
    assert not there(cluster, "/api/v1/namespaces/ch54")


def test_a_changed_annotation_widens_nothing(foreign: ExistingCluster, cluster: EmbeddedCluster) -> None:
    claim.claim(foreign, yes=True)
    annotate(cluster, json.dumps(["namespaces/ch54", "namespaces/kube-system", "clusterroles/view"]))
    assert [str(name) for name in claim.claimed_names(foreign)] == ["namespaces/ch54"]
    annotate(cluster, "not json")
    assert claim.claimed_names(foreign) == ()


def test_a_group_covers_its_definitions_and_no_others() -> None:
    cost = next(name for name in COURSE_NAMES if name.name == "*.cout.example.com")
    assert all(cost.covers(name) for name in COST_DEFINITIONS)
    assert len(set(COST_DEFINITIONS)) == COST_LIMIT >= 50
    assert not cost.covers("colis.cours.example.com")
    assert not cost.covers("xcout.example.com")
    assert CourseName("/api/v1/namespaces", "ch54").covers("ch54")
