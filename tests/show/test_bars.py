"""Bars: one for each number, the same bytes each time, and labels that are nothing but text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from labkit.show import bars

EVIL = "</svg><script>x</script> $\\frac{1}{2}$ \x1b[2J"


def test_the_same_numbers_are_the_same_bytes_without_a_date() -> None:
    made = [bars.upright([0, 1, 2], [3, 0], below="points", beside="students") for _ in range(2)]
    assert made[0] == made[1]
    assert "dc:date" not in made[0]


@pytest.mark.parametrize("heights", [[0, 0], [1, 0], [1000, 1]])
def test_a_bar_is_drawn_for_each_number(heights: list[int]) -> None:
    drawn = bars.upright([0, 2.5, 5], heights, below="points", beside="students")
    assert drawn.count("fill: #3b82c4") == 2


def test_each_label_has_a_bar_of_each_series() -> None:
    drawn = bars.across(["a", "b", "c"], {"answered": [100, 50, 0], "passed": [50, 0, 0]}, below="%")
    assert drawn.count("fill: #3b82c4") == 4, "three bars, and the one of the legend"
    assert drawn.count("fill: #d9822b") == 4


def test_a_label_is_nothing_but_text() -> None:
    drawn = bars.across([EVIL, "x" * 500], {EVIL: [1, 2]}, below=EVIL)
    assert not {one.tag.rpartition("}")[2] for one in ET.fromstring(drawn).iter()} & {"script", "text"}  # noqa: S314
