"""A whole class: what was handed in, what is graded already, what is to do, and the grade book in the end.

The same command is run again and again while submissions come in, after a power cut, with a better roster: so it grades
only what it has no result of, and makes the grade book anew each time. What cannot be graded, and what belongs to
nobody, is listed and never guessed; it never keeps the others from their marks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from labkit.exercises.model import load_all
from labkit.exercises.report import printable
from labkit.grading import keeping, pages, pool, reading, roster
from labkit.grading.answers import MISNAMED
from labkit.grading.errors import GradingError
from labkit.grading.gradebook import Gradebook, people_of
from labkit.grading.grader import Course
from labkit.grading.keeping import Store
from labkit.grading.pool import Outcome
from labkit.grading.roster import Adjustment
from labkit.grading.values import NOT_JUDGED, UNREADABLE, Note, Result, Submission
from labkit.languages import speaking

__all__ = ["Graded", "Order", "Pace", "Progress", "grade"]


_LOOK_AT = {NOT_JUDGED, "refused", "broken-notebook", "newer-notebook", MISNAMED, UNREADABLE}
"""Codes of notes on what has no points though somebody may have worked for them."""


class Progress(Protocol):
    """How far it is (``labkit.show.progress.Bar``)."""

    def line(self, text: str) -> None: ...

    def part(self, done: float) -> None: ...


@dataclass(frozen=True)
class Order:
    """What is to be graded, and how. *jobs* 0 means one for each processor; *scheduler* is a Dask cluster's address,
    which is used instead. *only* are exercises' ids, all by default."""

    submissions: Path
    out: Path
    root: Path
    lang: str = "en"
    only: tuple[str, ...] = ()
    jobs: int = 0
    scheduler: str = ""
    roster: Path | None = None
    adjust: Path | None = None
    with_solutions: bool = False
    without_walls: bool = False


@dataclass(frozen=True)
class Graded:
    """A class that was graded: *anew* submissions in this run, *kept* from earlier ones; *book* has the problems."""

    book: Gradebook
    anew: int
    kept: int

    @property
    def text(self) -> str:
        """For people: how many, and everything that is listed."""
        done = self.anew + self.kept
        told = f"{done} submissions are graded: {self.anew} anew, {self.kept} as they were"
        if not self.anew:
            told = f"{done} submissions are graded: nothing was to be done anew"
        problems = [f"  {one.code}: {one.text}" for one in self.book.problems]
        return "\n".join((told, *([f"{len(problems)} to look at:", *problems] if problems else ())))


def grade(order: Order, progress: Progress) -> Graded:
    """Grade what is not graded, and write the grade book and all pages into *order.out*.

    Raises GradingError when something that concerns everybody is not as it must be; what has been graded by then is
    kept, also when it is interrupted, and the same order goes on there.
    """
    _expect_apart(order)
    pool.remove_leftovers()
    with speaking(order.lang):
        handed = reading.read(order.submissions)
    adjustments = _adjustments(order.adjust, order.root) if order.adjust is not None else ()
    matched = roster.read_roster(order.roster).match(handed.submissions) if order.roster is not None else None
    unclear = {one.key for _, several in matched.doubles for one in several} if matched is not None else set()
    submissions = [one for one in handed.submissions if one.key not in unclear]
    if not submissions:
        told = "; ".join(one.text for one in handed.problems[:3])
        raise GradingError(
            f"{order.submissions} holds no submission that counts",
            evidence=told,
            next_act="name the folder or zip in which each student has a folder, a zip or a notebook",
        )
    course = Course.load(order.root, order.lang, order.only)
    with keeping.opened(order.out, course.digest) as store:
        work = _Work(order, course, store, progress)
        problems = [*handed.problems, *(matched.problems if matched is not None else ()), *work.run(submissions)]
        people = people_of(matched) if matched is not None else ()
        book = pages.write(
            store.root,
            people,
            work.results,
            adjustments,
            problems,
            exercises=course.exercises,
            lang=order.lang,
            with_solutions=order.with_solutions,
        )
    return Graded(book, work.anew, len(work.results) - work.anew)


def _adjustments(path: Path, root: Path) -> tuple[Adjustment, ...]:
    found = roster.read_adjustments(path)
    roster.expect_known(path, found, [one.id for one in load_all(root)])
    return found


class _Work:
    """Grading what is missing, each result kept as it comes."""

    def __init__(self, order: Order, course: Course, store: Store, progress: Progress) -> None:
        self._order, self._course, self._store, self._progress = order, course, store, progress
        self.results: list[Result] = []
        self.anew = 0

    def run(self, submissions: Sequence[Submission]) -> Iterator[Note]:
        """Grade them; what could not be."""
        todo = []
        for one in submissions:
            known = self._store.load(one)
            self.results += [known] if known is not None else []
            todo += [one] if known is None else []
        failed = list(self._graded(todo)) if todo else []
        for result in sorted(self.results, key=lambda one: one.key):
            notes = [*result.notes, *(note for each in result.exercises for note in each.notes)]
            yield from (Note(note.code, f"{result.key}: {note.text}") for note in notes if note.code in _LOOK_AT)
        yield from sorted(failed, key=lambda note: note.text)

    def _graded(self, todo: Sequence[Submission]) -> Iterator[Note]:
        try:
            order = self._order
            course = replace(
                self._course.prepared(lambda text: self._progress.line(f"preparing: {text}")),
                hidden=(order.out.resolve(), order.submissions.resolve()),
                without_walls=order.without_walls,
            )
            pace = Pace(len(todo), self._progress)
            with closing(self._outcomes(course, todo, pace.line)) as outcomes:
                for outcome in outcomes:
                    if outcome.result is None:
                        yield Note("not-graded", f"{outcome.submission.key}: {_one_line(outcome.problem)}")
                    else:
                        self._store.keep(outcome.submission, outcome.result)
                        self.results.append(outcome.result)
                        self.anew += 1
                    pace.step()
        except KeyboardInterrupt as error:
            error.add_note(f"{self.anew} of {len(todo)} were graded and are kept: the same command goes on from there")
            raise

    def _outcomes(self, course: Course, todo: Sequence[Submission], line: Callable[[str], None]) -> Generator[Outcome]:
        if self._order.scheduler:
            from labkit.grading import dask

            return dask.run(course, todo, self._order.scheduler, line)
        return pool.run(course, todo, self._order.jobs or pool.usable_cores(), line)


class Pace:
    """How many are done, and how long the rest will take at this pace."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total, self._progress = total, progress
        self._done, self._begun, self._said = 0, time.monotonic(), ""

    def line(self, text: str) -> None:
        self._said = text
        self._progress.line(f"{self._done} of {self._total}{self._left()}; {text}")

    def step(self) -> None:
        self._done += 1
        self._progress.part(self._done / self._total)
        self.line(self._said)

    def _left(self) -> str:
        if not 0 < self._done < self._total:
            return ""
        seconds = (time.monotonic() - self._begun) / self._done * (self._total - self._done)
        return f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"


def _one_line(text: str) -> str:
    return " · ".join(line.strip() for line in printable(text).splitlines() if line.strip())


def _expect_apart(order: Order) -> None:
    """Grades inside the submissions would be a submission the next time."""
    out, submissions = order.out.resolve(), order.submissions.resolve()
    if out == submissions or submissions in out.parents or out in submissions.parents:
        both = f"{order.out} and {os.fspath(order.submissions)}"
        raise GradingError(
            f"{both} are the same folder" if out == submissions else f"{both}: one lies in the other",
            next_act="name another folder for the grades",
        )
    if (submissions / keeping.RECORD).is_file():
        raise GradingError(
            f"{os.fspath(order.submissions)} holds what labkit grade has made, not what students handed in",
            evidence=f"{keeping.RECORD} is in it",
            next_act="name the folder or zip of the submissions",
        )
