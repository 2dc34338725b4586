"""How the comparison of two plays looks: one block a step that is not the same, or one line that all are."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.course.parity import Difference
from labkit.show.plain import plain

__all__ = ["text"]

SHOWN_LINES = 30


def text(differences: Sequence[Difference], most: int = SHOWN_LINES) -> str:
    """Plain lines, with a final newline; of each step's difference at *most* so many."""
    if not differences:
        return "Both say the same in every step.\n"
    lines = []
    for one in differences:
        lines += [f"{one.id}: {one.title}", f"  {one.kind}: {one.evidence}"]
        lines += [f"    {plain(line)}" for line in one.diff[:most]]
        if len(one.diff) > most:
            lines.append(f"    … {len(one.diff) - most} lines more")
    counted = f"{len(differences)} step{'' if len(differences) == 1 else 's'} not the same."
    return "\n".join([*lines, counted]) + "\n"
