"""Classes made of values, no cluster: two small exercises, and results as a grader gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labkit.exercises.model import Exercise, load_all
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.grading.roster import Person
from labkit.grading.values import CellRun, ExerciseResult, Note, Result
from tests.exercises import sample

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
STEERS = "\x1b]0;title\x07\x1b[2Jgone\u202e"
ADA = Person("s1", "Lovelace", "Ada", "ada@example.org", "ada")
ALAN = Person("s2", "Turing", "Alan", "alan@example.org", "alan")

SEEN = Finding(
    "refused",
    "the server accepted it",
    field="spec.worker",
    rule="self.max <= 5",
    next_act="Add a rule where both numbers can be seen.",
    probe="five workers and one replica",
)
HIDDEN = Finding("H-EXPECTED", "H-GOT", "H-FIELD", "H-RULE", "H-NEXT", "H-PROBE", hidden=True)


def exercises(root: Path) -> tuple[Exercise, ...]:
    """ "limit" and "other", with the tasks "refuses" (2 points) and "accepts" (1 point) each."""
    sample.make(root)
    sample.make(root, slug="02-other", files={"exercise.toml": sample.TOML.replace('"limit"', '"other"')})
    return load_all(root)


def answered(  # noqa: PLR0913  (a result has these parts)
    name: str,
    *findings: Finding,
    answer: str = "the answer\n",
    notebook: Mapping[str, Any] | None = None,
    cells: tuple[CellRun, ...] = (),
    notes: tuple[Note, ...] = (),
    remarks: tuple[str, ...] = (),
) -> ExerciseResult:
    """Judged: "refuses" has the findings, and is passed without any; "accepts" is passed."""
    passed = not findings
    refuses = TaskResult("refuses", "Too many workers are refused", 2 if passed else 0, 2, passed, findings)
    accepts = TaskResult("accepts", "Others are not", 1, 1, passed=True)
    report = Report(name, "A limit on workers", (refuses, accepts), remarks)
    title, points = "A limit on workers", report.points
    return ExerciseResult(name, title, points, 3, False, report, cells, notebook, notes, answer)


def empty(name: str) -> ExerciseResult:
    return ExerciseResult(name, "A limit on workers", 0, 3, empty=True)


def result(key: str, *graded: ExerciseResult, seconds: float = 1.0, notes: tuple[Note, ...] = ()) -> Result:
    return Result(key, f"submissions/{key}.zip", "0" * 64, graded, notes, ("no wall but this",), seconds)


def ran(*outputs: Mapping[str, Any], grade_id: str = "limit", source: str = "%%answer limit\nx") -> dict[str, Any]:
    """The notebook of an exercise as it ran: the beginning, and the answer with its outputs."""
    begin = {
        "cell_type": "code",
        "id": "exercises-begin",
        "metadata": {},
        "source": "lab = labkit.begin()",
        "execution_count": 1,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "ready\n"}],
    }
    answer = {
        "cell_type": "code",
        "id": "anything at all / not even an id",
        "metadata": {"nbgrader": {"grade_id": grade_id}, "tags": ["x"], "evil": EVIL},
        "source": source,
        "execution_count": 2,
        "outputs": list(outputs),
    }
    return {"cells": [begin, answer], "metadata": {"widgets": {"x": EVIL}}, "nbformat": 4, "nbformat_minor": 5}
