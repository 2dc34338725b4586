"""Blocks of code in Markdown."""

from __future__ import annotations

import re

__all__ = ["fence"]


def fence(language: str, text: str) -> str:
    """A block of code that nothing in *text* ends."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"
