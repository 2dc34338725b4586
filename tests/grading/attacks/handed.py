"""An attack as a value, and the works that attacks are made of.

``@COURSE@``, ``@GRADES@``, ``@SUBMISSIONS@``, ``@TMP@`` and ``@REPOSITORY@`` in a content are replaced by the paths,
``@MARK@`` by a word by which all that an attack leaves is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.exercises import notebook
from labkit.exercises.model import Exercise, load_all, variants

REPOSITORY = Path(__file__).resolve().parents[3]
EXERCISES: dict[str, Exercise] = {one.id: one for one in load_all(REPOSITORY)}
CHOSEN = ("rule", "operator", "inventory", "migration", "typed")
"""The exercises of the class; each attack answers one of them."""

NOTEBOOK = notebook.NAME
RULE = EXERCISES["rule"].solution or ""
TYPED = EXERCISES["typed"].solution or ""
OPERATOR = EXERCISES["operator"].solution or ""
INVENTORY = EXERCISES["inventory"].solution or ""
MIGRATION = EXERCISES["migration"].solution or ""
OFF_BY_ONE = dict(variants(EXERCISES["rule"], "wrong"))["off-by-one"]
OFF_BY_ONE_POINTS = 3
NAMES_TWICE = dict(variants(EXERCISES["typed"], "wrong"))["names-twice"]
NAMES_TWICE_POINTS = 7
HTML = "<img src=x onerror=alert(1)>\x1b[2J"
NAMED_HTML = f"grades.csv {HTML}"
"""What a submission and a file in it are called."""


@dataclass(frozen=True)
class Attack:
    """*work*: names and contents of what is handed in, packed as ``labkit submit`` does, or a function that writes it
    into the folder of the class, given its name without an ending.

    *points*: the mark, None where it must not be in the grade book but among what is listed. *exercise*: the one it
    answers. *notes*: codes that must be said of it. *says*: what its result must hold; it shows that the attack did not
    just fail by a slip of its own. *cell*: the source of its cell in the notebook, where that is not the text in
    *work*; *change* is given all cells. *among*: the submission that it is handed in with, by default one of its own.
    """

    name: str
    work: Mapping[str, str | bytes] | Callable[[Path], None]
    points: int | None
    notes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    exercise: str = "rule"
    cell: str = ""
    change: Callable[[list[dict[str, Any]]], object] = lambda _: None
    among: str = ""

    @property
    def submission(self) -> str:
        return self.among or self.name


def together(attacks: Sequence[Attack]) -> dict[str, str | bytes]:
    """What *attacks* hand in as one submission: their files, and a notebook where one of them has a cell."""
    files: dict[str, str | bytes] = {}
    cells: dict[str, str] = {}
    for one in attacks:
        assert not callable(one.work)
        assert not files.keys() & one.work.keys(), f"{one.name} would take another's file"
        files |= one.work
        text = one.work.get(f"answers/{one.exercise}.{EXERCISES[one.exercise].answer}", "")
        assert isinstance(text, str)
        cells[one.exercise] = one.cell or f"%%answer {one.exercise}\n{text}"
    assert len(cells) == len(attacks), "each answers another exercise"
    if any(one.cell for one in attacks):
        files[NOTEBOOK] = worked(cells, [one.change for one in attacks])
    return files


def worked(sources: Mapping[str, str], changes: Sequence[Callable[[list[dict[str, Any]]], object]] = ()) -> str:
    """The notebook of the exercises with *sources* as the cells of theirs; each of *changes* is given all cells."""
    whole = json.loads(notebook.text([EXERCISES[name] for name in CHOSEN]))
    for exercise, source in sources.items():
        named(whole["cells"], exercise)["source"] = source
    for change in changes:
        change(whole["cells"])
    return json.dumps(whole)


def named(cells: list[dict[str, Any]], grade_id: str) -> dict[str, Any]:
    return next(one for one in cells if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)
