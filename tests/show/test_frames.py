"""Measurements as pandas tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from labkit.show import cost as view
from labkit.show import frames

from .samples import COST, OBJECTS_COST


def test_each_measure_stands_with_units_under_every_load_and_ends_with_its_growth() -> None:
    frame = frames.cost(COST)
    assert list(frame.columns) == ["0", "1", "10", "50", "each more", "fit"]
    assert list(frame.loc["types (api-resources)"]) == ["72", "73", "82", "122", "+1.00", "R² 1.000"]
    assert list(frame.loc["/apis, bytes"]) == ["3922", "4090", "4090", "4090", "–", "–"]
    assert list(frame.loc["/apis, aggregated, bytes"])[-2:] == ["+235 bytes", "R² 1.000"]
    assert list(frame.loc["all established in"])[:4] == ["–", "0.0 s", "0.2 s", "0.7 s"]
    assert list(frame.loc["kubectl get namespaces, cold"])[1] == "70 ms"
    assert list(frame.loc["memory of the process"])[:4] == ["418 MiB", "418 MiB", "415 MiB", "433 MiB"]
    assert list(frame.loc["memory in use"])[-2:] == ["+1024 KiB", "R² 1.000"]


def test_of_objects_there_is_no_load_before_the_first() -> None:
    frame = frames.cost(OBJECTS_COST)
    assert list(frame.columns) == ["0", "100", "1000", "each more", "fit"]
    assert list(frame.loc["all objects created in"]) == ["0.0 s", "0.2 s", "2.0 s", "+2.00 ms", "R² 1.000"]
    assert "kubectl get type-01, warm" in frame.index
    assert "groups" not in frame.index


def test_the_noise_has_a_row_a_round() -> None:
    row = ["501.0 MiB", "459.3 MiB", "-41.7 MiB", "500.0 MiB", "+50.0 MiB", "0.5 s"]
    assert list(frames.memory_noise(COST).loc["2"]) == row


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
