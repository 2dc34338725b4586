"""The seven scalar types, lists, object fields, and how a type may be written."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from labkit.resources import (
    Bool,
    DeclarationError,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Object,
    Quantity,
    Resource,
    ResourceError,
    Str,
    Time,
    declare,
    fields,
)

accepts = "accepts"


class One(Resource):
    s = Str()
    i = Int()
    n = Num()
    b = Bool()
    port = IntOrStr()
    q = Quantity()
    at = Time()


class Child(Resource):
    name = Str(required=True)


class Parent(Resource):
    child = Object(Child)
    children = List(Object(Child))


def wire(**values: Any) -> Any:
    return json.loads(One(**values).to_json())


def refused(cls: type[Resource], *words: str, **values: Any) -> str:
    with pytest.raises(ResourceError) as caught:
        cls(**values)
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


@pytest.mark.requirement("R001", "accepts")
@pytest.mark.requirement("R002", "accepts")
def test_inheriting_is_all_a_class_needs() -> None:
    class X(Resource):
        name = Str()

    assert X(name="a").to_json() == '{"name":"a"}'
    assert X.from_json('{"name":"a"}') == X(name="a")


@pytest.mark.requirement("R001", "refuses")
def test_a_field_declared_elsewhere_is_no_field_of_a_plain_class() -> None:
    class Plain:
        pass

    with pytest.raises(TypeError, match="not a resource class"):
        declare(Plain, "name", Str)
    with pytest.raises(TypeError, match="not a resource class"):
        fields(Plain)


@pytest.mark.requirement("R002", "refuses")
@pytest.mark.parametrize("value", [True, [], {}, b"x", object()])
def test_what_is_no_text_is_refused_by_a_str(value: Any) -> None:
    refused(One, "One", "s", "expected a string", s=value)


def test_a_str_keeps_a_number_and_writes_text() -> None:
    one = One(s=8080)
    assert one.s == 8080
    assert wire(s=8080) == {"s": "8080"}
    assert one.to_dict() == {"s": "8080"}


def test_enum_members_become_plain_values() -> None:
    class Color(StrEnum):
        RED = "red"

    class Level(IntEnum):
        HIGH = 3

    one = One(s=Color.RED, i=Level.HIGH)
    assert one.to_json() == '{"s":"red","i":3}'
    assert (type(one.s), type(one.i)) == (str, int)


@pytest.mark.requirement("R003", "accepts")
@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3), (0, 0), (-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1), (3.0, 3)]
)
def test_an_int_is_a_json_integer(value: Any, expected: int) -> None:
    assert wire(i=value) == {"i": expected}
    assert isinstance(wire(i=value)["i"], int)


@pytest.mark.requirement("R003", "refuses")
@pytest.mark.parametrize(
    "value",
    ["abc", "3", 1.5, [], True, 2**63, -(2**63) - 1, float("nan"), float("inf"), pytest.param(10**5000, id="huge")],
)
def test_what_is_no_integer_is_refused_by_an_int(value: Any) -> None:
    refused(One, "One", "i: ", i=value)


@pytest.mark.requirement("R004", "accepts")
def test_a_num_is_a_json_number() -> None:
    assert One(n=0.25).to_json() == '{"n":0.25}'
    assert One(n=2).to_json() == '{"n":2}'


@pytest.mark.requirement("R004", "refuses")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), "1", True, None.__class__, 10**400])
def test_what_is_no_finite_number_is_refused_by_a_num(value: Any) -> None:
    refused(One, "n: ", n=value)


SPELLINGS = {
    True: [True, 1, "1", "true", "True", "TRUE"],
    False: [False, 0, "0", "false", "False", "FALSE", ""],
}


@pytest.mark.requirement("R005", "accepts")
@pytest.mark.requirement("R006", "accepts")
@pytest.mark.parametrize(("value", "expected"), [(v, e) for e, values in SPELLINGS.items() for v in values])
def test_a_bool_takes_every_spelling_alike_on_every_route(value: Any, expected: bool) -> None:
    assert wire(b=value) == {"b": expected}
    assert One.from_dict({"b": value}).b is expected
    assigned = One()
    assigned.b = value
    assert assigned.b is expected


@pytest.mark.requirement("R005", "refuses")
@pytest.mark.requirement("R006", "refuses")
@pytest.mark.parametrize("value", ["maybe", "yes", 2, -1, 1.0, [], {}, "tRuE"])
def test_what_is_no_boolean_is_refused_by_a_bool(value: Any) -> None:
    refused(One, "b: expected a boolean", b=value)
    one = One(b=True)
    with pytest.raises(ResourceError, match="b: expected a boolean"):
        one.b = value
    assert one.b is True


@pytest.mark.requirement("R007", "accepts")
def test_none_for_a_bool_is_absence() -> None:
    assert wire(b=None) == {}


@pytest.mark.requirement("R008", "accepts")
@pytest.mark.parametrize("value", [80, "80", "http", -1])
def test_an_int_or_str_keeps_what_it_was_given(value: Any) -> None:
    assert wire(port=value) == {"port": value}


@pytest.mark.requirement("R008", "refuses")
@pytest.mark.parametrize("value", [[], {}, True, 1.5])
def test_an_int_or_str_refuses_everything_else(value: Any) -> None:
    refused(One, "port: expected an integer or a string", port=value)


QUANTITIES = ["100m", "5Gi", "1.5", ".5", "3.", "12e6", "12E3", "+100m", "-1k", "1Ki", "1n", "1u", "0"]


@pytest.mark.requirement("R009", "accepts")
@pytest.mark.parametrize("value", QUANTITIES)
def test_a_quantity_is_accepted(value: str) -> None:
    assert wire(q=value) == {"q": value}


def test_a_quantity_given_as_a_number_is_written_as_text() -> None:
    assert wire(q=2) == {"q": "2"}


@pytest.mark.requirement("R010", "refuses")
@pytest.mark.parametrize("value", ["abc", "1X", "1ki", "1mI", "100m%", "", "1 Gi", "banana", "1Gi\n", "١Gi", [], True])
def test_what_is_no_quantity_is_refused(value: Any) -> None:
    message = refused(One, "q: ", q=value)
    if isinstance(value, str):
        assert value.replace("\n", "\\n") in message


@pytest.mark.requirement("R011", "accepts")
@pytest.mark.parametrize(
    "value",
    ["2024-01-15T10:30:45Z", "2024-01-15T10:30:45+01:00", "2024-01-15T10:30:45.123456Z", "2024-02-29T00:00:00Z"],
)
def test_a_time_is_rfc_3339(value: str) -> None:
    assert wire(at=value) == {"at": value}


@pytest.mark.requirement("R011", "accepts")
def test_an_aware_datetime_is_written_as_text() -> None:
    moment = datetime(2024, 1, 15, 10, 30, 45, tzinfo=UTC)
    assert wire(at=moment) == {"at": "2024-01-15T10:30:45Z"}
    assert wire(at=moment.astimezone(timezone(timedelta(hours=1)))) == {"at": "2024-01-15T11:30:45+01:00"}
    assert wire(at=moment.astimezone(timezone(timedelta(minutes=9, seconds=21)))) == {"at": "2024-01-15T10:30:45Z"}


@pytest.mark.requirement("R011", "refuses")
@pytest.mark.parametrize(
    "value",
    [
        "2024-01-15",
        "2024-01-15 10:30:45Z",
        "2024-01-15T10:30:45",
        "",
        "2023-02-29T00:00:00Z",
        "2024-01-15T24:00:00Z",
        datetime(2024, 1, 15),
        date(2024, 1, 15),
        5,
    ],
)
def test_what_is_no_moment_is_refused(value: Any) -> None:
    refused(One, "at: ", at=value)


@pytest.mark.requirement("R012", "accepts")
@pytest.mark.requirement("R013", "accepts")
def test_object_fields_hold_instances_and_write_nested_objects() -> None:
    parent = Parent(child={"name": "a"}, children=[{"name": "b"}, Child(name="c")])
    assert isinstance(parent.child, Child)
    assert [type(one) for one in parent.children or ()] == [Child, Child]
    assert parent.to_dict() == {"child": {"name": "a"}, "children": [{"name": "b"}, {"name": "c"}]}


@pytest.mark.requirement("R012", "refuses")
@pytest.mark.requirement("R013", "refuses")
def test_what_is_no_object_is_refused() -> None:
    refused(Parent, "child: expected an object of class Child", child="x")
    refused(Parent, "children[1]: expected an object of class Child", children=[{"name": "a"}, 3])


LISTS: list[tuple[Any, list[Any], list[Any], Any]] = [
    (Str, ["a", 5], ["a", "5"], {}),
    (Int, [1, 2], [1, 2], "x"),
    (Num, [1, 0.5], [1, 0.5], "x"),
    (Bool, ["false", 1], [False, True], "maybe"),
    (IntOrStr, [1, "a"], [1, "a"], []),
    (Quantity, ["1Gi"], ["1Gi"], "nope"),
    (Time, ["2024-01-15T10:30:45Z"], ["2024-01-15T10:30:45Z"], "today"),
]


@pytest.mark.requirement("R014", "accepts")
@pytest.mark.requirement("R014", "refuses")
@pytest.mark.parametrize(("kind", "good", "expected", "bad"), LISTS)
def test_a_list_of_any_scalar_checks_and_writes_each_element(kind: Any, good: Any, expected: Any, bad: Any) -> None:
    class Holder(Resource):
        values = List(kind)

    assert json.loads(Holder(values=good).to_json()) == {"values": expected}
    refused(Holder, f"values[{len(good)}]", values=[*good, bad])
    refused(Holder, "values[0]", values=[None])


@pytest.mark.requirement("R015", "accepts")
@pytest.mark.requirement("R015", "refuses")
def test_rows_are_free_inside_and_checked_outside() -> None:
    class Table(Resource):
        rows = List(dict)
        matrix = List(list)

    content = {"rows": [{"a": [1, None]}], "matrix": [[1, "x"], []]}
    assert Table(content).to_dict() == content
    refused(Table, "rows[0]: expected an object", rows=[[]])
    refused(Table, "matrix[1]: expected a list", matrix=[[], {}])


@pytest.mark.requirement("R016", "accepts")
def test_a_type_may_be_named_and_a_class_may_refer_to_itself() -> None:
    class Node(Resource):
        name = Str()
        next = Object("Node")
        nodes = List("Node")

    declare(Node, "label", "Str")
    assert fields(Node)["label"].type == fields(Node)["name"].type == "Str"
    tree = Node({"name": "a", "next": {"name": "b"}, "nodes": [{"name": "c", "next": {"name": "d"}}]})
    assert isinstance(tree.next, Node)
    assert isinstance(tree.nodes[0].next, Node)


@pytest.mark.requirement("R016", "accepts")
def test_a_class_may_be_named_before_it_is_written() -> None:
    class First(Resource):
        second = Object("Second")

    class Second(Resource):
        n = Int()

    assert isinstance(First({"second": {"n": 1}}).second, Second)


@pytest.mark.requirement("R016", "refuses")
@pytest.mark.requirement("R017", "refuses")
def test_a_name_that_means_nothing_is_an_error_on_first_use() -> None:
    class Lost(Resource):
        other = Object("meta/v9/Nothing")

    with pytest.raises(DeclarationError) as caught:
        Lost(other={})
    assert "meta/v9/Nothing" in str(caught.value)
    assert "Lost" in str(caught.value)


@pytest.mark.requirement("R017", "accepts")
def test_a_short_registry_name_is_the_class() -> None:
    from labkit.resources.meta import ObjectMeta

    class Pod(Resource):
        metadata = Object("meta/v1/ObjectMeta")

    assert isinstance(Pod(metadata={"name": "x"}).metadata, ObjectMeta)


@pytest.mark.requirement("R018", "accepts")
def test_containers_of_containers_mean_something() -> None:
    class Deep(Resource):
        matrix = List(List(Int))
        groups = Map(List(Str))

    deep = {"matrix": [[1], [2, 3]], "groups": {"a": ["x"]}}
    assert Deep(deep).to_dict() == deep
    refused(Deep, "matrix[1][0]", matrix=[[1], ["x"]])


@pytest.mark.requirement("R018", "refuses")
@pytest.mark.parametrize("make", [lambda: Map(list), lambda: Map([Str]), lambda: List(3), lambda: Object(int), List])
def test_a_type_that_means_nothing_is_refused_with_class_and_field(make: Any) -> None:
    with pytest.raises(DeclarationError) as caught:

        class Odd(Resource):
            field = make()

    assert "Odd" in str(caught.value)
    assert "'field'" in str(caught.value)
