"""A class as a whole: how far its grading is, in words, and what is refused before it begins."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.grading.classroom import Order, Pace, grade
from labkit.grading.errors import GradingError
from labkit.grading.grader import Course
from tests.exercises import sample
from tests.grading.packing import NOTEBOOK


class Told:
    """What a bar was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parts: list[float] = []
        self.line, self.part = self.lines.append, self.parts.append


def test_it_tells_how_many_are_done_and_how_long_the_rest_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    told = Told()
    pace = Pace(30, told)
    pace.line("ada: its cluster is started")
    now[0] += 12
    pace.step()
    for _ in range(20):
        pace.step()
    pace.line("bob: its notebooks are run")
    for _ in range(9):
        pace.step()
    assert told.lines[0] == "0 of 30; ada: its cluster is started"
    assert told.lines[1] == "1 of 30, about 6 min left; ada: its cluster is started"
    assert "21 of 30, about 5 s left; bob: its notebooks are run" in told.lines
    assert told.lines[-1] == "30 of 30; bob: its notebooks are run"
    assert told.parts == [(number + 1) / 30 for number in range(30)]


def test_points_for_what_is_no_exercise_are_refused_before_anything_is_graded(tmp_path: Path) -> None:
    sample.make(tmp_path / "course")
    (tmp_path / "handed").mkdir()
    (tmp_path / "handed" / "ada.ipynb").write_bytes(NOTEBOOK)
    (tmp_path / "adjust.csv").write_text("student,exercise,points\nada,limits,1\n")
    order = Order(tmp_path / "handed", tmp_path / "grades", tmp_path / "course", adjust=tmp_path / "adjust.csv")
    with pytest.raises(GradingError, match=r"adjust.csv: line 2: no exercise 'limits': there are limit"):
        grade(order, Told())
    assert not (tmp_path / "grades").exists()


def test_what_is_done_before_the_first_submission_is_said_to_prepare_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepared(_course: Course, progress: Callable[[str], None]) -> Course:
        progress("etcd answers")
        raise GradingError("far enough")

    monkeypatch.setattr(Course, "prepared", prepared)
    sample.make(tmp_path / "course")
    (tmp_path / "handed").mkdir()
    (tmp_path / "handed" / "ada.ipynb").write_bytes(NOTEBOOK)
    told = Told()
    with pytest.raises(GradingError, match="far enough"):
        grade(Order(tmp_path / "handed", tmp_path / "grades", tmp_path / "course"), told)
    assert told.lines == ["preparing: etcd answers"]
