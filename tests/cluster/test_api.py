"""The API's answers keep their parts, and a refusal of labkit's own request is an error with the server's words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from labkit.cluster import Api, ApiResponse
from labkit.cluster.api import Resource
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ApiError, ClusterGone, WaitTimeout

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


def config_map(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


def test_a_raw_answer_has_code_json_and_text(api: Api) -> None:
    answer = api.raw("GET", "/api/v1/namespaces/default")
    assert (answer.code, answer.ok) == (200, True)
    assert answer.json["kind"] == "Namespace"
    assert answer.status == {}


def test_a_raw_refusal_is_an_answer_with_its_status(api: Api) -> None:
    answer = api.raw("POST", CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "No Name"}})
    assert answer.code == 422
    assert answer.status["reason"] == "Invalid"
    assert answer.status["details"]["causes"][0]["field"] == "metadata.name"


def test_a_refusal_without_a_status_has_its_text(api: Api) -> None:
    answer = api.raw("GET", "/apis/nowhere.example.com/v1")
    assert (answer.code, answer.text, answer.status) == (404, "404 page not found\n", {})


def test_warnings_of_the_server_come_along(api: Api) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "warned", "annotations": {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}},
        "spec": {"containers": [{"name": "a", "image": "a"}], "nodeSelector": {"beta.kubernetes.io/os": "linux"}},
    }
    answer = api.raw("POST", "/api/v1/namespaces/default/pods?dryRun=All", body)
    assert any("beta.kubernetes.io/os" in warning for warning in answer.warnings), answer


def test_a_body_of_another_type_is_sent_as_it_is(api: Api) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typed}\n"
    answer = api.raw("POST", f"{CONFIGMAPS}?dryRun=All", text, "application/yaml")
    assert (answer.code, answer.json["metadata"]["name"]) == (201, "typed")
    patch = [{"op": "test", "path": "/metadata/name", "value": "other"}]
    refused = api.raw("PATCH", "/api/v1/namespaces/default?dryRun=All", patch, "application/json-patch+json")
    assert refused.code == 422


def test_labkits_own_refused_request_raises_with_the_servers_words(api: Api) -> None:
    with pytest.raises(ApiError, match="refused PATCH") as caught:
        api.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"a": "not a label!"}}})
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert "metadata.labels" in caught.value.evidence


def test_all_pages_of_a_list_are_read(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.cluster.api._PAGE", 1)
    names = {item["metadata"]["name"] for item in api.list("/api/v1/namespaces")}
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= names


def test_a_list_of_a_type_nobody_serves_is_empty(api: Api) -> None:
    assert api.list("/apis/nowhere.example.com/v1/things") == []
    assert api.get("/apis/nowhere.example.com/v1/things/one") is None


def test_labels_select(api: Api) -> None:
    found = api.list("/api/v1/namespaces", selector="kubernetes.io/metadata.name=default")
    assert [item["metadata"]["name"] for item in found] == ["default"]


def test_apply_creates_changes_and_takes_back(api: Api) -> None:
    api.apply(config_map("applied", a="1", b="2"), manager="one")
    assert api.apply(config_map("applied", a="1"), manager="one")["data"] == {"a": "1"}, "a field left out stayed"
    assert api.apply(config_map("applied", a="9"), manager="two")["data"] == {"a": "9"}
    assert api.delete(f"{CONFIGMAPS}/applied") is True


def test_post_creates_once_and_refuses_a_field_the_type_does_not_have(api: Api) -> None:
    with pytest.raises(ApiError, match="unknown field") as caught:
        api.post(CONFIGMAPS, {**config_map("posted"), "size": 1})
    assert caught.value.code == 400
    made = api.post(CONFIGMAPS, config_map("posted", a="1"), manager="one")
    assert {entry["manager"] for entry in made["metadata"]["managedFields"]} == {"one"}
    with pytest.raises(ApiError, match="already exists"):
        api.post(CONFIGMAPS, config_map("posted"))
    assert api.delete(f"{CONFIGMAPS}/posted") is True


def test_an_unknown_kind_is_told_with_what_there_is(api: Api) -> None:
    with pytest.raises(ApiError, match="no type Colis in v1") as caught:
        api.path_of({"apiVersion": "v1", "kind": "Colis", "metadata": {"name": "a"}})
    assert "ConfigMap" in caught.value.evidence


def test_paths_of_cluster_wide_and_namespaced_types() -> None:
    colis = Resource("cours.example.com", "v1", "colis", "Colis", namespaced=True)
    role = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
    pods = Resource("", "v1", "pods", "Pod", namespaced=True)
    assert pods.path("../x", "a") == "/api/v1/namespaces/..%2Fx/pods/a"
    assert colis.path("ch54", "a") == "/apis/cours.example.com/v1/namespaces/ch54/colis/a"
    assert colis.path() == "/apis/cours.example.com/v1/colis"
    assert role.path("ch54", "system:view") == "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aview"
    assert pods.path("ch54") == "/api/v1/namespaces/ch54/pods"


def test_a_server_that_says_later_is_asked_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    later = ApiResponse(429, "storage is (re)initializing")
    answers = iter([later, later, ApiResponse(200, '{"kind": "Colis"}')])
    monkeypatch.setattr(api, "raw", lambda *_: next(answers))
    assert api.get("/apis/cours.example.com/v1/colis/a") == {"kind": "Colis"}


def test_a_server_that_always_says_later_is_told_by_its_words(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(cluster, timeout_s=0.05)
    monkeypatch.setattr(api, "raw", lambda *_: ApiResponse(429, "storage is (re)initializing"))
    with pytest.raises(WaitTimeout, match=r"storage is \(re\)initializing"):
        api.get("/apis/cours.example.com/v1/colis/a")


def test_an_answer_that_takes_too_long_is_no_death(cluster: EmbeddedCluster) -> None:
    with Api(cluster, timeout_s=0.3) as impatient, pytest.raises(ClusterGone, match="did not answer") as caught:
        impatient.raw("GET", "/api/v1/namespaces?watch=true&resourceVersion=0&timeoutSeconds=5")
    assert "watch=true" in caught.value.evidence
    assert cluster.gone() is None


def test_no_proxy_stands_between_labkit_and_this_machine(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Api(cluster) as api:
        assert api.raw("GET", "/version").ok


def test_clients_made_at_once_by_threads_do_not_take_each_others_certificates(cluster: EmbeddedCluster) -> None:
    together = threading.Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        with Api(cluster) as api:
            return api.raw("GET", "/readyz", accept="*/*").code

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == {200}
