"""What becomes of a manifest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ManifestError
from labkit.observe import fields

from .conftest import Stage


def told(seen: fields.PrunedAndDefaulted) -> list[tuple[str, str]]:
    return [(change.dotted, change.kind) for change in seen.changes]


@pytest.fixture(scope="module")
def schema(cluster: EmbeddedCluster) -> Iterator[Stage]:
    """The definition with a schema, once for all tests here: they store nothing, and a server that has just learnt of
    a type makes the first object of it wait for two seconds."""
    with Api(cluster) as api:
        stage = Stage(cluster, api)
        stage.clear()
        stage.apply("02-colis-schema.yaml")
        yield stage


def test_one_field_in_the_manifest_becomes_six_in_the_store(schema: Stage) -> None:
    seen = fields.look(schema.cluster, schema.load("objects/mini.yaml"))
    assert (seen.sent_as, seen.refusal, seen.warnings, seen.pruned) == ("new", None, (), ())
    assert told(seen) == [("spec.api", "defaulted"), ("spec.base", "defaulted"), ("spec.worker", "defaulted")]
    assert seen.defaulted[2].after == {"min": 0, "max": 5}


def test_nothing_is_stored_by_looking(schema: Stage) -> None:
    fields.look(schema.cluster, schema.load("objects/mini.yaml"))
    assert schema.api.list("/apis/cours.example.com/v1alpha1/namespaces/ch54/colis") == []


def test_an_unknown_field_is_pruned_with_a_warning(schema: Stage) -> None:
    manifest = schema.load("objects/mini.yaml")
    manifest["spec"]["api"] = {"replicas": 3, "cpu": "200m"}
    manifest["spec"]["ports"] = [{"zz": 1}]
    seen = fields.look(schema.cluster, manifest)
    assert [change.dotted for change in seen.pruned] == ["spec.api.cpu", "spec.ports"]
    assert seen.warnings == ('unknown field "spec.api.cpu"', 'unknown field "spec.ports"')


def test_a_refusal_has_all_its_causes_in_order(schema: Stage) -> None:
    for _ in range(3):
        refusal = fields.look(schema.cluster, schema.load("objects/invalide.yaml")).refusal
        assert refusal is not None
        assert refusal.code == 422
        assert [cause.field for cause in refusal.causes] == [
            "spec.api.replicas",
            "spec.base.classe",
            "spec.base.taille",
            "spec.version",
            "spec.worker.max",
        ]


@pytest.mark.parametrize("absent", ["apiVersion", "kind", "metadata"])
def test_what_is_no_object_of_the_api_is_a_manifest_error(schema: Stage, absent: str) -> None:
    manifest = schema.load("objects/mini.yaml")
    del manifest[absent]
    with pytest.raises(ManifestError, match=absent):
        fields.look(schema.cluster, manifest)
