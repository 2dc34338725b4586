"""``labkit grade`` with everything real but the grader, which only looks at the text and takes a moment for it.

python -m tests.grading.whole grade SUBMISSIONS -o GRADES …
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from labkit.cluster.base import Progress, silent
from labkit.exercises import model
from labkit.exercises.model import Exercise
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.grading.answers import answers_of
from labkit.grading.values import ExerciseResult, Result, Submission
from labkit.waiting import Seen, let_pass, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = REPOSITORY / "exercises" / "05-schema"
MOMENT_S = 0.15


def left_in(folder: Path) -> list[object]:
    """What is in *folder*, and the processes whose command lines name it."""
    named: list[object] = []
    for one in psutil.process_iter():
        try:
            named += [one] if any(str(folder) in word for word in one.cmdline()) else []
        except psutil.Error:
            continue
    return [*named, *folder.iterdir()]


def submissions(folder: Path, count: int) -> Path:
    """A folder of zips as ``labkit submit`` makes them, each with another answer."""
    folder.mkdir()
    for number in range(count):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("answers/schema.yaml", f"# the answer of number {number}\n")
        (folder / f"student{number:02}.zip").write_bytes(packed.getvalue())
    return folder


@dataclass(frozen=True)
class LookingCourse:
    """In the place of ``grader.Course``."""

    exercises: tuple[Exercise, ...]
    digest: str = "looking"
    hidden: tuple[Path, ...] = ()
    without_walls: bool = False

    @classmethod
    def load(cls, *_: object) -> LookingCourse:
        return cls((model.load(SCHEMA),))

    def prepared(self, _: Progress = silent) -> LookingCourse:
        return self

    def expect_here(self) -> None:
        return

    @contextmanager
    def grader(self, _: int) -> Iterator[LookingCourse]:
        yield self

    def grade(self, submission: Submission, progress: Callable[[str], None]) -> Result:
        progress("looking")
        let_pass(MOMENT_S)
        (answer,), notes = answers_of(submission, self.exercises)
        drawn = hashlib.sha256((answer.text or "").encode()).digest()
        report = Report("schema", "Schema", tuple(self._judged(drawn)))
        one = ExerciseResult("schema", "Schema", report.points, report.max_points, False, report, answer=answer.text)
        return Result(submission.key, submission.source, submission.sha256, (one,), notes, ("none",), MOMENT_S)

    def _judged(self, drawn: Iterable[int]) -> Iterator[TaskResult]:
        for task, number in zip(self.exercises[0].tasks, drawn, strict=False):
            good = number % 2 == 0
            found = () if good else (Finding("even", f"{number}"),)
            yield TaskResult(task.id, task.title, task.points if good else 0, task.points, good, found)


class Class:
    """A class's submissions in a folder, and the command that grades them."""

    def __init__(self, place: Path, count: int) -> None:
        self.place = place
        self.submissions = submissions(place / "submissions", count)
        self.tmp = place / "tmp"
        self.tmp.mkdir()

    def begin(self, out: str, *more: str) -> subprocess.Popen[str]:
        environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(self.tmp)}
        argv = [sys.executable, "-m", "tests.grading.whole", "grade", str(self.submissions), "-o", out, *more]
        return subprocess.Popen(
            argv, cwd=self.place, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def grade(self, out: str, *more: str, code: int = 0) -> str:
        with self.begin(out, *more) as process:
            said, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors
        return said

    def book(self, out: str) -> dict[str, bytes]:
        """Every file but the results themselves, which say how long it took."""
        root = self.place / out
        paths = (path for path in root.rglob("*") if path.is_file() and path.name != "result.json")
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}

    def results(self, out: str) -> int:
        return len(list((self.place / out).glob("*/result.json")))

    def wait_for_results(self, out: str, count: int) -> None:
        wait_for("results", lambda: Seen(self.results(out) >= count, f"{self.results(out)}"), limit_s=60.0)

    def left(self) -> list[object]:
        """Folders and processes of workers that are still there."""
        return left_in(self.tmp)

    def expect_nothing_left(self) -> None:
        wait_for("the workers to be gone", lambda: Seen(not self.left(), f"{self.left()}"), limit_s=20.0)
