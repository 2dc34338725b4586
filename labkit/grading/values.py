"""What goes from one part of grading to the next: plain frozen values, kept as JSON, the same for the same bytes.

Nothing here depends on when, where or in which order something was graded, but for ``Result.seconds`` and
``Result.walls``, which no mark and no grade book is made of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from labkit.course.digests import add_files
from labkit.exercises.report import Report, printable

__all__ = ["NOT_JUDGED", "UNREADABLE", "Answer", "CellRun", "ExerciseResult", "Note", "Result", "Submission"]

NOT_JUDGED = "not-judged"
"""The code of a note on an exercise that has no points because it could not be judged: an instructor gives them."""

UNREADABLE = "unreadable-answer"
"""The code of a note on an answer that is there and is no text."""


@dataclass(frozen=True)
class Note:
    """Something an instructor should know of, that is no mark. *code* is for programs ("duplicate-cell")."""

    code: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


@dataclass(frozen=True)
class Submission:
    """What one person handed in, as bytes.

    *key* is the name it was found under (a folder, a file, a member of an archive), unique in a class and before any
    roster; *source* says for people where that was. *notebook* is the file of the exercises, *answers* are the names
    and contents of ``answers/``; either may be missing. *notes* tell what was odd about its form.
    """

    key: str
    source: str
    notebook: bytes | None = None
    answers: tuple[tuple[str, bytes], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def sha256(self) -> str:
        """Of everything that a result depends on: not of the key, nor of where it was found."""
        digest = hashlib.sha256()
        parts = [("notebook", self.notebook)] if self.notebook is not None else []
        answers = ((f"answers/{name}", content) for name, content in sorted(self.answers))
        add_files(digest, (*parts, *answers))
        digest.update(json.dumps([asdict(one) for one in self.notes], sort_keys=True).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Answer:
    """The text that is judged for one exercise, None where there is none.

    *cell* is the source of the answer's cell as it was handed in, which is what is run in a kernel. *empty* says that
    it is nothing but the starter, or nothing.
    """

    exercise_id: str
    text: str | None
    cell: str | None = None
    empty: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class CellRun:
    """One cell as nbval saw it. *status*: "passed", "failed", "died", "hung", "too-much-output" or "not-run".

    *grade_id* is the cell's name. *words* are labkit's, a message that can be translated; *said* is what a program or
    this machine said, in one line, which is not.
    """

    grade_id: str
    status: str
    words: str = ""
    said: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", printable(self.said))


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: the points, which come from *report* alone, and how its notebook ran.

    *report* is None where nothing was judged: the answer is *empty*, which one that could not be read is too (its notes
    say so), or it could not be judged (``NOT_JUDGED``). *answer* is its text, None where there is none. *notebook* is
    the notebook as it was run, in nbformat's JSON form; None where nothing was run.
    """

    exercise_id: str
    title: str
    points: int
    max_points: int
    empty: bool
    report: Report | None = None
    cells: tuple[CellRun, ...] = ()
    notebook: Mapping[str, Any] | None = None
    notes: tuple[Note, ...] = ()
    answer: str | None = None


@dataclass(frozen=True)
class Result:
    """One submission graded. *walls* say what held its programs, and what was missing on that machine."""

    key: str
    source: str
    sha256: str
    exercises: tuple[ExerciseResult, ...]
    notes: tuple[Note, ...] = ()
    walls: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def points(self) -> int:
        return sum(one.points for one in self.exercises)

    @property
    def max_points(self) -> int:
        return sum(one.max_points for one in self.exercises)

    def named(self, submission: Submission) -> Result:
        """The same result, of another submission with the same bytes."""
        return replace(self, key=submission.key, source=submission.source)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and lists; ``from_json`` gives the same result back."""
        exercises = [
            {
                "exercise_id": one.exercise_id,
                "title": one.title,
                "points": one.points,
                "max_points": one.max_points,
                "empty": one.empty,
                "report": one.report.to_json() if one.report is not None else None,
                "cells": [asdict(cell) for cell in one.cells],
                "notebook": one.notebook,
                "notes": [asdict(note) for note in one.notes],
                "answer": one.answer,
            }
            for one in self.exercises
        ]
        return {
            "key": self.key,
            "source": self.source,
            "sha256": self.sha256,
            "exercises": exercises,
            "notes": [asdict(note) for note in self.notes],
            "walls": list(self.walls),
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Raises KeyError, TypeError or ValueError when *data* is no result."""
        exercises = tuple(
            ExerciseResult(
                **{
                    **one,
                    "report": Report.from_json(one["report"]) if one["report"] is not None else None,
                    "cells": tuple(CellRun(**cell) for cell in one["cells"]),
                    "notes": tuple(Note(**note) for note in one["notes"]),
                }
            )
            for one in data["exercises"]
        )
        return cls(
            key=str(data["key"]),
            source=str(data["source"]),
            sha256=str(data["sha256"]),
            exercises=exercises,
            notes=tuple(Note(**note) for note in data["notes"]),
            walls=tuple(map(str, data["walls"])),
            seconds=float(data["seconds"]),
        )
