"""What a student and an author are shown of an exercise: documents, with text as the twin of HTML.

A finding reads ``not yet: WHAT — WHY``: what was tried, what was expected and what the server did instead, then where,
by which rule, and what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from labkit.exercises.lint import Tried
from labkit.exercises.model import Hint
from labkit.exercises.progress import Progress
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.languages import translate
from labkit.show.document import Cell, Document, Facts, Fold, Note, Part, Table

__all__ = ["VIEWS", "hint_document", "lint_document", "progress_document", "report_document"]


def report_document(report: Report) -> Document:
    """A line for each task, then what is missing. What is hidden is said to be there, and no more.

    Tasks that miss the same, as all do when an answer cannot be read, share one fold.
    """
    rows = tuple(
        (
            Cell(one.title),
            Cell(translate("passed"), "good") if one.passed else Cell(translate("not yet"), "bad"),
            Cell(translate("{points} of {most}", points=one.points, most=one.max_points)),
        )
        for one in report.tasks
    )
    parts: list[Part] = [Table((translate("task"), "", translate("points")), rows)]
    missing: dict[tuple[Finding, ...], list[TaskResult]] = {}
    for one in report.tasks:
        if not one.passed:
            missing.setdefault(one.findings, []).append(one)
    parts += [_missing(findings, together) for findings, together in missing.items()]
    parts += [Note(note) for note in report.notes]
    told = {"title": report.title, "points": report.points, "most": report.max_points}
    return Document(translate("{title}: {points} of {most} points", **told), tuple(parts))


def _missing(findings: tuple[Finding, ...], results: list[TaskResult]) -> Fold:
    shown = [one for one in findings if not one.hidden]
    parts = [part for one in shown for part in _told(one)]
    if len(shown) < len(findings):
        parts.append(Note(translate("More was tried in grading, and did not hold.")))
    if not findings:
        parts.append(Note(translate("Nothing of it was tried here; it is judged in grading.")))
    return Fold("; ".join(one.title for one in results), tuple(parts), "bad", opened=True)


def _told(one: Finding) -> Iterator[Part]:
    told = {"probe": one.probe, "expected": one.expected, "got": one.got}
    yield Note(translate("not yet: {probe} — expected: {expected}; {got}", **told))
    facts = [
        (translate("at field"), Cell(one.field, code=True)),
        (translate("by rule"), Cell(one.rule, code=True)),
        (translate("next"), Cell(one.next_act)),
    ]
    known = tuple((name, cell) for name, cell in facts if cell.text)
    if known:
        yield Facts(known)


def hint_document(hint: Hint) -> Document:
    """One step of help, and whether there is another."""
    if not hint.of:
        return Document(hint.text)
    told = {"title": hint.title, "step": hint.step, "of": hint.of}
    where, step = translate("{title}, where you are", **told), translate("{title}, hint {step} of {of}", **told)
    following = translate("Ask again for hint {step} of {of}.", step=hint.step + 1, of=hint.of)
    last = translate("This is the last hint for this task.")
    return Document(step if hint.step else where, (Note(hint.text), Note(following if hint.step < hint.of else last)))


def progress_document(progress: Progress) -> Document:
    """All exercises with what is passed, as far as this notebook has seen; it is no mark."""
    rows = tuple(
        (
            Cell(one.id, code=True),
            Cell(one.title),
            Cell(translate(one.state), "good" if one.state == "passed" else ""),
            Cell(translate("{points} of {most}", points=one.points, most=one.max_points)),
        )
        for one in progress.exercises
    )
    columns = (translate("exercise"), "", translate("state"), translate("points"))
    return Document(translate("Your exercises"), (Table(columns, rows),))


def lint_document(tried: Iterable[Tried]) -> Document:
    """The linter's table: an exercise a line when all is well, and what is not, each."""
    all_of = list(tried)
    rows = [
        (
            Cell(one.exercise),
            Cell(one.what),
            Cell("good", "good") if one.good else Cell("wrong", "bad"),
            Cell(one.why if not one.good else ""),
        )
        for one in all_of
    ]
    wrong = sum(not one.good for one in all_of)
    end = f"{len(all_of)} looked at, {wrong} not as they must be" if wrong else f"{len(all_of)} looked at, all good"
    return Document(f"exercises: {end}", (Table(("exercise", "what", "", "why"), tuple(rows)),))


VIEWS: Mapping[type, Callable[[Any], Document]] = {
    Report: report_document,
    Hint: hint_document,
    Progress: progress_document,
}
"""The view of each value that a cell may end with."""
