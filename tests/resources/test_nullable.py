"""Null as a value, apart from absence."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from labkit.resources import APIObject, Int, List, Map, Object, Resource, ResourceError, Str, Struct, fields, strict
from labkit.resources.emission import class_schema


class Inner(Resource):
    mode = Str(nullable=True)
    plain = Str()


class C(Resource):
    note = Str(nullable=True)
    needed = Str(required=True, nullable=True)
    tags = List(Str, nullable=True)
    labels = Map(Str, nullable=True)
    inner = Object(Inner, nullable=True)
    struct = Struct({"x": Int(nullable=True), "y": Int}, nullable=True)
    plain = Str()
    inners = List(Object(Inner))
    by_name = Map(Object(Inner))


class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
    spec = Object(C)


@pytest.mark.requirement("R090", "accepts")
@pytest.mark.requirement("R091", "accepts")
@pytest.mark.requirement("R092", "accepts")
@pytest.mark.requirement("R093", "accepts")
@pytest.mark.requirement("R097", "accepts")
def test_null_absent_and_back() -> None:
    made = C(needed="x", note=None)
    assert made.has_note()  # type: ignore[attr-defined]
    assert made.note is None
    assert made.to_json() == '{"needed":"x","note":null}'
    made.clear_note()  # type: ignore[attr-defined]
    assert not made.has_note()  # type: ignore[attr-defined]
    assert made.to_json() == '{"needed":"x"}'
    made.note = None
    assert made.to_dict() == {"needed": "x", "note": None}


def test_the_typed_spellings_answer_for_every_field() -> None:
    made = C(needed="x", note=None, plain="y")
    assert (C.note.given(made), C.plain.given(made), C.tags.given(made)) == (True, True, False)
    del made.note
    del made.plain
    assert (C.note.given(made), C.plain.given(made)) == (False, False)
    with pytest.raises(ResourceError, match="needed: is required"):
        del made.needed


@pytest.mark.requirement("R090", "refuses")
def test_a_nullable_field_still_has_its_type() -> None:
    with pytest.raises(ResourceError, match="note: expected a string"):
        C(needed="x", note=[])


DEEP: dict[str, Any] = {
    "needed": None,
    "inner": {"mode": None},
    "struct": {"x": None},
    "inners": [{"mode": None}, {}],
    "by_name": {"a": {"mode": None}},
    "tags": None,
}


@pytest.mark.requirement("R094", "accepts")
def test_null_is_kept_at_any_depth_on_any_route() -> None:
    assigned = Kind()
    assigned.spec = DEEP  # type: ignore[assignment]
    merged = Kind(spec={"needed": "x"}).spec_merge(**DEEP)
    made = [
        Kind(spec=DEEP),
        Kind.from_dict({"spec": DEEP}),
        Kind.from_json(json.dumps({"spec": DEEP})),
        assigned,
        merged,
    ]
    for one in made:
        assert one.to_dict()["spec"] == DEEP
        assert json.loads(one.to_json())["spec"] == DEEP


@pytest.mark.requirement("R095", "accepts")
def test_null_for_any_other_field_is_absence() -> None:
    made = C.from_dict({"needed": "x", "plain": None, "inners": None, "inner": {"plain": None}, "struct": {"y": None}})
    assert made.to_dict() == {"needed": "x", "inner": {}, "struct": {}}
    made.plain = None
    assert made.to_dict() == {"needed": "x", "inner": {}, "struct": {}}


@pytest.mark.requirement("R096", "accepts")
@pytest.mark.requirement("R096", "refuses")
def test_required_and_nullable_needs_the_key() -> None:
    assert C(needed=None).to_dict() == {"needed": None}
    with pytest.raises(ResourceError, match="needed: is required"):
        C()


@pytest.mark.requirement("R097", "refuses")
def test_other_fields_have_no_such_methods() -> None:
    assert not hasattr(C, "has_plain")
    assert not hasattr(C._Struct, "has_y")
    assert hasattr(C._Struct, "clear_x")

    class Sub(C):
        note = Str()

    assert not hasattr(Sub(needed="x"), "has_note")
    assert hasattr(C(needed="x"), "has_note")


@pytest.mark.requirement("R098", "accepts")
@pytest.mark.requirement("R098", "refuses")
@pytest.mark.parametrize("field", ["note", "tags", "labels", "inner", "struct"])
def test_nullable_works_on_every_shape(field: str) -> None:
    assert C({"needed": "x", field: None}).to_dict() == {"needed": "x", field: None}
    assert isinstance(C(needed="x", inner={}).inner, Inner)
    with pytest.raises(ResourceError, match=field):
        C({"needed": "x", field: object()})


@pytest.mark.requirement("R099", "accepts")
def test_the_schema_says_nullable_only_where_it_is_true() -> None:
    class D(Resource):
        a = Str(nullable=True)
        b = Str(nullable=False)

    assert class_schema(D)["properties"] == {"a": {"type": "string", "nullable": True}, "b": {"type": "string"}}
    assert fields(D)["b"].options == {"nullable": False}


@pytest.mark.requirement("R100", "accepts")
def test_yaml_writes_null() -> None:
    text = C(needed=None).to_yaml()
    assert text == "needed: null\n"
    assert yaml.safe_load(text) == {"needed": None}


@pytest.mark.requirement("R101", "accepts")
def test_null_for_a_declared_field_is_known_in_strict_mode() -> None:
    with strict():
        assert C.from_dict({"needed": None, "plain": None}).to_dict() == {"needed": None}
