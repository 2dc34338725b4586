"""Where the course lies that came with this labkit: the one place that knows.

In a checkout it is the repository. An installed labkit has it beside its code, as students get it: the wheel is given
the files of ``handout`` when it is built. Nobody works in that folder; ``labkit lab`` copies it. Standard library only.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["shared_course"]

_PACKAGE = Path(__file__).resolve().parents[1]


def shared_course() -> Path:
    """The folder that holds its ``crd/``, ``notebooks/`` and ``exercises/``."""
    installed = _PACKAGE / "handout"
    return installed if installed.is_dir() else _PACKAGE.parent
