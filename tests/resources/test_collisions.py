"""Collisions of names, redeclaration, inheritance and the registry."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.resources import (
    APIObject,
    Bool,
    DeclarationError,
    Int,
    List,
    Map,
    Object,
    Opaque,
    Resource,
    ResourceError,
    Str,
    Struct,
    declare,
    fields,
)
from labkit.resources.meta import ObjectMeta


class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
    spec = {"n": Int}


def snapshot(cls: type[Any]) -> Any:
    return dict(fields(cls)), dict(cls.__dict__)


def refused(cls: type[Any], key: str, type_: Any, *words: str) -> DeclarationError:
    before = snapshot(cls)
    with pytest.raises(DeclarationError) as caught:
        declare(cls, key, type_)
    assert snapshot(cls) == before
    for word in (f"'{key}'", *words):
        assert word in str(caught.value)
    return caught.value


@pytest.mark.requirement("R126", "refuses")
@pytest.mark.requirement("R139", "refuses")
@pytest.mark.parametrize(("first", "second"), [("x-value", "x_value"), ("x_value", "x-value"), ("from", "from_")])
def test_two_keys_with_one_attribute_collide(first: str, second: str) -> None:
    class C(Resource):
        pass

    declare(C, first, Str)
    error = refused(C, second, Str, f"'{first}'", "both map to the attribute", "of C")
    assert (error.class_name, error.field) == ("C", second)


@pytest.mark.requirement("R127", "refuses")
def test_an_inherited_key_collides_and_the_nearest_is_named() -> None:
    class Far(Resource):
        x_value = Str()

    class Near(Far):
        x_value = Int()

    class Below(Near):
        pass

    refused(Below, "x-value", Str, "of Near", "of Below")
    refused(Far, "x-value", Str, "of Far")


def test_a_later_field_of_a_base_does_not_collide_below() -> None:
    class Base(Resource):
        pass

    class Sub(Base):
        x_value = Str()

    refused(Base, "x-value", Str, "'x_value' of Sub")


@pytest.mark.requirement("R128", "refuses")
@pytest.mark.parametrize("key", ["is_ready", "set_owner", "to_dict", "spec_set", "from_dict"])
def test_a_field_does_not_hide_a_method(key: str) -> None:
    refused(Kind, key, Str, f"the method '{key}'", "not a field", "of Kind")


@pytest.mark.requirement("R129", "accepts")
def test_the_helper_conditions_yields_and_keeps_its_data() -> None:
    class Own(APIObject, group="a.example.com", version="v1", plural="owns"):
        conditions = List({"type": Str, "status": Str, "message": Str})

    rows = [{"type": "Ready", "status": "True", "message": "m"}]
    own = Own(conditions=rows)
    assert own.to_dict()["conditions"] == rows
    assert own.is_ready()
    assert own.condition_message("Ready") == "m"
    assert own.get_condition("Ready").status == "True"
    plain = Kind(status={"conditions": rows})
    assert plain.conditions == rows
    assert plain.is_condition_true("Ready")
    assert not Kind().is_ready()
    assert Kind().condition_message("Ready") is None


@pytest.mark.requirement("R130", "refuses")
def test_a_field_does_not_take_over_an_attribute() -> None:
    class C(Resource):
        retries = 3

    refused(C, "retries", Int, "'retries'", "defines itself", "of C")
    with pytest.raises(DeclarationError, match="defines itself"):

        class D(Resource):
            retries = 3
            retries = Int()  # type: ignore[assignment]

    with pytest.raises(DeclarationError, match="would be replaced"):

        class E(Resource):
            retries = Int()
            retries = 3  # type: ignore[assignment]


@pytest.mark.requirement("R131", "refuses")
@pytest.mark.parametrize("name", ["has_x", "clear_x"])
def test_a_nullable_field_needs_its_methods(name: str) -> None:
    class Method(Resource):
        pass

    setattr(Method, name, lambda _self: None)
    refused(Method, "x", Str(nullable=True), f"'{name}'", "of Method")

    class OtherField(Resource):
        pass

    declare(OtherField, name, Str)
    refused(OtherField, "x", Str(nullable=True), f"'{name}'")


@pytest.mark.requirement("R132", "refuses")
@pytest.mark.parametrize("name", ["has_x", "clear_x"])
def test_a_field_does_not_take_the_methods_of_a_nullable_one(name: str) -> None:
    class C(Resource):
        x = Str(nullable=True)

    refused(C, name, Str, "the method", "not a field")


@pytest.mark.requirement("R133", "accepts")
def test_a_nullable_field_does_not_stand_in_its_own_way() -> None:
    class C(Resource):
        x = Str(nullable=True)

    declare(C, "x", Str(nullable=True))

    class Sub(C):
        x = Int(nullable=True)  # type: ignore[assignment]

    assert Sub(x=None).has_x()  # type: ignore[attr-defined]


DIFFERENT: list[tuple[Any, Any]] = [
    (Str, Int),
    (Str, Str(description="d")),
    (Str(required=True), Str(required="schema")),
    (Str(required=True), Str),
    (Int(minimum=1), Int(minimum=2)),
    (Int(minimum=1), Int(minimum=True)),
    (List(Str), List(Int)),
    (List(Str), Map(Str)),
    (Map(Str), Map(Str, lenient=True)),
    (Object(ObjectMeta), Opaque()),
    (Struct({"a": Int}), Opaque()),
]


@pytest.mark.requirement("R134", "refuses")
@pytest.mark.requirement("R145", "refuses")
@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_a_different_second_declaration_is_refused(first: Any, second: Any) -> None:
    class C(Resource):
        pass

    declare(C, "x", first)
    if not (isinstance(second, Int) and second.options.get("minimum") is True):
        refused(C, "x", second, "already declared in C", "different type, options or required-ness")
    with pytest.raises(DeclarationError, match="'x' of Twice"):

        class Twice(Resource):
            x = first
            x = second


IDENTICAL: list[tuple[Any, Any]] = [
    (Str, "Str"),
    (Str, Str()),
    (Int(minimum=1), Int(minimum=1)),
    (Str(enum=["a"]), Str(enum=["a"])),
    (List(Str), List("Str")),
    (Map(Int), Map[Int]),
    (Object(ObjectMeta), Object("ObjectMeta")),
    (Struct({"a": Int, "b": {"c": Str}}), {"b": {"c": "Str"}, "a": Int()}),
    (dict, Opaque()),
]


@pytest.mark.requirement("R135", "accepts")
@pytest.mark.parametrize(("first", "second"), IDENTICAL)
def test_an_identical_second_declaration_changes_nothing(first: Any, second: Any) -> None:
    class C(Resource):
        pass

    declare(C, "a", Int)
    declare(C, "x", first)
    declare(C, "b", Int)
    before = snapshot(C)
    declare(C, "x", second)
    assert snapshot(C) == before
    assert list(fields(C)) == ["a", "x", "b"]

    class Twice(Resource):
        x = first
        if not isinstance(second, str):
            x = second

    assert list(fields(Twice)) == ["x"]


@pytest.mark.requirement("R136", "accepts")
@pytest.mark.requirement("R136", "refuses")
def test_structs_are_compared_field_by_field() -> None:
    class C(Resource):
        spec = {"a": Int, "b": Str(enum=["x"])}

    declare(C, "spec", {"a": Int, "b": Str(enum=["x"])})
    for changed, key in (
        ({"a": Int, "b": Str(enum=["y"])}, "b"),
        ({"a": Int, "b": Str(enum=["x"]), "c": Int}, "c"),
        ({"a": Int}, "b"),
    ):
        before = snapshot(C)
        with pytest.raises(DeclarationError) as caught:
            declare(C, "spec", changed)
        assert (caught.value.class_name, caught.value.field) == ("C._Spec", key)
        assert snapshot(C) == before


@pytest.mark.requirement("R137", "refuses")
def test_a_struct_after_a_class_leaves_no_inner_class() -> None:
    class C(Resource):
        spec = Object(ObjectMeta)

    refused(C, "spec", {"a": Int}, "already declared in C")
    assert not hasattr(C, "_Spec")


@pytest.mark.requirement("R138", "accepts")
def test_a_subclass_replaces_a_field_for_itself_alone() -> None:
    class Parent(Resource):
        a = Int(required=True)
        b = Int()

    class Sub(Parent):
        a = Str(nullable=True)  # type: ignore[assignment]

    class Sibling(Parent):
        pass

    assert Sub(a=None).to_dict() == {"a": None}
    assert Sub(b=1).to_dict() == {"b": 1}
    assert list(fields(Sub)) == ["a", "b"]
    for cls in (Parent, Sibling):
        with pytest.raises(ResourceError, match="a: is required"):
            cls()
        assert cls(a=1).a == 1


@pytest.mark.requirement("R139", "refuses")
def test_a_refused_struct_leaves_no_trace() -> None:
    class C(Resource):
        a = Int()

    refused_before = snapshot(C)
    with pytest.raises(DeclarationError):
        declare(C, "spec", {"good": Int, "bad": Str(colour=1)})  # type: ignore[call-overload]
    assert snapshot(C) == refused_before
    declare(C, "spec", {"good": Int})
    assert C(spec={"good": 1}).to_dict() == {"spec": {"good": 1}}


@pytest.mark.requirement("R140", "refuses")
def test_collisions_are_told_before_options() -> None:
    refused(Kind, "is_ready", Str(colour=1, enum=[]), "the method")  # type: ignore[call-overload]


@pytest.mark.requirement("R141", "accepts")
@pytest.mark.requirement("R141", "refuses")
def test_metadata_may_be_declared_again_as_what_it_is() -> None:
    class Again(APIObject, group="a.example.com", version="v1", plural="agains"):
        metadata = Object(ObjectMeta)

    before = snapshot(Again)
    declare(Again, "metadata", Object("meta/v1/ObjectMeta"))
    declare(Again, "kind", Str)
    assert snapshot(Again) == before
    assert list(fields(Again)) == ["metadata"]
    refused(Again, "metadata", {"name": Str}, "different type")
    refused(Again, "kind", Int, "different type")


@pytest.mark.requirement("R142", "accepts")
def test_the_registry_says_all_about_a_field() -> None:
    class C(Resource):
        _ref = Str(key="$ref", required=True, description="d")
        meta = Object(ObjectMeta)
        rows = List({"a": Int})
        limits = Map(Int, maximum=3)

    entries = fields(C)
    assert [(one.key, one.attribute, one.type, one.required) for one in entries.values()] == [
        ("$ref", "_ref", "Str", True),
        ("meta", "meta", "ObjectMeta", False),
        ("rows", "rows", "List(Struct)", False),
        ("limits", "limits", "Map(Int)", False),
    ]
    assert dict(entries["$ref"].options) == {"description": "d"}
    assert dict(entries["limits"].options) == {"maximum": 3}
    assert entries["meta"].cls is ObjectMeta
    assert entries["rows"].cls is C._Rows  # type: ignore[attr-defined]
    assert entries["meta"].declared_by is C
    with pytest.raises(TypeError):
        entries["x"] = entries["meta"]  # type: ignore[index]


@pytest.mark.requirement("R144", "accepts")
def test_a_subclass_sees_what_its_base_gets_later() -> None:
    class Base(Resource):
        a = Int()

    class Sub(Base):
        b = Int()

    assert Sub(c=1)._unknown_fields == {"c": 1}
    declare(Base, "c", Int)
    assert list(fields(Sub)) == ["a", "c", "b"]
    assert Sub(c=1)._unknown_fields == {}
    with pytest.raises(ResourceError, match="c: expected an integer"):
        Sub(c="x")
    assert Sub(c=1).to_json() == '{"c":1}'


def test_a_type_of_bool_beside_min_does_not_hide_builtins() -> None:
    class C(Resource):
        min = Int()
        type = Bool()
        smallest = min(3, 4)  # noqa: A003  (the point of the test)

    assert C.smallest == 3
    assert list(fields(C)) == ["min", "type"]


def test_a_field_cannot_be_set_on_the_class() -> None:
    class C(Resource):
        a = Int()

    with pytest.raises(DeclarationError, match="use declare"):
        C.a = 3  # type: ignore[assignment]
    with pytest.raises(DeclarationError, match="use declare"):
        C.b = Int()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        C().nope = 3  # type: ignore[attr-defined]
