"""What a class definition refuses about types and options, at once and naming class and field."""

from __future__ import annotations

import pickle
import traceback
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.ultratb import AutoFormattedTB

from labkit.resources import (
    JSON,
    APIObject,
    Bool,
    DeclarationError,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Object,
    Opaque,
    Quantity,
    Resource,
    ResourceError,
    Str,
    Struct,
    Time,
    cel,
    crd,
    declare,
    fields,
    from_crd,
    from_openapi,
)


class Child(Resource):
    n = Int()


def refused(type_: Any, *words: str) -> DeclarationError:
    """The error of declaring *type_*: by hand, in a class body and in a struct it names its class and field."""

    class Victim(Resource):
        other = Int()

    before = dict(fields(Victim)), dict(Victim.__dict__)
    with pytest.raises(DeclarationError) as caught:
        declare(Victim, "field", type_)
    assert (dict(fields(Victim)), dict(Victim.__dict__)) == before
    with pytest.raises(DeclarationError) as in_body:

        class Body(Resource):
            field = type_

    with pytest.raises(DeclarationError) as in_struct:

        class Around(Resource):
            spec = Struct({"field": type_})

    for error, name in ((caught, "Victim"), (in_body, "Body"), (in_struct, "Around._Spec")):
        assert "'field'" in str(error.value)
        assert name in str(error.value)
        assert (error.value.class_name, error.value.field) == (name, "field")
        for word in words:
            assert word in str(error.value)
    return caught.value


@pytest.mark.requirement("R102", "refuses")
def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    error = refused(Str(colour="red"), "'colour'", "required, default, enum, minimum, maximum, pattern, description")  # type: ignore[call-overload]
    assert error.option == "colour"
    assert pickle.loads(pickle.dumps(error)).option == "colour"  # noqa: S301


@pytest.mark.requirement("R103", "refuses")
@pytest.mark.parametrize("option", ["default", "enum", "minimum", "description", "nullable", "required"])
def test_an_option_must_not_be_none(option: str) -> None:
    refused(Int(**{option: None}), f"'{option}'", "must not be None")  # type: ignore[call-overload]


@pytest.mark.requirement("R104", "refuses")
def test_positional_junk_is_refused() -> None:
    refused(Str("required"), "'required'")  # type: ignore[call-overload]
    with pytest.raises(DeclarationError, match=r"'x' of Child got 7"):
        declare(Child, "x", Str, 7)
    assert "x" not in fields(Child)


@pytest.mark.requirement("R105", "accepts")
@pytest.mark.requirement("R106", "accepts")
def test_an_enum_compares_with_types() -> None:
    class C(Resource):
        s = Str(enum=("a", "b"))
        n = Num(enum=[1, 2.5])

    assert C(s="a", n=2.5).to_dict() == {"s": "a", "n": 2.5}


@pytest.mark.requirement("R105", "refuses")
@pytest.mark.parametrize("enum", [[], "ab", {"a": 1}, 3])
def test_an_enum_is_a_non_empty_list(enum: Any) -> None:
    refused(Str(enum=enum), "non-empty")


@pytest.mark.requirement("R106", "refuses")
def test_an_enum_has_no_duplicates() -> None:
    refused(Str(enum=["a", "a"]), "duplicate")
    refused(Int(enum=[1, 2, 1]), "duplicate")


@pytest.mark.requirement("R107", "refuses")
def test_a_bool_has_no_enum() -> None:
    refused(Bool(enum=[True]), "enum", "Bool")


@pytest.mark.requirement("R108", "accepts")
@pytest.mark.requirement("R110", "accepts")
@pytest.mark.requirement("R111", "accepts")
@pytest.mark.requirement("R112", "accepts")
def test_constraints_where_they_mean_something() -> None:
    class C(Resource):
        i = Int(minimum=1, maximum=1)
        n = Num(minimum=0.5)
        s = Str(pattern="a")
        p = IntOrStr(pattern="^[a-z]+$")
        q = Quantity(pattern="Gi$")
        t = Time(pattern="Z$")

    made = C(i=1, n=0.5, s="a", p=80, q="1Gi", t="2024-01-15T10:30:45Z")
    assert made.to_dict()["p"] == 80


@pytest.mark.requirement("R108", "refuses")
@pytest.mark.parametrize("kind", [Str, Bool, IntOrStr, Quantity, Time])
def test_bounds_need_a_number_type(kind: Any) -> None:
    refused(kind(minimum=1), "minimum/maximum", kind.kind)
    refused(kind(maximum=1), "minimum/maximum", kind.kind)


@pytest.mark.requirement("R109", "refuses")
@pytest.mark.parametrize("bound", ["low", True, float("nan"), [], 10**400])
def test_bounds_are_numbers(bound: Any) -> None:
    refused(Int(minimum=bound), "must be numbers")


@pytest.mark.parametrize(
    "field",
    [
        Int(minimum=1.5),
        Int(maximum=2.5),
        Num(maximum=2**63 - 1),
        Num(minimum=2**60 + 1),
        Int(minimum=-(2**63) - 1),
        List(Int, maximum=0.5),
    ],
)
def test_a_bound_that_the_server_reads_as_another_is_refused(field: Any) -> None:
    refused(field, "bound")


@pytest.mark.requirement("R110", "refuses")
def test_the_minimum_does_not_exceed_the_maximum() -> None:
    refused(Int(minimum=10, maximum=1), "10", "1", "exceeds")
    refused(Str(min_length=3, max_length=2), "3", "2", "exceeds")
    refused(List(Str, min_items=3, max_items=2), "exceeds")


@pytest.mark.requirement("R111", "refuses")
@pytest.mark.parametrize("kind", [Int, Num, Bool])
def test_a_pattern_needs_a_string_type(kind: Any) -> None:
    refused(kind(pattern="a"), "pattern", kind.kind)


@pytest.mark.requirement("R112", "refuses")
@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("[", "missing closing ]"), ("(?=a)", "Perl syntax"), (r"(a)\1", "escape"), ("a**", "nested")],
)
def test_a_pattern_that_re2_refuses_is_told_with_its_reason(pattern: str, reason: str) -> None:
    refused(Str(pattern=pattern), "does not compile", reason)
    refused(List(Str, pattern=pattern), "does not compile", reason)


@pytest.mark.requirement("R113", "accepts")
@pytest.mark.requirement("R115", "accepts")
def test_defaults_that_fit_and_defaults_nobody_checks() -> None:
    class C(Resource):
        n = Int(minimum=1, default=1)
        tags = List(Str, default=["a"])
        child = Object(Child, default={"n": "not checked"})
        struct = Struct({"n": Int}, default={"n": []})
        children = Map(Object(Child), default={"a": 1})

    assert fields(C)["child"].options["default"] == {"n": "not checked"}


@pytest.mark.requirement("R113", "refuses")
@pytest.mark.parametrize(
    ("type_", "reason"),
    [
        (Int(default="abc"), "expected an integer"),
        (Int(minimum=3, default=2), "below the minimum"),
        (Str(enum=["a"], default="b"), "is not one of"),
        (List(Int, default=["x"]), "[0]: expected an integer"),
        (List(Int, default=3), "expected a list"),
        (Map(Int, default={"a": "x"}), "a: expected an integer"),
    ],
)
def test_a_default_fits_its_field(type_: Any, reason: str) -> None:
    refused(type_, "default", reason)


@pytest.mark.requirement("R114", "refuses")
@pytest.mark.parametrize(
    "make",
    [
        lambda **options: Object(Child, **options),
        lambda **options: Struct({"n": Int}, **options),
        Opaque,
        lambda **options: Map(Str, lenient=True, **options),
        lambda **options: List(dict, **options),
        lambda **options: List(list, **options),
        lambda **options: List(Object(Child), **options),
        lambda **options: Map(Object(Child), **options),
    ],
)
@pytest.mark.parametrize("options", [{"enum": ["a"]}, {"minimum": 1}, {"maximum": 1}, {"pattern": "a"}])
def test_a_constraint_needs_a_scalar_field(make: Any, options: Any) -> None:
    refused(make(**options), "needs a scalar field", next(iter(options)))


@pytest.mark.requirement("R116", "refuses")
def test_of_several_bad_options_the_first_by_name_is_told() -> None:
    for options in ({"zebra": 1, "apple": 1}, {"apple": 1, "zebra": 1}):
        assert refused(Str(**options)).option == "apple"  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "facts",
    [
        {"colour": 1},
        {"version": ""},
        {"plural": ""},
        {"plural": 3},
        {"short_names": "cl"},
        {"deprecated": 1},
        {"subresources": {"logs": {}}},
        {"subresources": {"scale": {"specReplicasPath": ".spec.a"}}},
        {"subresources": {"scale": {"specReplicasPath": "", "statusReplicasPath": ".status.a"}}},
        {"subresources": {"status": {"x": 1}}},
    ],
)
def test_a_wrong_fact_of_a_kind_is_refused(facts: Any) -> None:
    with pytest.raises(DeclarationError, match="Kind"):

        class Kind(APIObject, **facts):
            pass


def test_options_that_mean_nothing_for_a_shape_are_refused() -> None:
    refused(Str(min_items=1), "needs a list")  # type: ignore[call-overload]
    refused(Str(max_properties=1), "needs a map")  # type: ignore[call-overload]
    refused(List(Str, map_type="atomic"), "needs a map")
    refused(List(Str, max_items=-1), "must be a number from 0")
    refused(List(Str(required=True)), "gives its elements")


@pytest.mark.parametrize("options", [{"rules": "self > 1"}, {"rules": cel("true")}, {"rules": ["self > 1"]}])
def test_rules_are_a_list_of_what_cel_gives(options: dict[str, Any]) -> None:
    class C(Resource):
        pass

    with pytest.raises(DeclarationError, match=r"field 'a' of .*C has rules=.*each from cel\(\)"):
        declare(C, "a", Int(**options))
    with pytest.raises(DeclarationError, match="list of keys"):
        declare(C, "a", List(Str, list_map_keys="k"))


def test_an_error_of_a_declaration_has_one_line_of_the_package_in_its_traceback() -> None:
    def class_body() -> None:
        class C(Resource):
            a = Int(colour=1)

    def repeated() -> None:
        class C(Resource):
            a = Int()
            a = Str()

    class Kind(APIObject, group="g.io", version="v1", plural="kinds"):
        pass

    for act in (
        class_body,
        repeated,
        lambda: declare(Kind, "spec", Int(minimum="x")),  # type: ignore[call-overload]
        lambda: crd(Kind, Kind),
        lambda: crd(5),  # type: ignore[arg-type]
        lambda: crd(Kind, conversion="Webhook"),  # type: ignore[arg-type]
        lambda: from_crd({}),
        lambda: from_openapi({"components": {"schemas": {"a": 5}}}, "v1", "Pod"),
    ):
        with pytest.raises((DeclarationError, ResourceError)) as caught:
            act()
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert [frame.filename == __file__ for frame in frames[-2:]] == [True, False], frames
        assert caught.value.__cause__ is None


def test_in_a_notebook_the_traceback_ends_at_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(InteractiveTB=AutoFormattedTB(mode="Context", theme_name="nocolor", tb_offset=0))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    made = Child(n=1)
    for act in (
        lambda: Child(n="x"),
        lambda: setattr(made, "n", "x"),
        lambda: declare(Child, "b", Int(minimum="x")),  # type: ignore[call-overload]
        lambda: crd(APIObject),
        lambda: JSON({1}),
    ):
        with pytest.raises((DeclarationError, ResourceError)) as caught:
            act()
        text = "\n".join(caught.value._render_traceback_())
        assert "lambda: " in text
        assert "labkit/resources" not in text.replace("tests/resources", "")
        assert str(caught.value).splitlines()[0] in text


def test_a_definition_nested_too_deeply_is_an_error_with_words() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    with pytest.raises(ResourceError, match="nested too deeply, or contains itself"):
        from_crd({"spec": {"names": {"kind": "K", "plural": "ks"}, "versions": [version]}})
