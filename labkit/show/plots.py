"""Measurements as plots. matplotlib is loaded by the call, and never through pyplot, which keeps state of its own.

Figures are transparent with grey text and lines, so that they can be read on a light page and on a dark one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.observe.cost import DefinitionsCost

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cost"]

GREY = "#808080"
"""Contrast of about 4 to 1 on white as well as on JupyterLab's dark background."""
BLUE, ORANGE = "#3b82c4", "#d9822b"


def cost(value: DefinitionsCost) -> Figure:
    """Left: definitions established over time, a line a round. Right: what each round did to the server's memory."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    figure.patch.set_alpha(0)
    over_time, memory = figure.subplots(1, 2)
    _established(over_time, value)
    _memory(memory, value)
    for axes in (over_time, memory):
        _quiet(axes)
    return figure


def _established(axes: Any, value: DefinitionsCost) -> None:
    for index, one in enumerate(value.rounds):
        at, seen = [0.0], [0]
        for point in one.points:
            at.append(point.seconds)
            seen.append(point.established)
        axes.plot(at, seen, color=BLUE, alpha=1.0 if index == 0 else 0.45, marker=".", drawstyle="steps-post")
    axes.set_xlim(left=0)
    axes.set_ylim(0, value.count * 1.05)
    axes.set_xlabel("seconds after the first was sent")
    axes.set_title(f"established, of {value.count}")


def _memory(axes: Any, value: DefinitionsCost) -> None:
    rounds = [str(index) for index in range(1, len(value.rounds) + 1)]
    changes = [one.memory_change_bytes / 2**20 for one in value.rounds]
    after = [(one.memory_gone_bytes - one.after.memory_bytes) / 2**20 for one in value.rounds]
    places = range(len(rounds))
    axes.bar([place - 0.2 for place in places], changes, width=0.38, color=BLUE, label="definitions added")
    axes.bar([place + 0.2 for place in places], after, width=0.38, color=ORANGE, label="definitions removed")
    axes.set_xticks(list(places), rounds)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel("round")
    axes.set_title("change of server memory, MiB")
    axes.margins(y=0.35)
    axes.legend(frameon=False, labelcolor=GREY, fontsize="small", ncols=2, loc="upper center")


def _quiet(axes: Any) -> None:
    axes.patch.set_alpha(0)
    axes.tick_params(colors=GREY)
    axes.title.set_color(GREY)
    axes.xaxis.label.set_color(GREY)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
