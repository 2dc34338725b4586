"""Two JSON values as the lines of one: nothing invented, nothing lost, every difference marked."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labkit.observe.changes import ABSENT
from labkit.show.json_lines import marked

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, width=16) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc<", max_size=2), inner, max_size=3),
    max_leaves=12,
)


def dumped(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


@given(VALUES, VALUES)
def test_the_lines_that_are_not_removed_are_the_new_value(before: Any, after: Any) -> None:
    assert json.loads("\n".join(line.text for line in marked(before, after) if line.mark != "removed")) == after


@given(VALUES)
def test_a_value_that_did_not_change_is_printed_without_a_mark(value: Any) -> None:
    for lines in (marked(value, value), marked(ABSENT, value)):
        assert "\n".join(line.text for line in lines) == dumped(value)
        assert {line.mark for line in lines} == {""}


def test_what_went_and_what_came_stand_at_their_place() -> None:
    lines = marked({"a": 1, "b": {"c": [1, 2]}, "z": 0}, {"a": 1, "b": {"c": [1, 3], "d": {"e": 5}}})
    assert [f"{line.mark or '='} {line.text}" for line in lines] == [
        "= {",
        '=   "a": 1,',
        '=   "b": {',
        '=     "c": [',
        "=       1,",
        "removed       2",
        "added       3",
        "=     ],",
        'added     "d": {',
        'added       "e": 5',
        "added     }",
        "=   }",
        'removed   "z": 0',
        "= }",
    ]


def test_true_is_not_one_and_one_is_its_float() -> None:
    assert {line.mark for line in marked({"a": True}, {"a": 1})} == {"", "removed", "added"}
    assert {line.mark for line in marked({"a": 1.0}, {"a": 1})} == {""}


def test_of_a_long_value_the_changes_are_kept_with_lines_around_and_the_rest_is_counted() -> None:
    before = {f"k{number:03}": number for number in range(500)}
    lines = marked(before, before | {"k250": "other"})
    assert len(lines) == 2 + 3 + 3 + 2
    assert lines[0].text == "… 248 lines" and lines[-1].text == "… 247 lines"
    assert [line.mark for line in lines if line.mark] == ["removed", "added"]


def test_a_long_value_without_a_change_begins_as_it_is_and_says_how_long_it_is() -> None:
    lines = marked(ABSENT, list(range(1000)))
    assert len(lines) == 161
    assert lines[-1].text == "… 842 lines"
