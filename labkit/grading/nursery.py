"""The program behind the walls of which a submission's kernels are children, one after the other.

A kernel takes half a second of processor time to load what every kernel loads (Jupyter, IPython, labkit, the client of
Kubernetes) and a tenth for all the rest of its start; a class of thirty has 240 of them. So one process loads it all,
before it has met a line of a student's, and each kernel is a fork of it, as fresh as a process of its own. When one
ends, whatever it left behind is ended and emptied before the next.

It is told on its standard input what to do, a line each, and answers on its standard output:

    {"shell_port": …}   a connection file's content: "begun", and, whenever the kernel ends, "ended"
    end                 "cleared", when nothing of the kernel is left

It shares its user with the kernels, so a student's program may end it: who gave the orders starts another then.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import signal
import sys
import traceback
from collections.abc import Container, Iterator
from pathlib import Path

__all__ = ["main"]

_LOADED = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "kubernetes.client",
    "kubernetes.config",
    "labkit.lab",
    "labkit.magics",
    "labkit.cluster",
    "labkit.exercises.desk",
    "labkit.exercises.views",
    "labkit.show.ipython",
)
"""What a kernel, ``labkit.begin`` and a check load anyway; a module more would only cost time."""


def main(alone: bool, folders: list[Path]) -> None:
    """Serve until standard input ends. *alone* says that no other process of this user is anybody else's; *folders* are
    emptied after each kernel, the first is its home.
    """
    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()  # or the collector would write to, and copy, each page that is shared
    ways = {path for folder in folders for path in _ways(folder)}
    orders, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    looking = selectors.DefaultSelector()
    looking.register(orders, selectors.EVENT_READ)
    kernel: int | None = None
    watched: int | None = None
    said = b""
    while True:
        for key, _ in looking.select():
            if key.fd == watched:
                _forget(looking, watched)
                watched = None
                os.write(answers, b"ended\n")
                continue
            read = os.read(orders, 65536)
            if not read:
                return
            *lines, said = (said + read).split(b"\n")
            for line in lines:
                if line == b"end":
                    _forget(looking, watched)
                    _clear(kernel, folders, ways, alone=alone)
                    kernel = watched = None
                    os.write(answers, b"cleared\n")
                    continue
                kernel = _begin(line, folders[0], (orders, answers, looking))
                watched = os.pidfd_open(kernel)
                looking.register(watched, selectors.EVENT_READ)
                os.write(answers, b"begun\n")


def _forget(looking: selectors.BaseSelector, watched: int | None) -> None:
    """Look at this kernel no more."""
    if watched is not None:
        looking.unregister(watched)
        os.close(watched)


def _begin(connection: bytes, home: Path, ours: tuple[int, int, selectors.BaseSelector]) -> int:
    """A kernel, forked: its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        orders, answers, looking = ours
        looking.close()
        os.close(orders)
        os.close(answers)
        os.setsid()
        path = home / "connection.json"
        path.write_bytes(connection)
        sys.argv = ["ipykernel_launcher", "-f", str(path), "--HistoryManager.enabled=False"]
        importlib.import_module("ipykernel.kernelapp").IPKernelApp.launch_instance(sys.argv[1:])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _ways(folder: Path) -> Iterator[Path]:
    """The folders in *folder* that only lead to what is shown there: nothing else is in it before the first kernel."""
    for one in folder.iterdir():
        if one.is_dir() and not one.is_symlink() and not os.path.ismount(one):
            yield one
            yield from _ways(one)


def _clear(kernel: int | None, folders: list[Path], ways: Container[Path], *, alone: bool) -> None:
    """End the kernel and all that is left of it, and empty its folders. Raises OSError when something stays."""
    if kernel is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(kernel, signal.SIGKILL)
    if alone:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    if kernel is not None:
        os.waitpid(kernel, 0)
    for folder in folders:
        _empty(folder, ways)


def _empty(folder: Path, ways: Container[Path]) -> None:
    """All of it but what is shown there, and the ways to that."""
    for one in folder.iterdir():
        if os.path.ismount(one):  # Path.is_mount would follow a link
            continue
        if one in ways and not one.is_symlink():
            _empty(one, ways)
        elif one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        else:
            one.unlink()


if __name__ == "__main__":
    main(sys.argv[1] == "alone", [Path(one) for one in sys.argv[2:]])
