"""How measurements look: a table with each figure beside its budget, for a page and for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Figure", "replace_section", "table"]


@dataclass(frozen=True)
class Figure:
    """One figure: *value* in *unit* (a key of _DIGITS); *budget* is the most it may be, None where none was set.

    *samples* are the single measurements, in order, when *value* is their median.
    """

    name: str
    value: float
    unit: str
    budget: float | None = None
    samples: tuple[float, ...] = ()

    @classmethod
    def of(cls, name: str, samples: Sequence[float], unit: str, budget: float | None = None) -> Figure:
        """The median of *samples*."""
        return cls(name, median(samples), unit, budget, tuple(samples))

    @property
    def within(self) -> bool:
        """Not over its budget, as the figure is shown."""
        return self.budget is None or round(self.value, _DIGITS[self.unit]) <= self.budget


_DIGITS = {"s": 2, "ms": 2, "MB": 0, "kB": 0, "B": 0, "/s": 0, "×": 2, "": 0}


def table(figures: Sequence[Figure]) -> str:
    """A Markdown table; a figure over its budget is said to be."""
    lines = ["| what | measured | budget | spread |", "|---|---:|---:|---|"]
    for figure in figures:
        budget = "" if figure.budget is None else f"≤ {_number(figure.budget, figure.unit)}"
        over = "" if figure.within else " **over**"
        spread = ""
        if len(figure.samples) > 1:
            low, high = min(figure.samples), max(figure.samples)
            spread = f"{_number(low, figure.unit)} to {_number(high, figure.unit)}, {len(figure.samples)} runs"
        lines.append(f"| {figure.name} | {_number(figure.value, figure.unit)}{over} | {budget} | {spread} |")
    return "\n".join(lines) + "\n"


def _number(value: float, unit: str) -> str:
    return f"{value:.{_DIGITS[unit]}f} {unit}".rstrip()


def replace_section(page: str, name: str, text: str) -> str:
    """*page* with what stands between its two marks of *name* replaced by *text*; appended when it has none."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n{text.rstrip()}\n{end}\n"
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}\n", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: section, page)
    return f"{page.rstrip()}\n\n{section}"
