"""An exercise as a value: one folder, read whole, and refused with file and key when something in it is not right.

A check, a notebook, a release and a grader need the same reading of the folder, and authors must hear of a slip at
once, not when a student meets it: an unknown key of a probe would silently test nothing. What the folder holds is
told in ``docs/authors.md``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.course import notebook
from labkit.course.notebook import Begin
from labkit.errors import CourseError, LabkitError, ManifestError
from labkit.exercises.edits import SUFFIX, edited
from labkit.exercises.probes import Probe, read_probe
from labkit.languages import translate

__all__ = ["Exercise", "ExerciseError", "Hint", "Task", "find", "load", "load_all", "variants"]

ANSWERS = {"yaml": "yaml", "py": "python", "txt": "text"}
"""An answer's extension, and its language: objects or predictions, a script, kubectl's commands one a line."""

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_KEYS = {
    "id": str,
    "title": str,
    "section": str,
    "definition": str,
    "begin": dict,
    "answer": str,
    "applied": bool,
    "needs": list,
    "secrets": list,
    "tasks": list,
}
_TASK_KEYS = {"id": str, "title": str, "points": int, "starter_passes": str}


class ExerciseError(CourseError, ValueError):
    """An exercise's folder is not as it must be; the state names the file, and the key where there is one."""


@dataclass(frozen=True)
class Task:
    """One thing an exercise asks for. *starter_passes* is the reason why the starter has it already; else empty."""

    id: str
    title: str
    points: int
    starter_passes: str = ""


@dataclass(frozen=True)
class Hint:
    """A step of help: the *step*-th of *of* for the task; step 0 is the one computed from the actual state."""

    exercise_id: str
    task: str
    title: str
    text: str
    step: int
    of: int


@dataclass(frozen=True)
class Exercise:
    """One folder. *begin* is the state that a check starts from; *hints* are texts by task, from nudge to nearly.

    *root* is the folder that holds ``crd/``. *applied* says that the answer, or what it prints, is sent to the cluster
    before a probe's own steps. *hidden* probes are played in grading only.
    """

    id: str
    title: str
    folder: Path
    root: Path
    begin: Begin
    answer: str
    applied: bool
    tasks: tuple[Task, ...]
    prompt: str
    starter: str
    hints: Mapping[str, tuple[str, ...]]
    probes: tuple[Probe, ...]
    hidden: tuple[Probe, ...] = ()
    needs: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)

    @property
    def answer_name(self) -> str:
        """The file of an answer: "rule.yaml"."""
        return f"{self.id}.{self.answer}"

    @property
    def language(self) -> str:
        return ANSWERS[self.answer]

    @property
    def solution(self) -> str | None:
        """The instructors' answer; None in the student edition."""
        path = self.folder / f"solution.{self.answer}"
        return _text(path) if path.is_file() else None

    def task(self, name: str) -> Task:
        return next(task for task in self.tasks if task.id == name)


def load_all(root: Path) -> tuple[Exercise, ...]:
    """Every exercise below ``root/exercises``, in the order of the folders' numbers. Raises ExerciseError."""
    folder = root / "exercises"
    if not folder.is_dir():
        raise ExerciseError(translate("no exercises here"), evidence=translate("{folder} is not there", folder=folder))
    found: dict[str, Exercise] = {}
    for path in sorted(folder.glob("[0-9][0-9]-*")):
        one = load(path)
        if one.id in found:
            raise ExerciseError(
                f"{path / 'exercise.toml'}: id {one.id!r} is taken",
                evidence=found[one.id].folder.name,
            )
        found[one.id] = one
    if not found:
        raise ExerciseError(
            translate("no exercises here"), evidence=translate("{folder} holds no folder NN-slug", folder=folder)
        )
    return tuple(found.values())


def find(root: Path, name: str) -> Exercise:
    """The exercise with this id. A slip in another folder does not matter. Raises ExerciseError."""
    known = []
    for path in sorted((root / "exercises").glob("[0-9][0-9]-*")):
        try:
            there = _toml(path / "exercise.toml").get("id")
        except ExerciseError:
            continue
        if there == name:
            return load(path)
        known.append(str(there))
    raise ExerciseError(
        translate("no exercise {name}", name=repr(name)),
        next_act=translate("there are {names}", names=", ".join(known) or translate("none")),
    )


def load(folder: Path) -> Exercise:
    """Read one folder; ``crd/`` lies two folders above it. Raises ExerciseError with file and key."""
    folder = folder.absolute()
    root = folder.parent.parent
    where = folder / "exercise.toml"
    raw = _toml(where)
    _only(str(where), raw, _KEYS)
    for key in ("id", "title", "answer", "tasks"):
        if key not in raw:
            raise ExerciseError(f"{where}: no {key}")
    if not _ID.fullmatch(raw["id"]):
        raise ExerciseError(f"{where}: id {raw['id']!r} does not fit", next_act='words in lower case joined by "-"')
    if raw["answer"] not in ANSWERS:
        raise ExerciseError(f"{where}: answer {raw['answer']!r} is not known", next_act=f"one of {', '.join(ANSWERS)}")
    tasks = _tasks(where, raw["tasks"])
    names = tuple(task.id for task in tasks)
    probes = _probes(folder / "probes", root, names, hidden=False)
    tried = {step.task for probe in probes for step in probe.steps}
    for name in names:
        if name not in tried:
            raise ExerciseError(f"{where}: task {name!r} has no probe", next_act=f"a step in probes/ with task: {name}")
    return Exercise(
        id=raw["id"],
        title=raw["title"],
        folder=folder,
        root=root,
        begin=_begin(where, raw, root),
        answer=raw["answer"],
        applied=raw.get("applied", raw["answer"] != "py"),
        tasks=tasks,
        prompt=_text(folder / "prompt.md"),
        starter=_text(folder / f"starter.{raw['answer']}"),
        hints=_hints(folder / "hints.md", names),
        probes=probes,
        hidden=_probes(folder / "hidden", root, names, hidden=True),
        needs=_words(where, raw, "needs"),
        secrets=_words(where, raw, "secrets"),
    )


def variants(exercise: Exercise, kind: str) -> Iterator[tuple[str, str]]:
    """Name and text of each other answer in the folder's ``right/`` or ``wrong/``, in order, written out or as edits of
    the solution (``labkit.exercises.edits``). Raises ExerciseError for edits that do not fit.
    """
    for path in sorted((exercise.folder / kind).glob("*")):
        if path.name.endswith(SUFFIX):
            try:
                yield path.name.removesuffix(SUFFIX), edited(exercise.solution or "", _text(path), str(path))
            except ManifestError as error:
                raise ExerciseError(error.state, evidence=error.evidence, next_act=error.next_act) from error
        elif path.suffix == f".{exercise.answer}":
            yield path.stem, _text(path)


# -- the parts ------------------------------------------------------------------------------------------------------


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ExerciseError(f"{path}: not TOML", evidence=str(error)) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ExerciseError(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ExerciseError(f"{path}: cannot be read", evidence=str(error)) from error


def _only(where: str, raw: Mapping[str, Any], known: Mapping[str, type]) -> None:
    for key, value in raw.items():
        if key not in known:
            raise ExerciseError(f"{where}: key {key!r} is not known", next_act=f"known are {', '.join(known)}")
        if not isinstance(value, known[key]):
            raise ExerciseError(f"{where}: {key} is of the wrong type", evidence=repr(value)[:80])


def _words(where: Path, raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = raw.get(key, [])
    if not all(isinstance(one, str) and one.strip() for one in found):
        raise ExerciseError(f"{where}: {key}: a list of texts is wanted", evidence=repr(found))
    return tuple(found)


def _tasks(where: Path, raw: list[Any]) -> tuple[Task, ...]:
    tasks: list[Task] = []
    for number, one in enumerate(raw, 1):
        here = f"{where}: tasks[{number}]"
        if not isinstance(one, dict):
            raise ExerciseError(f"{here}: a table is wanted", next_act="[[tasks]] with id, points and title")
        _only(here, one, _TASK_KEYS)
        if not {"id", "title", "points"} <= one.keys() or one["points"] < 1:
            raise ExerciseError(f"{here}: id, title and points (1 or more) are wanted", evidence=repr(one))
        if not _ID.fullmatch(one["id"]) or one["id"] in [task.id for task in tasks]:
            raise ExerciseError(f"{here}: id {one['id']!r} does not fit, or is taken")
        tasks.append(Task(**one))
    if not tasks:
        raise ExerciseError(f"{where}: no tasks")
    return tuple(tasks)


def _begin(where: Path, raw: Mapping[str, Any], root: Path) -> Begin:
    told = [key for key in ("section", "definition", "begin") if key in raw]
    if len(told) > 1:
        raise ExerciseError(f"{where}: {' and '.join(told)} exclude each other")
    try:
        if "section" in raw:
            return notebook.find(raw["section"], [root / "notebooks", root])[1]
        if "begin" in raw:
            return notebook.begin_of(f"{where}: begin", raw["begin"])
    except ExerciseError:
        raise
    except LabkitError as error:
        raise ExerciseError(f"{where}: {error.state}", evidence=error.evidence, next_act=error.next_act) from error
    return Begin(raw.get("definition"))


def _hints(path: Path, tasks: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """``## task`` sections, each a list; an item goes on over indented lines."""
    found: dict[str, list[str]] = {}
    task = ""
    for number, line in enumerate(_text(path).splitlines(), 1):
        here = f"{path}: line {number}"
        if line.startswith("## "):
            task = line.removeprefix("## ").strip()
            if task not in tasks or task in found:
                raise ExerciseError(f"{here}: task {task!r} is unknown, or is there already")
            found[task] = []
        elif re.match(r"([-*]|\d+\.) ", line):
            if not task:
                raise ExerciseError(f"{here}: a hint before the first task", next_act="put ## TASK-ID above it")
            found[task].append(line.split(" ", 1)[1].strip())
        elif line.startswith(" ") and task and found[task] and line.strip():
            found[task][-1] += f" {line.strip()}"
        elif line.strip() and not line.startswith("# "):
            raise ExerciseError(f"{here}: neither a task nor a hint", evidence=line, next_act="## TASK-ID, then - HINT")
    for name in tasks:
        if not found.get(name):
            raise ExerciseError(f"{path}: no hint for task {name!r}")
    return {name: tuple(found[name]) for name in tasks}


def _probes(folder: Path, root: Path, tasks: tuple[str, ...], *, hidden: bool) -> tuple[Probe, ...]:
    try:
        return tuple(read_probe(path, root, tasks, hidden=hidden) for path in sorted(folder.glob("*.yaml")))
    except ExerciseError:
        raise
    except CourseError as error:
        raise ExerciseError(error.state, evidence=error.evidence, next_act=error.next_act) from error
