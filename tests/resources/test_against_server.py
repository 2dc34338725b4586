"""What is said here against what a real API server says: definitions, patterns and values, each by a dry run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import waiting
from labkit.cluster import Api
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.resources import (
    APIObject,
    Bool,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Quantity,
    ResourceError,
    Str,
    Struct,
    Time,
    crd,
)
from labkit.resources.checks import problems_of
from labkit.resources.patterns import PatternError, compile_pattern
from tests.resources.colis import GROUP, kind_class
from tests.resources.test_emission import GOLDENS, MISTAKES
from tests.resources.test_patterns import MATCHES, REFUSED


@pytest.fixture(scope="module")
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


def causes(api: Api, document: dict[str, Any]) -> list[tuple[str, str]]:
    """The server's problems with a definition, sorted; none if it accepts."""
    answer = api.raw("POST", f"{DEFINITIONS}?dryRun=All", document)
    if answer.ok:
        return []
    return sorted((cause["field"], cause["message"]) for cause in answer.status["details"]["causes"])


def local(document: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((str(problem.path[0]), problem.message) for problem in problems_of(document))


@pytest.mark.parametrize(("facts", "fields", "path", "text"), MISTAKES)
def test_structural_mistakes_are_told_word_for_word(api: Api, facts: Any, fields: Any, path: str, text: str) -> None:
    cls = kind_class("v1", Struct(fields or {"ok": Str}), **{**GROUP, **facts})
    document = crd(cls, check=False).to_dict()
    said = causes(api, document)
    assert said == local(document)
    assert any(field == path and text in message for field, message in said)


TEXT: dict[str, Any] = {"type": "string"}
KEYED = {"type": "object", "required": ["k"], "properties": {"k": TEXT}}
EITHER = [{"type": "integer"}, {"type": "string"}]
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"


def ruled(**rule: Any) -> dict[str, Any]:
    properties = {"q": TEXT, "a.b": TEXT, "a-b": TEXT}
    return {"type": "object", "properties": properties, "x-kubernetes-validations": [{"rule": "true", **rule}]}


# Schemas of one field, right and wrong. What is right here matters as much: it must not be refused before it is sent.
SCHEMAS: list[dict[str, Any]] = [
    {}, {"type": "null"}, {"type": "array"}, {"type": "array", "items": {}}, {"type": "array", "items": [TEXT]},
    {**TEXT, "uniqueItems": True}, {"type": "string", "$schema": "x"}, {**TEXT, "$ref": "x"}, {**TEXT, "id": "x"},
    {"type": "object", "definitions": {}}, {"type": "object", "dependencies": {}}, {**TEXT, "enum": []},
    {"type": "object", "additionalProperties": True, "properties": {"q": TEXT}},
    {"type": "object", "additionalProperties": TEXT, "properties": {"q": TEXT}},
    {"type": "object", PRESERVE: False, "properties": {"q": {}}}, {INT_OR_STRING: True, PRESERVE: True},
    *({INT_OR_STRING: True, "anyOf": one} for one in (EITHER, EITHER[::-1])),
    {INT_OR_STRING: True, "allOf": [{"anyOf": EITHER}, {"pattern": "x"}]}, {**TEXT, "allOf": [TEXT]},
    *({"type": "object", "properties": {"q": TEXT}, "anyOf": [one]} for one in (
        {"properties": {"q": {"minLength": 1}}}, {"properties": {"w": {"minLength": 1}}}, {"items": {"minLength": 1}},
        {"description": "x", "title": "x", "default": 1, "nullable": True, PRESERVE: True, EMBEDDED: True},
        {"additionalProperties": True}, {"additionalProperties": False}, {"x-kubernetes-list-map-keys": ["a"]},
        {"x-kubernetes-validations": [{"rule": "true"}]}, {"not": {"properties": {"w": {}}}}, {"pattern": "["},
        {"properties": {"metadata": {}}}, {"required": ["q"]},
    )),
    *({"type": "object", EMBEDDED: True, **one} for one in (
        {}, {PRESERVE: True}, {"additionalProperties": TEXT}, {INT_OR_STRING: True},
        {"properties": {"kind": {"type": "integer"}, "apiVersion": {}, "metadata": TEXT}},
        {"properties": {"metadata": {"type": "object", "additionalProperties": {**TEXT, "default": "x"}}}},
        {"properties": {"metadata": {"type": "object", "properties": {"q": {"type": "object", EMBEDDED: True}}}}},
    )),
    {**TEXT, EMBEDDED: True}, {**TEXT, "x-kubernetes-map-type": "atomic"},
    {"type": "object", "x-kubernetes-map-type": "zip"},
    *({"type": "array", "x-kubernetes-list-type": "set", "items": one} for one in (
        {"type": "object", "properties": {"q": TEXT}}, {"type": "object", "x-kubernetes-map-type": "atomic"},
        {"type": "array", "items": TEXT}, {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
        {**TEXT, "nullable": True},
    )),
    *({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items}
      for keys, items in (
        (["k"], KEYED), (["k", "k"], KEYED), (["k", "z"], KEYED), ([], KEYED), (["k"], {**KEYED, "nullable": True}),
        (["k"], {"type": "object", "properties": {"k": {**TEXT, "nullable": True, "default": "x"}}}),
        (["k"], {**KEYED, "properties": {"k": {"type": "array", "items": TEXT}}}), (["k"], TEXT),
    )),
    *({**TEXT, "x-kubernetes-list-type": one} for one in ("set", "zip")),
    {"type": "array", "items": TEXT, "x-kubernetes-list-map-keys": ["k"]},
    *(ruled(fieldPath=one) for one in (
        "", "  ", "q", ".q", ".q\n", ".nope", "['a.b']", ".a-b", ".a-b.", "[0]", "['a.b'", "[q]",
    )),
    ruled(message="a\nb"), ruled(message=" "), ruled(rule="true\n&& true"), ruled(reason="x", messageExpression=" "),
    {"type": "object", "additionalProperties": TEXT, "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".z"}]},
]  # fmt: skip
# Schemas with a default that fits, or does not.
DEFAULTS: list[tuple[dict[str, Any], Any]] = [
    *((TEXT, one) for one in (5, None)), ({**TEXT, "nullable": True}, None), ({**TEXT, "enum": ["a"]}, 5),
    *(({**TEXT, "maxLength": 1}, one) for one in ("a", "é", "éé")), ({**TEXT, "minLength": 4}, "bbb"),
    ({**TEXT, "format": "date-time"}, "x"), ({**TEXT, "format": "date-time"}, "2024-01-01T00:00:00Z"),
    *(({**TEXT, "oneOf": [{"enum": ["x"]}, {"maxLength": 3}]}, one) for one in ("x", "y", "long")),
    *(({**TEXT, "allOf": [{"enum": ["x"]}, {"minLength": 3}]}, one) for one in ("x", "y")),
    ({**TEXT, "anyOf": [{"enum": ["y"]}]}, "x"), ({**TEXT, "not": {"enum": ["x"]}}, "x"), ({"type": "boolean"}, "true"),
    *(({"type": "integer", "minimum": 3, "multipleOf": 2}, one) for one in (2, 3, 4, 4.0, 4.5)),
    *(({"type": "number", "maximum": 2.5, "exclusiveMaximum": True}, one) for one in (2.5, 2.75, 2)),
    ({"type": "number", "multipleOf": 0.1}, 0.3), ({"type": "integer", "enum": [1, 2]}, 3), ({PRESERVE: True}, [1]),
    *(({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 1}, one) for one in ([], ["a", "b"], [None, 5])),
    *(({"type": "object", "additionalProperties": TEXT, "minProperties": 2, "maxProperties": 1}, one)
      for one in ({}, {"a": "b", "c": "d"}, {"a": 1})),
    ({"type": "object", "additionalProperties": False}, {"a": 1}), ({"type": "object"}, {"a": 1}),
    ({"type": "object", "additionalProperties": KEYED}, {"a": {"k": 5}, "b": {}, "c": {"k": "x", "z": 1}}),
    ({"type": "object", "properties": {"q": KEYED}}, {"q": {}}), ({"type": "array", "items": KEYED}, [{"z": 1}]),
    ({"type": "object", "additionalProperties": {"type": "object", "properties": {"z": {**TEXT, "default": 5}}}}, {}),
    ({"type": "object", "properties": {"z": {**TEXT, "default": 5}}}, {}),
    *(({"type": "object", EMBEDDED: True, PRESERVE: True}, one) for one in (
        {"a": 1}, {"apiVersion": "v1", "kind": "X", "a": 1},
    )),
]  # fmt: skip
NARROWED: list[dict[str, Any]] = [
    {"x-kubernetes-map-type": "atomic"}, {"minProperties": 1}, {"anyOf": [{"required": ["spec"]}]}, {"maxItems": 3},
    {"description": "x", PRESERVE: True}, {"type": "array", "items": TEXT},
]  # fmt: skip
METADATA: list[dict[str, Any]] = [
    *({"type": "object", **one} for one in (
        {"properties": {"name": {**TEXT, "maxLength": 5}}}, {"properties": {"labels": {"type": "object"}}},
        {"description": "x"}, {"required": ["name"]}, {"default": {}}, {"minProperties": 1},
        {"properties": {"name": {**TEXT, "default": "x"}}},
    )),
    TEXT, {},
]  # fmt: skip
HOOK = {"clientConfig": {"url": "https://x.y/z"}, "conversionReviewVersions": ["v1"]}
CONVERSIONS: list[dict[str, Any]] = [
    {"strategy": "Foo"}, {"strategy": "None"}, {"strategy": "None", "webhook": HOOK}, {"strategy": "Webhook"},
    *({"strategy": "Webhook", "webhook": {**HOOK, **one}} for one in (
        {}, {"conversionReviewVersions": []}, {"conversionReviewVersions": ["v3"]}, {"clientConfig": None},
        {"conversionReviewVersions": ["v1", "v1", "V"]}, {"clientConfig": {}}, {"clientConfig": {"url": "http://x.y"}},
        {"clientConfig": {"url": "https://u:p@x.y/z?q=1#f"}}, {"clientConfig": {"url": "https:///z"}},
        {"clientConfig": {"service": {"name": "", "namespace": "", "port": 99999}}},
    )),
]  # fmt: skip


def defined(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A definition with that schema at its root; *more* goes to its version, or (conversion, names) to its spec."""
    document = crd(kind_class("v1", Struct({"ok": Str}), **GROUP)).to_dict()
    spec = document["spec"]
    spec["names"] |= more.pop("names", {})
    spec |= {"conversion": more.pop("conversion")} if "conversion" in more else {}
    spec["versions"] = [{**spec["versions"][0], "schema": {"openAPIV3Schema": schema}, **more}]
    return document


def with_field(field: dict[str, Any], **more: Any) -> dict[str, Any]:
    return defined({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}}, **more)


OTHERS = [
    *(with_field(TEXT, selectableFields=[{"jsonPath": path}])
      for path in (".spec.a", ".spec['a']", "spec.a", "", ".spec")),
    with_field({"type": "object", "additionalProperties": TEXT}, selectableFields=[{"jsonPath": ".spec.a.k"}]),
    with_field(TEXT, selectableFields=[{"jsonPath": ".spec.a"}] * 2),
    *(defined({"type": "object", "properties": {"metadata": one}}) for one in METADATA),
    *(defined({"type": "object", "properties": {one: {"type": "integer"}}}) for one in ("kind", "apiVersion")),
    *(defined(one) for one in ({}, {"type": "array", "items": TEXT}, {"type": "object", "nullable": True})),
    defined({"type": "object", "additionalProperties": TEXT}),
    *(with_field(TEXT, conversion=one) for one in CONVERSIONS),
    *(with_field(TEXT, names=one) for one in ({"kind": "F" * 64}, {"singular": "Foo"}, {"categories": ["A B"]})),
    *(with_field(TEXT, deprecated=True, deprecationWarning=one) for one in ("", "é" * 200, "é\nb", "x" * 257 + "\n")),
    with_field(TEXT, subresources={"scale": {"specReplicasPath": "", "statusReplicasPath": "status.a"}}),
]  # fmt: skip


@pytest.mark.parametrize("field", [*SCHEMAS, *({**pair[0], "default": pair[1]} for pair in DEFAULTS)], ids=json.dumps)
def test_a_schema_is_judged_word_for_word_as_the_server_judges_it(api: Api, field: dict[str, Any]) -> None:
    document = with_field(field)
    assert local(document) == causes(api, document)


@pytest.mark.parametrize("document", OTHERS)
def test_what_is_around_schemas_is_judged_so_too(api: Api, document: dict[str, Any]) -> None:
    assert local(document) == causes(api, document)


@pytest.mark.parametrize("root", NARROWED, ids=json.dumps)
def test_what_status_forbids_at_the_root_is_told_at_the_servers_path(api: Api, root: dict[str, Any]) -> None:
    document = defined({"type": "object", **root}, subresources={"status": {}})
    paths = [path for path, _ in causes(api, document)]
    assert [path for path, _ in local(document)] == paths


@pytest.mark.parametrize("name", [name for name in GOLDENS if not name.startswith("03-")])
def test_the_chapters_definitions_are_judged_alike(api: Api, name: str) -> None:
    document = GOLDENS[name]().to_dict()  # those of 03 fail for their rules, which are the server's alone
    assert causes(api, document) == local(document)


def test_patterns_are_refused_in_the_servers_words(api: Api) -> None:
    fields = {f"p{number}": Str(verbatim={"pattern": pattern}) for number, (pattern, _) in enumerate(REFUSED)}
    document = crd(kind_class("v1", Struct(fields), **GROUP), check=False).to_dict()
    assert causes(api, document) == local(document)


class Value(APIObject, group="values.example.com", version="v1", plural="values"):
    spec = {
        "e": Str(enum=["a"], nullable=True),
        "en": Str(enum=["a", None], nullable=True),
        "n": Int(exclusive_minimum=True, minimum=-1),
        "num": Num(minimum=2.5),
        "s": Str(),
        "null": Str(nullable=True),
        "l": List(Str(nullable=True)),
        "ls": List(Str, min_items=1, max_items=2),
        "m": Map(Int, max_properties=1),
        "p": IntOrStr(pattern="^[a-z]+$"),
        "t": Time(),
        "b": Bool(),
        "short": Str(max_length=2),
        "q": Quantity(),
        "o": {"x": Int(required=True)},
        **{f"p{number}": Str(pattern=pattern) for number, (pattern, _, _) in enumerate(MATCHES)},
    }


VALUES: list[dict[str, Any]] = [
    *({"e": value} for value in (None, "a", "b")),
    *({"en": value} for value in (None, "a", "b")),
    *({"n": value} for value in (3.0, -1, 0, 2**63, 2**63 - 1, 1e18, -0.0, 1.5, "3", True)),
    *({"num": value} for value in (2, 1, 2.4, 2.5, 1e308)),
    *({"s": value} for value in (None, "", "é😀", 5, "\u0000")),
    *({"null": value} for value in (None, "x")),
    *({"l": value} for value in ([None], ["a", None], [], [1], "x")),
    *({"ls": value} for value in ([], ["a"], ["a", "b", "c"], [None])),
    *({"m": value} for value in ({"a": None}, {"a": 1}, {"a": 1, "b": 2}, {"a": "1"}, [])),
    *({"p": value} for value in (5, "a", "A", True, 1.5)),
    *(
        {"t": f"2024-01-15{rest}"}
        for rest in ("", "t10:30:45z", "T10:30:60Z", "T10:30:45+99:99", "T10:30:45.Z", " 10:30:45Z")
    ),
    *({"t": f"{day}T00:00:00Z"} for day in ("0000-01-01", "2023-02-29", "2024-13-01")),
    *({"b": value} for value in (True, "maybe", 2)),
    *({"short": value} for value in ("éé", "😀😀", "abc")),
    *({"q": value} for value in ("12e6.5", "1E", "1ki", "", 5)),
    *({"o": value} for value in ({}, {"x": 1}, {"x": None}, {"x": 1, "y": 2})),
    *({f"p{n}": value} for n, (_, found, missed) in enumerate(MATCHES) for value in (*found, *missed)),
]


@pytest.fixture(scope="module")
def values(api: Api) -> Iterator[str]:
    """The path of the collection of Value, served."""
    answer = api.raw("POST", DEFINITIONS, crd(Value).to_dict())
    assert answer.ok, answer.text
    path = "/apis/values.example.com/v1/namespaces/default/values"

    def look() -> waiting.Seen[None]:
        code = api.raw("GET", path).code
        return waiting.Seen(code == 200, f"HTTP {code}")

    waiting.wait_for("the collection to be served", look, limit_s=120)
    yield path
    api.delete(f"{DEFINITIONS}/values.values.example.com")


def test_every_value_is_judged_as_the_server_judges_its_wire_form(api: Api, values: str) -> None:
    differing = []
    for spec in VALUES:
        try:
            wire = Value(metadata={"name": "x"}, spec=spec).to_dict()
            accepted_here = True
        except ResourceError:
            wire = {"apiVersion": Value.api_version, "kind": "Value", "metadata": {"name": "x"}, "spec": spec}
            accepted_here = False
        answer = api.raw("POST", f"{values}?dryRun=All", wire)
        if answer.ok != accepted_here:
            differing.append((spec, accepted_here, answer.text[:200]))
    # A Str takes a number and writes it as text, a Bool and a Quantity take more spellings: there is no wire to differ.
    assert differing == []


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in REFUSED])
def test_the_cases_of_the_patterns_are_decided_here(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(json.loads(json.dumps(pattern)))
