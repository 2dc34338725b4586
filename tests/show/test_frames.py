"""Measurements as pandas tables."""

from __future__ import annotations

from labkit.show import frames

from .samples import COST


def test_before_after_and_change_stand_beside_each_measure_with_units() -> None:
    frame = frames.cost(COST)
    assert list(frame.columns) == ["before", "after", "change"]
    assert list(frame.loc["definitions"]) == ["1", "51", "+50"]
    assert list(frame.loc["/apis"]) == ["3922 bytes", "4090 bytes", "+168 bytes"]
    assert list(frame.loc["server memory"]) == ["334.3 MiB", "406.2 MiB", "+71.9 MiB"]


def test_the_noise_has_a_row_a_round() -> None:
    assert list(frames.memory_noise(COST).loc["2"]) == ["501.0 MiB", "459.3 MiB", "-41.7 MiB", "500.0 MiB", "0.5 s"]
