"""A pytest plugin for graded notebooks only (``-p labkit.grading.plugin``): nbval with an eye on its kernel.

nbval compares a cell's outputs with what is recorded, and trusts the kernel for the rest: it waits the whole limit for
one that died, reads no output while a cell runs and then all of it, and may be kept waiting for ever by a kernel that
talks. Here the kernel is a student's. So its process is looked at every half second, what it sends is read as it comes
and counted in bytes, each cell has one end in time, and a kernel that died, hung or talked too much is not asked again:
the notebook's other cells are not run. What came of each cell is written down after each, for the process that started
this one, which may see it die.

It replaces the kernel class of nbval 0.11 by a subclass; other versions are refused.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import secrets
import signal
import time
from collections import deque
from collections.abc import Generator, Mapping
from pathlib import Path
from queue import Empty
from typing import Any

import nbval.plugin
import pytest
import zmq
from jupyter_client.manager import KernelManager
from jupyter_core.paths import jupyter_runtime_dir
from nbval.kernel import RunningKernel

from labkit.course import sanitize
from labkit.exercises.report import printable

__all__ = ["GradedKernel", "KernelEnded"]

NBVAL = "0.11."
LOOK_S = 0.5
GRACE_S = 2.0
"""What a kernel has to end a cell that was interrupted, and to send what is left when the cell has ended."""

LARGEST_MESSAGE = 4 << 20
MESSAGES_AHEAD = 64
"""What waits unread in this process is at most their product."""

WORDS = 300
KEPT_OUTPUT = 100_000
"""Characters of one output that are kept."""

KEPT_TYPES = ("text/plain", "image/png", "image/jpeg")
"""Nothing that acts when it is looked at; all that labkit shows has a text."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_RECORD = pytest.StashKey[dict[str, dict[str, Any]]]()


class KernelEnded(Exception):
    """The kernel is not there any more; *status* is a ``CellRun``'s."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status = status


class GradedKernel(RunningKernel):  # type: ignore[misc]  # nbval has no types
    """A kernel that is not trusted. *ended* says how it was lost; None while it may be asked."""

    output_limit = 1_000_000
    log = Path(os.devnull)

    def __init__(self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60) -> None:
        self.ended: KernelEnded | None = None
        self._pending: deque[Any] = deque()
        self._received = 0
        self._end = float("inf")
        self._looked = 0.0
        context = zmq.Context()
        context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        context.setsockopt(zmq.RCVHWM, MESSAGES_AHEAD)
        # Sockets without a file and without a port: nothing to share with the kernel's walls, nothing to collide.
        name = f"labkit-{secrets.token_hex(8)}"
        self.km = KernelManager(
            kernel_name=kernel_name,
            context=context,
            connection_file=str(Path(jupyter_runtime_dir()) / f"{name}.json"),
            transport="ipc",
            ip=f"@{name}",
        )
        if self.km.has_trait("transport_encryption"):
            self.km.transport_encryption = "auto"
        with self.log.open("wb") as log:
            self.km.start_kernel(cwd=cwd, stdout=log, stderr=log)
        self.kc = self.km.client()
        self.kc.start_channels(hb=False)
        try:
            self.kc.wait_for_ready(timeout=startup_timeout)
            self._ensure_iopub_up()
        except Exception as error:
            self.stop()
            said = text(self.log.read_text(encoding="utf-8", errors="replace")).strip().splitlines()
            words = f"the kernel did not start: {said[-1] if said else error}"
            raise KernelEnded("died", words[:WORDS]) from error

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> Any:
        self._pending.clear()
        self._received = 0
        self._end = float("inf")
        return super().execute_cell_input(cell_input, allow_stdin=allow_stdin)

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Raises Empty when *timeout* has passed, whatever else the kernel sends, and KernelEnded."""
        self._end = float("inf") if timeout is None else time.monotonic() + timeout
        shell, iopub = self.kc.shell_channel, self.kc.iopub_channel
        poller = zmq.Poller()
        poller.register(shell.socket, zmq.POLLIN)
        poller.register(iopub.socket, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(int(LOOK_S * 1000)))
            if iopub.socket in ready:
                message = self._receive(iopub)
                if message is not None:
                    self._pending.append(message)
                    if _is_idle(message, msg_id):
                        self._end = min(self._end, time.monotonic() + GRACE_S)
            if shell.socket in ready:
                message = self._receive(shell)
                if message is not None and message["parent_header"].get("msg_id") == msg_id:
                    self._end = time.monotonic() + GRACE_S
                    return
            self._look(ready)
            if time.monotonic() >= self._end:
                if any(_is_idle(message, msg_id) for message in self._pending):
                    self._lose("too-much-output", f"its answer was longer than {LARGEST_MESSAGE >> 20} MiB, or none")
                raise Empty

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """The next message of "iopub". Raises Empty, and KernelEnded when the cell's time is over."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        channel = self.kc.iopub_channel if stream == "iopub" else self.kc.shell_channel
        while True:
            if stream == "iopub" and self._pending:
                return self._pending.popleft()
            now = time.monotonic()
            if now >= self._end:  # also for one that goes on sending
                if self.ended is not None:
                    self._lose(self.ended.status, str(self.ended))
                self._lose("too-much-output", f"a message was longer than {LARGEST_MESSAGE >> 20} MiB, or none came")
            if now >= end:
                raise Empty
            ready = channel.socket.poll(max(0, int(1000 * (min(now + LOOK_S, self._end, end) - now))))
            message = self._receive(channel) if ready else None
            if message is not None:
                return message
            self._look(ready)

    def interrupt(self) -> None:
        """What nbval does with a cell at its limit: it has a moment to end, but is the last one run."""
        self.ended = KernelEnded("hung", "the cell was still running at its limit and was stopped")
        self._end = time.monotonic() + GRACE_S
        super().interrupt()

    def stop(self) -> None:
        if hasattr(self, "km"):
            self.kc.stop_channels()
            self._kill()
            self.km.shutdown_kernel(now=True)
            self.km.context.destroy(linger=0)
            del self.km

    def _receive(self, channel: Any) -> Any:
        """A message of the kernel's, counted; None for one that is none."""
        parts = channel.socket.recv_multipart()
        self._received += sum(map(len, parts))
        if self._received > self.output_limit:
            self._lose("too-much-output", f"the cell sent more than {self.output_limit} bytes")
        try:
            message = channel.session.deserialize(channel.session.feed_identities(parts)[1])
            return message if isinstance(message["content"], dict) and message["parent_header"] is not None else None
        except Exception:  # whatever a student's process can send
            return None

    def _look(self, ready: Any) -> None:
        """Whether the process is there; with messages *ready* now and then, else now."""
        if ready and time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        if not self.is_alive():
            self._lose("died", "the kernel died in this cell")

    def _lose(self, status: str, words: str) -> None:
        self.ended = KernelEnded(status, words)
        self._kill()
        raise self.ended

    def _kill(self) -> None:
        group = getattr(self.km.provisioner, "pgid", None)
        if group and group != os.getpgrp():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


def _is_idle(message: Any, msg_id: str) -> bool:
    about = message["parent_header"].get("msg_id") == msg_id and message.get("msg_type") == "status"
    return bool(about and message["content"].get("execution_state") == "idle")


# -- pytest's hooks -------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labkit")
    group.addoption("--labkit-record", type=Path, help="folder for what came of each notebook")
    group.addoption("--labkit-output-limit", type=int, default=GradedKernel.output_limit, help="bytes a cell may send")


def pytest_configure(config: pytest.Config) -> None:
    version = importlib.metadata.version("nbval")
    if not version.startswith(NBVAL):
        raise pytest.UsageError(f"grading needs nbval {NBVAL}x, this is {version}: pip install 'nbval>=0.11,<0.12'")
    GradedKernel.log = config.getoption("--labkit-record") / "kernel.log"
    GradedKernel.output_limit = config.getoption("--labkit-output-limit")
    nbval.plugin.RunningKernel = GradedKernel
    config.stash[_RECORD] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    if getattr(item.parent.kernel, "ended", None) is not None:
        pytest.skip("the kernel is gone")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
        _write_down(item, call)
    return report


def _write_down(item: Any, call: pytest.CallInfo[None]) -> None:
    status, words = _came_of(item, call)
    record = item.config.stash[_RECORD].setdefault(str(item.path), {"cells": [], "outputs": {}})
    name = item.cell.metadata.get("nbgrader", {}).get("grade_id", item.cell.get("id", item.name))
    record["cells"].append({"grade_id": name, "status": status, "words": words})
    kept = item.test_outputs if status in ("passed", "failed") else None
    record["outputs"][item.cell.id] = [safe(one) for one in kept or ()]
    path = item.config.getoption("--labkit-record") / f"{item.path.stem}.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record), encoding="utf-8")
    new.replace(path)


def _came_of(item: Any, call: pytest.CallInfo[None]) -> tuple[str, str]:
    """A cell's status and words, by what its run raised, or by how its kernel was lost."""
    error = call.excinfo.value if call.excinfo is not None else None
    lost = error if isinstance(error, KernelEnded) else getattr(item.parent.kernel, "ended", None)
    first = str(item.path) not in item.config.stash[_RECORD]
    if isinstance(error, pytest.skip.Exception) or (call.when == "setup" and not first):
        return "not-run", "the kernel was lost before"
    if lost is not None:
        return lost.status, str(lost)
    return ("failed", _complaint(item, error)) if error is not None else ("passed", "")


def _complaint(item: Any, error: BaseException) -> str:
    for output in item.test_outputs or ():
        if output.output_type == "error":
            return " ".join(text(f"{output.ename}: {output.evalue}").split())[:WORDS]
    if isinstance(error, nbval.plugin.NbCellError):
        return "its output is not what the instructor's answer brings"
    return "its messages cannot be understood"


# -- outputs that are safe to keep ----------------------------------------------------------------------------------


def text(given: Any) -> str:
    """What a student's program printed, as text that does nothing on a terminal, the same from run to run."""
    return sanitize.text(printable(_TERMINAL.sub("", str(given)[: 2 * KEPT_OUTPUT])))[:KEPT_OUTPUT]


def safe(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output in nbformat's form with nothing in it that acts when it is looked at."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": text(output.get("text", ""))}
    if kind == "error":
        traceback = [text(line) for line in list(output.get("traceback") or ())[:50]]
        names = {key: text(output.get(key, ""))[:WORDS] for key in ("ename", "evalue")}
        return {"output_type": "error", **names, "traceback": traceback}
    data = output.get("data")
    kept: dict[str, str] = {}
    for mime, value in data.items() if isinstance(data, dict) else ():
        if mime == "text/plain":
            kept[mime] = text(value)
        elif mime in KEPT_TYPES and isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", value):
            kept[mime] = value
    return {"output_type": "display_data", "data": kept, "metadata": {}}
