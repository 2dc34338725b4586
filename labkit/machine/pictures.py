"""The picture of the player in README.md, drawn from a report of a real play (``labkit play --report FILE``).

    python -m labkit.machine.pictures FILE     writes docs/pictures/player.svg

The picture is the player's own view on some steps, exported by rich; nothing in it is typed by hand. The picture of a
notebook beside it, notebook.png, is a photograph of JupyterLab and has to be taken anew by hand.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from labkit.course.report import PlayReport
from labkit.errors import LabkitError
from labkit.machine.checkout import Checkout
from labkit.show.player import block, summary

__all__ = ["STEPS", "draw", "main"]

STEPS = ("cel/refused-default", "cel/patch-shrink", "cel/patch-grow", "cel/first-manifest")
"""Short ones, and worth a look: refusals by field and rule, and a change that is let through."""

WIDTH = 116
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""rich lets an SVG fetch its font from a site; the reader's own fixed-width font does as well."""


def draw(report: PlayReport, steps: Sequence[str] = STEPS) -> str:
    """An SVG of the player showing *steps* and the table at the end. Raises KeyError for a step it has not."""
    played = {step.id: step for step in report.steps}
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text.assemble(("$ ", "dim"), ("make play", "bold")))
    console.print(Rule(Text("cel", style="bold"), align="left", style="dim"))
    for name in steps:
        console.print(block(played[name]))
    console.print(Text("…\n", style="dim"))
    console.print(summary(replace(report, cluster="an embedded cluster")))
    svg = console.export_svg(title="make play", unique_id="player")
    return "\n".join(line.rstrip() for line in _FONT_FACES.sub("", svg).splitlines()) + "\n"


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when the picture is drawn."""
    if len(argv) != 1:
        print("usage: python -m labkit.machine.pictures REPORT", file=sys.stderr)
        return 2
    try:
        svg = draw(PlayReport.read(Path(argv[0])))
    except LabkitError as error:
        print(f"pictures: {error}", file=sys.stderr)
        return 1
    picture = Checkout.here().root / "docs" / "pictures" / "player.svg"
    picture.write_text(svg, encoding="utf-8")
    print(f"{picture.name}: {len(svg) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
