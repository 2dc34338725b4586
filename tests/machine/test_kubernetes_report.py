"""What a move to another Kubernetes version tells: each step of the chapter that says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.course import recorded
from labkit.course.report import AS_RECORDED, PlayReport, StepResult
from labkit.show import kubernetes as view
from tests.course.building import code, opening, printed, write


def test_the_report_shows_each_step_that_says_something_else_with_its_notebook_and_lines(tmp_path: Path) -> None:
    before = [
        code("%kubectl get a", step="cel/same", outputs=[printed("uid: 01234567-89ab-cdef-0123-456789abcdef\n")]),
        code("%kubectl get b", step="cel/other", outputs=[printed("kept\nold \x1b[31mline\n")]),
        code("%kubectl get c", step="cel/gone", outputs=[printed("c\n")]),
    ]
    after = [
        code("%kubectl get a", step="cel/same", outputs=[printed("uid: 11234567-89ab-cdef-0123-456789abcdef\n")]),
        code("%kubectl get b", step="cel/other", outputs=[printed("kept\nnew line\n")]),
        code("%kubectl get d", step="cel/new", outputs=[printed("d\n")]),
    ]
    folders = [
        write(tmp_path / str(number), "cel", [*opening("cel"), *cells]).parent
        for number, cells in enumerate((before, after))
    ]
    found = recorded.changes(*folders)
    assert found[1].evidence == "04-cel.ipynb: there is no such step any more"
    assert [(one.id, one.kind) for one in found] == [
        ("cel/other", "output"),
        ("cel/gone", "missing"),
        ("cel/new", "missing"),
    ]
    played = PlayReport("embedded", "v1.36.3", 1.0, (StepResult("cel/same", "a", "a", "a", AS_RECORDED, 0.1),))
    text = view.text(view.Moved("v1.37.2", "v1.36.3", found, played, ("docs/a.md:3: since 1.37",), ("README.md",)))
    lines = text.splitlines()
    assert lines[0] == "Kubernetes v1.37.2 → v1.36.3: what changed in the chapter"
    begin = lines.index("cel/other: About cel")
    assert lines[begin + 1] == "  output: 04-cel.ipynb: another output is recorded"
    assert "    -old \\x1b[31mline" in lines and "    +new line" in lines and "\x1b" not in text
    assert "3 steps not the same." in lines and "docs/a.md:3: since 1.37" in lines and "README.md" in lines
    assert not any("does not show" in line or "take out" in line for line in lines)


def _shown(html: str, plain: str) -> dict[str, object]:
    data = {"text/html": html, "text/plain": plain}
    return {"output_type": "display_data", "metadata": {}, "data": data}


@pytest.mark.parametrize(
    ("html", "plain", "lines"),
    [
        ("<b>one</b>", "one", []),
        ("<b>two</b>", "two", ["-one", "+two"]),
        ("<i>one</i>", "one", ["-<b>one</b>", "+<i>one</i>"]),
    ],
)
def test_a_difference_is_told_in_words_and_in_html_only_where_the_words_are_the_same(
    html: str, plain: str, lines: list[str], tmp_path: Path
) -> None:
    folders = [
        write(tmp_path / name, "cel", [*opening("cel"), code("view", step="cel/view", outputs=[shown])]).parent
        for name, shown in (("a", _shown("<b>one</b>", "one")), ("b", _shown(html, plain)))
    ]
    found = [line for one in recorded.changes(*folders) for line in one.diff]
    assert [line for line in found if line[:1] in "+-" and line[:3] not in ("---", "+++")] == lines
