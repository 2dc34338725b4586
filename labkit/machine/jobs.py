"""Jobs of the set-up: chains of commands that run beside each other, and can be stopped without leaving a process.

A job is a generator. It yields the next ``Command`` and is resumed with the lines that the command printed; it yields a
``Pause`` while it needs something another job has not made yet; it returns when its part is done. What a command prints
goes to the job's log file, and is read back from there: no pipe can fill up, and after a failure the log is complete.
Each command leads a process group of its own, so that stopping it stops the compilers it started as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from labkit.errors import LabkitError, MachineError

__all__ = ["Command", "Detail", "Failure", "Job", "Pause", "Steps", "stop_all"]

STOP_LIMIT_S = 3.0
"""How long a command may take to stop before it is killed; Go and pip take a few hundredths of a second."""

Failure = Callable[[int, Sequence[str]], LabkitError]
Detail = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Command:
    """One program to run. *says* names the phase for people; *detail* makes of a printed line what to show beside it,
    or None to keep what is shown; *failure* makes the error of an exit code not in *good*, and the printed lines."""

    says: str
    argv: Sequence[str]
    failure: Failure
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    detail: Detail = lambda _: None
    good: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Pause:
    """Nothing to run yet: ask again."""

    says: str


Steps = Generator[Command | Pause, list[str], None]


class Job:
    """One part of the set-up; ``advance`` never blocks. *says* is the phase, *shows* the detail of the moment."""

    def __init__(self, name: str, steps: Steps, log: Path) -> None:
        self.name = name
        self.says = "waiting"
        self.shows = ""
        self.done = False
        self.begun = time.monotonic()
        self.ended: float | None = None
        self.log = log
        self._steps = steps
        self._command: Command | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: BinaryIO | None = None
        self._reader: BinaryIO | None = None
        self._lines: list[str] = []
        self._rest = b""

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.begun

    def advance(self) -> None:
        """Look at the running command, and start the next one when it has ended well.

        Raises the command's own error when it has ended badly, and whatever the steps raise.
        """
        if self.done:
            return
        if self._process is not None:
            code = self._process.poll()
            self._read()
            if code is None:
                return
            self._process = None
            command = self._command
            if command is not None and code not in command.good:
                self.says = "failed"
                self.ended = time.monotonic()
                raise command.failure(code, self._lines)
        self._next()

    def _next(self) -> None:
        lines, self._lines = self._lines, []
        try:
            step = next(self._steps) if self._command is None else self._steps.send(lines)
        except StopIteration:
            self.says, self.shows, self.done, self.ended = "done", "", True, time.monotonic()
            self._close()
            return
        self.says = step.says
        if isinstance(step, Pause):
            return
        self.shows = ""
        self._command = step
        self._start(step)

    def _start(self, command: Command) -> None:
        if self._log is None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self._log = self.log.open("wb")
            self._reader = self.log.open("rb")
        self._log.write(f"$ {' '.join(command.argv)}\n".encode())
        self._log.flush()
        if self._reader is not None:
            self._reader.seek(0, os.SEEK_END)
        try:
            self._process = subprocess.Popen(
                list(command.argv),
                cwd=command.cwd,
                env={**os.environ, **command.env},
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise MachineError(f"{command.argv[0]} could not be started", evidence=str(error)) from error

    def _read(self) -> None:
        if self._reader is None or self._command is None:
            return
        *whole, self._rest = (self._rest + self._reader.read()).split(b"\n")
        for raw in whole:
            line = raw.decode(errors="replace").rstrip()
            self._lines.append(line)
            shown = self._command.detail(line)
            if shown is not None:
                self.shows = shown

    def stop(self) -> None:
        """Stop what runs, and all that it started; safe at any time, and more than once."""
        process, self._process = self._process, None
        if process is not None:
            self.says = "stopped"
            _signal_group(process, signal.SIGTERM)
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                pass
            finally:  # what the command started may outlive it
                _signal_group(process, signal.SIGKILL)
                process.wait()
        self._steps.close()
        self._close()

    def _close(self) -> None:
        for file in (self._log, self._reader):
            if file is not None:
                file.close()
        self._log = self._reader = None


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)  # the leader's pid is the group's, and stays so while a member lives
    except ProcessLookupError:
        pass
    except PermissionError:  # macOS says so of a group in which all are zombies
        pass


def stop_all(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.stop()
