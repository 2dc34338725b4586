"""What a student's program has left running, found and ended, however it was started.

A program that goes away from its parent, its group and its session still has somebody above it. A worker makes itself
the one who adopts such orphans, so that everything a submission started is below it, and can be told from what was
there before. What is left by a worker that died itself is found by its folder, which the command lines of all that
labkit starts for it name.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

__all__ = ["PREFIX", "UIDS", "adopt_orphans", "children", "end", "end_found", "end_named"]

UIDS = range(60578, 61184)
"""The user ids that root gives students' programs: what systemd's table of them (UIDS-GIDS.md) calls unused; low enough
for the ids of a container."""

PREFIX = "labkit-grading-"
"""How the names of folders begin that are cleared up when the process that the name goes on with is gone."""

END_LIMIT_S = 10.0
_PROGRAMS = ("controlplane", "kubectl", "bwrap")
"""What a worker starts beside this Python."""
_ROUNDS = 20
_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""


def adopt_orphans() -> None:
    """Let what a child leaves running become a child of this process, not of the machine's first one."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[psutil.Process]:
    """All that runs below this process."""
    try:
        return psutil.Process().children(recursive=True)
    except psutil.Error:
        return []


def end(processes: Iterable[psutil.Process]) -> None:
    """Kill them; returns when they are gone, and nothing is left of those that are this process's own children."""
    gone = list(processes)
    for one in gone:
        with contextlib.suppress(psutil.Error):
            one.kill()
    psutil.wait_procs(gone, timeout=END_LIMIT_S)


def end_found(find: Callable[[], Iterable[psutil.Process]]) -> None:
    """End what *find* finds, and again until there is none: one that is being killed may just have started another."""
    for _ in range(_ROUNDS):
        found = list(find())
        if not found:
            return
        end(found)


def end_named(folder: Path) -> None:
    """End every process whose command line names *folder* or something in it, and that a worker of this user can have
    started: no editor that looks at a file in it, and nothing of somebody else's.
    """
    end_found(lambda: [one for one in psutil.process_iter() if _is_of(one, folder)])


def _is_of(one: psutil.Process, folder: Path) -> bool:
    try:
        user = one.uids().real
        mine = user == os.getuid() or (os.getuid() == 0 and user in UIDS)
        named = one.pid != os.getpid() and any(str(folder) in word for word in one.cmdline())
        return mine and named and Path(one.exe()).name in (Path(sys.executable).resolve().name, *_PROGRAMS)
    except psutil.Error:
        return False
