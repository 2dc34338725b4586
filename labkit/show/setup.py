"""How the state of the set-up looks: one line a part, cut to the width of the terminal. Standard library only."""

from __future__ import annotations

__all__ = ["clock", "state_line"]

NAME_WIDTH = 14


def clock(seconds: float) -> str:
    """Minutes and seconds: "0:07", "12:40"."""
    minutes, left = divmod(int(seconds), 60)
    return f"{minutes}:{left:02d}"


def state_line(name: str, seconds: float, says: str, shows: str, *, width: int) -> str:
    """Such as "control plane   2:41  compiling: 812 of 2,227 packages"; never longer than *width*."""
    line = f"{name:<{NAME_WIDTH}} {clock(seconds):>5}  {says}"
    if shows:
        line += f": {shows}"
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"
