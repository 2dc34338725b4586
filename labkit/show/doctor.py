"""What the doctor found, on one screen. Plain text needs no package; colours come with rich, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

__all__ = ["Finding", "show", "text"]

State = Literal["ok", "missing", "note"]
_STYLES = {"ok": "green", "missing": "bold red", "note": "yellow"}


@dataclass(frozen=True)
class Finding:
    """One thing of this machine: *state* is "ok", "missing" (and needed) or "note"; *says* what was seen; *mend* is the
    command that mends it, "" where there is nothing to mend or no one command does."""

    name: str
    state: State
    says: str
    mend: str = ""

    @property
    def ok(self) -> bool:
        return self.state == "ok"

    @property
    def needed(self) -> bool:
        """Without it labkit does not work on the cluster that would be chosen."""
        return self.state == "missing"


def text(findings: Sequence[Finding]) -> str:
    """Two columns, the command to mend below what it mends; ends with a line that sums up."""
    return "\n".join(line for line, _ in _lines(findings)) + "\n"


def show(findings: Sequence[Finding], out: TextIO | None = None) -> None:
    """Print them: in colour on a terminal where rich is installed, else as plain text."""
    out = out or sys.stdout
    if out.isatty():
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            pass
        else:
            console = Console(file=out, highlight=False)
            for line, style in _lines(findings):
                console.print(Text(line, style=style), soft_wrap=True)
            return
    out.write(text(findings))


def _lines(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Each line with its style."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        style = _STYLES[finding.state]
        lines.append((f"{finding.state:<7}  {finding.name:<{width}}  {finding.says}", style if not finding.ok else ""))
        if finding.mend:
            lines.append((f"{'':<7}  {'':<{width}}  → {finding.mend}", style))
    missing = [finding.name for finding in findings if finding.needed]
    if missing:
        lines.append((f"missing: {', '.join(missing)}", _STYLES["missing"]))
    else:
        lines.append(("nothing that is needed is missing", _STYLES["ok"]))
    return lines
