"""Maps and free JSON."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from labkit.resources import (
    Bool,
    DeclarationError,
    Int,
    IntOrStr,
    Map,
    Num,
    Object,
    Opaque,
    Quantity,
    Resource,
    ResourceError,
    Str,
    Time,
    fields,
)
from labkit.resources.emission import class_schema


class Child(Resource):
    n = Int(required=True)


class Holder(Resource):
    strict = Map(Str)
    raw = Opaque()
    bare = dict
    children = Map(Object(Child))


@pytest.mark.requirement("R019", "accepts")
def test_a_string_map_writes_strings_and_keeps_what_it_got() -> None:
    class Lenient(Resource):
        values = Map(Str, lenient=True)

    assert Holder(strict={"v": 5}).to_json() == '{"strict":{"v":"5"}}'
    assert Holder(strict={"v": 5}).strict == {"v": 5}
    assert Lenient(values={"v": 5, "w": 1.5}).to_json() == '{"values":{"v":"5","w":"1.5"}}'
    assert Lenient(values={"v": 5}).to_dict() == {"values": {"v": "5"}}


@pytest.mark.requirement("R019", "refuses")
@pytest.mark.requirement("R020", "refuses")
@pytest.mark.requirement("R023", "refuses")
@pytest.mark.parametrize("value", [{}, [], True, float("nan")])
def test_a_strict_string_map_refuses_what_is_no_text(value: Any) -> None:
    with pytest.raises(ResourceError, match=r"Holder: strict\.v: ") as caught:
        Holder(strict={"v": value})
    assert caught.value.problems[0].path == ("strict", "v")


@pytest.mark.requirement("R020", "accepts")
def test_a_null_in_a_map_is_dropped_as_on_the_server() -> None:
    assert Holder(strict={"a": None, "b": "x"}).to_dict() == {"strict": {"b": "x"}}


@pytest.mark.requirement("R021", "accepts")
@pytest.mark.requirement("R022", "accepts")
@pytest.mark.requirement("R023", "accepts")
def test_a_lenient_map_keeps_containers_and_warns_once() -> None:
    class Legacy(Resource):
        values = Map(Str, lenient=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        Legacy(values={"silent": {}})
    with pytest.warns(DeprecationWarning) as caught:
        for value in ({"a": 1}, [1], True):
            assert Legacy(values={"v": value, "w": value}).to_dict() == {"values": {"v": value, "w": value}}
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "Legacy.values" in text
    assert "'v'" in text
    assert caught[0].filename == __file__


@pytest.mark.requirement("R021", "refuses")
def test_a_lenient_map_still_refuses_what_is_no_map() -> None:
    class Legacy(Resource):
        values = Map(Str, lenient=True)

    with pytest.raises(ResourceError, match="values: expected a map of Str, got a list"):
        Legacy(values=[])
    with pytest.raises(DeclarationError, match="only Map"):

        class Odd(Resource):
            values = Map(Int, lenient=True)


@pytest.mark.requirement("R024", "accepts")
def test_free_json_keeps_its_types() -> None:
    content = {"a": [1, 1.5, True, None, "x", {"b": {}}], "c": 2**60}
    assert Holder(raw=content, bare=content).to_dict() == {"raw": content, "bare": content}
    assert json.loads(Holder(raw=content).to_json()) == {"raw": content}
    assert Holder(raw=[1]).raw == [1]


@pytest.mark.requirement("R025", "refuses")
def test_opaque_takes_no_element_type() -> None:
    with pytest.raises(DeclarationError, match="'raw' of A"):

        class A(Resource):
            raw = Opaque(Str)

    with pytest.raises(DeclarationError, match="'raw' of B"):

        class B(Resource):
            raw = Opaque[Str]


MAPS: list[tuple[Any, Any, Any, Any]] = [
    (Quantity, "1Gi", "1Gi", "nope"),
    (Int, 3, 3, "3"),
    (Num, 0.5, 0.5, "x"),
    (Bool, "false", False, "maybe"),
    (Time, "2024-01-15T10:30:45Z", "2024-01-15T10:30:45Z", "today"),
    (IntOrStr, 5, 5, []),
]


@pytest.mark.requirement("R026", "accepts")
@pytest.mark.requirement("R026", "refuses")
@pytest.mark.parametrize(("kind", "good", "expected", "bad"), MAPS)
def test_a_typed_map_names_the_key_of_a_bad_value(kind: Any, good: Any, expected: Any, bad: Any) -> None:
    class Typed(Resource):
        values = Map(kind)

    assert json.loads(Typed(values={"k": good}).to_json()) == {"values": {"k": expected}}
    with pytest.raises(ResourceError, match=r"values\.two: "):
        Typed(values={"one": good, "two": bad})


@pytest.mark.requirement("R027", "accepts")
def test_brackets_spell_the_same_declaration() -> None:
    class Two(Resource):
        called = Map(Int)
        subscribed = Map[Int]

    entries = fields(Two)
    assert entries["called"].type == entries["subscribed"].type == "Map(Int)"
    with pytest.raises(ResourceError, match=r"subscribed\.a"):
        Two(subscribed={"a": "x"})


@pytest.mark.requirement("R028", "accepts")
@pytest.mark.requirement("R028", "refuses")
def test_a_map_of_objects_builds_each_value() -> None:
    made = Holder(children={"a": {"n": 1}})
    assert isinstance((made.children or {})["a"], Child)
    with pytest.raises(ResourceError, match=r"children\.b\.n: is required by Child and missing"):
        Holder(children={"a": {"n": 1}, "b": {}})


@pytest.mark.requirement("R029", "accepts")
@pytest.mark.requirement("R030", "accepts")
def test_maps_in_the_schema() -> None:
    properties = class_schema(Holder)["properties"]
    assert properties["strict"] == {"type": "object", "additionalProperties": {"type": "string"}}
    assert properties["raw"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert properties["bare"] == properties["raw"]


@pytest.mark.requirement("R031", "refuses")
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("strict", [], ("a map of Str", "a list")),
        ("children", "x", ("a map of Child", "the string 'x'")),
    ],
)
def test_a_wrong_container_says_what_was_expected_and_what_came(field: str, value: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ResourceError) as caught:
        Holder({field: value})
    assert all(word in str(caught.value) for word in ("Holder", field, *words))


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(ResourceError, match="keys of JSON are strings"):
        Holder(strict={1: "x"})
    with pytest.raises(ResourceError, match="keys of JSON are strings"):
        Holder(raw={"a": {1: "x"}})
