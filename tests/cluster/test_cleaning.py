"""ch54 is emptied of everything but what the cluster put there, and stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Api, Kubectl
from labkit.cluster.claim import COURSE_NAMES
from labkit.cluster.cleaning import clear, empty_namespace
from labkit.cluster.embedded import EmbeddedCluster
from labkit.waiting import Seen, wait_for
from tests.cluster.test_contract import CH54, COLIS, HELD_OBJECT

POD = """
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: ch54}
spec:
  terminationGracePeriodSeconds: 300
  schedulingGates: [{name: labkit.example/gate}]
  containers: [{name: a, image: a}]
"""


@pytest.fixture
def ch54(cluster: EmbeddedCluster, kubectl: Kubectl) -> Iterator[Api]:
    """Namespace ch54 with its service account, and the type Colis."""
    cluster.reset()
    for manifest in (CH54, COLIS):
        assert kubectl.run(["apply", "-f", "-"], stdin=manifest).ok
    kubectl.run(["wait", "--for=condition=Established", "crd/colis.cours.example.com"])
    with Api(cluster) as api:
        account = "/api/v1/namespaces/ch54/serviceaccounts/default"
        wait_for("the service account", lambda: Seen(api.get(account) is not None, "absent"), limit_s=20)
        yield api
    cluster.reset()


def names_in(kubectl: Kubectl) -> set[str]:
    kinds = "pods,configmaps,secrets,serviceaccounts,roles,rolebindings,services,deployments,colis"
    return set(kubectl.run(["get", kinds, "-n", "ch54", "-o", "name"]).stdout.split())


def test_everything_a_student_may_make_goes_whatever_holds_it(ch54: Api, kubectl: Kubectl) -> None:
    for manifest in (HELD_OBJECT, POD):
        assert kubectl.run(["apply", "-f", "-"], stdin=manifest).ok
    for argv in (
        ["create", "serviceaccount", "lecteur"],
        ["create", "rolebinding", "lecteur-view", "--clusterrole=view", "--serviceaccount=ch54:lecteur"],
        ["create", "role", "reader", "--verb=get", "--resource=pods"],
        ["create", "configmap", "notes", "--from-literal=a=b"],
        ["create", "secret", "generic", "secret", "--from-literal=a=b"],
        ["create", "deployment", "web", "--image=a"],
    ):
        assert kubectl.run([*argv, "-n", "ch54"]).ok
    assert len(names_in(kubectl)) >= 8
    empty_namespace(ch54)
    left = names_in(kubectl)
    assert left <= {"serviceaccount/default", "configmap/kube-root-ca.crt"}
    assert "serviceaccount/default" in left
    phase = ch54.get("/api/v1/namespaces/ch54")
    assert phase is not None
    assert phase["status"]["phase"] == "Active"


def test_an_object_somebody_is_deleting_already_is_released(ch54: Api, kubectl: Kubectl) -> None:
    kubectl.run(["apply", "-f", "-"], stdin=HELD_OBJECT)
    kubectl.run(["delete", "colis", "held", "-n", "ch54", "--wait=false"])
    assert "colis.cours.example.com/held" in names_in(kubectl)
    empty_namespace(ch54)
    assert "colis.cours.example.com/held" not in names_in(kubectl)


def test_other_namespaces_are_left_alone(ch54: Api, kubectl: Kubectl) -> None:
    kubectl.run(["create", "configmap", "elsewhere", "-n", "default"])
    empty_namespace(ch54)
    assert kubectl.run(["delete", "configmap", "elsewhere", "-n", "default"]).ok


def test_an_absent_namespace_is_empty(cluster: EmbeddedCluster) -> None:
    with Api(cluster) as api:
        empty_namespace(api, "no-such-namespace")


def test_the_same_is_true_of_a_definition_that_was_just_made(ch54: Api, kubectl: Kubectl) -> None:
    """Its storage may still be set up when the first list comes (429)."""
    kubectl.run(["delete", "crd", "colis.cours.example.com"])
    kubectl.run(["apply", "-f", "-"], stdin=COLIS)
    empty_namespace(ch54)


def test_objects_in_a_version_the_definition_has_dropped_are_cleaned_up(ch54: Api, kubectl: Kubectl) -> None:
    """A failed migration leads here: it clears storedVersions all the same, and the server lets the version go."""
    crd = Path(__file__).parents[2] / "crd"
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/colis.cours.example.com"
    ch54.delete(definition)
    wait_for("the definition to go", lambda: Seen(ch54.get(definition) is None, "there"), limit_s=30)
    assert kubectl.run(["apply", "-f", str(crd / "01-colis-minimal.yaml")]).ok
    assert kubectl.run(["wait", "--for=condition=Established", "crd/colis.cours.example.com"]).ok
    assert kubectl.run(["apply", "-f", str(crd / "objects" / "mauvais.yaml")]).ok
    assert kubectl.run(["apply", "-f", str(crd / "05-colis-v1.yaml")]).ok
    ch54.patch(f"{definition}/status", {"status": {"storedVersions": ["v1"]}})
    assert kubectl.run(["apply", "-f", str(crd / "06-colis-v1-seul.yaml")]).ok

    def look() -> Seen[None]:
        text = kubectl.run(["get", "colis.v1.cours.example.com", "-n", "ch54"]).text
        return Seen("invalid group/version: cours.example.com/v1alpha1" in text, text)

    wait_for("the list to be refused", look, limit_s=30)
    clear(ch54, COURSE_NAMES)
    assert ch54.get(definition) is None
