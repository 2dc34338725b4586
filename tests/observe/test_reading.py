"""One look at what the server publishes."""

from __future__ import annotations

import pytest

from labkit.cluster import Etcd, Kubectl
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course.published import wait_documented
from labkit.errors import ApiError
from labkit.observe import reading

from .conftest import Foreign, Stage


def test_a_reading_counts_and_weighs_what_kubectl_shows(
    stage: Stage, cluster: EmbeddedCluster, kubectl: Kubectl
) -> None:
    stage.apply("01-colis-minimal.yaml")
    wait_documented(cluster, "cours.example.com")  # the list of OpenAPI documents follows within a second

    seen = reading.take(stage.cluster, stage.api, "cours.example.com/v1alpha1")

    assert seen.definitions == len(kubectl.run(["get", "crd", "-o", "name"]).stdout.splitlines())
    assert seen.types == len(kubectl.run(["api-resources", "--no-headers"]).stdout.splitlines())
    assert seen.discovery_bytes == len(kubectl.run(["get", "--raw", "/apis"]).stdout.encode())
    index = kubectl.run(["get", "--raw", "/openapi/v3"]).json["paths"]
    assert seen.group_versions == sum(path.count("/") == (2 if path.startswith("apis/") else 1) for path in index) - 1
    assert seen.heap_bytes is not None and 2e7 < seen.heap_bytes < seen.memory_bytes < 4e9
    assert seen.database_bytes is not None and seen.database_bytes > 100_000


def test_what_lies_in_etcd_is_that_of_the_group_alone(stage: Stage, cluster: EmbeddedCluster) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/principal.yaml")
    keys = (
        "/registry/apiextensions.k8s.io/customresourcedefinitions/colis.cours.example.com",
        "/registry/cours.example.com/colis/ch54/principal",
    )
    kvs = [kv for key in keys for kv in Etcd(cluster).get(key).kvs]
    seen = reading.take(cluster, stage.api, "cours.example.com/v1alpha1")
    assert seen.stored_bytes == sum(len(kv.key) + len(kv.value) for kv in kvs)


def test_a_cluster_whose_etcd_is_closed_is_read_without_it(stage: Stage, foreign: Foreign) -> None:
    assert reading.take(foreign, stage.api, "cours.example.com/v1alpha1").stored_bytes is None


def test_a_group_without_a_document_weighs_nothing(stage: Stage) -> None:
    assert reading.take(stage.cluster, stage.api, "cours.example.com/v1alpha1").openapi_bytes == 0


def test_a_type_in_two_versions_counts_once_and_one_without_verbs_not_at_all() -> None:
    def version(*resources: tuple[str, list[str]]) -> dict[str, object]:
        return {"version": "v", "resources": [{"resource": name, "verbs": verbs} for name, verbs in resources]}

    discovery = {
        "items": [
            {"metadata": {"name": "a"}, "versions": [version(("x", ["get"]), ("y", [])), version(("x", ["get"]))]},
            {"metadata": {}, "versions": [version(("x", ["list"])), {"version": "empty"}]},
        ]
    }
    assert reading.count_types(discovery) == 2


def test_memory_is_read_from_the_metric_of_the_process() -> None:
    text = "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 3.22596864e+08\nother 1\n"
    assert reading.resident_memory(text) == 322_596_864


def test_a_metric_is_found_with_labels_and_without() -> None:
    text = '# TYPE a gauge\na{id="0"} 3.07e+05\nab 5\n'
    assert (reading.metric(text, "a"), reading.metric(text, "ab"), reading.metric(text, "b")) == (307_000, 5, None)


def test_a_server_that_does_not_tell_its_memory_is_an_error() -> None:
    with pytest.raises(ApiError, match="how much memory"):
        reading.resident_memory("go_goroutines 5\n")
