"""Answers as values: strict on the way in, the same JSON on the way out."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from labkit.errors import TraceError
from labkit.trace import Engine, Stage, Trace
from labkit.trace.values import Cel, Conversion, Decoding, Defaulting, Pruning, Ratcheting, Validation

from .texts import COMPLETE, INVALID, MINI, SCHEMA, TWO_VERSIONS, WRONG, text


@pytest.fixture(scope="module")
def one() -> Iterator[Engine]:
    with Engine() as made:
        yield made


@pytest.fixture(scope="module")
def answer(one: Engine) -> dict[str, Any]:
    """A real answer that has all stages of an update and of a read."""
    return one.trace(TWO_VERSIONS, text("objects/principal.yaml"), old=MINI.replace("mini", "principal")).to_json()


def test_an_answer_comes_back_as_it_was(one: Engine) -> None:
    for request in (
        {"definition": SCHEMA, "object": WRONG},
        {"definition": COMPLETE, "object": INVALID},
        {"definition": TWO_VERSIONS, "object": MINI, "old": MINI},
        {"definition": TWO_VERSIONS, "object": MINI, "operation": "read", "readVersion": "v1"},
    ):
        result = one.ask({"id": 1, "do": "trace", **request})["result"]
        assert Trace.from_answer(result).to_json() == result
    result = one.ask({"id": 1, "do": "define", "definition": COMPLETE})["result"]
    assert one.define(COMPLETE).to_json() == result


def test_every_stage_has_a_class_of_its_own(answer: dict[str, Any]) -> None:
    traced = Trace.from_answer(answer)
    assert len(traced.stages) > 10
    assert all(type(stage) is not Stage for stage in traced.stages), [s.name for s in traced.stages if type(s) is Stage]
    for value in (traced, *traced.stages):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.verdict = ""  # type: ignore[attr-defined]


def test_the_operation_is_told_however_far_the_object_came(one: Engine) -> None:
    assert one.trace(SCHEMA, MINI).operation == "create"
    assert one.trace(SCHEMA, MINI, old=MINI).operation == "update"
    assert one.trace(SCHEMA, MINI, operation="read").operation == "read"
    assert one.trace(SCHEMA, INVALID).operation == "create"
    assert one.trace(SCHEMA, WRONG, old=MINI.replace("mini", "mauvais")).operation == "update"
    too_large = one.trace(SCHEMA, f"{MINI}# {'x' * 3 * 2**20}", old=MINI)
    assert (too_large.operation, too_large.stages) == ("update", ())


def test_stages_are_found_by_their_kind(one: Engine) -> None:
    traced = one.trace(SCHEMA, WRONG, field_validation="Warn")
    decoding, pruning = traced.find(Decoding), traced.find(Pruning)
    assert decoding is not None and decoding.unknown == ("spec.wroker",)
    assert pruning is not None and pruning.paths == ("spec.wroker",)
    defaulting = traced.find(Defaulting)
    assert defaulting is not None and [one.path for one in defaulting.added] == ["spec.base", "spec.worker"]
    validation = traced.find(Validation)
    assert validation is not None and validation.errors[0].field == "spec.api.replicas"
    assert traced.find(Ratcheting) is None and traced.find(Conversion) is None
    assert traced.verdict == "refused" and traced.lines == tuple(error.line for error in validation.errors)


def test_rules_tell_result_cost_and_why_they_were_not_run(one: Engine) -> None:
    traced = one.trace(COMPLETE, MINI.replace("version: 2.2.1", "version: 2.2.1\n  worker: {min: 7}"))
    cel = traced.find(Cel)
    assert cel is not None
    told = {rule.path: (rule.result, bool(rule.skipped), rule.cost > 0) for rule in cel.rules}
    assert told == {
        "spec": ("skipped", True, False),
        "spec.worker": ("failed", False, True),
        "spec.base.taille": ("skipped", True, False),
    }
    assert cel.cost == sum(rule.cost for rule in cel.rules) and cel.budget == 10_000_000


def test_the_objects_between_the_stages_follow_each_other(answer: dict[str, Any]) -> None:
    traced = Trace.from_answer(answer)
    steps = traced.steps
    assert steps[0][1] is None
    for (_, _, after), (_, before, _) in itertools.pairwise(steps):
        assert after is before
    assert all((stage.object is after) == stage.changed for stage, _, after in steps)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("verdict",), "perhaps"),
        (("lines",), "one"),
        (("lines",), [1]),
        (("stages", 0, "unknown"), {}),
        (("stages", 0, "title"), 5),
        (("stages", 0, "more"), 5),
        (("stages", 0, "name"), None),
        (("stages", 0), "decoding"),
        (("anything",), 1),
    ],
)
def test_an_answer_of_another_form_is_refused_with_its_place(
    answer: dict[str, Any], at: tuple[str | int, ...], value: object
) -> None:
    other = copy.deepcopy(answer)
    place: Any = other
    for step in at[:-1]:
        place = place[step]
    place[at[-1]] = value
    with pytest.raises(TraceError) as refused:
        Trace.from_answer(other)
    assert refused.value.evidence.startswith("result") and "make setup" in refused.value.next_act


@pytest.mark.parametrize("key", ["verdict", "stages", "stored"])
def test_an_answer_without_one_of_its_parts_is_refused(answer: dict[str, Any], key: str) -> None:
    with pytest.raises(TraceError, match=f"no {key}"):
        Trace.from_answer({name: value for name, value in answer.items() if name != key})


def test_a_definition_is_told_as_the_server_takes_it(one: Engine) -> None:
    found = one.define(TWO_VERSIONS)
    assert (found.verdict, found.name, found.kind, found.plural, found.scope, found.conversion) == (
        "accepted",
        "colis.cours.example.com",
        "Colis",
        "colis",
        "Namespaced",
        "None",
    )
    assert [(v.name, v.served, v.storage, v.deprecated) for v in found.versions] == [
        ("v1alpha1", True, False, True),
        ("v1", True, True, False),
    ]
    refused = one.define(COMPLETE.replace("default: {min: 0, max: 5}", "default: {}"))
    assert refused.verdict == "refused" and "no such key: min" in refused.lines[0]
