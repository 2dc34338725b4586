"""What tests of clusters share: other Python processes that start clusters, and waiting for traces to go."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from labkit.cluster import Api, process
from labkit.cluster.api import ApiResponse
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.terminating import nudge
from labkit.waiting import Seen, wait_for

ROOT = Path(__file__).parents[2]


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process of its own (and of its own process group) with pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )


def line_of(child: subprocess.Popen[str]) -> str:
    """The next line the child prints; its error output when it has ended instead."""
    assert child.stdout is not None
    assert child.stderr is not None
    line = child.stdout.readline().strip()
    assert line, child.stderr.read()
    return line


def end(child: subprocess.Popen[str]) -> None:
    """Kill a child of ``python`` and close its pipes."""
    child.kill()
    child.communicate()


def eventually(what: str, true: Callable[[], bool], limit_s: float = 15) -> None:
    wait_for(what, lambda: Seen(true(), "not yet"), limit_s=limit_s)


def put_over(
    api: Api, path: str, change: Callable[[Any], Any], query: str = "", tries: int = 10
) -> tuple[Any, ApiResponse]:
    """The object at *path* and the answer to the PUT of what *change* makes of it, with a fresh one after a conflict.

    A controller that writes the object's status between the two requests makes the first answer 409.
    """
    for left in reversed(range(tries)):
        live = api.get(path)
        assert live is not None, path
        answer = api.raw("PUT", f"{path}{query}", change(live))
        if answer.code != 409 or not left:
            break
    return live, answer


def remove_definitions(api: Api, *names: str, limit_s: float = 600) -> None:
    """Delete definitions with their objects, and wait until they are gone: the server forgets one of some hundred."""
    for name in names:
        api.delete(f"{DEFINITIONS}/{name}")

    def look() -> Seen[None]:
        left = [one for one in api.list(DEFINITIONS) if one["metadata"]["name"] in names]
        nudge(api, left)
        return Seen(not left, f"left: {', '.join(one['metadata']['name'] for one in left)}")

    wait_for("the definitions to be gone", look, limit_s=limit_s)


def nothing_left(state_dir: Path) -> None:
    """Wait until neither process nor directory of a cluster is left."""
    eventually(f"the control plane of {state_dir} to end", lambda: process.find(state_dir) is None)
    eventually(f"{state_dir} to be removed", lambda: not state_dir.exists())


def kill(pid: int) -> None:
    """SIGKILL, and wait until the process is gone or a zombie."""
    psutil.Process(pid).kill()
    eventually(f"process {pid} to be dead", lambda: not alive(pid))


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
