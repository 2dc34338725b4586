"""The notebook of the exercises, made from their folders: ``notebooks/10-exercises.ipynb``.

What an exercise says must not stand in two places, and an instructor's tools must find the cells where they are used to
have them. So the notebook is generated, byte for byte the same from the same folders, with nbgrader's metadata (schema
3): a locked prompt, the answer as a cell of text, a locked check that carries the points, and a cell for hints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from labkit.course.record import KERNELSPEC, LANGUAGE
from labkit.errors import CourseError
from labkit.exercises.model import Exercise
from labkit.exercises.texts import exercise_in
from labkit.languages import plural, speaking, translate, worded

__all__ = ["ASSIGNMENT", "NAME", "cells_of", "text", "write"]

NAME = "10-exercises.ipynb"
ASSIGNMENT = "ch54"
"""Its name in nbgrader's folders and grade books."""

_SCHEMA = 3
_HEAD = worded("""# Exercises

Each exercise has a text, a cell for your answer, a check, and hints.

- **Answer**: write below the first line of the cell and run it; it is kept as a file in `answers/`. Only this text is
  judged, not what else you do in the notebook.
- **Check**: plays objects on the cluster and says what the server did. The cluster is at the exercise's beginning
  afterwards: what you put into `ch54` is gone.
- **Hint**: run the cell again for the next step. `lab.reset("…")` puts an exercise back, `lab.progress()` shows all.

`labkit submit` in a terminal makes one zip of your answers to hand in.
""")


def text(exercises: Iterable[Exercise], *, solutions: bool = False, lang: str = "en") -> str:
    """The notebook as the file has it, in *lang*. With *solutions* answer cells hold them, between nbgrader's markers:
    that one is for instructors and never goes to students. Raises CourseError when a solution is wanted and is not
    there.
    """
    with speaking(lang):
        cells = [
            _cell("markdown", "exercises-head", translate(_HEAD), _locked("exercises-head")),
            _cell("code", "exercises-begin", 'import labkit\n\nlab = labkit.begin("exercises")', {}),
        ]
        for one in exercises:
            cells += cells_of(exercise_in(lang, one), solutions=solutions)
    head: dict[str, Any] = {"section": "exercises", "begin": {"definition": None, "namespace": True}}
    metadata = {
        "kernelspec": KERNELSPEC,
        "labkit": head if lang == "en" else head | {"lang": lang},
        "language_info": LANGUAGE,
    }
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cells_of(exercise: Exercise, *, solutions: bool = False) -> Iterator[dict[str, Any]]:
    """The four cells of one exercise: prompt, answer, check, hints."""
    name = exercise.id
    tasks = "\n".join(f"- {task.title} ({plural('{n} point', '{n} points', task.points)})" for task in exercise.tasks)
    prompt = exercise.prompt.strip()
    head = "" if prompt.startswith("# ") else f"## {exercise.title}\n\n"
    prompt = f"#{prompt}" if prompt.startswith("# ") else prompt
    told = f"{head}{prompt}\n\n{translate('What is judged:')}\n\n{tasks}"
    yield _cell("markdown", f"{name}-prompt", told, _locked(f"{name}-prompt"))
    yield _cell("code", name, _answer(exercise, solutions=solutions), _nbgrader(name, solution=True))
    check = _nbgrader(f"{name}-check", grade=True, locked=True, points=exercise.points)
    yield _cell("code", f"{name}-check", f'lab.check("{name}")', check)
    yield _cell("code", f"{name}-hint", f'lab.hint("{name}")', {})


def write(path: Path, content: str) -> None:
    """Write it whole or not at all. Raises CourseError."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(content, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise CourseError(
            translate("{path}: cannot be written", path=path), evidence=error.strerror or str(error)
        ) from error


def _answer(exercise: Exercise, *, solutions: bool) -> str:
    body = exercise.starter.strip("\n")
    if solutions:
        if exercise.solution is None:
            raise CourseError(
                translate("exercise {id} has no solution here", id=exercise.id),
                next_act=translate("use the instructors' edition"),
            )
        body = f"### BEGIN SOLUTION\n{exercise.solution.strip(chr(10))}\n### END SOLUTION"
    return f"%%answer {exercise.id}\n{body}"


def _locked(name: str) -> dict[str, Any]:
    return _nbgrader(name, locked=True)


def _nbgrader(
    name: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: int | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "grade": grade,
        "grade_id": name,
        "locked": locked,
        "schema_version": _SCHEMA,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        found["points"] = points
    locks = {"deletable": False, "editable": False} if locked else {}
    return {"nbgrader": found, **locks}


def _cell(kind: str, name: str, source: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without outputs: nbval runs it and compares nothing."""
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": name[:64],
        "metadata": dict(metadata),
        "source": source.splitlines(keepends=True),
    }
    if kind == "code":
        cell["metadata"]["tags"] = ["nbval-ignore-output"]
        cell |= {"execution_count": None, "outputs": []}
    return cell
