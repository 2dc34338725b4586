"""Classes to grade: notebooks as students hand them in, made from the exercises' own right and wrong answers.

A class that is graded fast because its answers are alike, or empty, says nothing. So each submission answers every
exercise, and differs from all others; one third of them with right answers only, one third with every second answer
wrong, one third with wrong ones only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit.exercises import notebook
from labkit.exercises.model import Exercise, variants

__all__ = ["CRASH", "HANG", "KINDS", "hand_in", "without_cluster"]

KINDS = ("right", "half", "wrong")
HANG = "while True:\n    pass\n"
CRASH = "import os\n\nos.kill(os.getpid(), 9)\n"


def hand_in(
    exercises: Sequence[Exercise], folder: Path, count: int, *, odd: Mapping[int, tuple[str, str]] | None = None
) -> dict[str, str]:
    """Write *count* submissions below *folder*, as nbgrader keeps them; each one's kind by its name.

    *odd* gives, by number, a kind of its own and the source that stands in the place of one of its answers' cells.
    """
    text = notebook.text(exercises)
    choices = {one.id: _choices(one) for one in exercises}
    kinds = {}
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        cells = {
            one.id: _answer(one.id, choices[one.id][_side(kind, number + place)], number)
            for place, one in enumerate(exercises)
        }
        if odd and number in odd:
            kind, cells[exercises[number % len(exercises)].id] = odd[number]
        name = f"student-{number:02}"
        _write(folder / name / notebook.ASSIGNMENT / notebook.NAME, _filled(text, cells))
        kinds[name] = kind
    return kinds


def _choices(exercise: Exercise) -> dict[str, list[str]]:
    right = [exercise.solution or "", *(text for _, text in variants(exercise, "right"))]
    return {"right": right, "wrong": [text for _, text in variants(exercise, "wrong")]}


def _side(kind: str, place: int) -> str:
    return kind if kind != "half" else ("right", "wrong")[place % 2]


def _answer(name: str, choices: Sequence[str], number: int) -> str:
    chosen = choices[number // len(KINDS) % len(choices)]
    return f"%%answer {name}\n# handed in by number {number}\n{chosen}"


def _filled(text: str, cells: Mapping[str, str]) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(text)
    for cell in whole["cells"]:
        if cell["id"] in cells:
            cell["source"] = cells[cell["id"]]
    return whole


def without_cluster(like: Path, course: Path, count: int) -> None:
    """A course for nbgrader at *course*: its source, and *count* submissions, each with as many cells as the notebook
    *like*, of the same kinds, that do nothing but Python.
    """
    whole = json.loads(like.read_text(encoding="utf-8"))
    whole["metadata"].pop("labkit", None)
    for number, cell in enumerate(whole["cells"]):
        told = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code":
            cell["source"] = (
                f"assert value_{number - 1} == {number - 1}" if told.get("grade") else f"value_{number} = {number}"
            )
    source = course / "source" / notebook.ASSIGNMENT / notebook.NAME
    _write(source, whole)
    for number in range(count):
        _write(course / "submitted" / f"student-{number:02}" / notebook.ASSIGNMENT / notebook.NAME, whole)


def _write(path: Path, whole: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False), encoding="utf-8")
