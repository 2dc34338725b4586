"""Differences between two JSON values."""

from __future__ import annotations

from labkit.observe.changes import ABSENT, Change, Difference, compact, differences, dotted, leaves


def found(before: object, after: object) -> list[Difference]:
    return list(differences(before, after))


def test_equal_values_do_not_differ() -> None:
    assert found({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []


def test_an_object_that_came_is_one_difference_not_one_for_each_of_its_fields() -> None:
    assert found({}, {"worker": {"min": 0, "max": 5}}) == [Difference(("worker",), ABSENT, {"min": 0, "max": 5})]


def test_a_field_that_went_is_told_at_its_own_path() -> None:
    assert found({"spec": {"a": 1, "b": 2}}, {"spec": {"a": 1}}) == [Difference(("spec", "b"), 2, ABSENT)]


def test_null_is_a_value_and_not_absence() -> None:
    assert found({"a": None}, {}) == [Difference(("a",), None, ABSENT)]
    assert found({"a": None}, {"a": 5}) == [Difference(("a",), None, 5)]


def test_items_of_equally_long_lists_are_compared_one_by_one() -> None:
    before, after = {"l": [{"x": 1}, {"x": 2, "zz": 3}]}, {"l": [{"x": 1}, {"x": 2}]}
    assert found(before, after) == [Difference(("l", 1, "zz"), 3, ABSENT)]


def test_lists_of_other_lengths_differ_as_a_whole() -> None:
    assert found({"l": [1, 2]}, {"l": [1]}) == [Difference(("l",), [1, 2], [1])]


def test_a_whole_number_is_the_same_written_with_a_point_but_true_is_not_one() -> None:
    assert found({"a": 2}, {"a": 2.0}) == []
    assert found({"a": 1}, {"a": True}) == [Difference(("a",), 1, True)]


def test_differences_come_in_the_order_of_their_paths() -> None:
    assert [d.path for d in differences({"b": 1, "a": {"z": 1}}, {"c": 1, "a": {"y": 1}})] == [
        ("a", "y"),
        ("a", "z"),
        ("b",),
        ("c",),
    ]


def test_paths_are_printed_as_the_server_prints_them() -> None:
    assert dotted(("spec", "lm", 0, "zz")) == "spec.lm[0].zz"
    assert dotted(()) == ""
    assert Change(("spec", "wroker"), "pruned", {}, ABSENT).dotted == "spec.wroker"


def test_leaves_are_the_paths_that_hold_no_further_object() -> None:
    value = {"a": {"b": 1}, "c": [1, 2], "d": [{"e": None}], "f": {}, "g": []}
    assert list(leaves(value)) == [
        (("a", "b"), 1),
        (("c",), [1, 2]),
        (("d", 0, "e"), None),
        (("f",), {}),
        (("g",), []),
    ]


def test_compact_json_keeps_accents_and_shows_absence_as_a_dash() -> None:
    assert compact({"a": ["é", None]}) == '{"a":["é",null]}'
    assert compact(ABSENT) == "–"
