"""An attack as a value, and the works that attacks are made of.

``@COURSE@``, ``@GRADES@``, ``@SUBMISSIONS@``, ``@TMP@`` and ``@REPOSITORY@`` in a content are replaced by the paths,
``@MARK@`` by a word by which all that an attack leaves is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
OFF_BY_ONE = dict(variants(EXERCISES["rule"], "wrong"))["off-by-one"]
OFF_BY_ONE_POINTS = 3
NAMES_TWICE = dict(variants(EXERCISES["typed"], "wrong"))["names-twice"]
NAMES_TWICE_POINTS = 7


@dataclass(frozen=True)
class Attack:
    """*work*: names and contents of what is handed in, packed as ``labkit submit`` does, or a function that writes it
    into the folder of the class, given its name without an ending.

    *points*: the mark, None where it must not be in the grade book but among what is listed. *exercise*: the one it
    answers. *notes*: codes that must be said of it. *says*: what its result must hold; it shows that the attack did not
    just fail by a slip of its own.
    """

    name: str
    work: Mapping[str, str | bytes] | Callable[[Path], None]
    points: int | None
    notes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    exercise: str = "rule"


def worked(source: str, change: Callable[[list[dict[str, Any]]], object] = lambda _: None) -> str:
    """The notebook of the exercises with *source* as the cell of "rule"; *change* is given all cells."""
    whole = json.loads(notebook.text([EXERCISES[name] for name in CHOSEN]))
    named(whole["cells"], "rule")["source"] = source
    change(whole["cells"])
    return json.dumps(whole)


def named(cells: list[dict[str, Any]], grade_id: str) -> dict[str, Any]:
    return next(one for one in cells if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)
