"""A grading that is killed at any point and started again gives the same grade book. Only its grader is a double."""

from __future__ import annotations

import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.grading import strays
from labkit.waiting import let_pass
from tests.grading.looking import Class

COUNT = 8
KILLS = 10


@pytest.fixture
def students(tmp_path: Path) -> Class:
    return Class(tmp_path, COUNT)


def test_killed_at_ten_random_points_and_started_again_it_gives_the_same_grade_book(
    students: Class, record_property: Callable[[str, object], None]
) -> None:
    seed = secrets.randbelow(2**32)
    record_property("seed", seed)
    drawn = random.Random(seed)  # noqa: S311
    began = time.monotonic()
    students.grade("expected")
    whole_s = time.monotonic() - began
    expected = students.book("expected")
    assert {"grades.csv", "grades.json", "junit.xml", "class.html", "student03/feedback.html"} <= expected.keys()
    kept = 0
    for number in range(KILLS):
        out = f"grades{number}"
        with students.begin(out) as process:
            let_pass(drawn.uniform(0.2, 1.0) * whole_s)
            process.kill()
        kept += students.results(out)
        students.grade(out)
        assert students.book(out) == expected, f"seed {seed}, round {number}"
    assert kept, f"seed {seed}: it was never killed while it graded"
    students.expect_nothing_left()


def test_what_was_graded_before_the_kill_is_not_graded_again(students: Class) -> None:
    with students.begin("grades", "--jobs", "1") as process:
        students.wait_for_results("grades", 2)
        process.kill()
    kept = students.results("grades")
    assert 2 <= kept < COUNT
    said = students.grade("grades")
    assert said.startswith(f"{COUNT} submissions are graded: {COUNT - kept} anew, {kept} as they were\n")


def test_a_second_run_grades_nothing_and_says_so(students: Class) -> None:
    students.grade("grades", "--jobs", "1")
    before = students.book("grades")
    said = students.grade("grades", "--jobs", "2")
    assert said.startswith(f"{COUNT} submissions are graded: nothing was to be done anew\n")
    assert students.book("grades") == before


def test_killed_after_the_last_result_its_workers_are_cleared_up_though_nothing_is_to_be_graded(
    students: Class,
) -> None:
    students.grade("grades")
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = students.tmp / f"{strays.PREFIX}{gone.pid}-left"
    (left / "home").mkdir(parents=True)
    students.grade("grades")
    assert students.left() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_in_order_and_tells_how_to_go_on(students: Class, number: signal.Signals) -> None:
    with students.begin("grades", "--jobs", "2") as process:
        students.wait_for_results("grades", 2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    kept = students.results("grades")
    assert errors.splitlines()[-2:] == [
        "labkit: interrupted",
        f"  {kept} of {COUNT} were graded and are kept: the same command goes on from there",
    ]
    assert students.left() == []


def test_a_submission_that_was_changed_is_graded_again_and_no_other(students: Class) -> None:
    students.grade("grades")
    changed = students.submissions / "student03.zip"
    changed.write_bytes((students.submissions / "student04.zip").read_bytes())
    assert students.grade("grades").startswith(f"{COUNT} submissions are graded: 1 anew, {COUNT - 1} as they were\n")
