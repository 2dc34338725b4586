"""Undeclared keys: kept in place, or refused in strict mode."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from labkit.resources import (
    APIObject,
    Int,
    List,
    Map,
    Object,
    Quantity,
    Resource,
    ResourceError,
    SpecPathError,
    Str,
    declare,
    strict,
)


class Child(Resource):
    a = Int()


class C(Resource):
    a = Int()
    b = Int()
    child = Object(Child)
    children = List(Object(Child))
    by_name = Map(Object(Child))
    struct = {"a": Int}


class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
    spec = Object(C)


DEEP = {
    "bogus": {"k": [1]},
    "a": 1,
    "child": {"x": 1, "a": 2},
    "children": [{"y": None}],
    "by_name": {"n": {"z": [1]}},
    "struct": {"w": "w"},
    "b": 2,
    "last": None,
}


@pytest.mark.requirement("R117", "accepts")
@pytest.mark.requirement("R121", "accepts")
@pytest.mark.requirement("R125", "accepts")
def test_undeclared_keys_come_back_in_their_place() -> None:
    made = C(DEEP)
    assert made.to_dict() == DEEP
    assert list(made.to_dict()) == list(DEEP)
    assert made.to_json() == json.dumps(DEEP, separators=(",", ":"))
    assert C.from_json(made.to_json()) == made


@pytest.mark.requirement("R118", "accepts")
def test_the_bag_is_visible_and_no_key_itself() -> None:
    made = C(DEEP)
    assert made._unknown_fields == {"bogus": {"k": [1]}, "last": None}
    assert made.child is not None
    assert made.child._unknown_fields == {"x": 1}
    assert "_unknown_fields" not in made.to_dict()


@pytest.mark.requirement("R119", "accepts")
@pytest.mark.requirement("R119", "refuses")
def test_strict_mode_refuses_them_inside_the_block_only() -> None:
    with strict():
        assert C(a=1).to_dict() == {"a": 1}
        with pytest.raises(ResourceError, match="C: bogus: is not a field of C"):
            C(bogus=1)
        with pytest.raises(ResourceError) as caught:
            C(DEEP)
        with strict(False):
            assert C(bogus=1).to_dict() == {"bogus": 1}
    assert caught.value.paths == (
        "bogus",
        "child.x",
        "children[0].y",
        "by_name.n.z",
        "struct.w",
        "last",
    )
    assert C(bogus=1).to_dict() == {"bogus": 1}


def test_strict_mode_suggests_the_word_that_was_meant() -> None:
    with strict(), pytest.raises(ResourceError, match="did you mean 'child'"):
        C(chlid={})


def test_strict_mode_holds_for_paths_and_belongs_to_its_thread() -> None:
    results: list[Any] = []
    with strict():
        with pytest.raises(SpecPathError, match="'bogus' is not a field of C"):
            Kind(spec={}).spec_set("bogus", 1)
        with pytest.raises(SpecPathError, match="'bogus' is not a field of C"):
            Kind(spec={}).spec_set("bogus.deeper", 1)
        thread = threading.Thread(target=lambda: results.append(C(bogus=1)))
        thread.start()
        thread.join()
    assert results == [C(bogus=1)]


@pytest.mark.requirement("R120", "refuses")
def test_several_unknown_keys_are_told_in_the_order_of_the_document() -> None:
    with strict():
        for document in ({"z": 1, "y": 1}, {"y": 1, "z": 1}):
            with pytest.raises(ResourceError) as caught:
                C(document)
            assert caught.value.paths == tuple(document)


@pytest.mark.requirement("R122", "accepts")
def test_the_bag_is_copied_in_and_out() -> None:
    given: dict[str, Any] = {"x": {"k": 1}}
    made = C(given)
    given["x"]["k"] = 2
    made.to_dict()["x"]["k"] = 3
    made._unknown_fields["x"]["k"] = 4
    assert made.to_dict() == {"x": {"k": 1}}


@pytest.mark.requirement("R123", "accepts")
def test_a_declared_value_wins_over_the_bag() -> None:
    class Late(Resource):
        a = Int()

    made = Late(n={"odd": 1})
    declare(Late, "n", Int)
    assert made.to_dict() == {"n": {"odd": 1}}
    assert json.loads(made.to_json()) == {"n": {"odd": 1}}
    made.n = 3  # type: ignore[attr-defined]
    assert made.to_dict() == {"n": 3}
    assert made._unknown_fields == {}


@pytest.mark.requirement("R124", "accepts")
def test_api_version_and_kind_are_known() -> None:
    with strict():
        made = Kind.from_dict({"apiVersion": "a.example.com/v1", "kind": "Kind", "metadata": {"name": "x"}})
    assert made._unknown_fields == {}
    assert list(Kind(metadata={"name": "x"}).to_dict()) == ["apiVersion", "kind", "metadata"]
    assert (Kind.kind, made.api_version, made.apiVersion) == ("Kind", "a.example.com/v1", "a.example.com/v1")


@pytest.mark.requirement("R124", "refuses")
def test_another_kind_or_version_is_refused() -> None:
    with pytest.raises(ResourceError) as caught:
        Kind.from_dict({"apiVersion": "a.example.com/v2", "kind": "Other"})
    assert caught.value.paths == ("apiVersion", "kind")
    with pytest.raises(AttributeError, match="fixed by its class"):
        Kind().kind = "Other"  # type: ignore[misc,assignment]
    with pytest.raises(ResourceError):
        Kind.from_dict({"kind": None})


@pytest.mark.requirement("R125", "accepts")
def test_the_order_of_a_document_is_kept_around_the_envelope() -> None:
    document = {"metadata": {}, "kind": "Kind", "spec": {"b": 1, "zz": 1, "a": 2}, "apiVersion": "a.example.com/v1"}
    made = Kind.from_dict(document)
    assert made.to_json() == json.dumps(document, separators=(",", ":"))


def test_a_text_of_another_class_in_the_bag_becomes_its_wire_form() -> None:
    assert C(other=Child(a=1)).to_dict() == {"other": {"a": 1}}
    with pytest.raises(ResourceError, match="which is not JSON"):
        C(other={"deep": Child(a=1)})


def test_str_field_beside_a_bag() -> None:
    class S(Resource):
        s = Str()

    assert S(s="é", t="ü").to_json() == '{"s":"é","t":"ü"}'


def test_a_number_that_was_read_where_the_class_says_text_is_written_as_it_came() -> None:
    class Loose(Resource):
        text = Str()
        size = Quantity()
        texts = Map(Str)
        all = List(Str)

    sent = {"text": 5, "size": 1, "texts": {"a": 2.5, "b": None}, "all": [1, "a", True]}
    read = Loose._read(sent)
    assert read.to_dict() == sent
    assert read.to_json() == '{"text":5,"size":1,"texts":{"a":2.5,"b":null},"all":[1,"a",true]}'
    assert {type(read.to_dict()[key]) for key in ("text", "size")} == {int}
    read.text = read.size  # what a person writes is text, whatever it was before
    assert read.to_dict()["text"] == "1"
