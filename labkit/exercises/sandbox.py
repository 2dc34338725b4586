"""A student's script, run as a script: a process of its own, a folder of its own, limits, and nothing of ours.

It may loop, print for ever, start other programs or read what is not meant for it. So it runs in a process group that
is ended as a whole, in an empty folder, with an environment made from nothing and, where it may ask the cluster, a
kubeconfig that only reads. Its output goes to files whose size is limited, so that nothing of it piles up here. A
grader puts stronger walls around this process; the interface stays the same.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import labkit
from labkit.cluster import system, tools
from labkit.cluster.kubectl import clean_environment

__all__ = ["Run", "Runner", "run_script"]

LIMIT_S = 20.0
_OUTPUT_BYTES = 8 * 1024 * 1024
_SHOWN = 200_000

_LIMITED = """
import runpy, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
except ImportError:
    pass
sys.argv = sys.argv[1:]
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


class Runner(Protocol):
    """Runs a script's text with arguments; *kubeconfig* is None where it may not ask a cluster."""

    def __call__(self, script: str, argv: tuple[str, ...], kubeconfig: Path | None) -> Run: ...


def run_script(script: str, argv: tuple[str, ...] = (), kubeconfig: Path | None = None) -> Run:
    """Run it with this Python. Never raises for what the script does."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-answer-")))
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        path = folder / "answer.py"
        path.write_text(script, encoding="utf-8")
        launcher = _LIMITED.format(size=_OUTPUT_BYTES, seconds=int(LIMIT_S) + 1)
        process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-B", "-c", launcher, str(path), *argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            env=_environment(folder, kubeconfig),
            **system.aside(),
        )
        status: int | None
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
        return Run(status, _head(out), _head(err))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group, also what the script has started and left behind."""
    if sys.platform == "win32":
        process.kill()
    else:
        import signal

        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
