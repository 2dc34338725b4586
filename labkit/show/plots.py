"""Measurements as plots. matplotlib is loaded by the call, and never through pyplot, which keeps state of its own.

Figures are transparent with grey text and lines, so that they can be read on a light page and on a dark one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.languages import numeral, translate
from labkit.observe import growth
from labkit.observe.cost import Cost
from labkit.show import cost as view
from labkit.show.units import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREY", "ORANGE", "cost", "formula", "quiet", "save"]

GREY = "#808080"
"""Contrast of about 4 to 1 on white as well as on JupyterLab's dark background."""
BLUE, ORANGE = "#3b82c4", "#d9822b"
COLOURS = (BLUE, ORANGE)
MARKERS = ("o", "s")
DPI = 110
WIDTH_IN, ROW_IN = 8.0, 3.1
KIB, MIB = 2**10, 2**20


@dataclass(frozen=True)
class Line:
    """One measure in a panel: its key, its label, and what its numbers are divided by to be in the panel's unit."""

    key: str
    label: str
    scale: float = 1.0


@dataclass(frozen=True)
class Panel:
    """One plot: a title that ends in the unit, and its lines; *change* draws what was added since a round's first."""

    title: str
    lines: tuple[Line, ...]
    change: bool = False


def _panels(value: Cost) -> list[Panel]:
    """Those with something to draw."""
    known = {measure.key: measure for measure in view.measures(value.plan)}
    return [panel for panel in _wanted(value) if any(view.points(value, known[line.key])[0] for line in panel.lines)]


def _wanted(value: Cost) -> tuple[Panel, ...]:
    asked = (Line("cold", translate("cold")), Line("warm", translate("warm")))
    kubectl = Panel(f"{view.kubectl(value.plan)}, ms", asked)
    held = (Line("resident", translate("process")), Line("in_use", translate("in use")))
    memory = Panel(translate("added to the server's memory, MiB"), held, change=True)
    stored = (Line("etcd_file", translate("file"), KIB), Line("etcd_stored", translate("keys and values"), KIB))
    etcd = Panel(translate("added to etcd, MiB"), stored, change=True)
    if value.plan.varied == "objects":
        created = (Line("stored", translate("created")),)
        return (Panel(translate("time to create them one by one, s"), created), kubectl, memory, etcd)
    timed = (Line("established", translate("established")), Line("published", translate("published")))
    listed = (Line("aggregated", translate("/apis, aggregated"), KIB), Line("discovery", "/apis", KIB))
    return (
        Panel(translate("time to Established, s"), timed),
        kubectl,
        Panel(translate("discovery, KiB"), listed),
        Panel(translate("OpenAPI v3 of the group, MiB"), (Line("openapi", translate("document"), MIB),)),
        memory,
        etcd,
    )


def cost(value: Cost) -> Figure:
    """A panel a quantity over the number of definitions, or of objects: every round's points, and the fitted line with
    its formula (N is the number) and its quality R² in the legend.
    """
    from matplotlib.figure import Figure

    panels = _panels(value)
    lines = (len(panels) + 1) // 2
    figure = Figure(figsize=(WIDTH_IN, ROW_IN * lines), layout="constrained", dpi=DPI)
    figure.patch.set_alpha(0)
    figure.suptitle(view.headline(value), color=GREY, fontsize="small")
    places = list(figure.subplots(lines, 2, squeeze=False).flat)
    for axes in places[len(panels) :]:
        axes.remove()
    for axes, panel in zip(places, panels, strict=False):
        _draw(axes, value, panel)
    return figure


def _draw(axes: Any, value: Cost, panel: Panel) -> None:
    known = {measure.key: measure for measure in view.measures(value.plan)}
    for line, colour, marker in zip(panel.lines, COLOURS, MARKERS, strict=False):
        counts, numbers = (view.added if panel.change else view.points)(value, known[line.key])
        if not counts:
            continue
        scaled = [number / line.scale for number in numbers]
        axes.plot(counts, scaled, marker, color=colour, alpha=0.6, markersize=4.5)
        found = None if known[line.key].steps else growth.fit(counts, scaled)
        label = (
            line.label if found is None else translate("{label}: {formula}", label=line.label, formula=formula(found))
        )
        axes.plot([], [], marker, linestyle="" if found is None else "-", color=colour, markersize=4.5, label=label)
        if found is not None:
            ends = (found.first, found.last)
            axes.plot(ends, [found.at(end) for end in ends], color=colour, linewidth=1.2)
    varied = translate("definitions (N)") if value.plan.varied == "definitions" else translate("objects (N)")
    axes.set_xlabel(varied, color=GREY)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_ticks())
    if axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)
    quiet(axes)
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2, "alignment": "left"}
    legend = axes.legend(title=panel.title, frameon=False, labelcolor=GREY, fontsize="small", **above)
    legend.get_title().set_color(GREY)


def formula(line: growth.Line) -> str:
    """ "0.31 + 0.0148·N, R² 0.998" """
    sign = "−" if line.slope < 0 else "+"
    told = f"{significant(line.intercept)} {sign} {significant(abs(line.slope))}·N, R² {numeral(line.quality, '.3f')}"
    return told.replace("-", "−")


def save(value: Cost, folder: Path) -> Path:
    """Write the figure as a PNG of 880 pixels' width into *folder*; the file."""
    file = folder / f"{value.plan.varied}.png"
    cost(value).savefig(file, format="png", metadata={"Software": None})
    return file


def _ticks() -> Any:
    """The numbers of an axis as matplotlib chooses and rounds them, written as the language does."""
    from matplotlib.ticker import ScalarFormatter

    class Ticks(ScalarFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return numeral(super().__call__(x, pos), "")

    return Ticks()


def quiet(axes: Any) -> None:
    """Grey ticks and two thin lines, on whatever lies behind."""
    axes.patch.set_alpha(0)
    axes.tick_params(colors=GREY)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
