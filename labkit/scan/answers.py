"""What is looked for: every answer of every exercise, less what a student is given anyway.

Instructors' files hold the answers, but most of their lines are no secret: a solution is a starter with some lines
more, and many of these stand in the course. To report them would be to cry wolf, and a scanner that does is soon
switched off.
So a line counts only if it is long enough to say something, and is not in the exercise's prompt, starter, hints or
probes, nor in the course (``crd/`` and the notebooks), nor in the package, which has its idioms too. Three or more
lines that follow each other count as one, however short they are, and also when the package has them: that is no idiom
any more, unless another exercise begins with them. The ``secrets`` of an exercise always count: whatever holds one, the
course included, tells the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import CourseError
from labkit.exercises import notebook
from labkit.exercises.model import Exercise, load_all
from labkit.scan.folding import fold, fold_text

__all__ = ["Answers", "Needle", "ScanError", "instructors_files", "read_answers"]

SECRET_BYTES = 6
"""The least that is left of a secret when it is folded: shorter ones are everywhere."""

LINE_BYTES = 24
"""A folded line of this length says enough to be an answer by itself."""

PASSAGE_LINES = 3
PASSAGE_BYTES = 48

_IMPORT = re.compile(r"\s*(import\s+[\w.]+|from\s+[\w.]+\s+import\s)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class ScanError(CourseError):
    """The answers cannot be looked for, or a place cannot be looked into."""


@dataclass(frozen=True)
class Needle:
    """Folded bytes that tell the answer of *exercise*; *source* says of what: "secret 1", "solution.yaml:14"."""

    text: bytes
    exercise: str
    source: str


@dataclass(frozen=True)
class Answers:
    """*needles* are looked for in contents; *names* (exercise, and a pattern of the path) in the names of files."""

    needles: tuple[Needle, ...]
    names: tuple[tuple[str, re.Pattern[str]], ...]

    def named(self, path: str) -> str:
        """The exercise whose instructors' file *path* is, by its name; "" when it is none."""
        return next((exercise for exercise, pattern in self.names if pattern.search(path)), "")


def read_answers(root: Path) -> Answers:
    """Read the answers of the exercises below *root*. Raises ExerciseError, and ScanError for a secret too short."""
    exercises = load_all(root)
    course = _pool(_course(root))
    idioms = _pool(_read(path) for path in sorted((root / "labkit").rglob("*.py")))
    for exercise in exercises:
        _expect_answers(exercise)
    given = {exercise.id: _pool(_given(exercise)) for exercise in exercises}
    found: dict[bytes, Needle] = {}
    anywhere = b"\n".join([course, *given.values()])
    for exercise in exercises:
        for needle in _secrets(exercise):
            found.setdefault(needle.text, needle)
        for path in instructors_files(exercise.folder):
            own = [given[exercise.id], course] if path.name.startswith("solution") else [anywhere]
            for needle in _lines(exercise, path):
                if not any(needle.text in pool for pool in (*own, idioms)):
                    found.setdefault(needle.text, needle)
            for needle in _passages(exercise, path):
                if needle.text not in anywhere:
                    found.setdefault(needle.text, needle)
    names = ((one.id, _names(one.folder.name)) for one in exercises)
    return Answers(tuple(found.values()), tuple(names))


def _expect_answers(exercise: Exercise) -> None:
    if not exercise.secrets and not instructors_files(exercise.folder):
        raise ScanError(
            "there are no answers here to look for",
            evidence=f"{exercise.folder} has neither secrets nor a solution: this is a student edition",
            next_act="run labkit scan in the instructors' repository",
        )


def instructors_files(folder: Path) -> tuple[Path, ...]:
    """The files of an exercise that hold an answer, or compute one. The wrong answers are none."""
    patterns = ("solution*", "solution*/**/*", "right/**/*", "hidden/**/*", "judge*")
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return tuple(sorted(path for path in found if "__pycache__" not in path.parts))


def _names(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[/\\!]){re.escape(folder)}[/\\](?:solution|right[/\\]|wrong[/\\]|hidden[/\\]|judge)")


# -- what counts ----------------------------------------------------------------------------------------------------


def _secrets(exercise: Exercise) -> Iterator[Needle]:
    for number, secret in enumerate(exercise.secrets, 1):
        for form in fold_text(secret):
            if len(form) < SECRET_BYTES:
                raise ScanError(
                    f"{exercise.folder / 'exercise.toml'}: secret {number} is too short to be looked for",
                    evidence=f"{secret!r}: {len(form)} letters, digits and signs, at least {SECRET_BYTES} are wanted",
                    next_act="take more of the answer's line",
                )
            yield Needle(form, exercise.id, f"secret {number}")


def _lines(exercise: Exercise, path: Path) -> Iterator[Needle]:
    """Each line that says enough; not what a server says in a recorded transcript, where any page may quote it."""
    transcript = False
    for number, line in enumerate(_read(path).splitlines(), 1):
        if line.startswith("```"):
            transcript = line.startswith("```console") and path.suffix == ".md"
        if transcript or _IMPORT.match(line):
            continue
        for form in fold_text(line) | fold_text(_LINK.sub(r"\1", line)):
            if len(form) >= LINE_BYTES:
                yield Needle(form, exercise.id, f"{path.relative_to(exercise.folder).as_posix()}:{number}")


def _passages(exercise: Exercise, path: Path) -> Iterator[Needle]:
    """Of the lines that follow each other from each line on, as few as are enough."""
    told = enumerate(_read(path).splitlines(), 1)
    lines = [(number, form) for number, line in told if not _IMPORT.match(line) and (form := fold(line.encode()))]
    name = path.relative_to(exercise.folder).as_posix()
    for start in range(len(lines)):
        text = b""
        for count, (number, form) in enumerate(lines[start:], 1):
            text += form
            if count >= PASSAGE_LINES and len(text) >= PASSAGE_BYTES:
                yield Needle(text, exercise.id, f"{name}:{lines[start][0]}-{number}")
                break


# -- what a student is given ----------------------------------------------------------------------------------------


def _given(exercise: Exercise) -> Iterator[str]:
    yield exercise.prompt
    yield exercise.starter
    yield _read(exercise.folder / "hints.md")
    yield from (task.title for task in exercise.tasks)
    for path in sorted((exercise.folder / "probes").rglob("*")):
        if path.is_file():
            yield _read(path)


def _course(root: Path) -> Iterator[str]:
    for path in sorted((root / "crd").rglob("*.yaml")):
        yield _read(path)
    for path in sorted((root / "notebooks").glob("[0-9][0-9]-*.ipynb")):
        if path.name != notebook.NAME:  # made of the exercises: looked at, never looked up
            yield from _cells(path)


def _cells(path: Path) -> Iterator[str]:
    """The sources of a notebook's cells, and every text of their outputs."""
    try:
        cells = json.loads(_read(path))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise ScanError(f"{path} is not a notebook", evidence=repr(error)) from error
    for cell in cells:
        yield _joined(cell.get("source", ""))
        for output in cell.get("outputs", []):
            yield _joined(output.get("text", ""))
            yield from map(_joined, output.get("data", {}).values())


def _joined(lines: Any) -> str:
    if isinstance(lines, list):
        return "".join(map(str, lines))
    return lines if isinstance(lines, str) else json.dumps(lines, ensure_ascii=False)


def _pool(texts: Iterable[str]) -> bytes:
    """All folded forms of the texts, apart from each other."""
    return b"\n".join(form for text in texts for form in sorted(fold_text(text)))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
