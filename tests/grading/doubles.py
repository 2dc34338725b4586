"""A course for the pool's tests, whose grader does at once what the submission says: it needs no cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import ClusterStartError
from labkit.grading.errors import GradingError
from labkit.grading.values import ExerciseResult, Note, Result, Submission
from labkit.waiting import Seen, let_pass, wait_for

SLEEPER = [sys.executable, "-c", "import sys, time; time.sleep(600)"]


def handed_in(key: str, says: str = "") -> Submission:
    """A submission of one answer; the grader below does what it says."""
    return Submission(key, f"{key}.zip", None, (("one.yaml", (says or key).encode()),))


def result_of(submission: Submission, points: int = 1) -> Result:
    one = ExerciseResult("one", "One", points, 1, empty=False, answer=submission.answers[0][1].decode())
    return Result(submission.key, submission.source, submission.sha256, (one,), (Note("fine", "it was graded"),))


@dataclass(frozen=True)
class Doing:
    """A grader of answers such as "sleep 0.1", "kill", "kill once", "raise", "start-fails" and "stray"."""

    place: Path
    slot: int

    def grade(self, submission: Submission, progress: Callable[[str], None]) -> Result:
        what, *more = submission.answers[0][1].decode().split()
        with (self.place / "begun").open("a") as file:
            file.write(f"{submission.key} {os.getpid()} {self.slot}\n")
        progress(f"doing {what}")
        getattr(self, f"_{what.replace('-', '_')}", self._nothing)(*more)
        with (self.place / "graded").open("a") as file:
            file.write(f"{submission.key}\n")
        return result_of(submission)

    def _nothing(self, *_: str) -> None:
        return

    def _sleep(self, seconds: str) -> None:
        let_pass(float(seconds))

    def _kill(self, *once: str) -> None:
        mark = self.place / "killed"
        if once and mark.exists():
            return
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)

    def _raise(self) -> None:
        raise ValueError("a slip of the grader")

    def _start_fails(self) -> None:
        raise ClusterStartError("the embedded control plane did not start", evidence="no space left on device")

    def _deaf(self) -> None:
        """Hear of nothing, and start something that must not stay."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._stray()
        let_pass(600)

    def _stray(self, *seconds: str) -> None:
        """Leave a process of the worker's folder running in a session of its own."""
        subprocess.Popen([*SLEEPER, os.environ["TMPDIR"]], start_new_session=True, stdin=subprocess.DEVNULL)
        if seconds:
            let_pass(float(*seconds))


@dataclass(frozen=True)
class DoubleCourse:
    """*place* is where the graders write what they did; *fits* false is a machine with another course."""

    place: Path
    digest: str = "the course"
    fits: bool = True

    def expect_here(self) -> None:
        if not self.fits:
            raise GradingError("this machine has another course")

    @contextmanager
    def grader(self, slot: int) -> Iterator[Doing]:
        try:
            yield Doing(self.place, slot)
        finally:
            (self.place / f"left-{os.getpid()}").touch()

    def begun(self) -> list[list[str]]:
        """Key, process and slot of each grading that began."""
        path = self.place / "begun"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def wait_for_begun(self, keys: Sequence[str]) -> None:
        def look() -> Seen[None]:
            there = [key for key, *_ in self.begun()]
            return Seen(set(keys) <= set(there), f"{len(there)} have begun")

        wait_for("the gradings to begin", look, limit_s=30.0)
