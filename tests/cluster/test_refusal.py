"""Refusals of every shape become causes with the field's path, in one order."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from labkit.cluster import ApiResponse, Cause, Refusal, Refused
from labkit.cluster.refusal import refusal_of


def answer(code: int, message: str, **more: Any) -> ApiResponse:
    return ApiResponse(code, json.dumps({"kind": "Status", "message": message, **more}))


def test_causes_are_sorted_each_once_and_without_a_dot_in_front() -> None:
    causes = [
        {"field": "spec.b", "reason": "FieldValueInvalid", "message": "two"},
        {"field": ".spec.a", "reason": "FieldManagerConflict", "message": "one"},
        {"field": "spec.b", "reason": "FieldValueInvalid", "message": "two"},
        {"field": "<nil>", "reason": "FieldValueInvalid", "message": "some rules were not checked"},
    ]
    found = refusal_of(answer(422, "all of it", reason="Invalid", details={"causes": causes}))
    assert found == Refusal(
        422,
        "all of it",
        (
            Cause("", "FieldValueInvalid", "some rules were not checked"),
            Cause("spec.a", "FieldManagerConflict", "one"),
            Cause("spec.b", "FieldValueInvalid", "two"),
        ),
        "Invalid",
    )
    assert found.fields == ("spec.a", "spec.b")


PATCH = "failed to create typed patch object (ch54/x; cours.example.com/v1, Kind=Colis): "


@pytest.mark.parametrize(
    ("message", "causes"),
    [
        (f"{PATCH}.spec.wroker: field not declared in schema", [("spec.wroker", "field not declared in schema")]),
        (
            f"{PATCH}errors:\n  .spec.b: expected numeric, got string\n  .spec.a: expected list, got x: 1",
            [("spec.a", "expected list, got x: 1"), ("spec.b", "expected numeric, got string")],
        ),
        (
            'Colis cannot be handled as a Colis: strict decoding error: unknown field "spec.w", unknown field "spec.a"',
            [("spec.a", "unknown field"), ("spec.w", "unknown field")],
        ),
        ("the object has been modified", []),
    ],
)
def test_fields_that_only_the_sentence_names_are_found_in_it(message: str, causes: list[tuple[str, str]]) -> None:
    found = refusal_of(answer(400, message))
    assert [(cause.field, cause.message) for cause in found.causes] == causes
    assert found.message == message


def test_a_text_that_is_no_status_is_the_message() -> None:
    assert refusal_of(ApiResponse(404, "404 page not found\n")) == Refusal(404, "404 page not found", ())


def test_the_error_has_a_line_for_each_cause_and_survives_pickling() -> None:
    error = Refused("the API server refused Colis x", Refusal(422, "m", (Cause("spec.a", "R", "bad"),), "Invalid"))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)
    for one in (error, again):
        assert str(one) == "the API server refused Colis x: 422 Invalid\n  spec.a: bad"
        assert (one.code, one.reason, one.causes) == (422, "Invalid", (Cause("spec.a", "R", "bad"),))
    assert str(Refused("no", Refusal(409, "the object has been modified", (), "Conflict"))) == (
        "no: 409 Conflict: the object has been modified"
    )
