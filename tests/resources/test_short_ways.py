"""The functions that are written out for sets of keys: they decide nothing, and follow a class that changes."""

from __future__ import annotations

import itertools
import json

import pytest

from labkit.resources import Int, List, Object, Resource, ResourceError, Str, Time, declare
from labkit.resources.state import state_of

KEYS = ("a", "b", "c", "d", "e", "f", "g")


class Many(Resource):
    a = Int(minimum=1)
    b = Str(nullable=True)
    c = Str(enum=["x"])
    d = Time()
    e = List(Str)
    f = {"x": Int(required=True)}
    g = List({"x": Int})


VALUES = {"a": 1, "b": None, "c": "x", "d": "2024-02-29T00:00:00Z", "e": ["é"], "f": {"x": 1}, "g": [{"x": 2}]}
WRONG = {"a": 0, "b": 1.5, "c": "y", "d": "2023-02-29T00:00:00Z", "e": [True], "f": {}, "g": [{"x": "2"}]}


def test_many_sets_of_keys_are_built_and_written_alike() -> None:
    for keys in itertools.chain.from_iterable(itertools.permutations(KEYS, length) for length in range(4)):
        document = {key: VALUES[key] for key in keys}
        made = Many.from_dict(document)
        assert json.loads(made.to_json()) == made.to_dict()
        assert made.to_dict() == document
        assert list(made.to_dict()) == list(keys)
    assert len(state_of(Many).builders) <= 64


@pytest.mark.parametrize("key", [key for key in KEYS if key != "b"])
def test_one_wrong_value_among_right_ones_is_found(key: str) -> None:
    for _ in range(2):  # the keys are met, then known
        with pytest.raises(ResourceError) as caught:
            Many.from_dict({**VALUES, key: WRONG[key]})
        assert [problem.path[0] for problem in caught.value.problems] == [key]
        Many.from_dict(VALUES)


def test_a_field_declared_later_is_checked_and_written_also_where_the_class_is_inside_another() -> None:
    class Inner(Resource):
        x = Int()

    class Outer(Resource):
        inner = Object(Inner)

    document = {"inner": {"x": 1, "y": 5}}
    assert json.loads(Outer.from_dict(document).to_json()) == document
    declare(Inner, "y", Str(max_length=3))
    assert Outer.from_dict(document).to_json() == '{"inner":{"x":1,"y":"5"}}'
    with pytest.raises(ResourceError, match=r"inner\.y"):
        Outer.from_dict({"inner": {"x": 1, "y": "long"}})


def test_an_object_of_a_subclass_is_written_as_what_it_is() -> None:
    class Inner(Resource):
        x = Str()

    class More(Inner):
        y = Str()

    class Outer(Resource):
        inner = Object(Inner)

    assert Outer(inner=More(x="a", y=5)).to_json() == '{"inner":{"x":"a","y":"5"}}'
