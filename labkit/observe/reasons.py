"""Why the API server refused an object: at which field, by which rule, and at which station of the object's path.

A refusal is sentences. Which rule spoke is not in them: a keyword of the schema has a sentence of its own, but a rule
in CEL says whatever its author wrote. So the sentence is looked up in the definition: the rules declared at that field,
and those declared above that point to it. What cannot be told for certain stays open (several rules, or none).

The sentences are Kubernetes' (kube-openapi ``pkg/validation/errors``, apimachinery ``field/errors.go``, apiextensions-
apiserver ``pkg/apiserver/schema/cel/validation.go``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from labkit.cluster.refusal import Cause, Refusal
from labkit.observe import fieldpaths
from labkit.observe.fieldpaths import Steps

__all__ = ["KEYWORDS", "UNCHECKED", "UNKNOWN_FIELD", "Reason", "Station", "cel_rules", "reasons", "schema_at"]

Station: TypeAlias = Literal[
    "request", "decoding", "pruning", "defaulting", "admission", "preparing", "validation", "cel", "ratcheting"
]
"""The stations of a write, by the names of ``labkit.trace``; "request" is what comes before all of them."""

UNKNOWN_FIELD = "unknown field"
"""The rule of strict decoding."""

UNCHECKED = "some validation rules were not checked"
"""How the server begins the line that says that mistakes of the schema kept it from running the rules."""

_IN_BODY: tuple[tuple[str, str], ...] = (
    ("must be of type", "type"),
    ("should be greater than", "minimum"),
    ("should be less than", "maximum"),
    ("should be a multiple of", "multipleOf"),
    ("should match", "pattern"),
    ("should have at least", "minItems"),
)
"""How a sentence goes on after "FIELD in body", and the keyword that speaks so."""

_AT_THE_BEGINNING: tuple[tuple[str, str], ...] = (
    ("Unsupported value: ", "enum"),
    ("Too long: ", "maxLength"),
    ("Too many: ", "maxItems"),
    ("Duplicate value: ", "x-kubernetes-list-type"),
)
_COMBINED = re.compile(r"must (?:not )?validate .*\((oneOf|anyOf|allOf|not)\)")
_STRICT = "strict decoding error: "
_UNKNOWN = re.compile(r'(unknown|duplicate) field "([^"]*)"')
_METADATA = re.compile(r"Go struct field ObjectMeta\.(\S+) of type")
_DENIED = re.compile(r"admission webhook|ValidatingAdmissionPolicy|denied request|denied the request")

KEYWORDS = (
    "type",
    "required",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "format",
    "x-kubernetes-list-type",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
)
"""What a schema can refuse by."""

Schema: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One complaint: the *field* as the server prints it ("" for the whole object), its *message*, the *station*.

    *rules* has what refused: a keyword of the schema, the text of a rule in CEL, or "unknown field"; several when the
    message does not tell which of several rules at that field it was; none when it is nothing of these.
    """

    field: str
    station: Station
    rules: tuple[str, ...]
    message: str

    @property
    def steps(self) -> Steps:
        return fieldpaths.parse(self.field)


def reasons(refusal: Refusal, schema: Schema | None) -> tuple[Reason, ...]:
    """The complaints of a refusal, sorted as it has them. *schema* is the type's, None where it is a built-in type."""
    if _STRICT in refusal.message:
        told = _UNKNOWN.findall(refusal.message.rpartition(_STRICT)[2])
        return tuple(Reason(field, "decoding", (f"{what} field",), f'{what} field "{field}"') for what, field in told)
    if refusal.code == 422 and refusal.causes:
        return tuple(_of(cause, schema) for cause in refusal.causes if UNCHECKED not in cause.message)
    metadata = _METADATA.search(refusal.message)
    if metadata is not None:
        return (Reason(f"metadata.{metadata[1]}", "decoding", ("type",), refusal.message),)
    return (Reason("", _station(refusal), (), refusal.message),)


def _station(refusal: Refusal) -> Station:
    if refusal.code == 403 or _DENIED.search(refusal.message):
        return "admission"
    return "decoding" if refusal.code == 400 and "cannot be handled" in refusal.message else "request"


def _of(cause: Cause, schema: Schema | None) -> Reason:
    if _DENIED.search(cause.message):
        return Reason(cause.field, "admission", (), cause.message)
    spoke = _cel(cause, schema) if schema is not None else ()
    if spoke:
        return Reason(cause.field, "cel", spoke, cause.message)
    keyword = _keyword(cause, schema)
    return Reason(cause.field, "validation", (keyword,) if keyword else (), cause.message)


# -- the schema's keywords ------------------------------------------------------------------------------------------


def _keyword(cause: Cause, schema: Schema | None) -> str:
    _, found, body = cause.message.rpartition(f"{cause.field} in body ")
    if found:
        return _of_body(body)
    if cause.message == "Required value":
        return "required"
    for beginning, keyword in _AT_THE_BEGINNING:
        if cause.message.startswith(beginning):
            node = schema_at(schema, fieldpaths.parse(cause.field)) if schema is not None else None
            return "maxProperties" if keyword == "maxItems" and (node or {}).get("type") == "object" else keyword
    combined = _COMBINED.search(cause.message)
    return combined[1] if combined else ""


def _of_body(body: str) -> str:
    if body.startswith("must be of type") and body.removeprefix("must be of type").split(":")[0].strip() not in _TYPES:
        return "format"
    if re.match(r"should be at least \d+ chars", body):
        return "minLength"
    if re.match(r"should have at least \d+ properties", body):
        return "minProperties"
    return next((keyword for beginning, keyword in _IN_BODY if body.startswith(beginning)), "")


_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "integer,string"})


# -- the rules in CEL -----------------------------------------------------------------------------------------------


def _cel(cause: Cause, schema: Schema) -> tuple[str, ...]:
    """The rules that can have said this at this field; none when it is no rule's sentence."""
    here = list(_pointing_at(schema, fieldpaths.parse(cause.field)))
    certain = [text for text, rule in here if _says(rule, cause.message)]
    if certain or _keyword(cause, schema):
        return tuple(dict.fromkeys(certain))
    return tuple(dict.fromkeys(text for text, rule in here if rule.get("messageExpression")))


def _says(rule: Mapping[str, Any], message: str) -> bool:
    text, own = str(rule["rule"]).strip(), str(rule.get("message") or "").strip()
    if own and message.endswith(own):
        return True
    return f"failed rule: {text}" in message or f"evaluating rule: {text}" in message


def _pointing_at(schema: Schema, steps: Steps) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each rule that complains at *steps*: declared there, or above with a ``fieldPath`` that leads there."""
    for length in range(len(steps) + 1):
        node = schema_at(schema, steps[:length])
        for rule in (node or {}).get("x-kubernetes-validations") or ():
            if fieldpaths.parse(str(rule.get("fieldPath") or "")) == steps[length:]:
                yield str(rule["rule"]).strip(), rule


def cel_rules(schema: Schema) -> Iterator[str]:
    """The text of every rule in a schema, from the top down."""
    for rule in schema.get("x-kubernetes-validations") or ():
        yield str(rule["rule"]).strip()
    for child in _children(schema):
        yield from cel_rules(child)


def _children(schema: Schema) -> Iterator[Schema]:
    yield from (schema.get("properties") or {}).values()
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), Mapping):
            yield schema[word]


def schema_at(schema: Schema, steps: Steps) -> Schema | None:
    """The part of a schema that describes the field at *steps*; None where it describes none."""
    node: Any = schema
    for step in steps:
        properties = node.get("properties") or {}
        inside = properties.get(step) or node.get("items") or node.get("additionalProperties")
        if not isinstance(inside, Mapping):
            return None
        node = inside
    return node if isinstance(node, Mapping) else None
