"""Edits of a solution: what each form does, and that one which does not fit is an error."""

from __future__ import annotations

import pytest

from labkit.errors import ManifestError
from labkit.exercises.edits import edited

SOLUTION = "spec:\n  rules:\n    - rule: a <= b\n      message: no\n  max: 5\n"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ("- {replace: a <= b, with: a < b}", "spec:\n  rules:\n    - rule: a < b\n      message: no\n  max: 5\n"),
        ("- {drop: 'message:'}", "spec:\n  rules:\n    - rule: a <= b\n  max: 5\n"),
        ("- {after: 'rules:', add: '# here'}", SOLUTION.replace("rules:", "rules:\n  # here")),
        ("- {before: 'max:', add: \"min: 1\\nmean: 2\"}", SOLUTION.replace("  max", "  min: 1\n  mean: 2\n  max")),
        (
            "- replace: |\n    - rule: a <= b\n      message: no\n  with: '- rule: c'",
            "spec:\n  rules:\n    - rule: c\n  max: 5\n",
        ),
    ],
)
def test_each_form_changes_what_it_names_and_nothing_else(edits: str, expected: str) -> None:
    assert edited(SOLUTION, edits, "x") == expected


def test_edits_are_made_in_turn_and_their_comments_head_the_answer() -> None:
    made = edited(SOLUTION, "# fails: t: m\n# why\n- {replace: '5', with: '6'}\n- {replace: '6', with: '7'}\n", "x")
    assert made == f"# fails: t: m\n# why\n{SOLUTION.replace('5', '7')}"


@pytest.mark.parametrize(
    "edits",
    [
        "- {replace: absent, with: x}",
        "- {replace: 'rule', with: x}",  # there more than once
        "- {drop: absent}",
        "- {replace: 5, with: x}",
        "- {exchange: a, with: b}",
        "- replace: |\n    rules:\n      nothing\n  with: x",
        "[]",
        "a: {",
    ],
)
def test_an_edit_that_does_not_fit_is_an_error_with_its_place(edits: str) -> None:
    with pytest.raises(ManifestError, match=r"wrong/x\.edits\.yaml"):
        edited(SOLUTION, edits, "wrong/x.edits.yaml")
