"""Names, options, required, constraints and what is only in the schema."""

from __future__ import annotations

import re
from typing import Any

import pytest

from labkit.resources import (
    APIObject,
    Bool,
    DeclarationError,
    Int,
    List,
    Map,
    Num,
    Object,
    Quantity,
    Resource,
    ResourceError,
    SpecPathError,
    Str,
    crd,
    declare,
    fields,
    from_crd,
)
from labkit.resources.emission import class_schema


class Names(Resource):
    _ref = Str(key="$ref")
    from_ = Str(key="from")


declare(Names, "$schema", Str)
declare(Names, "x-kubernetes-foo", Int)
declare(Names, "nvidia.com/gpu", Int)
declare(Names, "3d", Bool)
declare(Names, "class", Str)


@pytest.mark.requirement("R057", "accepts")
@pytest.mark.requirement("R058", "accepts")
@pytest.mark.requirement("R059", "accepts")
@pytest.mark.requirement("R060", "accepts")
@pytest.mark.requirement("R061", "accepts")
def test_every_key_has_an_attribute_and_stays_itself_on_the_wire() -> None:
    document = {
        "$ref": "r",
        "$schema": "s",
        "x-kubernetes-foo": 1,
        "nvidia.com/gpu": 2,
        "3d": True,
        "from": "f",
        "class": "c",
    }
    made = Names.from_dict(document)
    assert (made._ref, made._schema, made.x_kubernetes_foo) == ("r", "s", 1)
    assert (made.nvidia_com_gpu, made._3d, made.from_, made.class_) == (2, True, "f", "c")
    assert made.to_dict() == document
    assert Names(**document) == made
    assert Names(_ref="r", _schema="s", x_kubernetes_foo=1, nvidia_com_gpu=2, _3d=True, from_="f", class_="c") == made


@pytest.mark.requirement("R057", "refuses")
@pytest.mark.requirement("R061", "refuses")
def test_a_document_takes_only_the_key_and_nobody_gives_both() -> None:
    assert Names.from_dict({"_ref": "r", "from_": "f"})._unknown_fields == {"_ref": "r", "from_": "f"}
    with pytest.raises(ResourceError, match=r"\$ref: is given twice"):
        Names(**{"$ref": "a", "_ref": "b"})
    with pytest.raises(DeclarationError, match="written as the attribute 'ref', not '_ref'"):

        class Wrong(Resource):
            ref = Str(key="$ref")


NINE: dict[str, Any] = {
    "required": True,
    "default": 2,
    "enum": [1, 2],
    "minimum": 0,
    "maximum": 9,
    "description": "text",
    "nullable": True,
    "preserve_unknown": True,
}


@pytest.mark.requirement("R062", "accepts")
def test_the_nine_options_are_recorded_and_emitted() -> None:
    class Nine(Resource):
        n = Int(**NINE)
        s = Str(pattern="^a$")

    entry = fields(Nine)["n"]
    assert entry.required is True
    assert dict(entry.options) == {key: value for key, value in NINE.items() if key != "required"}
    assert class_schema(Nine) == {
        "type": "object",
        "required": ["n"],
        "properties": {
            "n": {
                "type": "integer",
                "default": 2,
                "enum": [1, 2],
                "minimum": 0,
                "maximum": 9,
                "description": "text",
                "nullable": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
            "s": {"type": "string", "pattern": "^a$"},
        },
    }


@pytest.mark.requirement("R062", "refuses")
@pytest.mark.parametrize("option", ["nullable", "preserve_unknown", "description"])
def test_an_option_of_the_wrong_kind_is_refused(option: str) -> None:
    with pytest.raises(DeclarationError, match=option):

        class Odd(Resource):
            n = Int(**{option: 3})  # type: ignore[call-overload]


@pytest.mark.requirement("R064", "accepts")
def test_required_has_one_spelling() -> None:
    class C(Resource):
        n = Int(required=True)

    assert fields(C)["n"].required


@pytest.mark.requirement("R065", "accepts")
@pytest.mark.requirement("R065", "refuses")
@pytest.mark.requirement("R077", "accepts")
@pytest.mark.requirement("R077", "refuses")
@pytest.mark.requirement("R078", "accepts")
@pytest.mark.requirement("R078", "refuses")
@pytest.mark.requirement("R079", "accepts")
@pytest.mark.requirement("R079", "refuses")
def test_options_of_a_container_are_its_elements() -> None:
    class C(Resource):
        tags = List(Str, enum=["a", "b"], max_items=3)
        weights = Map(Int, maximum=100)
        labels = Map(Str, pattern="^x", description="d")

    good = {"tags": ["a", "b"], "weights": {"w": 100}, "labels": {"l": "xy"}}
    assert C(good).to_dict() == good
    assert class_schema(C)["properties"] == {
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": ["a", "b"]}},
        "weights": {"type": "object", "additionalProperties": {"type": "integer", "maximum": 100}},
        "labels": {"type": "object", "description": "d", "additionalProperties": {"type": "string", "pattern": "^x"}},
    }
    with pytest.raises(ResourceError) as caught:
        C(tags=["a", "x"], weights={"w": 101}, labels={"l": "y"})
    assert caught.value.paths == ("tags[1]", "weights.w", "labels.l")
    with pytest.raises(ResourceError, match="more than the maximum 3"):
        C(tags=["a"] * 4)


@pytest.mark.requirement("R066", "accepts")
@pytest.mark.requirement("R066", "refuses")
def test_an_enum_is_copied() -> None:
    allowed = ["a"]

    class C(Resource):
        s = Str(enum=allowed)

    allowed.append("b")
    assert fields(C)["s"].options["enum"] == ["a"]
    fields(C)["s"].options["enum"].append("c")
    assert C(s="a").s == "a"
    for value in ("b", "c"):
        with pytest.raises(ResourceError):
            C(s=value)


class Needs(Resource):
    name = Str(required=True)
    schema_only = Str(required="schema")
    truthy = Str(required=1)  # type: ignore[call-overload]


class Outer(Resource):
    needs = Object(Needs)


@pytest.mark.requirement("R067", "accepts")
@pytest.mark.requirement("R068", "accepts")
@pytest.mark.requirement("R069", "accepts")
@pytest.mark.requirement("R070", "accepts")
@pytest.mark.requirement("R143", "accepts")
def test_required_is_recorded_and_schema_is_not_enforced() -> None:
    made = Needs(name="a", truthy="b")
    assert made.to_dict() == {"name": "a", "truthy": "b"}
    assert class_schema(Needs)["required"] == ["name", "schema_only", "truthy"]
    assert {key: (one.required, one.enforced) for key, one in fields(Needs).items()} == {
        "name": (True, True),
        "schema_only": (True, False),
        "truthy": (True, True),
    }


@pytest.mark.requirement("R067", "refuses")
@pytest.mark.requirement("R070", "refuses")
@pytest.mark.parametrize(
    "route", [lambda: Needs(name="a"), lambda: Needs.from_dict({"name": "a"}), lambda: Needs(name="a", truthy=None)]
)
def test_a_missing_required_field_is_refused(route: Any) -> None:
    with pytest.raises(ResourceError, match="Needs: truthy: is required by Needs and missing"):
        route()
    with pytest.raises(ResourceError, match=r"needs\.truthy: is required"):
        Outer(needs={"name": "a"})


@pytest.mark.requirement("R071", "accepts")
@pytest.mark.requirement("R071", "refuses")
def test_none_for_a_required_field_is_refused_and_the_value_kept() -> None:
    made = Needs(name="a", truthy="b")
    with pytest.raises(ResourceError, match="name: is required"):
        made.name = None  # type: ignore[assignment]
    with pytest.raises(ResourceError, match="name: is required"):
        del made.name
    assert made.name == "a"
    made.name = "c"
    assert made.name == "c"


@pytest.mark.requirement("R072", "accepts")
def test_a_class_read_from_a_definition_requires_in_the_schema_only() -> None:
    class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
        spec = {"name": Str(required=True)}

    read = from_crd(crd(Kind).to_dict())["v1"]
    assert read(spec={}).to_dict()["spec"] == {}
    assert read.from_dict({"spec": {}}).to_dict()["spec"] == {}


class Bounds(APIObject, group="a.example.com", version="v1", plural="bounds"):
    spec = {
        "kind": Str(enum=["a", "b"]),
        "n": Int(minimum=0, maximum=10),
        "x": Num(minimum=0.5, exclusive_minimum=True),
        "s": Str(pattern="^[a-z]+$"),
        "size": Quantity(enum=["1Gi", "2Gi"]),
        "short": Str(min_length=1, max_length=2),
        "map": Map(Int, maximum=5),
        "list": List(Int, minimum=1),
    }


CASES: list[tuple[str, Any, Any, str]] = [
    ("kind", "a", "x", 'Value "x" is not one of: a, b'),
    ("n", 0, -1, 'Value "-1" is below the minimum 0'),
    ("n", 10, 11, 'Value "11" is above the maximum 10'),
    ("s", "abc", "x1", 'Value "x1" does not match the pattern ^[a-z]+$'),
    ("size", "1Gi", "3Gi", 'Value "3Gi" is not one of: 1Gi, 2Gi'),
    ("x", 0.6, 0.5, 'Value "0.5" is not above the minimum 0.5'),
    ("short", "éé", "", "shorter than the minimum length 1"),
    ("short", "a", "abc", "longer than the maximum length 2"),
]


@pytest.mark.requirement("R073", "accepts")
@pytest.mark.requirement("R073", "refuses")
@pytest.mark.requirement("R074", "accepts")
@pytest.mark.requirement("R074", "refuses")
@pytest.mark.requirement("R075", "accepts")
@pytest.mark.requirement("R075", "refuses")
@pytest.mark.requirement("R076", "accepts")
@pytest.mark.requirement("R076", "refuses")
@pytest.mark.requirement("R082", "refuses")
@pytest.mark.requirement("R083", "accepts")
@pytest.mark.requirement("R083", "refuses")
@pytest.mark.parametrize(("field", "good", "bad", "message"), CASES)
def test_constraints_hold_on_every_route(field: str, good: Any, bad: Any, message: str) -> None:
    obj = Bounds(spec={field: good})
    assert obj.to_dict()["spec"] == {field: good}
    setattr(obj.spec, field, good)
    obj.spec_set(field, good)
    with pytest.raises(ResourceError, match=rf"spec\.{field}: .*{re.escape(message)}"):
        Bounds(spec={field: bad})
    with pytest.raises(ResourceError, match=re.escape(message)):
        setattr(obj.spec, field, bad)
    with pytest.raises(SpecPathError, match=re.escape(message)):
        obj.spec_set(field, bad)
    assert obj.to_dict()["spec"] == {field: good}


@pytest.mark.requirement("R083", "refuses")
def test_constraints_hold_for_element_writes() -> None:
    obj = Bounds(spec={"map": {"a": 1}, "list": [1]})
    for path, value in (("map.b", 6), ("list.0", 0), ("list.-1", 0)):
        with pytest.raises(SpecPathError, match=r"below the minimum|above the maximum"):
            obj.spec_set(path, value)
    with pytest.raises(SpecPathError, match="cannot push onto 'list'"):
        obj.spec_push("list", 2, 0)
    assert obj.to_dict()["spec"] == {"map": {"a": 1}, "list": [1]}


@pytest.mark.requirement("R080", "accepts")
def test_an_absent_optional_field_is_not_constrained() -> None:
    assert Bounds(spec={"n": None}).to_dict()["spec"] == {}


@pytest.mark.requirement("R081", "refuses")
def test_the_type_is_told_before_the_constraint() -> None:
    with pytest.raises(ResourceError) as caught:
        Bounds(spec={"n": "x"})
    assert str(caught.value) == "Bounds: spec.n: expected an integer, got the string 'x'"


@pytest.mark.requirement("R084", "refuses")
def test_all_problems_come_together_in_the_order_of_the_document() -> None:
    with pytest.raises(ResourceError) as caught:
        Bounds(spec={"s": "1", "n": 50, "kind": "x", "list": [1, "x"]})
    assert caught.value.paths == ("spec.s", "spec.n", "spec.kind", "spec.list[1]")
    assert caught.value.problems[1].value == "50"
    assert str(caught.value).startswith("Bounds: 4 problems\n  spec.s: Value")


@pytest.mark.requirement("R085", "accepts")
@pytest.mark.requirement("R085", "refuses")
def test_patterns_are_re2_and_searched() -> None:
    class C(Resource):
        digits = Str(pattern=r"^\d+$")
        inside = Str(pattern="b")
        compiled = Str(pattern=re.compile("^A$", re.IGNORECASE))

    assert C(digits="12", inside="abc", compiled="a").to_dict() == {"digits": "12", "inside": "abc", "compiled": "a"}
    assert class_schema(C)["properties"]["compiled"]["pattern"] == "(?i)^A$"
    for field, value in (("digits", "12\n"), ("digits", "١٢"), ("inside", "ac"), ("compiled", "b")):
        with pytest.raises(ResourceError, match="does not match the pattern"):
            C({field: value})


class Defaults(Resource):
    n = Int(default=3, description="d", preserve_unknown=True)
    b = Bool(default="false")
    nested = {"x": Int(default=1)}
    objects = List({"x": Int}, default=[{"x": 1}])


@pytest.mark.requirement("R086", "accepts")
@pytest.mark.requirement("R087", "accepts")
def test_defaults_and_descriptions_are_the_schemas() -> None:
    assert Defaults().n is None
    assert Defaults().to_dict() == {}
    assert Defaults(n=5).to_dict() == {"n": 5}


@pytest.mark.requirement("R088", "accepts")
@pytest.mark.requirement("R089", "accepts")
def test_the_schema_has_a_copy_of_the_default_in_wire_form() -> None:
    properties = class_schema(Defaults)["properties"]
    assert properties["b"]["default"] is False
    properties["objects"]["default"].append(1)
    assert class_schema(Defaults)["properties"]["objects"]["default"] == [{"x": 1}]
