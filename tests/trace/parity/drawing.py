"""Random definitions, objects and changes, for what no list of cases thinks of.

A definition is drawn in two steps: a shape (types and names), then keywords on it, twice. Both results have the same
fields, so an object made under the first is nearly one of the second: what the path of an update is about. Objects are
drawn near a schema, with slips: a value at an edge of a type, a field that nobody knows, a null.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from .cases import Json, definition

NAMES = ["a", "b", "c-d", "in"]
LEAVES = ["string", "integer", "number", "boolean", "int-or-string", "free"]
TEXTS = ["", "a", "ab", "abc", "é", "1", "5%", "2024-01-15T10:30:45Z", "1h", "127.0.0.1", "aGVsbG8="]
ODD: list[Any] = [
    None, True, 0, -1, 3, 7, 1.5, 2.0, 1e300, 2**31, 2**53 + 1, 2**63 - 1, 2**63, "", "a", "abcd", "é\n", "1",
    [], {}, [None], ["a", "a"], [1, 1], [{}], {"a": None}, {"a": 1}, {"zz": {"a": 1}},
    {"kind": "K", "apiVersion": "v1"},
]  # fmt: skip


class Shape(NamedTuple):
    """A type without keywords: *kind*, and what is below it."""

    kind: str
    fields: tuple[tuple[str, Shape], ...] = ()
    inner: Shape | None = None


def shapes(depth: int = 3) -> SearchStrategy[Shape]:
    leaf = st.sampled_from(LEAVES).map(Shape)
    if not depth:
        return leaf
    below = st.deferred(lambda: shapes(depth - 1))
    fields = st.lists(st.tuples(st.sampled_from(NAMES), below), min_size=1, max_size=3, unique_by=lambda one: one[0])
    objects = fields.map(lambda found: Shape("object", tuple(found)))
    lists = below.map(lambda inner: Shape("array", inner=inner))
    maps = below.map(lambda inner: Shape("map", inner=inner))
    return st.one_of(leaf, objects, lists, maps, objects)


@st.composite
def schemas(draw: st.DrawFn, shape: Shape, *, top: bool = False) -> Json:
    """*shape* with keywords."""
    schema = draw(_MAKERS.get(shape.kind, _scalar)(shape))
    if not top and shape.kind != "free" and draw(_seldom(5)):
        schema["nullable"] = True
    if not top and draw(_seldom(3)):
        _put(schema, "default", draw(near(schema, slips=12)))
    return schema


def _seldom(times: int) -> SearchStrategy[bool]:
    return st.integers(0, times).map(lambda one: one == times)


@st.composite
def _scalar(draw: st.DrawFn, shape: Shape) -> Json:
    kind = shape.kind
    if kind == "free":
        return {"x-kubernetes-preserve-unknown-fields": True}
    schema: Json = {"x-kubernetes-int-or-string": True} if kind == "int-or-string" else {"type": kind}
    keywords = _KEYWORDS[kind]
    for key in draw(st.lists(st.sampled_from(sorted(keywords)), unique=True, max_size=2)) if keywords else ():
        schema[key] = draw(keywords[key])
    if "exclusiveMinimum" in schema:
        schema.setdefault("minimum", 0)
    if draw(_seldom(8)) and kind in _JUNCTIONS:
        schema[draw(st.sampled_from(["oneOf", "anyOf", "allOf"]))] = _JUNCTIONS[kind]
    if draw(_seldom(8)) and kind in _JUNCTIONS:
        schema["not"] = _JUNCTIONS[kind][0]
    return _ruled(draw, schema, kind)


def _ruled(draw: st.DrawFn, schema: Json, kind: str) -> Json:
    if draw(_seldom(1)):
        schema["x-kubernetes-validations"] = [copy.deepcopy(draw(st.sampled_from(_RULES[kind])))]
    return schema


@st.composite
def _of_fields(draw: st.DrawFn, shape: Shape) -> Json:
    schema: Json = {"type": "object", "properties": {name: draw(schemas(one)) for name, one in shape.fields}}
    names = [name for name, _ in shape.fields]
    if draw(_seldom(2)):
        schema["required"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    if draw(_seldom(4)):
        schema["x-kubernetes-preserve-unknown-fields"] = True
    if draw(_seldom(8)):
        schema["x-kubernetes-embedded-resource"] = True
    if draw(_seldom(6)):
        schema[draw(st.sampled_from(["maxProperties", "minProperties"]))] = draw(st.integers(0, 2))
    if draw(_seldom(6)):
        schema[draw(st.sampled_from(["oneOf", "anyOf"]))] = [{"required": [name]} for name in names]
    if draw(_seldom(1)):
        one, other = (draw(st.sampled_from(names)) for _ in range(2))
        schema["x-kubernetes-validations"] = [draw(st.sampled_from(_rules_on(one, other)))]
    return schema


@st.composite
def _of_items(draw: st.DrawFn, shape: Shape) -> Json:
    assert shape.inner is not None
    schema: Json = {"type": "array", "items": draw(schemas(shape.inner)), "maxItems": draw(st.integers(1, 4))}
    if draw(_seldom(4)):
        schema["minItems"] = 1
    if draw(_seldom(2)):
        _keyed(schema, shape.inner)
    return _ruled(draw, schema, "array")


def _keyed(schema: Json, inner: Shape) -> None:
    """The list as a set or as a map, where its items allow it."""
    items = schema["items"]
    if inner.kind == "object":
        key, of_key = inner.fields[0]
        if of_key.kind in ("string", "integer"):
            items["properties"][key] = {"type": of_key.kind}
            items["required"] = sorted({*items.get("required", ()), key})
            items.pop("nullable", None)
            schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
    elif inner.kind in ("string", "integer", "number"):
        items.pop("nullable", None)
        schema["x-kubernetes-list-type"] = "set"


@st.composite
def _of_values(draw: st.DrawFn, shape: Shape) -> Json:
    assert shape.inner is not None
    schema: Json = {"type": "object", "additionalProperties": draw(schemas(shape.inner)), "maxProperties": 3}
    if draw(_seldom(5)):
        schema["minProperties"] = 1
    return _ruled(draw, schema, "map")


_MAKERS: dict[str, Callable[[Shape], SearchStrategy[Json]]] = {
    "object": _of_fields,
    "array": _of_items,
    "map": _of_values,
}
_BOUNDS: dict[str, SearchStrategy[Any]] = {
    "minimum": st.integers(-1, 2),
    "maximum": st.integers(1, 7),
    "exclusiveMinimum": st.just(True),
    "multipleOf": st.integers(1, 3),
}
_KEYWORDS: dict[str, dict[str, SearchStrategy[Any]]] = {
    "string": {
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(1, 3),
        "pattern": st.sampled_from(["^a", "[0-9]$", "^.?$"]),
        "format": st.sampled_from(["date-time", "duration", "ipv4", "byte", "truc"]),
        "enum": st.just(["a", "ab", "1"]),
    },
    "integer": {**_BOUNDS, "enum": st.just([1, 2, 3]), "format": st.sampled_from(["int32", "int64"])},
    "number": {**_BOUNDS, "enum": st.just([1.5, 2])},
    "boolean": {"enum": st.just([True])},
    "int-or-string": {"maximum": st.integers(1, 7), "pattern": st.just("%$"), "maxLength": st.integers(1, 3)},
}
_JUNCTIONS: dict[str, list[Json]] = {
    "string": [{"pattern": "^a"}, {"maxLength": 1}],
    "integer": [{"minimum": 3}, {"multipleOf": 2}],
    "number": [{"minimum": 3}, {"maximum": 0}],
}
_ESCAPED = {"c-d": "c__dash__d", "in": "__in__"}
_GROWS = {"rule": "!oldSelf.hasValue() || self >= oldSelf.value()", "optionalOldSelf": True}
_NUMBER = [
    {"rule": "self > 0", "messageExpression": "'%d is not'.format([int(self)])"},
    {"rule": "self >= oldSelf", "message": "falls"},
    _GROWS,
    {"rule": "6 / int(self) > 0", "reason": "FieldValueForbidden"},
]
_RULES: dict[str, list[Json]] = {
    "string": [
        {"rule": "self != dyn('a')"},
        {"rule": "self == oldSelf", "message": "immutable é"},
        {"rule": "string(self) != ''", "message": "m"},
    ],
    "integer": _NUMBER,
    "number": _NUMBER,
    "boolean": [{"rule": "self || !self"}, {"rule": "self", "reason": "FieldValueRequired"}],
    "int-or-string": [{"rule": "self > 1"}, {"rule": "type(self) == string"}],
    "array": [
        {"rule": "size(self) != 2", "message": "not two"},
        {"rule": "size(self) >= size(oldSelf)"},
        {"rule": "self == oldSelf"},
    ],
    "map": [
        {"rule": "self.all(k, k != 'b')", "messageExpression": "'%d keys'.format([size(self)])"},
        {"rule": "size(self) >= size(oldSelf)"},
    ],
}


def _rules_on(one: str, other: str) -> list[Json]:
    """Rules of an object on two of its fields."""
    one, other = (f"self.{_ESCAPED.get(name, name)}" for name in (one, other))
    field = one.removeprefix("self")
    return [
        {"rule": f"has({one}) || has({other})", "message": "one of two"},
        {"rule": "self == oldSelf"},
        {"rule": f"!has(oldSelf{field}) || has({one})", "message": "it stays"},
        {"rule": f"has({one}) != has({other})", "reason": "FieldValueForbidden"},
        {"rule": f"!has({one}) || {one} == {other}"},
    ]


def _put(schema: Json, key: str, value: Json) -> None:
    if value is not None or schema.get("nullable"):
        schema[key] = value


@st.composite
def near(draw: st.DrawFn, schema: Json, slips: int = 7) -> Json:  # noqa: PLR0911  (a table)
    """A value that *schema* takes, but for a slip in about one of *slips* places."""
    if draw(_seldom(slips)):
        return draw(st.sampled_from(ODD))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if schema.get("x-kubernetes-int-or-string"):
        return draw(st.integers(0, 4) | st.sampled_from(TEXTS))
    kind = schema.get("type")
    if kind == "array":
        return draw(st.lists(near(schema["items"], slips), max_size=3))
    if kind == "object" and "properties" in schema:
        return draw(_filled(schema, slips))
    if kind == "object":
        return draw(st.dictionaries(st.sampled_from(["a", "b", "k.x/y"]), near(schema["additionalProperties"], slips)))
    simple: dict[Any, SearchStrategy[Any]] = {
        "string": st.sampled_from(TEXTS),
        "integer": st.integers(-1, 5),
        "number": st.sampled_from([0, 1, 1.5, 2.5, 4]),
        "boolean": st.booleans(),
        None: st.sampled_from(ODD),
    }
    return draw(simple[kind])


@st.composite
def _filled(draw: st.DrawFn, schema: Json, slips: int) -> Json:
    found = {}
    for name, one in schema["properties"].items():
        if draw(st.integers(0, 9)) < (9 if name in schema.get("required", ()) else 6):
            found[name] = draw(near(one, slips))
    if schema.get("x-kubernetes-embedded-resource") and not draw(_seldom(5)):
        found |= {"apiVersion": "v1", "kind": "Pod", "metadata": draw(st.sampled_from([{}, {"name": "x", "zz": 1}]))}
    if draw(_seldom(slips)):
        found["zz"] = draw(st.sampled_from(ODD))
    return found


class Pair(NamedTuple):
    """A definition and the one that takes its place, and their shared shape."""

    first: Json
    second: Json


@st.composite
def pairs(draw: st.DrawFn, group: str, plural: str) -> Pair:
    """Two definitions of one type, the second with one version more at times."""
    shape = Shape("object", draw(shapes(3).filter(lambda one: one.kind == "object")).fields)
    first, second = (draw(schemas(shape, top=True)) for _ in range(2))
    subresources: Json = {"subresources": {"status": {}}} if draw(st.booleans()) else {}
    old = definition(group, plural, {"versions": [_version("v1", first, subresources)]})
    versions = [_version("v1", second, subresources)]
    if draw(st.booleans()):
        newer = draw(st.booleans())
        versions = [{**versions[0], "storage": not newer}, _version("v2", draw(schemas(shape, top=True)), {}, newer)]
    return Pair(old, definition(group, plural, {"versions": versions}))


def _version(name: str, spec: Json, more: Json, storage: bool = True) -> Json:
    status = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    return {"name": name, "storage": storage, "schema": schema, **more}


@st.composite
def objects(draw: st.DrawFn, document: Json, version: str, name: str) -> Json:
    """An object near the schema of a *version* of a definition."""
    spec = spec_of(document, version)
    found: Json = {
        "apiVersion": f"{document['spec']['group']}/{version}",
        "kind": document["spec"]["names"]["kind"],
        "metadata": {"name": name, "namespace": "default"},
        "spec": draw(near(spec)),
    }
    if draw(_seldom(4)):
        found["status"] = draw(st.sampled_from([{"n": 1}, {"n": "x"}, {"zz": 1}]))
    if draw(_seldom(6)):
        found["metadata"]["labels"] = draw(st.sampled_from([{"a": "b"}, {"a b": "c"}, {"a": 1}]))
    return found


def spec_of(document: Json, version: str) -> Json:
    schema = next(one["schema"] for one in document["spec"]["versions"] if one["name"] == version)
    return schema["openAPIV3Schema"]["properties"]["spec"]


@st.composite
def changes(draw: st.DrawFn, live: Json, document: Json, version: str) -> Json:
    """An update of *live*, sent as *version*: a few of its fields drawn anew, so that most of it is as it was."""
    changed = copy.deepcopy({key: value for key, value in live.items() if key != "metadata"})
    names = {key: live["metadata"][key] for key in ("name", "namespace")}
    changed |= {"apiVersion": f"{document['spec']['group']}/{version}", "metadata": names}
    if draw(_seldom(3)):
        changed["metadata"] = {**names, "labels": {"a": "b"}}
    for _ in range(draw(st.integers(0, 2))):
        changed["spec"] = draw(_edited(changed.get("spec"), spec_of(document, version)))
    return changed


@st.composite
def _edited(draw: st.DrawFn, value: Json, schema: Json) -> Json:  # noqa: PLR0911  (a table)
    if draw(_seldom(5)):
        return draw(near(schema))
    if isinstance(value, dict) and schema.get("properties"):
        name = draw(st.sampled_from(sorted(schema["properties"])))
        if name not in value:
            return {**value, name: draw(near(schema["properties"][name]))}
        if draw(_seldom(5)):
            return {key: one for key, one in value.items() if key != name}
        return {**value, name: draw(_edited(value[name], schema["properties"][name]))}
    if isinstance(value, dict) and value and "additionalProperties" in schema:
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: draw(_edited(value[name], schema["additionalProperties"]))}
    if isinstance(value, list) and value and schema.get("items"):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(_edited(value[place], schema["items"])), *value[place + 1 :]]
    return draw(near(schema))
