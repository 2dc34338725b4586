"""A kernel that runs a notebook's cells one by one, for the player and the recorder.

nbclient and nbval both run cells, but the one stops at the first error and the other does not notice a kernel that
died. Here a cell's run is a value, an error is one of its outputs, a death is noticed within a fraction of a second
and said so, and a kernel can be started ahead of need: it takes longer to start one than to play three steps. As with
nbval, cells leave no history (which would also cost a cell more than the rest of its way to the kernel and back).
"""

from __future__ import annotations

import contextlib
import os
import queue
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

from labkit.errors import CourseError

__all__ = ["CellRun", "CourseKernel", "KernelDiedError"]

START_LIMIT_S = 60.0
LOOK_S = 0.1
"""How long one look at the kernel's messages lasts; between looks the process is checked."""

TRANSPORT = "tcp" if os.name == "nt" else "ipc"
"""Sockets in a folder of this person's alone: no port that others could reach, and no warning about it."""

_OUTPUT_KEYS = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


class KernelDiedError(CourseError):
    """The kernel's process ended in the middle of a cell (or before one)."""


@dataclass(frozen=True)
class CellRun:
    """What running one cell brought: nbformat outputs in order, and wall time in seconds."""

    outputs: tuple[dict[str, Any], ...]
    seconds: float

    @property
    def error(self) -> str | None:
        """ "Name: text" of the exception that ended the cell, or None."""
        for output in self.outputs:
            if output["output_type"] == "error":
                return f"{output['ename']}: {output['evalue']}"
        return None


class CourseKernel:
    """One kernel of this very Python, started at once and ready when first asked to run something."""

    def __init__(self, *, cwd: Path, environ: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="labkit-kernel-")
        self._manager = KernelManager(
            kernel_name="python3", transport=TRANSPORT, connection_file=str(Path(self._folder.name) / "kernel.json")
        )
        self._manager.start_kernel(
            cwd=str(cwd), env={**os.environ, **environ}, extra_arguments=["--HistoryManager.enabled=False"]
        )
        self._client = self._manager.client()
        self._client.start_channels()
        self._ready = False

    def preload(self, source: str) -> None:
        """Let it run *source* silently as soon as it is up, without waiting; what comes of it is ignored."""
        self._client.execute(source, silent=True, store_history=False, allow_stdin=False, stop_on_error=False)

    def wait_ready(self) -> None:
        """Wait until it answers on both channels (a cell's output could be lost before). Raises KernelDiedError."""
        began = time.monotonic()
        while not self._ready:
            asked = self._client.kernel_info()
            with contextlib.suppress(queue.Empty):
                while not self._ready:
                    message = self._client.get_iopub_msg(timeout=LOOK_S)
                    self._ready = message["parent_header"].get("msg_id") == asked
            if not self._manager.is_alive():
                raise KernelDiedError("the kernel did not start", next_act="labkit doctor")
            if time.monotonic() - began > START_LIMIT_S:
                raise KernelDiedError(f"the kernel did not answer for {START_LIMIT_S:g} s", next_act="labkit doctor")

    def run(self, source: str, *, limit_s: float = 180.0) -> CellRun:
        """Run one cell to its end. Raises KernelDiedError, and CourseError after *limit_s* seconds."""
        self.wait_ready()
        began = time.monotonic()
        sent = self._client.execute(source, store_history=False, allow_stdin=False, stop_on_error=False)
        outputs: list[dict[str, Any]] = []
        while True:
            message = self._next(sent, began, limit_s)
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind in _OUTPUT_KEYS:
                outputs.append({"output_type": kind, **{key: content.get(key) for key in _OUTPUT_KEYS[kind]}})
            elif kind == "clear_output":
                raise CourseError(
                    "the cell clears its output", evidence=source[:60], next_act="no clear_output, interact or Output"
                )
        return CellRun(tuple(outputs), time.monotonic() - began)

    def stop(self) -> None:
        """End the kernel and what it holds. Always safe."""
        self._client.stop_channels()
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
        self._folder.cleanup()

    def _next(self, sent: str, began: float, limit_s: float) -> Mapping[str, Any]:
        """The next message about the cell *sent*."""
        while True:
            try:
                message: Mapping[str, Any] = self._client.get_iopub_msg(timeout=LOOK_S)
            except queue.Empty:
                self._check(began, limit_s)
                continue
            if message["parent_header"].get("msg_id") == sent:
                return message

    def _check(self, began: float, limit_s: float) -> None:
        if not self._manager.is_alive():
            raise KernelDiedError("the kernel died", evidence=f"{time.monotonic() - began:.1f} s into the cell")
        if time.monotonic() - began > limit_s:
            self._manager.interrupt_kernel()
            raise CourseError(f"the cell was still running after {limit_s:g} s", next_act="it was interrupted")
