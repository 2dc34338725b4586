"""A class and the API server, asked about the same drawn objects and edits: neither refuses what the other takes.

An object is drawn that the definition's schema lets through, or nearly, then changed at one place, since of two
mistakes one would hide the other. The class is asked in two ways, by building the changed document and by the path
verbs; the server by a dry run of the wire form, or of the plain document where the class refused. What is the server's
alone by decision, or the class's, is excluded by ``differ``, reason by reason, as docs/decisions/0030 lists it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from labkit import waiting
from labkit.cluster import Api
from labkit.cluster.api import ApiResponse
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
    Object,
    Opaque,
    Quantity,
    ResourceError,
    SpecPathError,
    Str,
    Struct,
    Time,
    crd,
)
from labkit.resources.unions import JSON
from tests.resources.colis import GROUP, KEPT, NO_WAY_BACK, ORDERED, STATUS, kind_class, spec_class

EXAMPLES = 1000
DELETED = object()


class Wide(APIObject, group="verdict.example.com", version="v1", plural="wides"):
    """Every option that a class claims to check, on every type that takes it."""

    spec = {
        "str": Str,
        "strLength": Str(min_length=2, max_length=3),
        "strEnum": Str(enum=["a", "b", ""]),
        "strEnumNull": Str(enum=["a", None], nullable=True),
        "strPattern": Str(pattern="^[a-c]+$"),
        "strInside": Str(pattern=r"\d\w?\b", max_length=5),
        "strWords": Str(pattern=r"^(?i:ab|cd)\s?[^a-y]$"),
        "strNull": Str(nullable=True),
        "strDefault": Str(default="x", required=True),
        "int": Int,
        "intBounds": Int(minimum=-1, maximum=3),
        "intInside": Int(minimum=-1, maximum=3, exclusive_minimum=True, exclusive_maximum=True),
        "intWhole": Int(minimum=-1.0, maximum=2.0),
        "intHuge": Int(minimum=-(2**62), maximum=2**53),
        "numHuge": Num(minimum=-(2**62), maximum=2**62),
        "intEnum": Int(enum=[1, 2, 5]),
        "intNull": Int(nullable=True, minimum=1),
        "num": Num,
        "numBounds": Num(minimum=-0.5, maximum=2.5),
        "numInside": Num(minimum=-0.5, maximum=2, exclusive_minimum=True, exclusive_maximum=True),
        "numEnum": Num(enum=[0.5, 1, 2.0]),
        "bool": Bool,
        "boolNull": Bool(nullable=True),
        "either": IntOrStr,
        "eitherPattern": IntOrStr(pattern="^[a-z]+%?$"),
        "eitherLength": IntOrStr(min_length=1, max_length=2),
        "eitherEnum": IntOrStr(enum=[1, "a", "2"]),
        "quantity": Quantity,
        "quantityForm": Quantity(int_or_string=True),
        "time": Time,
        "timeNull": Time(nullable=True),
        "free": Opaque,
        "freeNull": Opaque(nullable=True),
        "json": Object(JSON),
        "rows": List(dict),
        "list": List(Str, min_items=1, max_items=2),
        "listEnum": List(Int(minimum=0), enum=[1, 2]),
        "listNull": List(Str(nullable=True)),
        "listNullable": List(Bool, nullable=True),
        "lists": List(List(Int(maximum=2), max_items=2)),
        "listOfMaps": List(Map(Num)),
        "listOfStructs": List({"x": Int(required=True), "y": Str}),
        "map": Map(Str, min_properties=1, max_properties=2),
        "mapInt": Map(Int(minimum=0, maximum=2)),
        "mapNull": Map(Int(nullable=True)),
        "mapNullable": Map(Str, nullable=True),
        "mapOfLists": Map(List(Str(pattern="^a"))),
        "maps": Map(Map(Bool)),
        "mapOfStructs": Map({"x": Int(required=True)}),
        "mapQuantity": Map(Quantity),
        "struct": Struct({"x": Int(required=True), "deep": {"z": Str(required=True, nullable=True)}}),
        "structNull": Struct({"x": Int(required=True)}, nullable=True),
        "structKept": Struct({"x": Int}, preserve_unknown=True),
        "structDefault": Struct({"x": Int(default=1), "y": Str(required=True, default="y")}, default={"y": "z"}),
    }


# In a group of its own; without the subresource status, which would let the server ignore what is in it.
Colis = kind_class(
    "v1",
    spec_class(rules=[NO_WAY_BACK], worker_rules=[ORDERED], worker_default=KEPT, longest=True),
    status=STATUS,
    **{**GROUP, "group": "verdict-colis.example.com"},
)
CLASSES: dict[str, type[APIObject]] = {"wide": Wide, "colis": Colis}

# What goes wrong at the edges of types, whatever the schema.
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 5, 97, 2.0, -0.0, 0.5, 2.5, 1e18, 1e300, 2**31, 2**53 + 1, 2**63 - 1, 2**63,
    -(2**63), -(2**63) - 1, 2**64, "", "a", "A", "ab", "é", "😀", "a\n", "\u0000", "\u212a", "1", "3", "-1", "1.5",
    "true", "maybe", "null", "1Gi", "1e3", "2.2.1", "2.2.1\n", "٣", "2024-01-15T10:30:45Z", "2024-01-15",
    "2024-02-30T00:00:00Z", [], {}, [None], ["a"], [1], [[]], [{}], {"a": None}, {"a": 1}, {"a": "b"}, {"x": None},
    {"x": 1}, {"x": "1"}, {"": 1},
]  # fmt: skip
FREE = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "", "a", 2**63]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
KEYS = st.sampled_from(["a", "b", "", "a.b/c", "é", "x"])


def near(schema: dict[str, Any]) -> SearchStrategy[Any]:  # noqa: PLR0911  (a table)
    """Values that the schema takes, but for slips at its edges."""
    kind = schema.get("type")
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return st.integers(0, 3) | _text(schema)
    if kind == "object" and "properties" in schema:
        return _object(schema)
    if kind == "object" and "additionalProperties" in schema:
        bounds = schema.get("minProperties", 0), schema.get("maxProperties", 2)
        return st.dictionaries(KEYS, near(schema["additionalProperties"]), min_size=bounds[0], max_size=bounds[1])
    if kind == "array":
        return st.lists(near(schema["items"]), min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 2))
    if kind == "object":
        return st.dictionaries(st.sampled_from("ab"), FREE, max_size=2)
    simple = {"string": _text, "integer": _integer, "number": _number, "boolean": lambda _: st.booleans()}
    return simple[kind](schema) if kind else FREE


def _text(schema: dict[str, Any]) -> SearchStrategy[str]:
    if schema.get("format") == "date-time":
        return st.sampled_from(["2024-01-15T10:30:45Z", "2024-01-15t10:30:45.5+01:00", "0000-02-29T23:59:59-00:00"])
    if "pattern" in schema:
        pattern = re.compile(schema["pattern"])
        return st.from_regex(pattern, alphabet=st.sampled_from("abcdzABmMGTiek019.+-%_ \né")).map(lambda one: one[:40])
    return st.text("aé😀1", min_size=schema.get("minLength", 0), max_size=schema.get("maxLength", 3))


def _integer(schema: dict[str, Any]) -> SearchStrategy[int]:
    return st.integers(int(schema.get("minimum", -3)), int(schema.get("maximum", 5)))


def _number(schema: dict[str, Any]) -> SearchStrategy[float]:
    least, most = schema.get("minimum", -3), schema.get("maximum", 5)
    return st.sampled_from([least, most, (least + most) / 2, int(most)])


@st.composite
def _object(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    others = [key for key in schema["properties"] if key not in required]
    chosen = draw(st.lists(st.sampled_from(others), unique=True, max_size=3)) if others else []
    return {key: draw(near(schema["properties"][key])) for key in (*required, *chosen)}


class Edit(NamedTuple):
    """*value* put at *path* of the document, or what is there taken away (DELETED)."""

    path: tuple[str | int, ...]
    value: Any

    def __repr__(self) -> str:
        return f"{list(self.path)}: {'taken away' if self.value is DELETED else json.dumps(self.value)}"

    def done(self, document: dict[str, Any]) -> dict[str, Any]:
        changed = copy.deepcopy(document)
        node: Any = changed
        for step in self.path[:-1]:
            node = node[step]
        if self.value is not DELETED:
            if isinstance(node, list) and self.path[-1] == len(node):
                node.append(self.value)
            else:
                node[self.path[-1]] = self.value
        elif self.path[-1] in (range(len(node)) if isinstance(node, list) else node):
            del node[self.path[-1]]
        return changed


def places(value: Any, schema: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The path and the schema of every place that is there or could be."""
    if path[1:]:
        yield path, schema
    if isinstance(value, dict):
        for key, one in schema.get("properties", {}).items():
            yield from places(value.get(key), one, (*path, key))
        if "additionalProperties" in schema:
            for key in (*value, "new"):
                yield from places(value.get(key), schema["additionalProperties"], (*path, key))
        elif path[1:]:
            yield (*path, "undeclared"), {}
    elif isinstance(value, list):
        for number in range(len(value) + 1):
            yield from places(value[number] if number < len(value) else None, schema.get("items", {}), (*path, number))


class Case(NamedTuple):
    """A document, a change to it, and whether it is made by path."""

    document: dict[str, Any]
    edit: Edit
    by_path: bool


@st.composite
def cases(draw: st.DrawFn, cls: type[APIObject]) -> Case:
    """Documents of *cls*, without apiVersion and kind."""
    schema = crd(cls).to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    document: dict[str, Any] = {"metadata": {"name": "x"}}
    parts = [part for part in ("spec", "status") if part in schema]
    for part in parts:
        document[part] = draw(near(schema[part]))
    found = [place for part in parts for place in places(document[part], schema[part], (part,))]
    path, there = draw(st.sampled_from(found))
    value = draw(st.sampled_from(ODD) | near(there) | st.just(DELETED))
    walkable = path[0] == "spec" and "" not in path  # an empty step is no path
    return Case(document, Edit(path, value), walkable and draw(st.booleans()))


class Verdict(NamedTuple):
    """What a class says: the *document* to ask the server about, and why it refuses it (empty if it does not)."""

    document: dict[str, Any]
    reasons: tuple[str, ...] = ()


def by_class(cls: type[APIObject], case: Case) -> Verdict:
    head = {"apiVersion": cls.api_version, "kind": str(cls.kind)}
    changed = {**head, **case.edit.done(case.document)}
    if not case.by_path:
        try:
            return Verdict(cls(changed).to_dict())
        except ResourceError as refusal:
            return Verdict(changed, tuple(map(str, refusal.problems)))
    try:
        obj = cls(case.document)
    except ResourceError as refusal:  # it was wrong before
        return Verdict({**head, **case.document}, tuple(map(str, refusal.problems)))
    before = obj.to_dict()
    path = case.edit.path[1:]
    try:
        if case.edit.value is DELETED:
            obj.spec_delete(path)
        else:
            obj.spec_set(path, case.edit.value)
    except SpecPathError as refusal:
        reasons: tuple[str, ...] = (str(refusal),)
    except ResourceError as refusal:
        reasons = tuple(map(str, refusal.problems))
    else:
        return Verdict(obj.to_dict())
    assert obj.to_dict() == before, "a refused change changed something"
    return Verdict(case.edit.done(before), reasons)


def differ(cls: type[APIObject], verdict: Verdict, answer: ApiResponse) -> bool:
    """Whether one refuses what the other takes, for a reason that decision 0030 does not list."""
    if answer.ok:
        return bool(verdict.reasons) and not all(map(_the_classes_alone, verdict.reasons))
    causes = (answer.status.get("details") or {}).get("causes") or [{}]
    return not verdict.reasons and not all(_the_servers_alone(cls, cause) for cause in causes)


def _the_classes_alone(reason: str) -> bool:
    return (
        # The server fills in the default; required="schema" is for those who leave it to the server.
        bool(re.search(r"(strDefault|structDefault\W+y|'y')\W.*is required", reason))
        # The server converts a value to the type of the enum's: 2.5 to 2, and 97 to the character "a".
        or bool(re.search(r"(numEnum|eitherEnum)\W.*Value \"(2\.5|97)\" is not one of", reason))
        # The server lets a list pass where a text has a format.
        or "expected a time, got a list" in reason
    )


def _the_servers_alone(cls: type[APIObject], cause: dict[str, Any]) -> bool:
    field, message, reason = (cause.get(key, "") for key in ("field", "message", "reason"))
    if "some validation rules were not checked" in message:  # beside another cause
        return True
    if cls is Wide:
        # An Opaque holds any JSON, but its schema says object.
        return field in ("spec.free", "spec.freeNull") and "must be of type object" in message
    condition = re.fullmatch(r"status\.conditions\[\d+\](\.type|\.status)?", field)
    return (
        (reason == "FieldValueRequired" and bool(condition and condition[1]))  # required="schema"
        or (reason == "FieldValueDuplicate" and bool(condition))  # unique keys in a list
        or (field == "spec.worker" and "dépasse" in message)  # a CEL rule
    )


@pytest.fixture(scope="module")
def collections(cluster: EmbeddedCluster) -> Iterator[tuple[Api, dict[str, str]]]:
    """Where a dry run of an object of each class is asked for."""
    definitions = {name: crd(cls).to_dict() for name, cls in CLASSES.items()}
    paths = {}
    with Api(cluster) as api:
        for name, definition in definitions.items():
            answer = api.raw("POST", DEFINITIONS, definition)
            assert answer.ok, answer.text
            plural, _, group = definition["metadata"]["name"].partition(".")
            path = f"/apis/{group}/v1/namespaces/default/{plural}"
            _until_served(api, path)
            paths[name] = f"{path}?dryRun=All&fieldValidation=Ignore"
        yield api, paths
        for definition in definitions.values():
            api.delete(f"{DEFINITIONS}/{definition['metadata']['name']}")


def _until_served(api: Api, path: str) -> None:
    def look() -> waiting.Seen[None]:
        code = api.raw("GET", path).code
        return waiting.Seen(code == 200, f"HTTP {code}")

    waiting.wait_for("the collection to be served", look, limit_s=120)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_refuses_what_the_server_refuses_and_nothing_else(
    collections: tuple[Api, dict[str, str]], name: str
) -> None:
    api, paths = collections
    cls = CLASSES[name]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(cases(cls))
    def agree(case: Case) -> None:
        verdict = by_class(cls, case)
        answer = api.raw("POST", paths[name], verdict.document)
        assert answer.ok or answer.code in (400, 422), answer.text
        if not differ(cls, verdict, answer):
            return
        how = "by path" if case.by_path else "as a whole"
        pytest.fail(
            f"{json.dumps(case.document)}\nchanged {how} at {case.edit}\n"
            f"the class: {'; '.join(verdict.reasons) or 'accepted'}\n"
            f"the server: {'accepted' if answer.ok else answer.text}",
            pytrace=False,
        )

    agree()
