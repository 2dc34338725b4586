"""One worker of a grading: a process that grades submissions one after the other, and leaves nothing when it goes.

A submission may do anything to the process that grades it: eat its memory, crash it, hang it. So that process is not
the one that holds the class's results (``pool`` does), and it can be lost at any time. What it needs on the disk lies
in one folder of its own, its temporary files and its clusters too, and what a submission has left running becomes its
child, however it was started, so that it can be ended. When the one it works for is gone, it goes as well.

It talks over one connection, in pickles: the course first, then submissions come in, and ``Said``, ``Done`` and
``Failed`` go out. After a failure it ends: the next one begins with everything new.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import shutil
import signal
import stat
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from labkit.cluster import system
from labkit.errors import ClusterStartError, CourseError, LabkitError, MachineError
from labkit.grading import strays
from labkit.grading.errors import GradingError
from labkit.grading.values import Result, Submission

__all__ = ["Done", "Failed", "Grades", "Said", "Units", "main"]

END_LIMIT_S = 20
"""How long a worker whose owner is gone may take to clean up; then it is ended where it is."""

IDLE_LIMIT_S = 600.0
"""How long a worker waits for the next submission; only one whose Dask client was killed is ever so idle."""

_SLOTS = 1000


class Grades(Protocol):
    """Grades one submission at a time."""

    def grade(self, submission: Submission, progress: Callable[[str], None]) -> Result: ...


class Units(Protocol):
    """What a worker is given: it can be pickled, and makes a grader. ``grader.Course`` is one.

    *slot* is a number from 1 that no other worker of this machine has at the time.
    """

    def expect_here(self) -> None:
        """Raise GradingError where this machine would grade by something else than the one it comes from."""

    def grader(self, slot: int) -> AbstractContextManager[Grades]: ...


@dataclass(frozen=True)
class Said:
    """What is being done."""

    line: str


@dataclass(frozen=True)
class Done:
    """The submission that was given is graded."""

    result: Result


@dataclass(frozen=True)
class Failed:
    """It could not be graded. *ours* says that labkit or the machine failed, not its handling of this submission."""

    words: str
    ours: bool


def serve(connection: Connection, slots: Path) -> None:
    """Grade what comes until there is no more. Ends by KeyboardInterrupt when the other end is gone."""
    inbox: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    try:
        course: Units = inbox.get(timeout=IDLE_LIMIT_S)
        course.expect_here()
        with _slot(slots) as slot, course.grader(slot) as grader:
            while True:
                submission = inbox.get(timeout=IDLE_LIMIT_S)
                result = grader.grade(submission, lambda line: connection.send(Said(line)))
                connection.send(Done(result))
    except queue.Empty:
        return
    except LabkitError as error:
        ours = isinstance(error, ClusterStartError | MachineError | CourseError)
        connection.send(Failed(str(error), ours))
    except OSError as error:
        connection.send(Failed(f"{error.filename or 'this machine'}: {error.strerror or error}", ours=True))
    except Exception as error:
        traceback.print_exc()
        connection.send(Failed(f"{type(error).__name__}: {error} (in {_where(error)})", ours=False))


def _receive(connection: Connection, inbox: queue.Queue[Any]) -> None:
    """Put what comes into the inbox; at the end, interrupt whatever is being done."""
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        signal.alarm(END_LIMIT_S)
        os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _slot(folder: Path) -> Iterator[int]:
    """The lowest free number of this machine, for the time of the block; it goes with the process."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise GradingError(f"{folder} is not a folder that only this user writes in", next_act="remove it")
    for number in range(1, _SLOTS + 1):
        descriptor = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        try:
            yield number
        finally:
            os.close(descriptor)
        return
    raise GradingError("there are too many workers on this machine", evidence=f"{folder} has {_SLOTS} that are taken")


def slots_folder() -> Path:
    """Where the workers of this machine (root's), or of this person, lock their numbers."""
    me = os.getuid()
    return Path("/run/labkit-grading") if me == 0 else Path(tempfile.gettempdir()) / f"labkit-grading-slots-{me}"


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


def main(argv: Sequence[str]) -> int:
    """*argv*: the connection's descriptor, and the folder that is this worker's (it is removed at the end)."""
    connection = Connection(int(argv[0]))
    try:
        with system.ends_on_signals():
            strays.adopt_orphans()
            serve(connection, slots_folder())
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        strays.end_found(strays.children)
        shutil.rmtree(argv[1], ignore_errors=True)
    return 0
