"""What nbval 0.11 needs to be trusted with the course: a death noticed at once, and one worker a notebook.

nbval waits for a reply with one long time-out, so a kernel that dies in a cell costs the whole cell limit and is then
called a time-out. And pytest-xdist's default spreads the cells of one notebook over workers, where each lacks the
variables of the others. Both are mended here, for whoever runs the notebooks with pytest (``notebooks/conftest.py``).

The dependency is pinned below 0.12 (``pyproject.toml``): the one method replaced is ``RunningKernel.await_reply``.
"""

from __future__ import annotations

import time
from queue import Empty
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from labkit.course.kernel import KernelDiedError

__all__ = ["LOOK_S", "is_cell", "notice_dead_kernels", "refuse_split_notebooks"]

LOOK_S = 0.5
"""How long one look for a reply lasts; between looks the kernel's process is checked."""

WHOLE_FILE_DISTRIBUTIONS = ("no", "loadfile", "loadscope", "loadgroup")
"""xdist's ways to distribute tests that keep a file's cells on one worker, in order."""


def is_cell(item: pytest.Item) -> bool:
    """Whether a test item is a notebook's cell."""
    return isinstance(item, IPyNbCell)


def notice_dead_kernels() -> None:
    """Replace nbval's wait for a reply by one that looks whether the kernel lives. Idempotent."""
    original = RunningKernel.await_reply
    if getattr(original, "notices_death", False):
        return

    def await_reply(self: Any, msg_id: str, timeout: float | None = None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LOOK_S if end is None else min(LOOK_S, end - time.monotonic())
            try:
                original(self, msg_id, timeout=max(left, 0.0))
            except Empty:
                if not self.is_alive():
                    raise KernelDiedError("the kernel died in this cell") from None
                if end is not None and time.monotonic() >= end:
                    raise
            else:
                return

    await_reply.notices_death = True  # type: ignore[attr-defined]
    RunningKernel.await_reply = await_reply


def refuse_split_notebooks(config: pytest.Config) -> None:
    """Raise UsageError when xdist would spread a notebook's cells over workers."""
    distribution = config.getoption("dist", "no")
    if distribution not in WHOLE_FILE_DISTRIBUTIONS:
        raise pytest.UsageError(
            f"-n with --dist {distribution} would spread the cells of a notebook over workers; "
            f"use --dist {', '.join(WHOLE_FILE_DISTRIBUTIONS[1:-1])} or {WHOLE_FILE_DISTRIBUTIONS[-1]}"
        )
