"""One control plane process: started, watched, stopped.

A server started as a child goes wrong in ways a plain ``Popen`` hides: it dies before it is ready and the caller waits
out a time limit; it dies later and the caller sees "connection refused"; its starter dies and it stays. So the child's
output goes to files (a pipe nobody reads would stop it), the wait for its one line of JSON ends as soon as it has
ended, the error carries its exit status and last words, and a child that is not ready when the caller gives up
(also by Ctrl-C) is ended before the exception leaves.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from labkit.cluster import system
from labkit.cluster.base import Progress
from labkit.errors import ClusterStartError, WaitTimeout
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = [
    "ELSEWHERE",
    "ControlPlane",
    "EtcdAccess",
    "Ready",
    "Terms",
    "answers",
    "await_ready",
    "begin",
    "find",
    "last_lines",
    "lend",
    "read_record",
    "serves",
    "terminate",
    "words_of",
]

START_LIMIT_S = 60.0
"""A start takes about 3 s; a loaded machine may need many times that, and a death ends the wait at once."""

STOP_LIMIT_S = 5.0
"""The control plane promises to stop within 3 s."""

ELSEWHERE = 0
"""In place of a pid: the process runs beyond this one's pid namespace (the walls around a student's program), where it
cannot be seen, only asked."""

_LONGEST_PAUSE_S = 0.03
"""Between two looks at what it has printed, which cost nothing; a start takes two seconds."""

_CONNECT_LIMIT_S = 5.0
_SHOWN_LINES = 5
_CRASHES = ("panic: ", "fatal error: ")
"""How a crash of a Go program begins; hundreds of lines of stacks follow."""


@dataclass(frozen=True)
class EtcdAccess:
    """How to reach a control plane's etcd: its URL and the files of the client certificate it asks for."""

    url: str
    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class Ready:
    """What a control plane says of itself when it is ready (also in STATE_DIR/cluster.json)."""

    kubeconfig: Path
    server: str
    etcd: EtcdAccess
    versions: dict[str, str]
    pid: int
    state_dir: Path
    throw_away: bool
    until: str

    @classmethod
    def parse(cls, text: str) -> Ready:
        """From the JSON line. Raises ValueError when it is not one."""
        try:
            said = json.loads(text)
            etcd = said["etcd"]
            return cls(
                kubeconfig=Path(said["kubeconfig"]),
                server=said["server"],
                etcd=EtcdAccess(etcd["url"], Path(etcd["ca"]), Path(etcd["cert"]), Path(etcd["key"])),
                versions=dict(said["versions"]),
                pid=int(said["pid"]),
                state_dir=Path(said["stateDir"]),
                throw_away=bool(said["throwAway"]),
                until=said["until"],
            )
        except (KeyError, TypeError, ValueError) as cause:
            raise ValueError(f"not a control plane's record: {text[:200]!r}") from cause


@dataclass(frozen=True)
class Terms:
    """How a control plane is to live.

    *until* is "stdin" (it ends with its handle, or with this process), "pid:N" (with that process) or "signal".
    *throw_away* does without syncing to disk and removes the state directory at the end. *port* is the API server's.
    With *one_processor* it uses one at a time: on a machine that is busy with others of its kind it needs a third less
    time of processors then, which Go's collector would spend on those that look idle.
    """

    until: str
    throw_away: bool
    port: int | None = None
    one_processor: bool = False


class ControlPlane:
    """A running child. ``stop`` is idempotent and always safe."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path, errors: Path) -> None:
        self._process = process
        self._output = system.reopen(output)
        self._errors = system.reopen(errors)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def held(self) -> bool:
        """Whether it ends with this process (*until* "stdin")."""
        return self._process.stdin is not None

    def exit_status(self) -> int | None:
        """None while it runs; else as ``subprocess`` has it (negative: the signal)."""
        return self._process.poll()

    def said(self) -> str:
        """What it has printed on standard output so far."""
        return system.read_whole(self._output)

    def complaints(self) -> tuple[str, ...]:
        """What it has printed on standard error: the beginning of a crash, else the last lines."""
        lines = system.read_whole(self._errors).splitlines()
        crash = next((number for number, line in enumerate(lines) if line.startswith(_CRASHES)), None)
        return tuple(lines[crash : crash + _SHOWN_LINES] if crash is not None else lines[-_SHOWN_LINES:])

    def stop(self, limit_s: float = STOP_LIMIT_S, *, at_once: bool = False) -> None:
        """Close its standard input, or ask it to end; insist when *limit_s* has passed. Returns when it has ended.

        *at_once* ends it without asking, which leaves its state directory as it is.
        """
        if at_once:
            system.kill_group(self._process)
        if self._process.stdin is not None:
            self._process.stdin.close()
        else:
            system.terminate_group(self._process)
        for insist in (system.terminate_group, system.kill_group):
            if self._ended_within(limit_s):
                break
            insist(self._process)
        self._process.wait()
        self.listen_no_more()

    def listen_no_more(self) -> None:
        """Close what it printed; its log in the state directory stays."""
        self._output.close()
        self._errors.close()

    def _ended_within(self, limit_s: float) -> bool:
        try:
            wait_for(
                translate("the control plane to end"),
                lambda: Seen(self.exit_status() is not None, "running"),
                limit_s=limit_s,
            )
        except WaitTimeout:
            return False
        return True


def _forget_ended() -> None:
    _left_running[:] = [child for child in _left_running if child.exit_status() is None]


_left_running: list[ControlPlane] = []
"""Children that outlive their starter on purpose: kept, so that this process notices their end."""


def begin(executable: Path, state_dir: Path, terms: Terms) -> ControlPlane:
    """Start its process, without waiting for anything. Raises ClusterStartError when it cannot be run."""
    _forget_ended()
    argv = [str(executable), "serve", "--state-dir", str(state_dir), "--until", terms.until]
    argv += ["--throw-away"] if terms.throw_away else []
    argv += ["--port", str(terms.port)] if terms.port is not None else []
    env = {**os.environ, "GOMAXPROCS": "1"} if terms.one_processor else None
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE if terms.until == "stdin" else subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=env,
                **system.apart(),
            )
        except OSError as cause:
            raise ClusterStartError(
                translate("the control plane cannot be run"),
                evidence=f"{executable}: {cause}",
                next_act=translate("make setup builds it anew"),
            ) from cause
        # Read through handles of our own: the child's share their position with what it was given.
        return ControlPlane(process, Path(out.name), Path(err.name))


def await_ready(child: ControlPlane, state_dir: Path, *, progress: Progress, limit_s: float = START_LIMIT_S) -> Ready:
    """Wait until *child*, which was begun for *state_dir*, is ready; what it says then.

    Raises ClusterStartError with its exit status and last lines; no process is left then, but *state_dir* may be.
    """
    try:
        ready = _wait_until_ready(child, state_dir, progress, limit_s)
    except BaseException:
        child.stop()
        raise
    if not child.held:
        child.listen_no_more()
        _left_running.append(child)
    return ready


def _wait_until_ready(child: ControlPlane, state_dir: Path, progress: Progress, limit_s: float) -> Ready:
    def look() -> Seen[str]:
        said = child.said()
        if said.endswith("\n"):
            return Seen(True, "ready", said)
        status = child.exit_status()
        if status is not None:
            evidence = "\n".join((system.describe_exit(status), *(child.complaints() or last_lines(state_dir))))
            raise ClusterStartError(
                translate("the embedded control plane did not start"),
                evidence=evidence,
                next_act=translate("mend what its last lines name; labkit doctor looks at the machine"),
            )
        return Seen(False, translate("starting etcd and the API server"))

    try:
        return Ready.parse(
            wait_for(
                translate("the embedded control plane"),
                look,
                limit_s=limit_s,
                progress=progress,
                longest_pause_s=_LONGEST_PAUSE_S,
            )
            or ""
        )
    except (WaitTimeout, ValueError) as cause:
        raise ClusterStartError(
            translate("the embedded control plane did not become ready"),
            evidence="\n".join((str(cause), *child.complaints(), *last_lines(state_dir))),
            next_act=translate("look at its last lines; another control plane may be named in LABKIT_CONTROLPLANE"),
        ) from cause


def last_lines(state_dir: Path, count: int = _SHOWN_LINES) -> tuple[str, ...]:
    """The end of the control plane's log, as far as it can be read."""
    try:
        text = (state_dir / "controlplane.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(text.splitlines()[-count:])


def read_record(state_dir: Path) -> Ready | None:
    """What lies in STATE_DIR/cluster.json; None when there is none, or half of one. Says nothing about the process."""
    try:
        return Ready.parse((state_dir / "cluster.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def lend(ready: Ready, folder: Path) -> None:
    """Put into *folder* what a program beyond a pid namespace needs to attach by it as by a state directory: a record,
    the kubeconfig and etcd's client certificate, nothing else. Raises OSError.
    """
    etcd = {"ca": ready.etcd.ca, "cert": ready.etcd.cert, "key": ready.etcd.key}
    copies = {name: shutil.copy(path, folder / path.name) for name, path in etcd.items()}
    record = {
        "kubeconfig": str(shutil.copy(ready.kubeconfig, folder / "kubeconfig")),
        "server": ready.server,
        "etcd": {"url": ready.etcd.url, **{name: str(path) for name, path in copies.items()}},
        "versions": ready.versions,
        "pid": ELSEWHERE,
        "stateDir": str(folder),
        "throwAway": False,
        "until": "signal",
    }
    (folder / "cluster.json").write_text(json.dumps(record), encoding="utf-8")


def answers(ready: Ready) -> bool:
    """Whether something listens where the API server of *ready* did."""
    where = urlsplit(ready.server)
    try:
        socket.create_connection((where.hostname or "", where.port or 443), timeout=_CONNECT_LIMIT_S).close()
    except OSError:
        return False
    return True


def serves(pid: int, state_dir: Path) -> bool:
    """Whether process *pid* is alive and is the control plane of *state_dir*, not another that got its number."""
    if pid == ELSEWHERE:
        ready = read_record(state_dir)
        return ready is not None and answers(ready)
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and _is_of(process.cmdline(), state_dir)
    except psutil.Error:
        return False


def words_of(pid: int) -> str:
    """What there is to say of a control plane's process that does not serve."""
    return "its API server does not answer" if pid == ELSEWHERE else f"process {pid} is gone"


def find(state_dir: Path) -> int | None:
    """The pid of the running control plane of *state_dir*, also one that is not ready yet."""
    for process in psutil.process_iter():
        if serves(process.pid, state_dir):
            return process.pid
    return None


def _is_of(cmdline: list[str], state_dir: Path) -> bool:
    if "serve" not in cmdline or "--state-dir" not in cmdline[:-1]:
        return False
    named = Path(cmdline[cmdline.index("--state-dir") + 1])
    return named.resolve() == state_dir.resolve()


def terminate(pid: int, state_dir: Path, limit_s: float = STOP_LIMIT_S) -> None:
    """Stop the control plane of *state_dir* that is not our child (or no longer); returns when it is gone."""
    for child in _left_running:
        if child.pid == pid:
            child.stop(limit_s)
            _forget_ended()
            return
    for act in ("terminate", "kill"):
        if not serves(pid, state_dir):
            return
        try:
            if act == "kill" or not system.ask_to_end(pid):
                getattr(psutil.Process(pid), act)()
            wait_for(
                translate("the control plane to end"),
                lambda: Seen(not serves(pid, state_dir), "running"),
                limit_s=limit_s,
            )
        except (psutil.NoSuchProcess, WaitTimeout):
            continue
