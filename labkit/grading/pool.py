"""Many submissions graded beside each other on this machine, by processes of which any may be lost.

A worker that is killed (by the kernel for its memory, by a submission that found a way) must cost one submission at
most, and that only if it happens twice. So each worker has one submission at a time and hands its result over whole;
what it was at when it died is given to a new one, and when that one dies of it too, the submission is said to be not
graded, and why. Nothing of a worker stays: what it started is ended, the folder it worked in is removed, also when this
process was killed: the workers notice, and the next grading clears up behind those that could not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Self

import psutil

import labkit
from labkit.cluster import system
from labkit.errors import WaitTimeout
from labkit.grading import strays
from labkit.grading.errors import GradingError
from labkit.grading.values import Result, Submission
from labkit.grading.worker import Done, Failed, Said, Units
from labkit.waiting import Seen, wait_for

__all__ = ["Crew", "Outcome", "remove_leftovers", "run", "usable_cores"]

GRADE_LIMIT_S = 1800.0
"""How long one submission may take in all; its parts have limits of their own, far below. Then its worker is killed."""

_TRIES = 2
_GIVE_UP_AFTER = 3
"""So many submissions that labkit itself failed with, and none that went well: it will be the same with all others."""
_END_LIMIT_S = 25.0
_LOOK_S = 1.0
_SHOWN_LINES = 3
_PROGRAM = "import sys; from labkit.grading import worker; sys.exit(worker.main(sys.argv[1:]))"
"""Not ``-m``: what it pickles would be called ``__main__.Done``."""


@dataclass(frozen=True)
class Outcome:
    """A submission's result, or None and why there is none."""

    submission: Submission
    result: Result | None
    problem: str = ""


def usable_cores() -> int:
    """How many workers ``auto`` means: the processors this process may use."""
    return len(os.sched_getaffinity(0))


def run(
    course: Units, submissions: Iterable[Submission], jobs: int, progress: Callable[[str], None]
) -> Generator[Outcome]:
    """Each submission's outcome, as they come, graded by *jobs* workers. When it is closed, all workers have ended.

    Raises GradingError when labkit itself fails again and again and nothing goes well.
    """
    with Crew(course, jobs) as crew:
        yield from crew.run(submissions, progress)


@dataclass
class _Unit:
    submission: Submission
    problems: list[str] = field(default_factory=list)


class Crew:
    """Up to *jobs* workers, started when they are needed; a context manager that ends them."""

    def __init__(self, course: Units, jobs: int) -> None:
        self._course, self._jobs = course, jobs
        self._workers: list[_Worker] = []
        self._leaving: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End all workers and what they have started; always safe."""
        leaving = [*self._leaving, *self._workers]
        self._leaving, self._workers = [], []
        _end(leaving)

    def run(self, submissions: Iterable[Submission], progress: Callable[[str], None]) -> Iterator[Outcome]:
        """The outcomes as they come; see ``run`` of this module."""
        todo = deque(_Unit(one) for one in submissions)
        failures, went_well = 0, False
        while todo or self._busy():
            self._give(todo)
            for worker, said in self._hear(progress):
                unit = worker.take_back()
                if isinstance(said, Done):
                    went_well = True
                    yield Outcome(unit.submission, said.result)
                    continue
                self._dismiss(worker)
                unit.problems.append(said.words)
                if len(unit.problems) < _TRIES:
                    todo.appendleft(unit)
                    continue
                failures += said.ours
                if failures >= _GIVE_UP_AFTER and not went_well:
                    raise GradingError(
                        "nothing can be graded here", evidence=said.words.split("\n")[0], next_act="labkit doctor"
                    )
                yield Outcome(unit.submission, None, said.words)

    def _busy(self) -> list[_Worker]:
        return [one for one in self._workers if one.unit is not None]

    def _give(self, todo: deque[_Unit]) -> None:
        """Give every worker something to do; one for which there is nothing can go."""
        for worker in list(self._workers):
            if worker.unit is None and not worker.lives():
                self._dismiss(worker)
        for worker in [one for one in self._workers if one.unit is None]:
            if todo:
                worker.give(todo.popleft())
            elif self._busy():
                self._workers.remove(worker)
                self._leaving.append(worker)
                worker.close()
        while todo and len(self._workers) < self._jobs:
            worker = _Worker(self._course)
            self._workers.append(worker)
            worker.give(todo.popleft())

    def _hear(self, progress: Callable[[str], None]) -> Iterator[tuple[_Worker, Done | Failed]]:
        """Wait until one of them says something; those that are done with what they had, in either way."""
        busy = {one.connection: one for one in self._busy()}
        for connection in wait(list(busy), _LOOK_S):
            worker = busy[connection]  # type: ignore[index]
            said = worker.hear()
            if isinstance(said, Said):
                progress(f"{worker.key}: {said.line}")
            else:
                yield worker, said
        for worker in busy.values():
            if worker.unit is not None and time.monotonic() - worker.since > GRADE_LIMIT_S:
                yield worker, Failed(f"it was not done after {GRADE_LIMIT_S:g} s", ours=False)

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        _end([worker])


class _Worker:
    """A process of ``labkit.grading.worker``. *unit* is what it is at, *since* when."""

    def __init__(self, course: Units) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"{strays.PREFIX}{os.getpid()}-"))
        try:
            self.folder.chmod(0o711)  # a student's program has another uid, and is shown one folder in it
            self.connection, theirs = _pipe()
            with theirs, (self.folder / "log").open("wb") as log:
                argv = [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), str(self.folder)]
                self._process = subprocess.Popen(
                    argv,
                    pass_fds=(theirs.fileno(),),
                    cwd=self.folder,
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    **system.apart(),
                )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.unit: _Unit | None = None
        self.since = 0.0
        self._send(course)

    def _environment(self) -> dict[str, str]:
        """This process's, but for the places: all that is written goes into the worker's folder."""
        package = str(Path(labkit.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        return {**os.environ, "TMPDIR": str(self.folder), "LABKIT_HOME": str(self.folder / "home"), "PYTHONPATH": path}

    @property
    def key(self) -> str:
        return self.unit.submission.key if self.unit is not None else ""

    def lives(self) -> bool:
        return self._process.poll() is None

    def give(self, unit: _Unit) -> None:
        self.unit, self.since = unit, time.monotonic()
        self._send(unit.submission)

    def take_back(self) -> _Unit:
        unit, self.unit = self.unit, None
        if unit is None:
            raise ValueError("this worker has nothing")
        return unit

    def hear(self) -> Said | Done | Failed:
        """What it says; of one that is dead, how it died."""
        try:
            said: Said | Done | Failed = self.connection.recv()
        except (EOFError, OSError):
            self._ended_within(_END_LIMIT_S)
            status = self._process.poll()
            how = system.describe_exit(status) if status is not None else "it hangs"
            return Failed("\n".join((f"the process that graded it ended: {how}", *self._last_lines())), ours=False)
        return said

    def close(self) -> None:
        """Tell it to end; ``finish`` sees to it."""
        self.connection.close()

    def finish(self, limit_s: float) -> None:
        """Wait until it has ended, end it if it does not, and remove what it left."""
        self.close()
        if not self._ended_within(limit_s):
            system.kill_group(self._process)
        self._process.wait()
        _clear(self.folder)

    def kill(self) -> None:
        system.kill_group(self._process)

    def _send(self, what: object) -> None:
        with contextlib.suppress(OSError):  # it is dead: ``hear`` tells how
            self.connection.send(what)

    def _ended_within(self, limit_s: float) -> bool:
        try:
            wait_for("the worker to end", lambda: Seen(not self.lives(), "running"), limit_s=limit_s)
        except WaitTimeout:
            return False
        return True

    def _last_lines(self) -> list[str]:
        try:
            text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip()][-_SHOWN_LINES:]


def _end(workers: list[_Worker]) -> None:
    """End them, all at once; a second interrupt on the way ends them hard."""
    for one in workers:
        one.close()
    try:
        end = time.monotonic() + _END_LIMIT_S
        for one in workers:
            one.finish(max(0.0, end - time.monotonic()))
    except BaseException:
        for one in workers:
            one.kill()
        for one in workers:
            one.finish(_END_LIMIT_S)
        raise


def _pipe() -> tuple[Connection, Connection]:
    ours, theirs = Pipe()
    return ours, theirs


# -- what is left behind --------------------------------------------------------------------------------------------


def remove_leftovers() -> tuple[Path, ...]:
    """Clear up behind gradings whose processes were killed with all their workers; returns what was removed."""
    removed = []
    for path in Path(tempfile.gettempdir()).glob(f"{strays.PREFIX}*"):
        number = path.name.removeprefix(strays.PREFIX).partition("-")[0]
        if not number.isdigit() or psutil.pid_exists(int(number)) or not _is_mine(path):
            continue
        _clear(path)
        removed.append(path)
    return tuple(removed)


def _is_mine(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.is_dir() and path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _clear(folder: Path) -> None:
    """End what still runs of a dead worker, then remove its folder."""
    strays.end_named(folder)
    shutil.rmtree(folder, ignore_errors=True)
