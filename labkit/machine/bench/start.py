"""How long an embedded control plane takes to be ready, and how much memory it then takes."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from labkit.errors import ClusterStartError
from labkit.show.bench import Figure
from labkit.waiting import let_pass

__all__ = ["SETTLE_S", "Started", "figures", "memory_mb", "serving"]

RUNS = 7
SETTLE_S = 5.0
"""After which memory is read: by then the server has built what it builds once."""
STOP_LIMIT_S = 30.0


@dataclass(frozen=True)
class Started:
    """A control plane that is ready: seconds from its start to its line of JSON, its pid and its files."""

    seconds: float
    pid: int
    state_dir: Path


@contextmanager
def serving(program: Path, state_dir: Path, *, throw_away: bool) -> Iterator[Started]:
    """Start it, and stop it with the block. Measured without labkit's own waiting: the line of JSON is read at once.

    Raises ClusterStartError.
    """
    argv = [str(program), "serve", "--state-dir", str(state_dir), *(["--throw-away"] if throw_away else [])]
    begun = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        line = process.stdout.readline() if process.stdout else b""
        seconds = time.perf_counter() - begun
        try:
            ready = json.loads(line)
        except ValueError:
            _, errors = process.communicate()
            raise ClusterStartError("the control plane did not start", evidence=errors.decode().strip()) from None
        try:
            yield Started(seconds, int(ready["pid"]), state_dir)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(STOP_LIMIT_S)


def memory_mb(pid: int) -> float:
    """Resident memory of a process in MB (10⁶ bytes)."""
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def figures(program: Path, folder: Path, *, runs: int = RUNS) -> list[Figure]:
    """Ready on empty and on used directories under *folder*, and memory after start."""
    empty, memory, used = [], [], []
    for number in range(runs):
        with serving(program, folder / f"empty-{number}", throw_away=True) as started:
            empty.append(started.seconds)
            let_pass(SETTLE_S)
            memory.append(memory_mb(started.pid))
    kept = folder / "used"
    with serving(program, kept, throw_away=False):
        pass
    for _ in range(runs):
        with serving(program, kept, throw_away=False) as started:
            used.append(started.seconds)
    shutil.rmtree(kept)
    return [
        Figure.of("ready on an empty directory", empty, "s", 3.5),
        Figure.of("ready on a used directory", used, "s", 2.5),
        Figure.of(f"resident memory {SETTLE_S:.0f} s after start", memory, "MB", 350),
    ]
