"""How a measured quantity grows with a count: what each more of them takes.

A row of numbers invites a guess at what ten times as many would take. A line through them gives the guess a formula and
a quality, so that a table and a figure can say both: y = intercept + slope·N, and R², the share of the variation that
the line accounts for. A line and nothing bent: over the numbers the course measures nothing needed more, and a curve
finds laws in noise.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Line", "fit"]

LEAST = 3
"""Different counts; through two a line always fits."""


@dataclass(frozen=True)
class Line:
    """y = *intercept* + *slope*·N, for N from the *first* to the *last* that was measured; *quality* is R²."""

    intercept: float
    slope: float
    quality: float
    first: float
    last: float

    def at(self, count: float) -> float:
        return self.intercept + self.slope * count


def fit(counts: Sequence[float], values: Sequence[float]) -> Line | None:
    """The line of least squares through *values* at *counts* (as many), or None with less than three different counts.

    What never changes is explained whole: its quality is 1.
    """
    if len(set(counts)) < LEAST:
        return None
    slope, intercept = statistics.linear_regression(counts, values)
    quality = statistics.correlation(counts, values) ** 2 if len(set(values)) > 1 else 1.0
    return Line(intercept, slope, quality, min(counts), max(counts))
