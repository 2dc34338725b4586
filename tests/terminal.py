"""A terminal for programs under test."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_in_terminal(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    cwd: Path | None = None,
    columns: int = 100,
    out: int | None = None,
) -> str:
    """All that a program writes to a terminal, which must end with 0; its standard output goes to *out* if given.

    The terminal is read while the program writes: it holds but 4 KiB, and who writes more has to wait.
    """
    ours, theirs = pty.openpty()
    environ = {**environ, "COLUMNS": str(columns), "TERM": "xterm"}
    child = subprocess.Popen(argv, cwd=cwd, stdout=theirs if out is None else out, stderr=theirs, env=environ)
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 4096):
            written += chunk
    except OSError:  # Linux says so when the other end is closed
        pass
    finally:
        os.close(ours)
        assert child.wait() == 0
    return written.decode()
