"""A student's kernel, as nbval asks it, with an eye on it.

nbval trusts a kernel: it waits the whole limit for one that died, reads no output while a cell runs and then all of it,
and may be kept waiting for ever by one that talks. Here the kernel's process is looked at every half second, what it
sends is read as it comes and counted in bytes, each cell has one end in time, and a kernel that died, hung or talked
too much is not asked again. Kernels are forked behind the walls by ``labkit.grading.nursery``; one that is lost takes
it along, and the next notebook gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import IO, Any

import zmq
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbval.kernel import RunningKernel

from labkit.grading.outputs import line
from labkit.languages import worded

__all__ = ["GradedKernel", "KernelEnded", "Nursery"]

LOOK_S = 0.5
HEAR_S = 0.001
GRACE_S = 2.0
"""What a kernel has to end a cell that was interrupted, and to send what is left when the cell has ended."""

CLEAR_S = 5.0
LARGEST_MESSAGE = 32 << 20
MESSAGES_AHEAD = 8
"""What waits unread in this process is at most their product. ZeroMQ hangs up on who sends a longer one."""

_CUT = worded("what the cell sent cannot be read to its end")


class KernelEnded(Exception):
    """The kernel is not there any more; *status*, *words* and *said* are a ``CellRun``'s."""

    def __init__(self, status: str, words: str, said: str = "") -> None:
        super().__init__(words)
        self.status, self.words, self.said = status, words, said


class Nursery:
    """The program that kernels are forked from (``labkit.grading.nursery``), behind its walls: one process group."""

    def __init__(self, argv: list[str], log: Path) -> None:
        self._said = b""
        self._log = log
        self._used = False
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                argv,
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                start_new_session=True,
            )

    def begin(self, connection: bytes) -> None:
        """Begin a kernel. A nursery that cannot is not alive any more."""
        self._said = b""
        self._used = True
        os.truncate(self._log, 0)
        self._order(connection)

    def has_kernel(self) -> bool:
        """Whether the kernel that was begun last has not ended."""
        self._hear(HEAR_S)
        return self.lives() and b"ended\n" not in self._said

    def lives(self) -> bool:
        return self._process.poll() is None

    def clear(self) -> None:
        """End the kernel, if there was one, and what is left of it; the nursery itself when that does not go well."""
        if not self._used:
            return
        self._used = False
        self._said = b""
        self._order(b"end")
        end = time.monotonic() + CLEAR_S
        while self.lives() and b"cleared\n" not in self._said and time.monotonic() < end:
            self._hear(LOOK_S)
        if b"cleared\n" not in self._said:
            self.kill()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return line(lines[-1]) if lines else ""

    def _order(self, what: bytes) -> None:
        with contextlib.suppress(OSError):
            self._pipe(self._process.stdin).write(what + b"\n")

    def _hear(self, limit_s: float) -> None:
        pipe = self._pipe(self._process.stdout)
        if select.select([pipe], [], [], limit_s)[0]:
            self._said = (self._said + os.read(pipe.fileno(), 4096))[-4096:]

    @staticmethod
    def _pipe(given: IO[bytes] | None) -> IO[bytes]:
        if given is None:
            raise ValueError("the nursery has no pipe")
        return given


class GradedKernel(RunningKernel):  # type: ignore[misc]  # nbval has no types
    """A kernel that is not trusted. *ended* says how it was lost; None while it may be asked."""

    output_limit = 1_000_000
    nursery: Callable[[], Nursery]
    """The one to begin the next kernel in."""

    def __init__(self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60) -> None:  # noqa: ARG002
        self.ended: KernelEnded | None = None
        self._pending: deque[Any] = deque()
        self._received = 0
        self._end = float("inf")
        self._looked = 0.0
        self._hung_up: zmq.Socket[bytes] | None = None
        self._home = type(self).nursery()
        self._context = zmq.Context()
        self._context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self._context.setsockopt(zmq.RCVHWM, MESSAGES_AHEAD)
        self._context.setsockopt(zmq.RECONNECT_IVL, 20)
        connection = _connection()
        self._home.begin(json.dumps(connection).encode())
        self.kc = BlockingKernelClient(context=self._context)
        self.kc.load_connection_info(connection)
        self.kc.start_channels(hb=False)
        try:
            self._wait_ready(time.monotonic() + startup_timeout)
        except (Empty, KernelEnded) as error:
            said = self._home.last_words() or str(error)
            self.stop()
            raise KernelEnded("died", worded("the kernel did not start"), said) from error
        self._hung_up = self.kc.iopub_channel.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)

    def _wait_ready(self, end: float) -> None:
        """Until it answers, and what it publishes is heard too. Raises Empty and KernelEnded."""
        while True:
            asked = self.kc.kernel_info()
            self.await_reply(asked, timeout=end - time.monotonic())
            self._end = end
            with contextlib.suppress(Empty):
                self.await_idle(asked, LOOK_S)
                return

    def is_alive(self) -> bool:
        if self.ended is None and not self._home.has_kernel():
            self.ended = KernelEnded("died", worded("the kernel died before this cell"))
        return self.ended is None

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
                    self._lose("too-much-output", _CUT)
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
                    self._lose(self.ended.status, self.ended.words, self.ended.said)
                self._lose("too-much-output", _CUT)
            if now >= end:
                raise Empty
            ready = channel.socket.poll(max(0, int(1000 * (min(now + LOOK_S, self._end, end) - now))))
            message = self._receive(channel) if ready else None
            if message is not None:
                return message
            self._look(ready)

    def interrupt(self) -> None:
        """What nbval does with a cell at its limit: it has a moment to end, but is the last one run."""
        self.ended = KernelEnded("hung", worded("the cell was still running at its limit and was stopped"))
        self._end = time.monotonic() + GRACE_S
        self.kc.control_channel.send(self.kc.session.msg("interrupt_request", {}))

    def stop(self) -> None:
        if self._hung_up is not None:
            self.kc.iopub_channel.socket.disable_monitor()
        self.kc.stop_channels()
        self._context.destroy(linger=0)
        self._home.clear()

    def _receive(self, channel: Any) -> Any:
        """A message of the kernel's, counted; None for one that is none."""
        parts = channel.socket.recv_multipart()
        self._received += sum(map(len, parts))
        if self._received > self.output_limit:
            self._lose_for_its_length()
        try:
            message = channel.session.deserialize(channel.session.feed_identities(parts)[1])
            return message if isinstance(message["content"], dict) and message["parent_header"] is not None else None
        except Exception:  # whatever a student's process can send
            return None

    def _lose_for_its_length(self) -> None:
        self._lose("too-much-output", worded("the cell sent more than is taken"), f"{self.output_limit} bytes")

    def _look(self, ready: Any) -> None:
        """Whether the process is there, and did not send too long a message; with messages *ready* now and then."""
        hung_up = self._hung_up is not None and self._hung_up.poll(0)
        if ready and not hung_up and time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        while self.ended is None:
            if not self._home.has_kernel():
                self._lose("died", worded("the kernel died in this cell"))
            if not hung_up:
                return
            if time.monotonic() - self._looked > GRACE_S:  # it did not hang up because it died
                self._lose_for_its_length()

    def _lose(self, status: str, words: str, said: str = "") -> None:
        """Whatever holds a kernel that is lost goes with it."""
        self.ended = KernelEnded(status, words, said)
        self._home.kill()
        raise self.ended


def _connection() -> Any:
    """Of a new kernel: sockets without a file and without a port, so there is nothing to share with its walls, and
    nothing to collide; encrypted where this Jupyter can, as the network's other programs might listen.
    """
    keys: dict[str, Any] = {}
    if "curve" in get_kernel_dict().get("metadata", {}).get("supported_encryption", ()):
        keys = dict(zip(("curve_publickey", "curve_secretkey"), zmq.curve_keypair(), strict=True))
    name = f"@labkit-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder:
        path, _ = write_connection_file(
            f"{folder}/connection.json", ip=name, key=secrets.token_hex().encode(), transport="ipc", **keys
        )
        return json.loads(Path(path).read_text(encoding="utf-8"))


def _is_idle(message: Any, msg_id: str) -> bool:
    about = message["parent_header"].get("msg_id") == msg_id and message.get("msg_type") == "status"
    return bool(about and message["content"].get("execution_state") == "idle")
