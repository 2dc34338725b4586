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
from labkit.exercises.texts import translate
from labkit.show.document import Cell, Document, Facts, Fold, Note, Part, Table

__all__ = ["VIEWS", "hint_document", "lint_document", "progress_document", "report_document"]


def report_document(report: Report, lang: str = "en") -> Document:
    """A line for each task, then what is missing. What is hidden is said to be there, and no more."""
    title = translate(report.title, lang)
    rows = tuple(
        (
            Cell(translate(one.title, lang)),
            Cell("passed", "good") if one.passed else Cell("not yet", "bad"),
            Cell(f"{one.points} of {one.max_points}"),
        )
        for one in report.tasks
    )
    parts: list[Part] = [Table(("task", "", "points"), rows)]
    parts += [_missing(one, lang) for one in report.tasks if not one.passed]
    parts += [Note(translate(note, lang)) for note in report.notes]
    return Document(f"{title}: {report.points} of {report.max_points} points", tuple(parts))


def _missing(result: TaskResult, lang: str) -> Fold:
    shown = [one for one in result.findings if not one.hidden]
    parts = [part for one in shown for part in _told(one, lang)]
    if len(shown) < len(result.findings):
        parts.append(Note(translate("More was tried in grading, and did not hold.", lang)))
    if not result.findings:
        parts.append(Note(translate("Nothing of it was tried here; it is judged in grading.", lang)))
    return Fold(translate(result.title, lang), tuple(parts), "bad", opened=True)


def _told(one: Finding, lang: str) -> Iterator[Part]:
    expected = translate("expected", lang)
    probe = translate(one.probe, lang)
    yield Note(f"{translate('not yet', lang)}: {probe} — {expected}: {one.expected}; {one.got}")
    facts = [
        (translate("at field", lang), Cell(one.field, code=True)),
        (translate("by rule", lang), Cell(one.rule, code=True)),
        (translate("next", lang), Cell(translate(one.next_act, lang))),
    ]
    told = tuple((name, cell) for name, cell in facts if cell.text)
    if told:
        yield Facts(told)


def hint_document(hint: Hint, lang: str = "en") -> Document:
    """One step of help."""
    if not hint.of:
        return Document(translate(hint.text, lang))
    step = f"hint {hint.step} of {hint.of}" if hint.step else "where you are"
    return Document(f"{translate(hint.title, lang)}, {translate(step, lang)}", (Note(translate(hint.text, lang)),))


def progress_document(progress: Progress, lang: str = "en") -> Document:
    """All exercises with what is passed, as far as this notebook has seen; it is no mark."""
    rows = tuple(
        (
            Cell(one.id, code=True),
            Cell(translate(one.title, lang)),
            Cell(translate(one.state, lang), "good" if one.state == "passed" else ""),
            Cell(f"{one.points} of {one.max_points}"),
        )
        for one in progress.exercises
    )
    return Document(translate("Your exercises", lang), (Table(("exercise", "", "state", "points"), rows),))


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
