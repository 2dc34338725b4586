"""What a student is shown of a report and of hints, where that is more than one line for one fact."""

from __future__ import annotations

import pytest

from labkit.exercises.model import Hint
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.exercises.views import hint_document, report_document
from labkit.show import render_html, render_text

UNREADABLE = Finding("accepted", "the answer: not YAML", probe="the answer is applied")
TOO_MANY = Finding("refused", "the server accepted it", probe="nine workers")


def _task(name: str, *findings: Finding, passed: bool = False) -> TaskResult:
    return TaskResult(name, f"task {name}", 1 if passed else 0, 1, passed, findings)


def _texts(*tasks: TaskResult) -> tuple[str, str]:
    document = report_document(Report("rule", "A rule", tasks))
    return render_text.render(document), render_html.render(document)


def test_what_several_tasks_miss_alike_is_told_once() -> None:
    text, html = _texts(_task("a", UNREADABLE), _task("b", UNREADABLE), _task("c", TOO_MANY), _task("d", passed=True))
    assert text.count("not yet: the answer is applied — expected: accepted; the answer: not YAML") == 1
    assert "task a; task b\n" in text
    assert "task c\n  not yet: nine workers" in text
    assert html.count("<details open>") == 2


def test_what_is_hidden_does_not_make_two_tasks_alike() -> None:
    hidden = Finding("refused", "the server accepted it", probe="a hidden one", hidden=True)
    text, html = _texts(_task("a", TOO_MANY), _task("b", TOO_MANY, hidden))
    assert text.count("More was tried in grading, and did not hold.") == 1
    assert "a hidden one" not in text + html
    assert html.count("<details open>") == 2


@pytest.mark.parametrize(
    ("step", "title", "end"),
    [
        (0, "Limits, where you are", "Ask again for hint 1 of 2."),
        (1, "Limits, hint 1 of 2", "Ask again for hint 2 of 2."),
        (2, "Limits, hint 2 of 2", "This is the last hint for this task."),
    ],
)
def test_a_hint_says_whether_there_is_another(step: int, title: str, end: str) -> None:
    text = render_text.render(hint_document(Hint("rule", "limits", "Limits", "Count them.", step, 2)))
    assert text.splitlines() == [title, "Count them.", end]


def test_where_every_task_is_passed_there_is_no_hint_to_ask_for() -> None:
    text = render_text.render(hint_document(Hint("rule", "", "A rule", "Nothing to hint at.", 0, 0)))
    assert text == "Nothing to hint at."
