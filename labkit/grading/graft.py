"""One notebook for each exercise: the instructor's, with what a student wrote in place of the answer.

nbval believes the notebook it is given: its tags, its comments, its recorded outputs. In a student's own file all three
are the student's, and a comment is enough to have a cell skipped. So only the source of the answer's cell is taken from
there. All else is the instructor's, run with the solution: a check that prints the same report is green.

Running the solutions takes a cluster and a minute, so what they brought is kept, under a digest of all it depends on.
"""

from __future__ import annotations

import copy
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import labkit
from labkit.cluster import Cluster, places, tools
from labkit.cluster.base import KUBERNETES_VERSION, Progress, silent
from labkit.course.environment import kernel_environment
from labkit.course.handout import student_files
from labkit.course.kernel import CourseKernel
from labkit.exercises import notebook
from labkit.exercises.editions import files_in
from labkit.exercises.model import Exercise, load_all
from labkit.grading.errors import GradingError
from labkit.grading.values import Answer

__all__ = ["graft", "sources", "write_edition"]

Notebook = dict[str, Any]

_CHECKED = "nbval-check-output"


def graft(source: Mapping[str, Any], answer: Answer) -> Notebook:
    """The notebook *source* of ``sources`` with the answer's cell as it was handed in, or its text where there is none.

    Lines that nbval would take for orders are left out, and nothing else of the student's notebook is in it.
    """
    grafted = copy.deepcopy(dict(source))
    given = answer.cell if answer.cell is not None else f"%%answer {answer.exercise_id}\n{answer.text or ''}"
    lines = given.encode("utf-8", "replace").decode().splitlines(keepends=True)
    for cell in grafted["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == answer.exercise_id:
            cell["source"] = "".join(line for line in lines if not _orders(line))
    return grafted


def _orders(line: str) -> bool:
    """As nbval 0.11 reads it (``plugin.find_comment_markers``), whatever the line is a part of."""
    from nbval.plugin import comment_markers  # takes a second, and whoever only asks for the digest need not wait

    bare = line.strip()
    return bare.startswith("#") and bare.lstrip("#").strip() in comment_markers


def sources(
    exercises: Iterable[Exercise],
    root: Path,
    opener: Callable[[], AbstractContextManager[Cluster]],
    *,
    lang: str = "en",
    progress: Progress = silent,
) -> dict[str, Notebook]:
    """Each exercise's notebook (begin, prompt, answer, check), run with its solution; by the exercise's id.

    *opener* is called only when one of them has to be run anew. Raises GradingError when a solution's cell ends with an
    exception, CourseError when there is no solution, and what opening and running raise.
    """
    every = tuple(exercises)
    common = _depended_on(root, lang)
    kept = {one.id: _kept(one, lang, common) for one in every}
    found = {key: made for key, path in kept.items() if (made := _read(path)) is not None}
    missing = [one for one in every if one.id not in found]
    if missing:
        with opener() as cluster, tempfile.TemporaryDirectory(prefix="labkit-sources-") as name:
            write_edition(root, Path(name), lang)
            for one in missing:
                progress(f"{one.id}: the notebook is run with its solution")
                found[one.id] = _executed(_plain(one, lang), cluster, Path(name) / "notebooks")
                _keep(kept[one.id], one, lang, found[one.id])
    return {key: found[key] for key in kept}


def write_edition(root: Path, folder: Path, lang: str) -> None:
    """What a kernel is shown of the course: the students' edition in *lang*, and the notebook of all exercises."""
    for name, content in files_in(lang, root):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "notebooks" / "answers").mkdir(parents=True, exist_ok=True)
    every = notebook.text(load_all(root), lang=lang)
    (folder / "notebooks" / notebook.NAME).write_text(every, encoding="utf-8")


def _plain(exercise: Exercise, lang: str) -> Notebook:
    """Not yet run, the solution as the answer."""
    whole: Notebook = json.loads(notebook.text([exercise], lang=lang))
    if exercise.solution is None:
        raise GradingError(f"exercise {exercise.id} has no solution here", next_act="grade in the instructors' edition")
    by_id = {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in whole["cells"]}
    answer, check = by_id[exercise.id], by_id[f"{exercise.id}-check"]
    answer["source"] = f"%%answer {exercise.id}\n{exercise.solution}"
    check["metadata"]["tags"] = [_CHECKED]
    return {**whole, "cells": [by_id["exercises-begin"], by_id[f"{exercise.id}-prompt"], answer, check]}


def _executed(plain: Notebook, cluster: Cluster, folder: Path) -> Notebook:
    kernel = CourseKernel(cwd=folder, environ=kernel_environment(cluster))
    try:
        for count, cell in enumerate((one for one in plain["cells"] if one["cell_type"] == "code"), 1):
            run = kernel.run(cell["source"])
            if run.error is not None:
                raise GradingError(f"the instructor's cell {cell['id']} ended with an exception", evidence=run.error)
            cell["execution_count"] = count
            cell["outputs"] = list(run.outputs)
    finally:
        kernel.stop()
    return plain


# -- what is kept -----------------------------------------------------------------------------------------------------


def _depended_on(root: Path, lang: str) -> bytes:
    """A digest of what every exercise's notebook brings, whatever its solution is."""
    digest = hashlib.sha256(f"{KUBERNETES_VERSION}\0{_built()}\0".encode())
    package = Path(labkit.__file__).parent
    ours = ((str(path.relative_to(package)), path.read_bytes()) for path in sorted(package.rglob("*.*")) if _code(path))
    catalogues = ((path.name, path.read_bytes()) for path in sorted((root / "locale" / lang).rglob("*.po")))
    for name, content in (*student_files(root), *catalogues, *ours):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.digest()


def _kept(exercise: Exercise, lang: str, common: bytes) -> Path:
    digest = hashlib.sha256(common + f"{exercise.solution}".encode()).hexdigest()[:32]
    return places.made(places.home() / "grading-sources") / f"{exercise.id}.{lang}.{digest}.json"


def _code(path: Path) -> bool:
    return path.suffix in (".py", ".cfg") and "grading" not in path.parts


def _built() -> str:
    there = tools.find_controlplane().stat()
    return f"{there.st_size} {there.st_mtime_ns}"


def _read(path: Path) -> Notebook | None:
    """What is kept there; None where there is nothing whole, or another process forgot it just now."""
    try:
        made: Notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return made


def _keep(path: Path, exercise: Exercise, lang: str, made: Notebook) -> None:
    """Write it whole, and forget the ones it replaces."""
    for old in path.parent.glob(f"{exercise.id}.{lang}.*"):
        old.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as part:
        json.dump(made, part)
    Path(part.name).replace(path)
