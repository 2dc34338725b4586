"""One submission graded: what was handed in becomes a result, and nothing else of it remains.

A submission is run so that people can look at what it did, and judged so that it gets a mark, and the two must not
touch. So it is run first, behind walls and on a cluster of its own, and everything of that is ended; only then its
texts are judged, in a cluster that no student's program was ever given. What a student did is always a result; an error
means that labkit or this machine failed, and that nothing is known about the submission.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import psutil

import labkit
from labkit.cluster import Cluster, Owner, places
from labkit.cluster.base import Progress, silent
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import digests
from labkit.course.handout import student_files
from labkit.errors import ClusterStartError, CourseError, LabkitError, MachineError
from labkit.exercises.model import Exercise, load_all
from labkit.exercises.texts import exercise_in
from labkit.grading import graft, running, strays, walls
from labkit.grading.answers import answers_of
from labkit.grading.errors import GradingError
from labkit.grading.judging import CannotJudge, Judge
from labkit.grading.running import ExerciseRun, Running
from labkit.grading.values import NOT_JUDGED, Answer, ExerciseResult, Note, Result, Submission
from labkit.grading.walls import Walls
from labkit.languages import speaking

__all__ = ["Course", "Grader"]


@dataclass(frozen=True)
class Course:
    """What a class is graded by: the course at *root*, and of its exercises those that count, in order.

    *lang* is what students are spoken to in. *digest* changes with everything that a result is made from. *sources* are
    the exercises' notebooks run with their solutions (``prepared``), which are made from the same and so are no part of
    what makes two courses equal; nor are *hidden*, places that no student's program is shown (the course never is), and
    *without_walls*, which lets them run where nothing would hold them.
    """

    root: Path
    lang: str
    exercises: tuple[Exercise, ...]
    digest: str
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False, compare=False)
    hidden: tuple[Path, ...] = field(default=(), compare=False)
    without_walls: bool = field(default=False, compare=False)

    @classmethod
    def load(cls, root: Path, lang: str = "en", only: Iterable[str] = ()) -> Course:
        """Read the course; *only* names the exercises that count (all by default). Raises ExerciseError, GradingError
        for an id that is none, and what finding the control plane raises."""
        root = root.absolute()
        every = load_all(root)
        wanted = set(only)
        unknown = sorted(wanted - {one.id for one in every})
        if unknown:
            known = ", ".join(one.id for one in every)
            raise GradingError(f"no exercise {', '.join(map(repr, unknown))}", next_act=f"there are {known}")
        chosen = tuple(one for one in every if not wanted or one.id in wanted)
        return cls(root, lang, chosen, _digest(root, lang, chosen))

    def prepared(
        self, progress: Progress = silent, opener: Callable[[], AbstractContextManager[Cluster]] | None = None
    ) -> Course:
        """With *sources*, which are run where they are not kept from an earlier time: on what *opener* opens, a cluster
        of their own by default."""
        opener = opener or _own_cluster
        made = graft.sources(self.exercises, self.root, opener, lang=self.lang, progress=progress)
        return replace(self, sources=made)

    def expect_here(self) -> None:
        """Raise GradingError where this machine has another course at the same place, or none."""
        try:
            here = Course.load(self.root, self.lang, [one.id for one in self.exercises]).digest
        except LabkitError as error:
            raise GradingError(f"the course is not at {self.root} on this machine", evidence=str(error)) from error
        if here != self.digest:
            raise GradingError(
                "this machine would grade by something else",
                evidence="its exercises, labkit, kubectl or control plane are not the same: "
                f"{here[:12]}, not {self.digest[:12]}",
                next_act="bring the same checkout to it, and make setup",
            )

    def grader(self, slot: int) -> Grader:
        return Grader(self, slot)


class Grader:
    """Grades one submission after the other; a context manager, one a process.

    *slot* is a number that no other grader on this machine has at the time. Needs ``Course.sources``. *times* and
    *room* are the limits of what students wrote.
    """

    def __init__(
        self, course: Course, slot: int, *, times: running.Limits = running.LIMITS, room: walls.Limits = walls.LIMITS
    ) -> None:
        self._course, self._slot, self._times, self._room = course, slot, times, room
        self._stack = ExitStack()
        self._next: EmbeddedCluster | None = None
        self._told = {one.id: exercise_in(course.lang, one) for one in course.exercises}

    def __enter__(self) -> Self:
        course = self._course
        with ExitStack() as stack:
            hidden = (course.root, *course.hidden)
            self._walls = Walls.find(self._slot, hidden=hidden, limits=self._room, do_without=course.without_walls)
            runs = Running(course.root, course.sources, self._walls, lang=course.lang, limits=self._times)
            self._running = stack.enter_context(runs)
            self._judge = stack.enter_context(Judge(self._walls.runner()))
            stack.callback(self._drop_next)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End the clusters; always safe."""
        self._stack.close()

    def grade(self, submission: Submission, progress: Callable[[str], None] = silent) -> Result:
        """The result. Raises only for what belongs to labkit or the machine: then nothing is known, and no process,
        folder or cluster of the submission is left either.
        """
        with speaking(self._course.lang):
            return self._grade(submission, progress)

    def _grade(self, submission: Submission, progress: Progress) -> Result:
        began = time.monotonic()
        before = strays.children()
        answers, notes = answers_of(submission, self._course.exercises)
        try:
            ran = self._run([one for one in answers if not one.empty], progress)
            self._end_strays(before)
            self._begin_next()
            results = tuple(self._result(one, ran.get(one.exercise_id), progress) for one in answers)
        finally:
            self._end_strays(before)
        return Result(
            key=submission.key,
            source=submission.source,
            sha256=submission.sha256,
            exercises=results,
            notes=(*submission.notes, *notes),
            walls=self._walls.describe(),
            seconds=round(time.monotonic() - began, 2),
        )

    def _end_strays(self, before: Sequence[psutil.Process]) -> None:
        """End what runs below this process and did not then, but for the judge's control plane and the next one."""
        ours = {self._judge.pid, self._next.pid if self._next is not None else None}
        strays.end_found(lambda: [one for one in strays.children() if one not in before and one.pid not in ours])

    def _run(self, answers: Sequence[Answer], progress: Progress) -> Mapping[str, ExerciseRun]:
        """Run the notebooks on a cluster that is theirs, and ends with them."""
        if not answers:
            return {}
        progress("its cluster is started")
        begun, self._next = self._next, None
        with _own_cluster(begun) as cluster:
            progress("its notebooks are run")
            return self._running.run(answers, cluster)

    def _begin_next(self) -> None:
        """Let the next submission's cluster start while this one is judged, which leaves much of a processor idle. It
        is as new as one that is started later: nobody has its address or its keys.
        """
        if self._next is None:
            self._next = _new_cluster()
            self._next.begin()

    def _drop_next(self) -> None:
        if self._next is not None:
            self._next.stop(at_once=True)

    def _result(self, answer: Answer, ran: ExerciseRun | None, progress: Progress) -> ExerciseResult:
        exercise = self._told[answer.exercise_id]
        notes = [*answer.notes, *(ran.notes if ran is not None else ())]
        report = None
        if not answer.empty and answer.text is not None:
            try:
                report = self._judge.judge(exercise, answer.text, progress)
            except CannotJudge as error:
                notes.append(Note(NOT_JUDGED, f"{error.state}: {error.evidence}"))
            except Exception as error:
                if _is_of_the_machine(error):
                    raise
                self._judge.renew()
                said = f'the answer to "{exercise.id}" could not be judged: {type(error).__name__}: {error}'
                notes.append(Note(NOT_JUDGED, said))
        return ExerciseResult(
            exercise_id=exercise.id,
            title=exercise.title,
            points=report.points if report is not None else 0,
            max_points=exercise.points,
            empty=answer.empty,
            report=report,
            cells=ran.cells if ran is not None else (),
            notebook=ran.notebook if ran is not None else None,
            notes=tuple(notes),
            answer=answer.text,
        )


def _new_cluster() -> EmbeddedCluster:
    return EmbeddedCluster(places.held(), owner=Owner.HELD, one_processor=True)


@contextmanager
def _own_cluster(begun: EmbeddedCluster | None = None) -> Iterator[EmbeddedCluster]:
    """Held by this process, never one that somebody uses."""
    cluster = begun or _new_cluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop(at_once=True)


def _is_of_the_machine(error: Exception) -> bool:
    """Whether nothing could be graded with it; all else is a slip of ours about one answer."""
    if isinstance(error, LabkitError):
        return isinstance(error, ClusterStartError | MachineError | CourseError)
    return isinstance(error, OSError)


# -- what a result depends on ---------------------------------------------------------------------------------------


_PACKAGES = ("PyYAML", "babel", "ipykernel", "ipython", "ipywidgets", "jupyter_client", "kubernetes", "nbval", "pandas",
             "pytest")  # fmt: skip
"""What an answer is read, judged or run with, or may be."""


def _digest(root: Path, lang: str, exercises: Sequence[Exercise]) -> str:
    """Of the same bytes it is the same on every machine."""
    digest = hashlib.sha256(f"{lang}\0{sys.version_info[:2]}\0{[one.id for one in exercises]}\0".encode())
    digests.add_files(digest, _files(root, lang, exercises))
    for package in _PACKAGES:
        digest.update(f"{package} {metadata.version(package)}\0".encode())
    digests.add_programs(digest)
    return digest.hexdigest()


def _files(root: Path, lang: str, exercises: Sequence[Exercise]) -> Iterator[tuple[str, bytes]]:
    yield from student_files(root)
    package = Path(labkit.__file__).parent
    for base, folder in (
        (package.parent, package),
        (root, root / "locale" / lang),
        *((root, one.folder) for one in exercises),
    ):
        yield from digests.files_below(folder, base)
