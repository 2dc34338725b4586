"""How moving to another Kubernetes looks: what the chapter says otherwise, and what a person has to read and do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.course.parity import Difference
from labkit.course.report import AS_RECORDED, NOT_SHOWN, PlayReport, StepResult
from labkit.show import parity
from labkit.show.plain import plain

__all__ = ["Moved", "text"]

SHOWN_LINES = 400
"""Of one step's difference: the report is a file, to be read whole."""
SHOWN_COLUMNS = 160


@dataclass(frozen=True)
class Moved:
    """What came of it, from the release *before* to *after*. *differences* are of what is recorded; *played* is the
    chapter played on the new version against that; *mentions* are lines that speak of the old series; *files* changed.
    """

    before: str
    after: str
    differences: tuple[Difference, ...]
    played: PlayReport
    mentions: tuple[str, ...]
    files: tuple[str, ...]


def text(moved: Moved) -> str:
    """Plain lines, with a final newline."""
    head = f"Kubernetes {moved.before} → {moved.after}: what changed in the chapter"
    lines = [head, "=" * len(head), ""]
    lines += parity.text(moved.differences, most=SHOWN_LINES).splitlines()
    not_shown = [step for step in moved.played.steps if step.verdict == NOT_SHOWN]
    others = [step for step in moved.played.steps if step.verdict not in (AS_RECORDED, NOT_SHOWN)]
    lines += _section(f"Steps that {moved.after} does not show; they keep what was recorded", _steps(not_shown))
    lines += _section("Steps that did not say the same when the chapter was played once more", _steps(others))
    lines += _section(f"Lines that speak of the series of {moved.before}: do they still hold?", moved.mentions)
    lines += _section("Files that changed", moved.files)
    lines += _section("Next", _next(moved, bool(not_shown)))
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    shown = [plain(line) for line in lines]
    return ["", title, "-" * len(title), *(_cut(line) for line in shown)] if shown else []


def _cut(line: str) -> str:
    return line if len(line) <= SHOWN_COLUMNS else line[: SHOWN_COLUMNS - 1] + "…"


def _steps(steps: Sequence[StepResult]) -> list[str]:
    return [f"{step.id}: {step.reason.partition(chr(10))[0]}" for step in steps]


def _next(moved: Moved, not_shown: bool) -> list[str]:
    lines = ["git diff: read it; each difference above is a sentence of the chapter to be looked at again"]
    if not_shown:
        lines.append("change or take out the steps that are not shown: nbval, which plays every step, fails on them")
    return [
        *lines,
        "labkit languages update, then labkit languages check: French follows what you change in the prose",
        "make test: sets this clone up for the new version first; the trace is held to the server there",
        "make bench, docs/kubernetes-versions.md, CHANGELOG.md: what was measured and said is of the old version",
        f'git commit -am "Move to Kubernetes {moved.after}"; to take all of it back: git checkout .',
    ]
