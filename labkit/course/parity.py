"""Two plays compared: does the course say the same on another cluster?

Both reports are sanitized by the one sanitizer, so that only what means something is left to differ. The beginnings of
sections name the cluster they are on and are left out; a step that one side could not show is told apart from a step
that answered otherwise.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from labkit.course import sanitize
from labkit.course.report import FAILED, NOT_SHOWN, PlayReport, StepResult, Verdict

__all__ = ["Difference", "Kind", "compare"]

Kind = Literal["output", "verdict", "not shown", "missing"]


@dataclass(frozen=True)
class Difference:
    """A step that is not the same on both sides.

    *kind*: "output" (the sanitized texts differ; *diff* has the lines of a unified diff), "verdict" (one side failed),
    "not shown" (one cluster lacks what it needs), "missing" (one report has no such step). *evidence* says it in words.
    """

    id: str
    title: str
    kind: Kind
    evidence: str
    diff: tuple[str, ...] = ()


def compare(a: PlayReport, b: PlayReport) -> tuple[Difference, ...]:
    """The differences, in the order of *a* (then those that only *b* has)."""
    ours, theirs = ({step.id: step for step in report.steps} for report in (a, b))
    names = (_name(a, "the first"), _name(b, "the second"))
    found = [_compare_step(ours.get(step_id), theirs.get(step_id), names) for step_id in [*ours, *theirs]]
    return tuple({one.id: one for one in found if one is not None}.values())


def _name(report: PlayReport, place: str) -> str:
    return f"{place} ({report.cluster}, {report.version})"


def _compare_step(a: StepResult | None, b: StepResult | None, names: tuple[str, str]) -> Difference | None:
    if a is None or b is None:
        return _missing(a or b, names[0] if a is None else names[1])
    kinds: tuple[tuple[Verdict, Kind], ...] = ((NOT_SHOWN, "not shown"), (FAILED, "verdict"))
    for verdict, kind in kinds:
        if a.verdict == verdict != b.verdict:
            return Difference(a.id, a.title, kind, f"{names[0]}: {a.verdict}: {a.reason}")
        if b.verdict == verdict != a.verdict:
            return Difference(b.id, b.title, kind, f"{names[1]}: {b.verdict}: {b.reason}")
    before, after = sanitize.text(a.text), sanitize.text(b.text)
    if before == after or a.id.endswith("/begin"):
        return None
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), "first", "second", lineterm="", n=1)
    return Difference(a.id, a.title, "output", "the outputs differ", tuple(diff))


def _missing(there: StepResult | None, name: str) -> Difference | None:
    return None if there is None else Difference(there.id, there.title, "missing", f"{name} has no such step")
