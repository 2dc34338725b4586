"""Which rule a sentence of the API server belongs to. The sentences are those of a 1.37 server."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.cluster.refusal import Cause, Refusal
from labkit.observe.reasons import Reason, cel_rules, reasons, schema_at

SCHEMA: dict[str, Any] = {
    "type": "object",
    "x-kubernetes-validations": [{"rule": "self.spec.a != ''"}],
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "self.a != self.b", "message": "a et b sont égaux", "fieldPath": ".a"},
                {"rule": "self.worker.max < 9 ", "messageExpression": "'max ' + string(self.worker.max)"},
            ],
            "properties": {
                "a": {"type": "string"},
                "worker": {
                    "type": "object",
                    "x-kubernetes-validations": [
                        {"rule": "self.min <= self.max", "messageExpression": "'min (%d)'.format([self.min])"},
                        {"rule": "self.max > 0", "messageExpression": "'max (%d)'.format([self.max])"},
                        {"rule": "self.max != 13", "message": "pas treize", "reason": "FieldValueForbidden"},
                    ],
                },
                "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"}},
                "ports": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            },
        }
    },
}


def of(field: str, message: str, schema: dict[str, Any] | None = SCHEMA) -> Reason:
    refusal = Refusal(
        422, f"… is invalid: {field}: {message}", (Cause(field, "FieldValueInvalid", message),), "Invalid"
    )
    (reason,) = reasons(refusal, schema)
    return reason


@pytest.mark.parametrize(
    ("message", "keyword"),
    [
        ('Invalid value: "number": spec.a in body must be of type string: "number"', "type"),
        ('Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"', "type"),
        ('Invalid value: "x": spec.a in body must be of type date-time: "x"', "format"),
        ("Required value", "required"),
        ('Unsupported value: "rapide": supported values: "standard"', "enum"),
        ("Invalid value: 0: spec.a in body should be greater than or equal to 1", "minimum"),
        ("Invalid value: 9: spec.a in body should be less than 9", "maximum"),
        ("Invalid value: 9: spec.a in body should be a multiple of 2", "multipleOf"),
        ("Invalid value: \"1G\": spec.a in body should match '^[0-9]+(Mi|Gi)$'", "pattern"),
        ('Invalid value: "a": spec.a in body should be at least 2 chars long', "minLength"),
        ("Too long: may not be more than 4 bytes", "maxLength"),
        ("Invalid value: 1: spec.a in body should have at least 2 items", "minItems"),
        ("Invalid value: 1: spec.a in body should have at least 2 properties", "minProperties"),
        ("Too many: 4: must have at most 3 items", "maxItems"),
        ('Duplicate value: "a"', "x-kubernetes-list-type"),
        ('Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid', "oneOf"),
        ('Invalid value: "": "spec.a" must validate at least one schema (anyOf)', "anyOf"),
        ('Invalid value: "": "spec.a" must not validate the schema (not)', "not"),
        # A value that looks like another sentence is a value.
        (
            'Invalid value: "spec.a in body should match x": spec.a in body should be at least 90 chars long',
            "minLength",
        ),
    ],
)
def test_a_keyword_is_known_by_its_sentence(message: str, keyword: str) -> None:
    assert of("spec.a", message) == Reason("spec.a", "validation", (keyword,), message)
    assert of("spec.a", message, None).rules == (keyword,)


def test_too_many_is_about_properties_where_the_schema_has_an_object() -> None:
    assert of("spec.labels", "Too many: 4: must have at most 3 items").rules == ("maxProperties",)


@pytest.mark.parametrize(
    ("field", "message", "rules"),
    [
        ("spec.a", 'Invalid value: "x": a et b sont égaux', ("self.a != self.b",)),  # declared above, with a fieldPath
        ("spec.worker", "Forbidden: pas treize", ("self.max != 13",)),
        ("spec", "Invalid value: max 12", ("self.worker.max < 9",)),  # the one with a messageExpression
        ("", "Invalid value: failed rule: self.spec.a != ''", ("self.spec.a != ''",)),
        (
            "spec.worker",
            "Invalid value: no such key: min evaluating rule: self.min <= self.max",
            ("self.min <= self.max",),
        ),
        ("spec.worker", "Invalid value: min (6)", ("self.min <= self.max", "self.max > 0")),  # either: not told apart
    ],
)
def test_a_rule_is_found_by_its_place_and_its_message(field: str, message: str, rules: tuple[str, ...]) -> None:
    reason = of(field, message)
    assert (reason.station, reason.rules) == ("cel", rules)


def test_a_sentence_of_the_schema_is_not_taken_for_a_rule_at_the_same_field() -> None:
    assert of("spec.worker", "Required value").station == "validation"


def test_an_unknown_sentence_stays_open() -> None:
    assert of("metadata.name", 'Invalid value: "D_": a lowercase RFC 1123 subdomain must…').rules == ()


def test_strict_decoding_names_each_field() -> None:
    message = (
        'Colis in version "v1" cannot be handled as a Colis: strict decoding error: duplicate field "spec.a", '
        'unknown field "spec.api.cpu"'
    )
    assert reasons(Refusal(400, message, ()), SCHEMA) == (
        Reason("spec.a", "decoding", ("duplicate field",), 'duplicate field "spec.a"'),
        Reason("spec.api.cpu", "decoding", ("unknown field",), 'unknown field "spec.api.cpu"'),
    )


def test_of_a_patch_only_what_follows_the_object_counts() -> None:
    """The server quotes the whole object first, and that may say anything."""
    message = (
        ' "" is invalid: patch: Invalid value: "{\\"note\\":\\"strict decoding error: unknown field \\"spec.x\\"\\"}": '
        'strict decoding error: unknown field "spec.wroker"'
    )
    refusal = Refusal(422, message, (Cause("patch", "FieldValueInvalid", message),), "Invalid")
    assert [reason.field for reason in reasons(refusal, SCHEMA)] == ["spec.wroker"]


def test_the_line_that_says_rules_were_not_run_is_no_reason() -> None:
    unchecked = Cause("", "FieldValueInvalid", "Invalid value: null: some validation rules were not checked because …")
    found = reasons(Refusal(422, "…", (unchecked, Cause("spec", "FieldValueRequired", "Required value"))), SCHEMA)
    assert [reason.field for reason in found] == ["spec"]


@pytest.mark.parametrize(
    ("code", "message", "field", "station"),
    [
        (400, "… cannot be handled as a Colis: json: cannot unmarshal number into Go struct field ObjectMeta.labels of "
         "type string", "metadata.labels", "decoding"),
        (400, 'Colis in version "v1" cannot be handled as a Colis: what', "", "decoding"),
        (404, 'namespaces "nix" not found', "", "request"),
        (403, 'colis "a" is forbidden: User "x" cannot create resource', "", "admission"),
        (400, 'admission webhook "x" denied the request: no', "", "admission"),
        (500, "anything", "", "request"),
    ],
)  # fmt: skip
def test_what_has_no_causes_is_placed_by_its_sentence(code: int, message: str, field: str, station: str) -> None:
    (reason,) = reasons(Refusal(code, message, ()), SCHEMA)
    assert (reason.field, reason.station, reason.message) == (field, station, message)


def test_a_policy_that_denies_speaks_at_admission() -> None:
    assert of("", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no").station == "admission"


def test_the_schema_of_a_field_is_found_through_lists_and_maps() -> None:
    assert schema_at(SCHEMA, ("spec", "ports", "0", "name")) == {"type": "string"}
    assert schema_at(SCHEMA, ("spec", "labels", "a.b")) == {"type": "string"}
    assert schema_at(SCHEMA, ("spec", "nothing")) is None
    assert schema_at(SCHEMA, ()) is SCHEMA


def test_every_rule_of_a_schema_is_listed() -> None:
    assert list(cel_rules(SCHEMA)) == [
        "self.spec.a != ''",
        "self.a != self.b",
        "self.worker.max < 9",
        "self.min <= self.max",
        "self.max > 0",
        "self.max != 13",
    ]
