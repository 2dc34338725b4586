"""What every cluster promises, asked of each backend.

minikube is its stand-in here (tests/cluster/standin), unless LABKIT_TEST_MINIKUBE=1 asks for the real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Api, Cluster, Etcd, Kubectl, ReadsEtcd, choose, claim
from labkit.cluster.base import BASIC_CONTROLLERS, KUBERNETES_VERSION
from labkit.errors import CapabilityMissing
from tests.cluster.backends import BACKENDS, REAL_MINIKUBE, named

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: "%(plural)s.%(group)s"}
spec:
  group: "%(group)s"
  scope: Namespaced
  names: {plural: "%(plural)s", singular: "%(plural)s", kind: "%(kind)s"}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
COLIS = DEFINITION % {"plural": "colis", "group": "cours.example.com", "kind": "Colis"}
COST = DEFINITION % {"plural": "type-01", "group": "cout.example.com", "kind": "Type01"}
FOREIGN = DEFINITION % {"plural": "boats", "group": "harbour.example.org", "kind": "Boat"}
CH54 = """
apiVersion: v1
kind: Namespace
metadata: {name: ch54}
"""
HELD_OBJECT = """
apiVersion: cours.example.com/v1
kind: Colis
metadata: {name: held, namespace: ch54, finalizers: [cours.example.com/hold]}
spec: {version: "1"}
"""


@pytest.fixture(scope="module", params=BACKENDS, ids=named)
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A started cluster of each kind, with a labkit home for the time of this module.

    At the end, ~/.kube of the person is as it was: a made-up person's, since only a real minikube needs the real one.
    """
    place = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LABKIT_HOME", str(place / "labkit-home"))
        if not REAL_MINIKUBE:
            monkeypatch.setenv("HOME", str(place / "user"))
            (place / "user" / ".kube").mkdir(parents=True)
            (place / "user" / ".kube" / "config").write_text("# somebody's own\n")
        before = dot_kube()
        with BACKENDS[request.param](place) as cluster:
            cluster.start()
            claim.claim(cluster, yes=True)
            yield cluster
        assert dot_kube() == before


def dot_kube() -> dict[str, bytes]:
    """The files directly in ~/.kube with what is in them."""
    folder = Path.home() / ".kube"
    return {path.name: path.read_bytes() for path in folder.glob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def home(backend: Cluster, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 (it sets LABKIT_HOME first)
    """The home of the backend instead of one a test."""
    for name in ("LABKIT_CLUSTER", "LABKIT_CLAIM", "KUBECONFIG", "KUBECACHEDIR"):
        monkeypatch.delenv(name, raising=False)
    return Path(os.environ["LABKIT_HOME"])


def apply(cluster: Cluster, *manifests: str) -> None:
    for manifest in manifests:
        result = Kubectl(cluster).run(["apply", "-f", "-"], stdin=manifest)
        assert result.ok, result.text
        if "CustomResourceDefinition" in manifest:
            Kubectl(cluster).run(["wait", "--for=condition=Established", "crd", "--all"])


def test_it_is_a_cluster_that_answers(backend: Cluster) -> None:
    assert isinstance(backend, Cluster)
    assert backend.gone() is None
    assert backend.kubeconfig.is_file()


def test_starting_what_runs_changes_nothing(backend: Cluster) -> None:
    server = backend.info().server
    backend.start()
    assert backend.info().server == server


def test_its_name_spells_the_same_cluster(backend: Cluster) -> None:
    info = backend.info()
    spec = choose.resolve(info.name)
    assert spec.backend == info.backend
    again = choose.attach_or_start(spec, owner=choose.Owner.HELD)
    assert again.info().server == info.server
    if info.backend == "embedded":
        again.stop()
    assert backend.gone() is None, "an attached cluster was stopped by somebody who does not own it"


def test_its_capabilities_come_from_discovery(backend: Cluster) -> None:
    info = backend.info()
    assert info.version == KUBERNETES_VERSION
    assert info.owned == backend.owned
    assert info.capabilities >= BASIC_CONTROLLERS
    wanted = {"v1/namespaces", "apiextensions.k8s.io/v1", "storagemigration.k8s.io/v1/storageversionmigrations"}
    assert wanted <= info.capabilities
    assert "cours.example.com/v9" not in info.capabilities


def test_kubectl_speaks_to_it_with_a_cache_of_its_own(backend: Cluster) -> None:
    result = Kubectl(backend).run(["get", "namespace", "kube-system", "-o", "json"])
    assert result.json["metadata"]["name"] == "kube-system"
    assert any(backend.cache_dir.rglob("servergroups.json")), "kubectl kept its discovery somewhere else"


def test_a_refusal_is_a_result(backend: Cluster) -> None:
    result = Kubectl(backend).run(["get", "nosuchtype"])
    assert (result.exit_code, result.ok) == (1, False)
    assert result.errors == {'error: the server doesn\'t have a resource type "nosuchtype"'}


def test_kubectl_can_speak_as_somebody_else(backend: Cluster) -> None:
    result = Kubectl(backend).run(["get", "secrets", "-n", "kube-system", "--as=nobody"])
    assert 'User "nobody" cannot list resource "secrets"' in result.text
    assert result.argv[-1] == "--as=nobody"


def test_the_api_applies_lists_and_deletes(backend: Cluster) -> None:
    path = "/api/v1/namespaces/default/configmaps/contract"
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "contract", "namespace": "default"}}
    with Api(backend) as api:
        assert api.get(path) is None
        api.apply({**wanted, "data": {"a": "1"}})
        assert api.apply({**wanted, "data": {"a": "2"}})["data"] == {"a": "2"}
        names = [item["metadata"]["name"] for item in api.list("/api/v1/namespaces/default/configmaps")]
        assert "contract" in names
        assert api.delete(path) is True
        assert api.delete(path) is False


def test_etcd_is_read_or_the_cluster_says_it_cannot(backend: Cluster) -> None:
    apply(backend, CH54, COLIS, HELD_OBJECT)
    assert isinstance(backend, ReadsEtcd)
    key = "/registry/cours.example.com/colis/ch54/held"
    if "etcd" not in backend.info().capabilities:
        with pytest.raises(CapabilityMissing, match="component=etcd"):
            Etcd(backend).get(key)
        return
    (stored,) = Etcd(backend).get(key).kvs
    assert stored.encoding == "json"
    assert stored.object is not None
    assert stored.object["spec"] == {"version": "1"}
    assert stored.version >= 1
    assert stored.mod_revision >= stored.create_revision > 0
    (namespace,) = Etcd(backend).get("/registry/namespaces/default").kvs
    assert namespace.encoding == "protobuf"
    assert namespace.value.startswith(b"k8s\x00")
    assert namespace.object is None


def test_etcd_lists_a_prefix_in_key_order(backend: Cluster) -> None:
    if "etcd" not in backend.info().capabilities:
        assert any("etcd" in words for words in backend.info().lacks)
        return
    found = Etcd(backend).get("/registry/namespaces/", prefix=True, keys_only=True)
    keys = [kv.key for kv in found.kvs]
    assert keys == sorted(keys)
    assert {"/registry/namespaces/default", "/registry/namespaces/kube-system"} <= set(keys)
    assert all(kv.value == b"" for kv in found.kvs)
    assert Etcd(backend).get("/registry/nothing/here").kvs == ()


def test_etcd_lists_a_prefix_page_by_page(backend: Cluster) -> None:
    if "etcd" not in backend.info().capabilities:
        assert any("etcd" in words for words in backend.info().lacks)
        return
    etcd, prefix = Etcd(backend), "/registry/namespaces/"
    whole = etcd.get(prefix, prefix=True).kvs
    pages = tuple(etcd.pages(prefix, limit=2))
    assert len(whole) > 2
    assert tuple(kv for page in pages for kv in page) == whole
    assert [len(page) for page in pages[:-1]] == [2] * (len(pages) - 1)
    assert not any(etcd.pages("/registry/nothing/", limit=2))
    assert [[kv.value for kv in page] for page in etcd.pages(f"{prefix}default", limit=2, keys_only=True)] == [[b""]]


def test_etcd_remembers_an_earlier_revision(backend: Cluster) -> None:
    if "etcd" not in backend.info().capabilities:
        assert any("etcd" in words for words in backend.info().lacks)
        return
    key = "/registry/configmaps/default/remembered"
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "remembered", "namespace": "default"}}
    with Api(backend) as api:
        api.apply({**wanted, "data": {"a": "first"}})
        (first,) = Etcd(backend).get(key).kvs
        api.apply({**wanted, "data": {"a": "second"}})
    assert b"second" in Etcd(backend).get(key).kvs[0].value
    assert Etcd(backend).get(key, revision=first.mod_revision).kvs == (first,)
    assert Etcd(backend).get(key, revision=first.create_revision - 1).kvs == ()


def test_reset_takes_away_the_course_and_nothing_else(backend: Cluster) -> None:
    apply(backend, CH54, COLIS, HELD_OBJECT, COST, FOREIGN)
    kubectl = Kubectl(backend)
    assert kubectl.run(["create", "clusterrole", "colis-lecture", "--verb=get", "--resource=pods"]).ok
    backend.reset()
    left = kubectl.run(["get", "crd,namespace,clusterrole", "-o", "name"]).stdout.split()
    assert "customresourcedefinition.apiextensions.k8s.io/boats.harbour.example.org" in left
    assert "clusterrole.rbac.authorization.k8s.io/view" in left
    assert not [name for name in left if "colis" in name or "cout" in name or name == "namespace/ch54"]
    backend.reset()
    assert kubectl.run(["delete", "crd", "boats.harbour.example.org"]).ok
    claim.claim(backend, yes=True)


def test_stopping_is_safe_to_repeat_and_starting_brings_it_back(backend: Cluster) -> None:
    backend.stop()
    backend.stop()
    if backend.owned:
        gone = backend.gone()
        assert gone is not None
        assert gone.next_act
    else:
        assert backend.gone() is None, "a foreign cluster was stopped"
    backend.start()
    assert backend.gone() is None
    assert backend.info().version == KUBERNETES_VERSION
