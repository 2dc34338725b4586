"""The calls that differ between POSIX and Windows, behind one seam.

A child that labkit starts must not get the Ctrl-C a person types in the terminal (labkit stops it in order instead),
and stopping it must also stop what it started. Two starters of the same cluster must exclude each other. On POSIX that
is a session or group of its own, a signal to the group, and ``flock``; Windows has other calls for the same things.
Standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labkit.waiting import Seen, wait_for

__all__ = ["apart", "aside", "describe_exit", "exclusive", "kill_group", "terminate_group"]


def apart() -> dict[str, Any]:
    """Keyword arguments of ``subprocess.Popen`` that put the child out of reach of the terminal's Ctrl-C."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def aside() -> dict[str, Any]:
    """The same for a short command: a group of its own in this session.

    Linux gives each new session a share of the processor of its own (sched_autogroup), which a process of 50 ms pays
    for: on a busy machine kubectl took twice as long in one. A session's only further gain is to outlive the terminal.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


def terminate_group(process: subprocess.Popen[Any]) -> None:
    """Ask a child started ``apart`` or ``aside`` and its own children to end; nothing happens if it has ended."""
    _signal_group(process, "SIGTERM")


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a child started ``apart`` or ``aside`` and its own children now; nothing happens if it has ended."""
    _signal_group(process, "SIGKILL")


def _signal_group(process: subprocess.Popen[Any], name: str) -> None:
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
        return
    try:
        os.killpg(process.pid, getattr(signal, name))
    except ProcessLookupError:
        return


def describe_exit(status: int) -> str:
    """An exit status as ``subprocess`` gives it, in words: "exit status 1", "killed by SIGKILL"."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


@contextmanager
def exclusive(path: Path, *, what: str, limit_s: float) -> Iterator[None]:
    """Hold the lock file *path* for the time of the block; the file stays, so that all lock the same one.

    Raises WaitTimeout when another process holds it for *limit_s* seconds. The lock goes with the process.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        wait_for(what, lambda: Seen(_try_lock(descriptor), "another process holds the lock"), limit_s=limit_s)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def ends_on_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP (a closed terminal) end the block as Ctrl-C does, so that what it started is stopped."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
