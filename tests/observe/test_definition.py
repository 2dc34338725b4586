"""How the server judges a definition."""

from __future__ import annotations

import pytest

from labkit.cluster.claim import DEFINITIONS
from labkit.errors import ApiError
from labkit.observe import definition
from labkit.observe.definition import conditions_of
from labkit.waiting import Seen, wait_for

from .conftest import Stage

COLIS = "colis.cours.example.com"


def test_the_minimal_definition_is_established_under_the_names_it_asked_for(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml")

    seen = definition.look(stage.cluster, COLIS)

    assert [(c.type, c.status, c.reason) for c in seen.conditions] == [
        ("NamesAccepted", "True", "NoConflicts"),
        ("Established", "True", "InitialNamesAccepted"),
    ]
    assert all(c.since and c.message for c in seen.conditions)
    assert seen.established
    names = seen.accepted_names
    assert (names.plural, names.singular, names.kind, names.list_kind) == ("colis", "colis", "Colis", "ColisList")
    assert (names.short_names, names.categories) == ((), ())
    assert (seen.stored_versions, seen.storage_version, seen.conversion) == (("v1alpha1",), "v1alpha1", "None")
    assert seen.finalizers == ()


def test_both_versions_are_told_with_what_is_served_stored_and_deprecated(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "05-colis-v1.yaml")

    seen = definition.look(stage.cluster, COLIS)

    assert [(v.name, v.served, v.storage, v.deprecated) for v in seen.versions] == [
        ("v1alpha1", True, False, True),
        ("v1", True, True, False),
    ]
    assert seen.versions[0].warning.startswith("cours.example.com/v1alpha1 Colis est dépréciée")
    assert seen.stored_versions == ("v1alpha1", "v1")
    assert seen.storage_version == "v1"


@pytest.mark.parametrize("word", ["colis", "Colis", "cl", COLIS])
def test_a_definition_answers_to_every_name_of_its_type(stage: Stage, word: str) -> None:
    stage.apply("04-colis-complet.yaml")
    assert definition.look(stage.cluster, word).name == COLIS


def test_names_that_are_taken_are_not_accepted_and_the_type_is_not_established(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml")
    rival = stage.load("01-colis-minimal.yaml")
    rival["metadata"]["name"] = "rivaux.cours.example.com"
    rival["spec"]["names"] |= {"plural": "rivaux", "singular": "rival"}
    stage.api.apply(rival)
    path = f"{DEFINITIONS}/rivaux.cours.example.com"
    wait_for("a judgement", lambda: Seen(len(conditions_of(stage.api.get(path) or {})) == 2, "none"), limit_s=60)

    seen = definition.look(stage.cluster, "rivaux.cours.example.com")

    assert [(c.type, c.status) for c in seen.conditions] == [("NamesAccepted", "False"), ("Established", "False")]
    assert "already in use" in seen.conditions[0].message
    assert seen.accepted_names.kind == ""
    assert not seen.established


@pytest.mark.parametrize("name", [COLIS, "colis"])
def test_a_definition_that_is_not_there_is_an_error_with_the_next_act(stage: Stage, name: str) -> None:
    with pytest.raises(ApiError) as caught:
        definition.look(stage.cluster, name)
    assert caught.value.code == 404
    assert name in caught.value.state
    assert "apply" in caught.value.next_act


def test_a_definition_too_young_to_be_judged_has_no_conditions() -> None:
    assert conditions_of({"status": {"conditions": None}}) == ()
    assert conditions_of({}) == ()
