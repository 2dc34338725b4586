"""The machine room: set-up, the doctor, the working copy of the course, the checks and the measurements.

It looks at the machine the kit runs on, and changes it only inside the repository (``.venv``, ``build``,
``controlplane/bin``, ``lab``). What runs before any package exists (``setup``, ``doctor`` and what they import) uses
the standard library only. This file looks at the Python that runs it, before any module with newer syntax or imports
is read, so that an old one gets a clear line and not a traceback.
"""

from __future__ import annotations

import shutil
import sys

__all__ = ["OLDEST_PYTHON", "old_python"]

OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11")


def old_python(version: tuple[int, ...], executable: str) -> str | None:
    """What to say when Python *version* is too old, naming one on PATH that is not; None when it is new enough."""
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return None
    found = next((name for name in NEWER_PYTHONS if shutil.which(name)), None)
    if found is None:
        act = "install Python 3.11 or newer, then: make setup PYTHON=/path/to/it"
    else:
        act = f"make setup PYTHON={found}"
    number = ".".join(str(part) for part in version[:3])
    return f"labkit needs Python 3.11 or newer: this is {number} ({executable})\n  → {act}"


_old = old_python(tuple(sys.version_info[:3]), sys.executable)
if _old is not None:
    sys.exit(_old)
