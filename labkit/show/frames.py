"""Measurements as pandas tables. pandas is loaded by the call, not by the import: it takes half a second."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.observe.cost import Cost, Round
from labkit.observe.reading import Reading
from labkit.show import cost as view

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["growth", "measurements", "save"]


def measurements(value: Cost) -> pd.DataFrame:
    """Everything as numbers, one row a look at the server: the round, when ("before", "with", "removed"), how many
    definitions and objects, then bytes, counts and seconds under names that end in their unit. A number the cluster
    does not tell, or that belongs to a step alone, is missing.
    """
    import pandas as pd

    return pd.DataFrame([row for number, one in enumerate(value.rounds, start=1) for row in _looks(number, one)])


def growth(value: Cost) -> pd.DataFrame:
    """The fitted lines as numbers, a row a measure: intercept and slope in its unit, and quality (R²)."""
    import pandas as pd

    found = []
    for measure in view.measures(value.plan):
        line = view.growth(value, measure)
        if line is not None:
            found.append((measure.key, measure.unit, line.intercept, line.slope, line.quality))
    return pd.DataFrame(found, columns=["measure", "unit", "intercept", "slope", "quality"])


def save(value: Cost, folder: Path) -> tuple[Path, ...]:
    """Write ``measurements`` and ``growth`` as CSV into *folder*; the files."""
    files = (folder / f"{value.plan.varied}.csv", folder / f"{value.plan.varied}-growth.csv")
    for file, frame in zip(files, (measurements(value), growth(value)), strict=True):
        frame.to_csv(file, index=False)
    return files


def _looks(number: int, one: Round) -> list[dict[str, Any]]:
    found = [_look(number, "before", 0, 0, one.before)]
    for step in one.steps:
        row = _look(number, "with", step.definitions, step.objects, step.reading)
        row |= {"established_s": step.established_s, "published_s": step.published_s, "stored_s": step.stored_s}
        for name, runs in (("cold", step.cold_s), ("warm", step.warm_s)):
            row |= {f"kubectl_{name}_{run}_s": seconds for run, seconds in enumerate(runs, start=1)}
        found.append(row)
    return [*found, _look(number, "removed", 0, 0, one.removed)]


def _look(number: int, when: str, definitions: int, objects: int, reading: Reading) -> dict[str, Any]:
    seen = asdict(reading)
    seen["all_definitions"] = seen.pop("definitions")
    return {"round": number, "when": when, "definitions": definitions, "objects": objects, **seen}
