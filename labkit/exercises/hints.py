"""Help in steps: first where the answer stands now, then the author's hints, from a nudge to nearly.

A hint that everybody gets says little to the one who is stuck elsewhere. So the first is computed: from the last check
of this very text, or, when there was none, from a check made now, of whatever is in the answer. The next ones are the
author's, for the first task that is not passed, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from labkit.exercises.model import Exercise, Hint
from labkit.exercises.progress import Answers
from labkit.exercises.report import Report, TaskResult
from labkit.languages import translate

__all__ = ["next_hint"]


def next_hint(exercise: Exercise, answers: Answers, check: Callable[[str], Report]) -> Hint:
    """The next step of help, which is then remembered as shown. *check* judges a text, and is asked only if need be."""
    text = answers.read(exercise)
    text = exercise.starter if text is None else text
    report = answers.last_report(exercise, text)
    if report is None:
        report = check(text)
        answers.keep(exercise, text, report)
    open_tasks = [one for one in report.tasks if not one.passed]
    if not open_tasks:
        nothing = translate("Every task of this exercise is passed: there is nothing to hint at.")
        return Hint(exercise.id, "", exercise.title, nothing, 0, 0)
    return _of(exercise, open_tasks[0], answers)


def _of(exercise: Exercise, result: TaskResult, answers: Answers) -> Hint:
    steps = exercise.hints[result.task]
    shown = answers.hints_shown(exercise, result.task)
    answers.show_hint(exercise, result.task, min(shown + 1, len(steps) + 1))
    if shown == 0:
        return Hint(exercise.id, result.task, result.title, _state(result), 0, len(steps))
    number = min(shown, len(steps))
    return Hint(exercise.id, result.task, result.title, steps[number - 1], number, len(steps))


def _state(result: TaskResult) -> str:
    """What the first finding says, as a sentence about the answer as it is."""
    if not result.findings:
        return translate("Nothing of this task could be tried yet; look at what stands before it.")
    found = result.findings[0]
    told = {"probe": found.probe, "expected": found.expected, "got": found.got, "field": found.field}
    said = translate("With your answer as it is, {probe}: expected {expected}; {got}.", **told)
    if found.field:
        said = translate("With your answer as it is, {probe}: expected {expected}; {got}, at {field}.", **told)
    return f"{said} {found.next_act}".strip()
