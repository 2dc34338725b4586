"""An object in etcd beside what is read of it."""

from __future__ import annotations

import pytest

from labkit.errors import ApiError, CapabilityMissing
from labkit.observe import definition, stored
from labkit.observe.changes import ABSENT
from labkit.show import views

from .conftest import Foreign, Stage


def changes(seen: stored.StoredAndRead, version: str) -> list[tuple[str, str]]:
    (read,) = (read for read in seen.reads if read.version == version)
    return [(change.dotted, change.kind) for change in read.changes]


def test_without_a_schema_what_is_read_is_what_is_stored(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/mauvais.yaml")

    seen = stored.look(stage.cluster, "colis", "mauvais")

    assert seen.stored.key == "/registry/cours.example.com/colis/ch54/mauvais"
    assert seen.stored.content["spec"]["api"]["replicas"] == "beaucoup"
    assert "metadata" not in seen.stored.content
    assert changes(seen, "v1alpha1") == []


def test_a_new_schema_prunes_and_fills_what_is_read_and_leaves_what_is_stored(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/principal.yaml", "objects/mauvais.yaml")
    before = stored.look(stage.cluster, "colis", "mauvais").stored
    stage.apply("02-colis-schema.yaml")

    seen = stored.look(stage.cluster, "colis", "mauvais")

    assert seen.stored == before
    assert changes(seen, "v1alpha1") == [
        ("spec.base", "defaulted"),
        ("spec.worker", "defaulted"),
        ("spec.wroker", "pruned"),
    ]
    (read,) = seen.reads
    assert read.content["spec"]["api"]["replicas"] == "beaucoup"
    assert read.changes[2].after is ABSENT
    assert changes(stored.look(stage.cluster, "colis", "principal"), "v1alpha1") == [("spec.base.classe", "defaulted")]


def test_defaults_come_from_the_version_an_object_is_stored_in(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "objects/principal.yaml", "05-colis-v1.yaml", "objects/ancien.yaml")

    principal = stored.look(stage.cluster, "colis", "principal")
    ancien = stored.look(stage.cluster, "colis", "ancien")

    assert principal.stored.api_version == "cours.example.com/v1alpha1"
    assert changes(principal, "v1") == [("apiVersion", "converted")]
    assert ancien.stored.api_version == "cours.example.com/v1"
    assert changes(ancien, "v1alpha1") == [("apiVersion", "converted")]
    assert changes(ancien, "v1") == [("spec.web", "defaulted")]
    old = ancien.reads[0]
    assert old.warnings == ("cours.example.com/v1alpha1 Colis est dépréciée : utilisez cours.example.com/v1",)


def test_a_version_that_was_just_added_is_read_without_an_error(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "objects/principal.yaml")
    stage.api.apply(stage.load("05-colis-v1.yaml"))
    assert [read.version for read in stored.look(stage.cluster, "colis", "principal").reads] == ["v1alpha1", "v1"]


def test_the_revision_is_that_of_the_last_write(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/principal.yaml")
    path = "/apis/cours.example.com/v1alpha1/namespaces/ch54/colis/principal"
    written = stage.api.patch(path, {"metadata": {"annotations": {"note": "essai"}}})
    seen = stored.look(stage.cluster, "colis", "principal")
    assert str(seen.stored.mod_revision) == written["metadata"]["resourceVersion"]


def test_each_key_is_told_with_its_version_now_and_then(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "objects/principal.yaml", "05-colis-v1.yaml")
    colis = definition.look(stage.cluster, "colis")
    (then,) = stored.versions(stage.cluster, colis)
    stage.apply("objects/ancien.yaml")
    path = "/apis/cours.example.com/v1/namespaces/ch54/colis/principal"
    stage.api.patch(path, {"metadata": {"annotations": {"note": "essai"}}})

    now = stored.versions(stage.cluster, colis)

    assert [(kv.key.rpartition("/")[2], kv.api_version.rpartition("/")[2]) for kv in now] == [
        ("ancien", "v1"),
        ("principal", "v1"),
    ]
    assert stored.versions(stage.cluster, colis, revision=then.mod_revision) == (then,)
    assert then.api_version.endswith("/v1alpha1")


def test_an_object_that_is_not_there_is_an_error_with_its_key(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml")
    with pytest.raises(ApiError) as caught:
        stored.look(stage.cluster, "colis", "principal")
    assert caught.value.code == 404
    assert "/registry/cours.example.com/colis/ch54/principal" in caught.value.evidence


def test_where_etcd_is_closed_the_missing_capability_is_named(stage: Stage, foreign: Foreign) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/principal.yaml")
    with pytest.raises(CapabilityMissing) as caught:
        stored.look(foreign, "colis", "principal")
    assert caught.value.capability == "etcd"


def test_a_script_in_a_field_is_shown_and_not_run(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml")
    evil = stage.load("objects/principal.yaml")
    evil["spec"]["version"] = "<script>alert(1)</script>"
    evil["spec"]["<img src=x onerror=alert(2)>"] = "\"&'"
    stage.api.apply(evil)
    seen = stored.look(stage.cluster, "colis", "principal")
    assert seen.stored.content["spec"]["version"] == "<script>alert(1)</script>"

    html = views.html(seen)

    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
