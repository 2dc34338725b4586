"""The authors' linter: does an exercise do what it says, proved on a real server.

A check that passes everything and one that refuses right answers look alike from outside. So each exercise is held
against its own solution, its starter, the other right answers and the wrong ones in its folder, each of which names the
task it fails and words of what the student is then told; and the folder is looked through for what a student must not
get, and for what nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from labkit.cluster import Cluster
from labkit.cluster.base import Progress, silent
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.checks import check_all
from labkit.exercises.edits import SUFFIX
from labkit.exercises.model import Exercise, ExerciseError, variants
from labkit.exercises.report import Finding, Report
from labkit.languages import speaking

__all__ = ["Tried", "lint"]

_STUDENT_FOLDERS = ("probes",)
_FOLDERS = (*_STUDENT_FOLDERS, "hidden", "right", "wrong")


@dataclass(frozen=True)
class Tried:
    """One thing looked at: *what* of which exercise, whether it is as it must be, and, if not, *why* not."""

    exercise: str
    what: str
    good: bool
    why: str = ""


def lint(
    exercise: Exercise, cluster: Cluster, progress: Progress = silent, beginnings: Beginnings | None = None
) -> Iterator[Tried]:
    """Look at everything of one exercise, in order; *beginnings* makes the states. Raises ClusterGone, and what
    *beginnings* raises; never for what is wrong in the folder.
    """
    yield from _files(exercise)
    yield from _secrets(exercise)
    if exercise.solution is None:
        yield Tried(exercise.id, "solution", False, f"solution.{exercise.answer} is missing")
        return
    answers = [("solution", exercise.solution), ("starter", exercise.starter)]
    try:
        for kind in ("right", "wrong"):
            answers += [(f"{kind}/{name}", text) for name, text in variants(exercise, kind)]
    except ExerciseError as error:
        yield Tried(exercise.id, "right and wrong answers", False, str(error))
    try:
        with speaking("en"):  # the wrong answers name what they are told in English
            texts = [text for _, text in answers]
            reports = check_all(exercise, texts, cluster, hidden=True, progress=progress, beginnings=beginnings)
    except ExerciseError as error:
        yield Tried(exercise.id, "probes", False, str(error))
        return
    for (name, text), report in zip(answers, reports, strict=True):
        yield _judged(exercise, name, text, report)


def _judged(exercise: Exercise, name: str, text: str, report: Report) -> Tried:
    kind = name.partition("/")[0]
    if kind in ("solution", "right"):
        return Tried(exercise.id, name, report.passed, _first_finding(report))
    if kind == "starter":
        why = "; ".join(_starter_wrongs(exercise, report))
        return Tried(exercise.id, name, not why, why)
    why = _wrong_answer(text.partition("\n")[0], report)
    return Tried(exercise.id, name, not why, why)


def _first_finding(report: Report) -> str:
    for result in report.tasks:
        for one in result.findings:
            return f"{result.task}: {_told(one)}"
        if not result.passed:
            return f"{result.task}: not tried"
    return ""


def _starter_wrongs(exercise: Exercise, report: Report) -> Iterator[str]:
    for task, result in zip(exercise.tasks, report.tasks, strict=True):
        if result.passed and not task.starter_passes:
            yield f"{task.id}: passed; if that must be, starter_passes says why"
        if not result.passed and task.starter_passes:
            yield f"{task.id}: failed, although starter_passes is there"


def _wrong_answer(first: str, report: Report) -> str:
    """Why the wrong answer with this first line does not fail as that says; empty when it does."""
    parts = [part.strip() for part in first.removeprefix("#").split(":", 2)]
    if len(parts) != 3 or parts[0] != "fails" or not parts[2]:
        return "its first line must be: # fails: TASK-ID: a part of the message"
    _, task, message = parts
    found = [result for result in report.tasks if result.task == task]
    if not found:
        return f"there is no task {task!r}"
    if found[0].passed:
        return f"{task}: passed"
    told = " | ".join(_told(one) for one in found[0].findings)
    return "" if _plain(message) in _plain(told) else f'{task}: "{message}" is not in what is told: {told}'


def _told(one: Finding) -> str:
    return " – ".join(str(part) for part in astuple(one)[:6] if part)


def _plain(text: str) -> str:
    return " ".join(text.split())


# -- the folder -----------------------------------------------------------------------------------------------------


def _files(exercise: Exercise) -> Iterator[Tried]:
    ext = exercise.answer
    known = {"exercise.toml", "prompt.md", "hints.md", "solution.md", "judge.py", f"starter.{ext}", f"solution.{ext}"}
    stray = []
    for path in sorted(exercise.folder.rglob("*")):
        relative = path.relative_to(exercise.folder)
        if path.is_dir() or "__pycache__" in relative.parts:
            continue
        inside = len(relative.parts) == 2 and relative.parts[0] in _FOLDERS
        ends = {"probes": (".yaml",), "hidden": (".yaml",)}.get(relative.parts[0], (f".{ext}", SUFFIX))
        if str(relative) not in known and not (inside and path.name.endswith(ends)):
            stray.append(relative.as_posix())
    yield Tried(exercise.id, "files", not stray, f"nobody reads {', '.join(stray)}" if stray else "")
    explained = (exercise.folder / "solution.md").is_file()
    yield Tried(exercise.id, "solution.md", explained, "" if explained else "it is missing: why is the answer right?")
    if not any((exercise.folder / "wrong").glob("*")):
        yield Tried(exercise.id, "wrong answers", False, "there is none in wrong/")


def _secrets(exercise: Exercise) -> Iterator[Tried]:
    wrong = []
    if not exercise.secrets:
        wrong.append("there are none")
    for secret in exercise.secrets:
        if exercise.solution is not None and secret not in exercise.solution:
            wrong.append(f"{secret!r} is not in the solution")
        wrong += [f"{secret!r} is in {path.name}" for path in _student_files(exercise) if secret in _read(path)]
        for task in exercise.tasks:
            if secret in task.title:
                wrong.append(f"{secret!r} is in the title of {task.id}")
    yield Tried(exercise.id, "secrets", not wrong, "; ".join(wrong))


def _student_files(exercise: Exercise) -> Iterator[Path]:
    yield from (exercise.folder / name for name in ("prompt.md", "hints.md", f"starter.{exercise.answer}"))
    for folder in _STUDENT_FOLDERS:
        yield from sorted((exercise.folder / folder).glob("*.yaml"))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
