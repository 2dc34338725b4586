"""The calls that differ between POSIX and Windows, behind one seam.

A child that labkit starts must not get the Ctrl-C a person types in the terminal (labkit stops it in order instead),
and stopping it must also stop what it started. Two starters of the same cluster must exclude each other. On POSIX that
is a session or group of its own, a signal to the group, and ``flock``; Windows has other calls for the same things, and
refuses some that POSIX allows: a look at a process by signal 0, a file opened twice that goes with its first owner.
What a student's machine runs asks this module and no other (docs/decisions/0019-systems.md). It imports nothing but
the standard library; psutil, where it is needed, when it is called.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from labkit.waiting import Seen, wait_for

__all__ = [
    "EXE",
    "KERNEL_TRANSPORT",
    "SHORT_FOLDER",
    "alive",
    "apart",
    "aside",
    "ask_to_end",
    "assignment",
    "describe_exit",
    "end_group",
    "ends_on_signals",
    "exclusive",
    "interrupt_group",
    "is_root",
    "kill_group",
    "path_begins_with",
    "read_whole",
    "reopen",
    "terminate_group",
]

EXE = ".exe" if sys.platform == "win32" else ""
"""The ending of a program's file name."""

KERNEL_TRANSPORT = "tcp" if sys.platform == "win32" else "ipc"
"""How a kernel of ours is spoken to: by sockets that lie in a folder, where there are such."""

SHORT_FOLDER = None if sys.platform == "win32" else "/tmp"  # noqa: S108
"""A folder with a short name for temporary ones: a socket's path is limited to a hundred characters."""


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


def interrupt_group(process: subprocess.Popen[Any]) -> bool:
    """Raise KeyboardInterrupt in a Python child and its own children; false where only an end can be asked for."""
    if sys.platform == "win32":  # a group of its own is deaf to Ctrl-C there
        return False
    _signal_group(process, "SIGINT")
    return True


def _signal_group(process: subprocess.Popen[Any], name: str) -> None:
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        if name != "SIGTERM" or not _broken_off(process.pid):
            _end_tree(process)
        return
    try:
        os.killpg(process.pid, getattr(signal, name))
    except ProcessLookupError:
        return


def end_group(process: subprocess.Popen[Any]) -> None:
    """End a child started ``apart`` or ``aside`` with what it started, also what it has left behind; wait for it."""
    if sys.platform == "win32":
        _end_tree(process)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _end_tree(process: subprocess.Popen[Any]) -> None:
    """Windows: what a process started is known by its parent alone, so it is looked for before the parent ends."""
    import psutil

    children = []
    with suppress(psutil.Error):
        children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    for child in children:
        with suppress(psutil.Error):
            child.kill()


def ask_to_end(pid: int) -> bool:
    """Windows: ask the process *pid*, started ``apart``, to end in order; false where that is done by SIGTERM.

    False, too, when it has another console: nothing but an end without asking can reach it then. What etcd has said
    to have written is on the disk all the same.
    """
    return sys.platform == "win32" and _broken_off(pid)


def _broken_off(pid: int) -> bool:
    """Windows: Ctrl-Break, which reaches a group of its own in this console; Go and Python take it for an interrupt."""
    if sys.platform == "win32":
        with suppress(OSError):
            os.kill(pid, signal.CTRL_BREAK_EVENT)
            return True
    return False


def alive(pid: int) -> bool:
    """Whether there is a process *pid*. Without psutil, on Windows, there always is: its number 0 is no question there,
    it sends Ctrl-C."""
    try:
        import psutil
    except ImportError:
        if sys.platform == "win32":
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    return bool(psutil.pid_exists(pid))


def is_root() -> bool:
    """Whether this process may do everything, as in a container; on Windows no user is so."""
    return sys.platform != "win32" and os.geteuid() == 0


def reopen(path: Path) -> IO[bytes]:
    """Open a file of ``tempfile.NamedTemporaryFile`` a second time, to read it by a position of its own, also when
    the first owner has closed it. Windows allows that only to whoever agrees with its removal. Raises OSError.
    """
    if sys.platform == "win32":
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_BINARY | os.O_TEMPORARY), "rb")
    return path.open("rb")


def read_whole(file: IO[bytes]) -> str:
    """All that a file opened by ``reopen`` holds by now; nothing when it has been closed."""
    if file.closed:
        return ""
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def assignment(name: str, value: str) -> str:
    """A line that sets an environment variable in this system's shell (PowerShell on Windows)."""
    if sys.platform == "win32":
        quoted = value.replace("'", "''")
        return f"$env:{name} = '{quoted}'"
    return f"export {name}={shlex.quote(value)}"


def path_begins_with(folder: Path) -> str:
    """The line that puts *folder* before PATH, in the same shell."""
    if sys.platform == "win32":
        return assignment("PATH", f"{folder};") + " + $env:PATH"
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"'


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
