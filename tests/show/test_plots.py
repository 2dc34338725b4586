"""Measurements as plots."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace

import pytest

from labkit.show import plots

from .samples import COST


def test_each_round_is_a_line_up_to_all_definitions_and_a_pair_of_bars() -> None:
    over_time, memory = plots.cost(COST).axes
    assert [list(line.get_ydata()) for line in over_time.lines] == [[0, 0, 16, 50], [0, 0, 50]]
    assert "50" in over_time.get_title()
    added, removed = memory.containers
    assert [bar.get_height() for bar in added] == pytest.approx([71.9, -41.7], abs=0.1)
    assert [bar.get_height() for bar in removed] == pytest.approx([94.8, 40.7], abs=0.1)


def test_one_round_can_be_drawn_too() -> None:
    over_time, memory = plots.cost(replace(COST, rounds=COST.rounds[:1])).axes
    assert len(over_time.lines) == 1
    assert len(memory.containers[0]) == 1


def test_the_figure_is_transparent_and_the_same_pixels_each_time() -> None:
    def png() -> bytes:
        target = io.BytesIO()
        plots.cost(COST).savefig(target, format="png", metadata={"Software": None})
        return target.getvalue()

    assert plots.cost(COST).patch.get_alpha() == 0
    assert png() == png()


def test_drawing_loads_no_pyplot() -> None:
    program = (
        "import sys; from labkit.show import plots; from tests.show.samples import COST; plots.cost(COST); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
