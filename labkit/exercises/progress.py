"""A student's answers and how far they are: text files beside the notebook, and a record that is never trusted.

``answers/rule.yaml`` is what is handed in and graded. ``answers/progress.json`` only remembers what the last check said
and which hints were shown, so that a new kernel goes on where the old one stopped; no mark is ever read from it. Both
are written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import CourseError
from labkit.exercises.model import Exercise
from labkit.exercises.report import Report
from labkit.languages import translate, worded

__all__ = ["Answers", "Progress", "Standing", "folder", "is_empty", "kept", "plain"]


@dataclass(frozen=True)
class Standing:
    """One exercise: *state* is "not begun", "not checked", "not yet", "passed", or "changed since it was checked"."""

    id: str
    title: str
    state: str
    points: int
    max_points: int


@dataclass(frozen=True)
class Progress:
    """How far a student is, in the exercises' order."""

    exercises: tuple[Standing, ...]


def folder(root: Path) -> Path:
    """Where answers lie: beside the notebooks, wherever a kernel was started."""
    notebooks = root / "notebooks"
    return (notebooks if notebooks.is_dir() else root) / "answers"


def kept(text: str) -> str:
    """The answer *text* as its file has it."""
    return text if text.endswith("\n") or not text else f"{text}\n"


def is_empty(exercise: Exercise, text: str | None) -> bool:
    """Whether *text* is no answer, or nothing but the starter."""
    return text is None or not text.strip() or plain(text) == plain(exercise.starter)


def plain(text: str) -> str:
    """What two answers are compared by: without empty lines around, and spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Answers:
    """The answers in one folder. A folder that is not there is an empty one; writing makes it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, exercise: Exercise) -> Path:
        return self.place / exercise.answer_name

    def read(self, exercise: Exercise) -> str | None:
        """The answer's text; None when there is none. Raises CourseError for a file that is no text."""
        try:
            return self.path(exercise).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(
                translate("{path}: cannot be read", path=self.path(exercise)),
                evidence=str(error),
                next_act=translate("run the answer's cell again"),
            ) from error

    def write(self, exercise: Exercise, text: str) -> Path:
        """Keep *text* as the answer."""
        path = self.path(exercise)
        _write(path, kept(text))
        return path

    def is_empty(self, exercise: Exercise) -> bool:
        """Whether there is no answer, or nothing but the starter."""
        return is_empty(exercise, self.read(exercise))

    def reset(self, exercise: Exercise) -> Path:
        """Put the starter back, and forget what was said of the answer."""
        self._change(exercise, None)
        return self.write(exercise, exercise.starter)

    # -- the record -----------------------------------------------------------------------------------------------

    def keep(self, exercise: Exercise, text: str, report: Report) -> None:
        """Remember what a check of *text* said."""
        entry = self._entry(exercise) | {"answer": _digest(text), "report": report.to_json()}
        self._change(exercise, entry)

    def last_report(self, exercise: Exercise, text: str) -> Report | None:
        """What the last check said, if it was of this very text."""
        entry = self._entry(exercise)
        if entry.get("answer") != _digest(text):
            return None
        try:
            return Report.from_json(entry["report"])
        except (KeyError, TypeError, ValueError):
            return None

    def hints_shown(self, exercise: Exercise, task: str) -> int:
        shown = self._entry(exercise).get("hints")
        number = shown.get(task) if isinstance(shown, dict) else None
        return number if isinstance(number, int) and number > 0 else 0

    def show_hint(self, exercise: Exercise, task: str, number: int) -> None:
        entry = self._entry(exercise)
        shown = entry.get("hints")
        entry["hints"] = (shown if isinstance(shown, dict) else {}) | {task: number}
        self._change(exercise, entry)

    def progress(self, exercises: Sequence[Exercise]) -> Progress:
        return Progress(tuple(self._standing(one) for one in exercises))

    def _standing(self, exercise: Exercise) -> Standing:
        text = self.read(exercise)
        report = self.last_report(exercise, text) if text is not None else None
        if self.is_empty(exercise):
            state = worded("not begun")
        elif report is not None:
            state = worded("passed") if report.passed else worded("not yet")
        else:
            known = self._entry(exercise).get("report")
            state = worded("changed since it was checked") if known else worded("not checked")
        points = report.points if report is not None else 0
        return Standing(exercise.id, exercise.title, state, points, exercise.points)

    @property
    def _record(self) -> Path:
        return self.place / "progress.json"

    def _all(self) -> dict[str, Any]:
        """What is remembered; a record that is none is put aside, not written over."""
        try:
            data = json.loads(self._record.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            data = None
        if isinstance(data, dict) and isinstance(data.get("exercises"), dict):
            return dict(data["exercises"])
        self._record.replace(self._record.with_name("progress.unreadable.json"))
        return {}

    def _entry(self, exercise: Exercise) -> dict[str, Any]:
        entry = self._all().get(exercise.id)
        return dict(entry) if isinstance(entry, dict) else {}

    def _change(self, exercise: Exercise, entry: dict[str, Any] | None) -> None:
        kept = {name: value for name, value in self._all().items() if name != exercise.id}
        if entry is not None:
            kept[exercise.id] = entry
        _write(self._record, json.dumps({"exercises": kept}, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(plain(text).encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write it whole or not at all. Raises CourseError."""
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        raise CourseError(translate("{path}: cannot be written", path=path), evidence=str(error)) from error
