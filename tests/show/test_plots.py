"""Measurements as plots."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from labkit.languages import speaking
from labkit.observe.cost import Cost, Plan
from labkit.observe.growth import Line
from labkit.show import plots

from .samples import COST, OBJECTS_COST


def panels(value: Cost) -> dict[str, Any]:
    """The figure's axes by their title."""
    return {axes.get_legend().get_title().get_text(): axes for axes in plots.cost(value).axes}


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_round_s_points_are_drawn_over_the_number_of_definitions() -> None:
    found = panels(COST)
    assert list(found) == [
        "time to Established, s",
        "kubectl get namespaces, ms",
        "discovery, KiB",
        "OpenAPI v3 of the group, MiB",
        "added to the server's memory, MiB",
        "added to etcd, MiB",
    ]
    established = found["time to Established, s"].lines[0]
    assert list(established.get_xdata()) == [1, 10, 50, 1, 10, 50]
    assert list(established.get_ydata()) == [0.02, 0.2, 0.8, 0.02, 0.1, 0.5]
    assert all(axes.get_xlabel() == "definitions (N)" for axes in found.values())


def test_memory_is_drawn_as_what_each_round_added() -> None:
    axes = panels(COST)["added to the server's memory, MiB"]
    added = axes.lines[0].get_ydata()
    assert list(added) == pytest.approx([0, 1.7, 15.7, 71.9, 0, -1, -21, -41.7], abs=0.1)
    assert labels(axes)[1] == "in use: 0 + 1.00·N, R² 1.000"


def test_a_fitted_line_says_its_formula_and_quality_and_what_does_not_grow_has_none() -> None:
    assert labels(panels(COST)["discovery, KiB"]) == ["/apis, aggregated: 20.7 + 0.229·N, R² 1.000", "/apis"]
    assert plots.formula(Line(-0.329, -0.00204, 0.9996, 0, 500)) == "−0.329 − 0.00204·N, R² 1.000"


def test_numbers_of_a_french_figure_are_written_in_french() -> None:
    with speaking("fr"):
        figure = plots.cost(COST)
        figure.canvas.draw()
        ticks = [tick.get_text() for axes in figure.axes for tick in (*axes.get_xticklabels(), *axes.get_yticklabels())]
        assert plots.formula(Line(-0.329, -0.00204, 0.9996, 0, 500)) == "−0,329 − 0,00204·N, R² 1,000"
    assert any("," in one for one in ticks)
    assert not any("." in one for one in ticks)


def test_objects_have_plots_of_their_own() -> None:
    found = panels(OBJECTS_COST)
    assert list(found)[:2] == ["time to create them one by one, s", "kubectl get type-01, ms"]
    assert len(found) == 4
    assert all(axes.get_xlabel() == "objects (N)" for axes in found.values())


def test_one_load_in_one_round_can_be_drawn_too_without_a_line() -> None:
    first = replace(COST.rounds[0], steps=COST.rounds[0].steps[-1:])
    single = replace(COST, plan=Plan((50,), repeats=1), rounds=(first,))
    assert labels(panels(single)["time to Established, s"]) == ["established", "published"]


def test_what_a_cluster_does_not_tell_is_left_out() -> None:
    def closed(reading: Any) -> Any:
        return replace(reading, heap_bytes=None, stored_bytes=None, database_bytes=None)

    rounds = tuple(
        replace(
            one,
            before=closed(one.before),
            steps=tuple(replace(step, reading=closed(step.reading)) for step in one.steps),
        )
        for one in COST.rounds
    )
    found = panels(replace(COST, rounds=rounds))
    assert "added to etcd, MiB" not in found
    assert [label.partition(":")[0] for label in labels(found["added to the server's memory, MiB"])] == ["process"]


def test_the_figure_is_transparent_and_the_same_pixels_each_time() -> None:
    def png() -> bytes:
        target = io.BytesIO()
        plots.cost(COST).savefig(target, format="png", metadata={"Software": None})
        return target.getvalue()

    assert plots.cost(COST).patch.get_alpha() == 0
    assert png() == png()


def test_no_word_of_a_figure_lies_on_another_or_beyond_its_edge() -> None:
    figure = plots.cost(COST)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    boxes = [axes.get_legend().get_window_extent() for axes in figure.axes]
    width, height = figure.get_size_inches() * figure.dpi
    assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes)
    others = [(one, other) for index, one in enumerate(boxes) for other in boxes[index + 1 :]]
    assert not any(one.overlaps(other) for one, other in others)


def test_a_figure_is_saved_under_what_grows_in_it(tmp_path: Path) -> None:
    file = plots.save(OBJECTS_COST, tmp_path)
    assert file == tmp_path / "objects.png"
    assert file.read_bytes().startswith(b"\x89PNG")


def test_drawing_loads_no_pyplot() -> None:
    program = (
        "import sys; from labkit.show import plots; from tests.show.samples import COST; plots.cost(COST); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
