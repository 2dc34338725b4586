"""What the real server makes of an object, as a verdict: the chapter's objects a to d, and what else can happen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ManifestError
from labkit.observe import verdict
from labkit.observe.verdict import Choices, Verdict

from .conftest import Stage

COLIS = "/apis/cours.example.com/v1/namespaces/ch54/colis"


def colis(name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ch54", **metadata}
    return {"apiVersion": "cours.example.com/v1", "kind": "Colis", "metadata": meta, "spec": spec}


A = colis("essai-a", {"version": "2.3.0", "api": {"replicas": 3, "cpu": "200m"}})
B = colis("essai-b", {"version": 2.3})
C = colis("essai-c", {"version": "3.0.0", "worker": {"max": 3}})
D = colis("essai-d", {"version": "3.0.0", "worker": {"min": 6}})
WHOLE = {
    "version": "3.0.0",
    "api": {"replicas": 2},
    "worker": {"min": 0, "max": 5},
    "base": {"taille": "1Gi", "classe": "standard"},
    "web": {"replicas": 2},
}


@pytest.fixture(scope="module")
def final(cluster: EmbeddedCluster) -> Iterator[Stage]:
    """The chapter's final definition, and one object that is there."""
    with Api(cluster) as api:
        stage = Stage(cluster, api)
        stage.clear()
        stage.apply("06-colis-v1-seul.yaml")
        there = colis("la", {"version": "2.3.0", "base": {"taille": "2Gi"}, "worker": {"max": 9}})
        api.post(COLIS, there)
        yield stage
        api.delete(f"{COLIS}/la")


def told(seen: Verdict) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(reason.field, reason.station, reason.rules) for reason in seen.reasons]


def changed(seen: Verdict) -> list[tuple[str, str]]:
    return [(change.dotted, change.kind) for change in seen.changes]


def test_a_is_refused_when_it_is_decoded(final: Stage) -> None:
    seen = verdict.ask(final.cluster, A)
    assert (seen.outcomes, seen.sent_as, seen.changes, seen.code) == (("refused",), "new", (), 400)
    assert told(seen) == [("spec.api.cpu", "decoding", ("unknown field",))]


@pytest.mark.parametrize("checking", ["warn", "ignore"])
def test_a_is_pruned_and_completed_without_strict_checking(final: Stage, checking: verdict.Checking) -> None:
    seen = verdict.ask(final.cluster, A, checking=checking)
    assert (seen.outcomes, seen.outcome, seen.reasons) == (("pruned", "completed"), "pruned", ())
    assert changed(seen) == [
        ("spec.api.cpu", "pruned"),
        ("spec.base", "defaulted"),
        ("spec.web", "defaulted"),
        ("spec.worker", "defaulted"),
    ]
    assert bool(seen.warnings) is (checking == "warn")


def test_b_is_refused_by_its_type_and_no_rule_is_run(final: Stage) -> None:
    seen = verdict.ask(final.cluster, B)
    assert told(seen) == [("spec.version", "validation", ("type",))]
    assert seen.unchecked


def test_c_is_completed(final: Stage) -> None:
    seen = verdict.ask(final.cluster, C)
    assert (seen.outcomes, seen.checking) == (("completed",), "strict")
    assert {kind for _, kind in changed(seen)} == {"defaulted"}
    assert ("spec.worker.min", "defaulted") in changed(seen)


def test_d_is_refused_by_a_rule_that_sees_a_default(final: Stage) -> None:
    seen = verdict.ask(final.cluster, D)
    assert told(seen) == [("spec.worker", "cel", ("self.min <= self.max",))]
    assert (seen.defaults, seen.unchecked) == (("spec.worker.max",), False)


def test_an_object_with_everything_is_accepted_as_it_is(final: Stage) -> None:
    seen = verdict.ask(final.cluster, colis("tout", WHOLE))
    assert (seen.outcomes, seen.changes, seen.forgiven) == (("accepted as is",), (), ())


def test_nothing_is_stored_by_asking(final: Stage) -> None:
    for obj in (A, C):
        verdict.ask(final.cluster, obj, checking="ignore")
    assert [one["metadata"]["name"] for one in final.api.list(COLIS)] == ["la"]


def test_an_object_that_is_there_is_patched_as_kubectl_does(final: Stage) -> None:
    """What the manifest leaves out stays as it is, so a size that had grown is no reason to refuse."""
    seen = verdict.ask(final.cluster, colis("la", {"version": "2.4.0"}))
    assert (seen.sent_as, seen.outcomes) == ("update", ("accepted as is",))
    smaller = verdict.ask(final.cluster, colis("la", {"version": "2.0.0", "base": {"taille": "1Gi"}}))
    assert [(field, station) for field, station, _ in told(smaller)] == [("spec", "cel"), ("spec.base.taille", "cel")]
    assert [rule for _, _, rules in told(smaller) for rule in rules] == [
        "!has(oldSelf.version) || semver(self.version).compareTo(semver(oldSelf.version)) >= 0",
        "quantity(self).compareTo(quantity(oldSelf)) >= 0",
    ]


def test_an_unknown_field_of_an_object_that_is_there_is_refused_by_name(final: Stage) -> None:
    seen = verdict.ask(final.cluster, colis("la", {"version": "2.3.0", "wroker": 1}))
    assert told(seen) == [("spec.wroker", "decoding", ("unknown field",))]


def test_unknown_fields_of_metadata_and_wrong_labels_are_told(final: Stage) -> None:
    pruned = verdict.ask(final.cluster, colis("meta", WHOLE, zz=1), checking="ignore")
    assert (changed(pruned), pruned.outcomes) == ([("metadata.zz", "pruned")], ("pruned",))
    assert told(verdict.ask(final.cluster, colis("meta", WHOLE, zz=1))) == [
        ("metadata.zz", "decoding", ("unknown field",))
    ]
    assert told(verdict.ask(final.cluster, colis("meta", WHOLE, labels={"a": 3}))) == [
        ("metadata.labels", "decoding", ("type",))
    ]
    assert told(verdict.ask(final.cluster, colis("Majuscule", WHOLE))) == [("metadata.name", "validation", ())]


def test_a_status_and_a_null_are_dropped_though_the_schema_knows_them(final: Stage) -> None:
    seen = verdict.ask(final.cluster, {**colis("statut", WHOLE), "status": {"selecteur": "a=b"}})
    assert (changed(seen), seen.outcomes) == ([("status", "dropped")], ("pruned",))
    told_null = verdict.ask(final.cluster, {**colis("nul", WHOLE), "status": None})
    assert {kind for _, kind in changed(told_null)} == {"dropped"}


def test_a_type_or_a_namespace_that_is_not_there_is_a_refusal_before_the_path_begins(final: Stage) -> None:
    old = verdict.ask(final.cluster, {**A, "apiVersion": "cours.example.com/v1alpha1"})
    assert (old.outcomes, old.code) == (("refused",), 404)
    assert told(old) == [("apiVersion", "request", ())]
    nowhere = verdict.ask(final.cluster, colis("a", WHOLE, namespace="nulle-part"))
    assert told(nowhere) == [("", "request", ())]
    assert "nulle-part" in nowhere.message


def test_a_built_in_type_has_a_verdict_too(final: Stage) -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ch54"}}
    assert verdict.ask(final.cluster, {**settings, "data": {"a": "b"}}).outcomes == ("accepted as is",)
    assert told(verdict.ask(final.cluster, {**settings, "donnees": {}})) == [
        ("donnees", "decoding", ("unknown field",))
    ]


@pytest.mark.parametrize(
    "bad", [{}, {"kind": "Colis"}, {**A, "metadata": {}}, {**A, "metadata": "x"}, {**A, "metadata": ["x"]}]
)
def test_what_is_no_object_is_said_to_be_none(final: Stage, bad: dict[str, Any]) -> None:
    for ask in (verdict.ask, verdict.choices):
        with pytest.raises(ManifestError, match="not an object the API could store"):
            ask(final.cluster, bad)


def test_a_way_of_checking_is_spelled_as_kubectl_spells_it() -> None:
    assert [verdict.checking(word) for word in (True, "strict", "warn", False, "false", "ignore")] == [
        "strict",
        "strict",
        "warn",
        "ignore",
        "ignore",
        "ignore",
    ]
    with pytest.raises(ManifestError, match="validate='lax' is not known"):
        verdict.checking("lax")


def test_the_choices_come_from_the_type_and_the_manifest_alone(final: Stage) -> None:
    found = verdict.choices(final.cluster, A)
    assert {"spec.api.cpu", "spec.worker", "spec.worker.max", "spec.base.classe"} <= set(found.fields)
    assert {"unknown field", "type", "enum", "pattern", "maximum", "self.min <= self.max"} <= set(found.rules)
    assert len(set(found.fields)) == len(found.fields)
    assert "minLength" not in found.rules
    same = verdict.choices(final.cluster, {**A, "spec": {"version": "2.3.0", "api": {"replicas": 3, "cpu": 1}}})
    assert same == found
    assert verdict.choices(final.cluster, {**A, "apiVersion": "x.example.com/v1"}) == Choices(
        ("spec", "spec.api", "spec.api.cpu", "spec.api.replicas", "spec.version")
    )
