"""A student's script, run as a script: a process of its own, a folder of its own, limits, and nothing of ours.

It may loop, print for ever, start other programs or read what is not meant for it. So it runs in a process group that
is ended as a whole, in an empty folder, with an environment made from nothing and, where it may ask the cluster, a
kubeconfig that only reads. Its output goes to files whose size is limited, so that nothing of it piles up here. A
grader puts stronger walls around this process (``run_begun``); the interface stays the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import labkit
from labkit.cluster import system, tools
from labkit.cluster.kubectl import clean_environment

__all__ = ["BEGUN", "Beginning", "Run", "Runner", "limited", "run_begun", "run_script"]

LIMIT_S = 60.0
CPU_LIMIT_S = 20
"""What a script may use of a processor: the same on a machine that is busy. Waiting is limited by ``LIMIT_S``."""

BEGUN = "labkit: the script begins\n"
OUTPUT_BYTES = 8 * 1024 * 1024
_SHOWN = 200_000
_SIGXCPU = 24
_CPU_ENDED = (-_SIGXCPU, 128 + _SIGXCPU)
"""Exit statuses of who used up its processor time: as Python tells it, and as bubblewrap does."""

_LAST_WORDS = re.compile(r"(?:[ \t][^\n]*\n|\n)+[^\W\d][\w.]*(?::|\n|$)")
"""What follows a traceback's first line: indented lines, and the exception's name."""

_LIMITED = """
import json, os, runpy, sys
told = json.loads(sys.argv[1])
try:
    import resource
    for name, value in told["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value + (name == "RLIMIT_CPU")))
except ImportError:
    pass
if told["uid"] is not None:
    os.setgroups([])
    os.setgid(told["uid"])
    os.setuid(told["uid"])
if told["cwd"]:
    os.chdir(told["cwd"])
sys.argv = sys.argv[2:]
if told["mark"]:
    os.write(2, told["mark"].encode())
if sys.argv[0] == "-m":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Run:
    """What a script did. *exit_code* is None when it was ended at its limit; *stdout* and *stderr* may be cut."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def complaint(self) -> str:
        """The last line it printed as an error: of a traceback, the one that says what went wrong."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    @property
    def died(self) -> bool:
        """Whether an exception that nothing caught ended it, as Python tells it: a traceback is the last it wrote."""
        _, traceback, after = self.stderr.rpartition("Traceback (most recent call last):\n")
        return self.exit_code == 1 and bool(traceback) and bool(_LAST_WORDS.match(after))


class Runner(Protocol):
    """Runs a script's text with arguments; *kubeconfig* is None where it may not ask a cluster."""

    def __call__(self, script: str, argv: tuple[str, ...], kubeconfig: Path | None) -> Run: ...


@dataclass(frozen=True)
class Beginning:
    """How a program is started: the arguments of ``subprocess.Popen`` that differ from one wall to another."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path


def limited(
    program: Sequence[str],
    limits: Mapping[str, int],
    *,
    uid: int | None = None,
    cwd: Path | None = None,
    mark: str = "",
) -> tuple[str, ...]:
    """The argv of this Python that runs *program*: a script's path, or "-m" and a module, and arguments.

    *limits* are by the names of ``resource``. With *uid* (only root can) it gives up all its rights for that one's
    before anything of *program* is read, and then moves to *cwd*. *mark* is what it says to standard error last.
    """
    told = {"limits": dict(limits), "uid": uid, "cwd": str(cwd or ""), "mark": mark}
    return (sys.executable, "-P", "-s", "-B", "-c", _LIMITED, json.dumps(told), *program)


def run_script(script: str, argv: tuple[str, ...] = (), kubeconfig: Path | None = None) -> Run:
    """Run it with this Python. Never raises for what the script does; OSError when it cannot be run."""

    def begun(folder: Path, path: Path) -> Beginning:
        limits = {"RLIMIT_FSIZE": OUTPUT_BYTES, "RLIMIT_CORE": 0, "RLIMIT_CPU": CPU_LIMIT_S}
        return Beginning(limited((str(path), *argv), limits, mark=BEGUN), _environment(folder, kubeconfig), folder)

    return run_begun(script, begun, limit_s=LIMIT_S)


def run_begun(
    script: str,
    begin: Callable[[Path, Path], Beginning],
    *,
    limit_s: float,
    watch: Callable[[subprocess.Popen[bytes]], AbstractContextManager[list[str]]] = lambda _: nullcontext([]),
    end: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> Run:
    """Run *script* as *begin* says, which is given a fresh folder and the script's file in it.

    *begin* lets the script's process write BEGUN (``limited``) when nothing but the script comes after it: an end
    before that is no doing of the script's, and an OSError. *watch* is entered with the process, and says, in lines,
    why it ended it, if it did. *end* ends what is left of it.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-answer-")))
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        path = folder / "answer.py"
        path.write_text(script, encoding="utf-8")
        how = begin(folder, path)
        others: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **system.aside()}
        process = subprocess.Popen(how.argv, cwd=how.cwd, env=how.env, **others)
        status: int | None
        with watch(process) as why:
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                (end or system.end_group)(process)
        before, mark, said = _head(err).partition(BEGUN)
        if not mark:
            words = [*before.strip().splitlines()[-1:], *why] or [f"exit status {status}"]
            raise OSError(f"a script's process could not be started: {'; '.join(words)}")
        return Run(None if status in _CPU_ENDED else status, _head(out), "\n".join([said, *why]) if why else said)


def _head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_SHOWN).decode("utf-8", "replace")


def _environment(folder: Path, kubeconfig: Path | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "LANG") if name in os.environ}
    programs = [str(place) for place in (tools.folder_for_path(),) if place is not None]
    path = os.pathsep.join([*programs, os.environ.get("PATH", os.defpath)])
    ours = {
        "PATH": path,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(Path(labkit.__file__).parent.parent),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KUBECACHEDIR": str(folder / "kubectl-cache"),
        "KUBECONFIG": str(kubeconfig) if kubeconfig is not None else os.devnull,
    }
    return clean_environment(kept) | ours
