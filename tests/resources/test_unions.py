"""The four JSON unions: as values, and as places on a path."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.resources import (
    JSON,
    APIObject,
    Int,
    List,
    Object,
    Resource,
    ResourceError,
    SchemaOrArray,
    SchemaOrBool,
    SchemaOrStringArray,
    SpecPathError,
    strict,
)
from labkit.resources.apiextensions import JSONSchemaProps


class Holder(Resource):
    any = Object(JSON)
    values = List(Object(JSON))
    items = Object(SchemaOrArray)
    more = Object(SchemaOrBool)
    needs = Object(SchemaOrStringArray)


class Chart(APIObject, group="helm.cattle.io", version="v1", plural="helmcharts"):
    spec = {"values": JSON, "schema": JSONSchemaProps}


ANYTHING: list[Any] = [[1, 2], {"a": 1}, "x", 3, False, 0, "", [], {}]


@pytest.mark.requirement("R048", "accepts")
@pytest.mark.parametrize(
    ("union", "value"),
    [
        (JSON, {"a": [1]}),
        (JSON, False),
        (SchemaOrArray, {"type": "string"}),
        (SchemaOrArray, [{"type": "string"}, {}]),
        (SchemaOrBool, True),
        (SchemaOrBool, {"type": "string"}),
        (SchemaOrStringArray, ["a", "b"]),
        (SchemaOrStringArray, {"type": "string"}),
    ],
)
def test_a_union_writes_the_bare_value(union: Any, value: Any) -> None:
    assert union(value).to_dict() == value
    assert union.from_struct(value) == union(value)


@pytest.mark.requirement("R048", "refuses")
@pytest.mark.parametrize(
    ("union", "value"),
    [(JSON, {1}), (JSON, float("nan")), (SchemaOrArray, "x"), (SchemaOrBool, [{}]), (SchemaOrStringArray, [1])],
)
def test_what_no_arm_takes_is_refused(union: Any, value: Any) -> None:
    with pytest.raises(ResourceError):
        union(value)


@pytest.mark.requirement("R049", "accepts")
@pytest.mark.parametrize("value", ANYTHING)
def test_a_json_field_takes_any_json_on_every_route(value: Any) -> None:
    assigned = Holder()
    assigned.any = value
    chart = Chart().spec_set("values", value)
    for made in (Holder(any=value), Holder.from_dict({"any": value}), assigned):
        assert isinstance(made.any, JSON)
        assert made.to_dict() == {"any": value}
    assert chart.to_dict()["spec"] == {"values": value}


@pytest.mark.requirement("R049", "refuses")
def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ResourceError, match=r"any\.a\[0\]: is nan"):
        Holder(any={"a": [float("nan")]})
    with pytest.raises(ResourceError, match="which is not JSON"):
        Chart().spec_set("values", {"a": {1, 2}})


@pytest.mark.requirement("R050", "accepts")
@pytest.mark.requirement("R190", "accepts")
def test_elements_are_union_objects_and_take_any_json() -> None:
    made = Holder(values=["small", 3, None, {"a": 1}])
    assert [type(one) for one in made.values or ()] == [JSON, JSON, type(None), JSON]
    assert made.to_dict() == {"values": ["small", 3, None, {"a": 1}]}
    chart = Chart().spec_push("schema.enum", "small", 3, {"a": 1}).spec_set("schema.enum.0", ["large"])
    assert chart.to_dict()["spec"]["schema"] == {"enum": [["large"], 3, {"a": 1}]}


@pytest.mark.requirement("R051", "accepts")
@pytest.mark.requirement("R052", "accepts")
def test_a_union_object_is_kept_and_none_is_no_value() -> None:
    union = JSON([1])
    made = Holder(any=union)
    assert made.any is union
    assert Holder(any=None).to_dict() == {}
    made.any = None
    assert made.to_dict() == {}


@pytest.mark.requirement("R053", "refuses")
def test_a_scalar_for_the_schema_arm_fails_as_reading_does() -> None:
    with pytest.raises(ResourceError) as built:
        Holder(items="x")
    with pytest.raises(ResourceError) as read:
        Holder.from_dict({"items": "x"})
    assert (
        str(built.value)
        == str(read.value)
        == ("Holder: items: expected an object of class JSONSchemaProps, got the string 'x'")
    )


@pytest.mark.requirement("R054", "accepts")
def test_an_empty_list_is_the_array_arm() -> None:
    assert Holder(items=[], needs=[]).to_dict() == {"items": [], "needs": []}


@pytest.mark.requirement("R055", "accepts")
def test_the_boolean_arm_stays_boolean() -> None:
    assert Holder(more=False).to_dict() == {"more": False}
    assert Holder(more=SchemaOrBool()).to_dict() == {"more": True}


@pytest.mark.requirement("R056", "accepts")
def test_a_full_schema_comes_back_equal() -> None:
    schema = {
        "$schema": "s",
        "$ref": "#/x",
        "type": "object",
        "description": "d",
        "default": {"a": [1]},
        "example": None,
        "enum": ["a", None, 3, {"x": 1}],
        "minimum": 1,
        "maximum": 2.5,
        "exclusiveMinimum": True,
        "multipleOf": 0.5,
        "items": [{"type": "string"}, {}],
        "allOf": [{"not": {"type": "null"}}],
        "properties": {"x-y": {"additionalProperties": False}, "z": {"additionalProperties": {"type": "integer"}}},
        "dependencies": {"a": ["b"], "c": {"type": "string"}},
        "required": ["z"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-validations": [{"rule": "self.a", "message": "m"}],
        "x-kubernetes-unheard-of": {"a": 1},
    }
    assert JSONSchemaProps.from_dict(schema).to_dict() == schema
    assert JSONSchemaProps.from_json(JSONSchemaProps(schema).to_json()).to_dict() == schema
    assert JSONSchemaProps(schema)._ref == "#/x"


@pytest.mark.requirement("R186", "accepts")
def test_a_path_walks_into_a_json_value() -> None:
    chart = Chart().spec_set("values.replicaCount", 3).spec_set("values.list.-1", "a").spec_set("values.list.-1", "b")
    assert chart.to_dict()["spec"] == {"values": {"replicaCount": 3, "list": ["b"]}}
    assert chart.spec_get("values.list.0") == "b"
    assert chart.spec_get("values.replicaCount.deeper") is None


@pytest.mark.requirement("R186", "refuses")
def test_a_scalar_inside_a_json_value_ends_the_walk() -> None:
    chart = Chart(spec={"values": {"replicaCount": 3}})
    with pytest.raises(SpecPathError, match="scalar field 'replicaCount'"):
        chart.spec_set("values.replicaCount.deeper", 1)


@pytest.mark.requirement("R187", "accepts")
@pytest.mark.requirement("R187", "refuses")
def test_a_path_walks_into_the_arm_in_use() -> None:
    chart = Chart(spec={"schema": {"items": [{"type": "string"}], "additionalProperties": True}})
    chart.spec_set("schema.items.0.type", "integer").spec_push("schema.items", {"type": "boolean"})
    assert chart.spec_get("schema.items.1").type == "boolean"
    assert isinstance(chart.spec_get("schema.items.1"), JSONSchemaProps)
    with pytest.raises(SpecPathError, match="expected an object of class JSONSchemaProps"):
        chart.spec_push("schema.items", "x")
    with pytest.raises(SpecPathError, match="scalar field 'additionalProperties'"):
        chart.spec_set("schema.additionalProperties.type", "string")
    chart.spec_set("schema.dependencies.a", ["b"])
    for number in (5, 5.5j):
        with pytest.raises(SpecPathError, match="expected a string"):
            chart.spec_push("schema.dependencies.a", number)
        with pytest.raises(SpecPathError, match="expected a string"):
            chart.spec_set("schema.dependencies.a.0", number)


@pytest.mark.requirement("R188", "accepts")
def test_an_unset_union_is_built_as_the_next_segment_asks() -> None:
    chart = Chart().spec_set("schema.items.type", "string").spec_set("schema.not.items.-1.type", "string")
    chart.spec_set("schema.additionalProperties.type", "integer")
    assert chart.to_dict()["spec"]["schema"] == {
        "items": {"type": "string"},
        "not": {"items": [{"type": "string"}]},
        "additionalProperties": {"type": "integer"},
    }


@pytest.mark.requirement("R188", "refuses")
def test_a_union_without_an_array_arm_stores_nothing() -> None:
    chart = Chart(spec={"schema": {}})
    with pytest.raises(SpecPathError, match="cannot hold an array"):
        chart.spec_set("schema.additionalProperties.0", 1)
    with pytest.raises(SpecPathError, match="cannot hold an array"):
        chart.spec_array("schema.additionalProperties")
    assert chart.to_dict()["spec"] == {"schema": {}}


@pytest.mark.requirement("R189", "accepts")
def test_a_union_field_at_the_end_of_a_path() -> None:
    chart = Chart().spec_set("values", {"a": 1})
    union = chart.spec_get("values")
    assert isinstance(union, JSON)
    assert chart.spec_hash("values") is union.value
    chart.spec_hash("values")["debug"] = 1
    assert chart.to_dict()["spec"] == {"values": {"a": 1, "debug": 1}}
    assert chart.spec_set("values", [1]).spec_array("values") == [1]
    assert chart.spec_delete("values").to_dict()["spec"] == {}
    chart.spec_array("values").append(5)
    assert chart.to_dict()["spec"] == {"values": [5]}
    with strict(), pytest.raises(SpecPathError, match="is not a hash"):
        chart.spec_hash("values")


def test_an_int_field_beside_unions_is_untouched() -> None:
    class Mixed(Resource):
        n = Int()
        j = Object(JSON)

    assert Mixed(n=1, j={"n": 2}).to_json() == '{"n":1,"j":{"n":2}}'
