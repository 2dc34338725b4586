"""Lines through measurements."""

from __future__ import annotations

import random

import pytest

from labkit.observe import growth


def test_points_on_a_line_give_that_line_with_the_best_quality() -> None:
    line = growth.fit([0, 1, 10, 50], [3 + 0.5 * n for n in (0, 1, 10, 50)])
    assert line is not None
    assert (line.intercept, line.slope, line.quality) == pytest.approx((3, 0.5, 1))
    assert (line.first, line.last, line.at(100)) == pytest.approx((0, 50, 53))


def test_noise_lowers_the_quality_and_hardly_the_slope() -> None:
    chance = random.Random(54)  # noqa: S311  (no secret)
    counts = [n for n in (0, 10, 50, 100, 200) for _ in range(5)]
    line = growth.fit(counts, [2 * n + chance.gauss(0, 40) for n in counts])
    assert line is not None
    assert line.slope == pytest.approx(2, abs=0.3)
    assert 0.8 < line.quality < 0.99


def test_what_never_changes_grows_by_nothing_and_that_is_explained_whole() -> None:
    line = growth.fit([0, 1, 10], [168.0, 168.0, 168.0])
    assert line is not None and (line.slope, line.quality) == (0, 1)


@pytest.mark.parametrize("counts", [[], [1], [1, 50], [1, 1, 50, 50]])
def test_through_two_counts_or_fewer_there_is_no_line(counts: list[int]) -> None:
    assert growth.fit(counts, [float(n) for n in counts]) is None
