"""Grading: how long a class takes, what memory, and what it costs when some of it hangs or crashes.

A class is graded by the command, as an instructor does it, from an empty folder for the grades; what is made once for
all classes (the exercises' notebooks run with their solutions) is made before. Memory is what all processes of it have
together, each shared page counted once (PSS), looked at twice a second. It is counted only if it went well: whoever
handed in right answers must have all points.

The floor is nbgrader's ``autograde`` on as many notebooks with as many cells that call no cluster: what it takes to run
notebooks at all. It has no walls, runs one notebook after another and needs one kernel for each submission, not eight.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from labkit.errors import CommandError
from labkit.exercises.model import Exercise
from labkit.exercises.notebook import ASSIGNMENT, NAME
from labkit.grading.grader import Course
from labkit.grading.running import LIMITS
from labkit.machine.bench.handed import CRASH, HANG, hand_in, without_cluster
from labkit.show.bench import Figure

__all__ = ["QUICK", "Class", "Sizes", "figures", "graded"]

CLASS_S, MEMORY_MB = 180.0, 1200.0
JOBS = 2
_LOOK_EVERY_S = 0.5
_LABKIT = (sys.executable, "-c", "from labkit.cli import main; main()")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """Submissions of a class, and of the one that is graded with one worker and with two."""

    everybody: int = 30
    few: int = 8


QUICK = Sizes(4, 2)


@dataclass(frozen=True)
class Class:
    """A class that was graded: seconds in all, seconds of processors, the most memory in MB, and each submission's own
    seconds by the kind it is of.
    """

    seconds: float
    processor_s: float
    memory_mb: float
    by_kind: Mapping[str, tuple[float, ...]]


def figures(root: Path, folder: Path, tell: Tell, *, sizes: Sizes) -> list[Figure]:
    """Everything, with files in *folder*. Raises CommandError, and what loading the course at *root* raises."""
    tell("the exercises' notebooks, run with their solutions where they are not yet")
    course = Course.load(root).prepared(tell)
    exercises = course.exercises
    found = [*_classes(root, exercises, folder, tell, sizes), *_workers(root, exercises, folder, tell, sizes)]
    tell(f"nbgrader autograde, {sizes.everybody} notebooks")
    floor = autograde(folder, sizes.everybody)
    ours = found[0].value
    return [
        *found,
        Figure(f"nbgrader autograde, {sizes.everybody} notebooks with as many cells and no cluster", floor, "s"),
        Figure("… for each", floor / sizes.everybody, "s"),
        Figure(f"labkit grade --jobs {JOBS} against nbgrader autograde", ours / floor, "×"),
    ]


def _classes(root: Path, exercises: Sequence[Exercise], folder: Path, tell: Tell, sizes: Sizes) -> Iterator[Figure]:
    """A class as it should be; then the same with two that hang in a cell and one that ends its kernel."""
    count = sizes.everybody
    tell(f"a class of {count}")
    kinds = hand_in(exercises, folder / "class", count)
    normal = graded(root, folder / "class", folder / "grades", kinds, JOBS)
    what = f"{count} submissions, {len(exercises)} exercises each: labkit grade --jobs {JOBS}"
    yield Figure(what, normal.seconds, "s", CLASS_S if count == Sizes.everybody else None)
    yield Figure("… for each submission", normal.seconds / count, "s")
    yield Figure("… processor time for each submission", normal.processor_s / count, "s")
    yield Figure("… memory of all its processes, most (PSS)", normal.memory_mb, "MB", MEMORY_MB)
    tell(f"a class of {count}, of which two hang and one crashes")
    odd = {0: ("hanging", HANG), count // 2: ("hanging", HANG), count // 3: ("crashing", CRASH)}
    kinds = hand_in(exercises, folder / "odd-class", count, odd=odd)
    with_odd = graded(root, folder / "odd-class", folder / "odd-grades", kinds, JOBS)
    yield Figure("the same class, two of whom hang and one crashes in a cell", with_odd.seconds, "s")
    yield Figure("… memory of all its processes, most (PSS)", with_odd.memory_mb, "MB", MEMORY_MB)
    for kind in ("hanging", "crashing"):
        limit = f" (a cell may take {LIMITS.cell_s:g} s)" if kind == "hanging" else ""
        yield Figure(f"… seconds of a {kind} submission{limit}", median(with_odd.by_kind[kind]), "s")
    usual = [one for kind in ("right", "half", "wrong") for one in with_odd.by_kind.get(kind, ())]
    yield Figure("… seconds of one of the others", median(usual), "s")


def _workers(root: Path, exercises: Sequence[Exercise], folder: Path, tell: Tell, sizes: Sizes) -> Iterator[Figure]:
    """The same submissions with one worker and with two."""
    kinds = hand_in(exercises, folder / "few", sizes.few)
    seconds = []
    for jobs in (1, JOBS):
        tell(f"{sizes.few} submissions, --jobs {jobs}")
        one = graded(root, folder / "few", folder / f"few-{jobs}", kinds, jobs)
        seconds.append(one.seconds)
        yield Figure(f"{sizes.few} submissions with --jobs {jobs}", one.seconds, "s")
        yield Figure("… memory of all its processes, most (PSS)", one.memory_mb, "MB")
    yield Figure(f"--jobs 1 against --jobs {JOBS}", seconds[0] / seconds[1], "×")


def graded(root: Path, submissions: Path, out: Path, kinds: Mapping[str, str], jobs: int) -> Class:
    """Grade *submissions*, whose kinds by name are *kinds*. Raises CommandError when their marks are not as they
    should be.
    """
    argv = (*_LABKIT, "grade", str(submissions), "-o", str(out), "--jobs", str(jobs))
    before = _processor_s()
    seconds, memory = _watched(argv, root, out.with_suffix(".log"), (0, 1))
    processor = _processor_s() - before
    by_kind: dict[str, list[float]] = {}
    for name, kind in kinds.items():
        try:
            result = json.loads((out / name / "result.json").read_text(encoding="utf-8"))["result"]
        except (OSError, ValueError) as error:
            raise CommandError(f"{name} was not graded", evidence=str(error)) from error
        points = [(one["points"], one["max_points"]) for one in result["exercises"]]
        if kind == "right" and any(given != most for given, most in points):
            raise CommandError(f"{name} has right answers, and not all points", evidence=str(points))
        by_kind.setdefault(kind, []).append(float(result["seconds"]))
    return Class(seconds, processor, memory, {kind: tuple(every) for kind, every in by_kind.items()})


def autograde(folder: Path, count: int) -> float:
    """Seconds of nbgrader's autograde for *count* notebooks like the class's in *folder*. Raises CommandError."""
    course = folder / "nbgrader"
    like = next((folder / "class").glob(f"*/{ASSIGNMENT}/{NAME}"))
    without_cluster(like, course, count)
    program = str(Path(sys.executable).parent / "nbgrader")
    _watched((program, "generate_assignment", ASSIGNMENT), course, folder / "generate.log", (0,))
    seconds, _ = _watched((program, "autograde", ASSIGNMENT), course, folder / "autograde.log", (0,))
    done = len(list((course / "autograded").glob(f"*/{ASSIGNMENT}/{NAME}")))
    if done != count:
        raise CommandError(f"nbgrader graded {done} of {count} notebooks", evidence=str(course))
    return seconds


def _watched(argv: Sequence[str], cwd: Path, log: Path, fine: Sequence[int]) -> tuple[float, float]:
    """Seconds until *argv* has ended, and the most memory of it and all below it, in MB. Raises CommandError."""
    most = 0.0
    home = log.with_suffix(".home")
    home.mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # nbgrader starts alembic
    env = {**os.environ, "PATH": path, "JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(home)}
    begun = time.perf_counter()
    with log.open("wb") as out, subprocess.Popen(argv, cwd=cwd, env=env, stdout=out, stderr=out) as process:
        try:
            while True:
                try:
                    process.wait(_LOOK_EVERY_S)
                    break
                except subprocess.TimeoutExpired:
                    most = max(most, _memory_mb(process.pid))
        finally:
            process.terminate()
    seconds = time.perf_counter() - begun
    shutil.rmtree(home)
    if process.returncode not in fine:
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise CommandError(f"{Path(argv[0]).name} ended with {process.returncode}", evidence=said[-300:])
    return seconds, most


def _memory_mb(pid: int) -> float:
    """Of the process and all below it: what is shared is counted once. A process that we may not look into counts with
    all it has resident."""
    total = 0
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0.0
    for one in tree:
        try:
            total += one.memory_full_info().pss
        except psutil.AccessDenied:
            total += one.memory_info().rss
        except psutil.Error:
            continue
    return total / 1e6


def _processor_s() -> float:
    """Of all processes that were started here, or below, and have ended and been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
