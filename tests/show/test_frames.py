"""Measurements as pandas tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from labkit.show import cost as view
from labkit.show import frames

from .samples import COST, OBJECTS_COST


def test_everything_is_saved_as_numbers_that_can_be_read_back(tmp_path: Path) -> None:
    files = frames.save(COST, tmp_path)
    assert [file.name for file in files] == ["definitions.csv", "definitions-growth.csv"]
    numbers, lines = (pd.read_csv(file) for file in files)
    assert list(zip(numbers["round"], numbers["when"], numbers["definitions"], strict=True)) == [
        (number, when, count)
        for number in (1, 2)
        for when, count in (("before", 0), ("with", 1), ("with", 10), ("with", 50), ("removed", 0))
    ]
    last = numbers[(numbers["round"] == 1) & (numbers["definitions"] == 50)].iloc[0]
    assert last["memory_bytes"] == int(406.2 * 2**20)
    assert (last["established_s"], last["kubectl_cold_2_s"], last["all_definitions"]) == (0.8, 0.07, 51)
    assert numbers["established_s"].isna().sum() == 4
    by_measure = lines.set_index("measure")
    assert by_measure.loc["types", "slope"] == pytest.approx(1)
    assert by_measure.loc["in_use", "intercept"] == pytest.approx(0)  # of what was added
    assert set(by_measure.index) <= {measure.key for measure in view.measures(COST.plan)}


def test_objects_are_saved_beside_definitions(tmp_path: Path) -> None:
    assert {file.name for file in frames.save(OBJECTS_COST, tmp_path)} == {"objects.csv", "objects-growth.csv"}
