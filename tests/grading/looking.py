"""``labkit grade`` with everything real but the grader, which only looks at the text and takes a moment for it.

python -m tests.grading.whole grade SUBMISSIONS -o GRADES …
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labkit.cluster.base import Progress, silent
from labkit.exercises import model
from labkit.exercises.model import Exercise
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.grading.answers import answers_of
from labkit.grading.values import ExerciseResult, Result, Submission
from labkit.waiting import let_pass

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = REPOSITORY / "exercises" / "05-schema"
MOMENT_S = 0.15


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
