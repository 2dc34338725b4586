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
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from labkit.cluster import system
from labkit.errors import CourseError

__all__ = ["CellRun", "CourseKernel", "KernelDiedError"]

START_LIMIT_S = 60.0
LOOK_S = 0.1
"""How long one look at the kernel's messages lasts; between looks the kernel's process is checked."""
INTERRUPT_LIMIT_S = 2.0
"""How long an interrupted cell may take to end what it started (kubectl) before its kernel is killed."""

TRANSPORT = system.KERNEL_TRANSPORT
"""Sockets in a folder of this person's alone: no port that others could reach, and no warning about it."""
LONGEST_FOLDER = 60
"""Characters of a temporary folder that leave room for "/labkit-kernel-12345678/kernel-5"; a socket's path has at most
107 (103 on macOS)."""

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
    """One kernel of this very Python, started at once and ready when first asked to run something.

    It is a child in this session, like a command of a shell: a session of its own, as jupyter_client makes one, would
    cost each kubectl time (``system.aside``). Its sockets and what it says to its terminal lie in a folder of its own,
    which goes with it. It ends when this process is gone.
    """

    def __init__(self, *, cwd: Path, environ: Mapping[str, str]) -> None:
        short = TRANSPORT == "tcp" or len(tempfile.gettempdir()) <= LONGEST_FOLDER
        self._folder = Path(tempfile.mkdtemp(prefix="labkit-kernel-", dir=None if short else system.SHORT_FOLDER))
        try:
            connection, _ = write_connection_file(
                str(self._folder / "kernel.json"),
                ip=str(self._folder / "kernel") if TRANSPORT == "ipc" else "127.0.0.1",
                key=secrets.token_hex().encode(),
                transport=TRANSPORT,
            )
            with (self._folder / "log").open("wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "ipykernel_launcher", "-f", connection, "--HistoryManager.enabled=False"],
                    cwd=cwd,
                    env={**os.environ, **environ, "JPY_PARENT_PID": str(os.getpid())},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    **system.aside(),
                )
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._client = BlockingKernelClient(connection_file=connection)
        self._client.load_connection_file()
        self._client.start_channels(stdin=False, hb=False)
        self._ready = False
        self._busy = False

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
            if self._process.poll() is not None:
                raise KernelDiedError("the kernel did not start", evidence=self._last_words(), next_act="labkit doctor")
            if time.monotonic() - began > START_LIMIT_S:
                raise KernelDiedError(f"the kernel did not answer for {START_LIMIT_S:g} s", next_act="labkit doctor")

    def run(self, source: str, *, limit_s: float = 180.0) -> CellRun:
        """Run one cell to its end. Raises KernelDiedError, and CourseError after *limit_s* seconds."""
        self.wait_ready()
        began = time.monotonic()
        self._busy = True
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
        self._busy = False
        return CellRun(tuple(outputs), time.monotonic() - began)

    def stop(self) -> None:
        """End the kernel; a cell that is running is interrupted first, so that it ends what it started. Always safe."""
        if self._busy and self._process.poll() is None:
            self._interrupt()
        self._client.stop_channels()
        system.kill_group(self._process)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running cell, and give it a moment to end."""
        if not system.interrupt_group(self._process):
            return
        asked, end = self._client.kernel_info(), time.monotonic() + INTERRUPT_LIMIT_S
        while self._busy and self._process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                message = self._client.get_iopub_msg(timeout=LOOK_S)
                self._busy = message["parent_header"].get("msg_id") != asked

    def _last_words(self) -> str:
        """How the kernel's process ended, and the last line it printed."""
        status = self._process.poll()
        try:
            said = (self._folder / "log").read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            said = []
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return ": ".join(one for one in ("" if status is None else system.describe_exit(status), last) if one)

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
        if self._process.poll() is not None:
            told = [f"{time.monotonic() - began:.1f} s into the cell", self._last_words()]
            raise KernelDiedError("the kernel died", evidence=", ".join(one for one in told if one))
        if time.monotonic() - began > limit_s:
            self._interrupt()
            raise CourseError(f"the cell was still running after {limit_s:g} s", next_act="it was interrupted")
