"""Bars for numbers that stand in a table beside them: an SVG that is the same bytes for the same numbers.

A page has it as a picture, so its ids and styles cannot clash with anything. Its letters are drawn as lines: a reader's
browser need not have the font. What it shows is said in words by whoever puts it on a page.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from labkit.languages import numeral
from labkit.show.plain import plain
from labkit.show.plots import BLUE, GREY, ORANGE, WIDTH_IN, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["across", "upright"]

HEIGHT_IN = 2.6
ROW_IN = 0.42
LONGEST_LABEL = 40


def upright(edges: Sequence[float], heights: Sequence[int], *, below: str, beside: str) -> str:
    """A bar between each two of the *edges*, which are equally far apart; *below* and *beside* name the axes."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")
    axes = figure.subplots()
    axes.bar(edges[:-1], heights, width=0.94 * (edges[1] - edges[0]), align="edge", color=BLUE)
    axes.set_xticks(edges, [numeral(edge, "g") for edge in edges])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylim(0, max(1, *heights))
    axes.set_xlabel(_label(below), color=GREY)
    axes.set_ylabel(_label(beside), color=GREY)
    quiet(axes)
    return _svg(figure)


def across(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, below: str) -> str:
    """Bars of 0 to 100 % for each label, one for each of the (two at most) *series*; *below* names the axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, ROW_IN * (len(labels) + 2)), layout="constrained")
    axes = figure.subplots()
    thick = 0.8 / len(series)
    for number, ((name, values), colour) in enumerate(zip(series.items(), (ORANGE, BLUE), strict=False)):
        places = [place + thick * (number - (len(series) - 1) / 2) for place in range(len(labels))]
        axes.barh(places, values, height=thick, color=colour, label=_label(name))
    axes.set_yticks(range(len(labels)), [_label(one) for one in labels])
    axes.set_xlim(0, 100)
    axes.set_xlabel(_label(below), color=GREY)
    axes.invert_yaxis()
    above = {"bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2, "ncols": len(series)}
    axes.legend(frameon=False, labelcolor=GREY, fontsize="small", loc="lower left", **above)
    quiet(axes)
    return _svg(figure)


def _label(text: str) -> str:
    """Text that matplotlib takes for nothing but text, as long as there is room for."""
    line = plain(" ".join(text.split())).replace("$", r"\$")
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"


def _svg(figure: Figure) -> str:
    from matplotlib import rc_context

    figure.patch.set_alpha(0)
    out = io.StringIO()
    with rc_context({"svg.hashsalt": "labkit", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
