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
from collections.abc import Iterable
from pathlib import Path

import psutil

__all__ = ["adopt_orphans", "children", "end", "end_named"]

END_LIMIT_S = 10.0
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


def end_named(folder: Path) -> None:
    """End every process whose command line names *folder* or something in it."""
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if one.pid != os.getpid() and any(str(folder) in word for word in one.cmdline()):
                found.append(one)
    end(found)
