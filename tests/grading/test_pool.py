"""The pool: any process of it may be lost, and what that costs is one submission at most. Its course is a double."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from labkit.grading import pool
from labkit.grading.errors import GradingError
from labkit.grading.pool import Outcome
from labkit.grading.values import Submission
from labkit.waiting import Seen, wait_for
from tests.grading.doubles import DoubleCourse, handed_in, result_of

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary files of the pool in a folder of this test, which is empty again at its end, and no process of it."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    yield folder
    assert _processes(folder) == []
    assert list(folder.iterdir()) == []


def _processes(folder: Path) -> list[psutil.Process]:
    """Those that were started in the folder, or name it."""
    found = []
    for one in psutil.process_iter():
        try:
            named = any(str(folder) in word for word in one.cmdline())
            if one.pid != os.getpid() and (named or Path(one.cwd()).is_relative_to(folder)):
                found.append(one)
        except psutil.Error:
            continue
    return found


def _run(course: DoubleCourse, submissions: Sequence[Submission], jobs: int = 1) -> dict[str, Outcome]:
    return {one.submission.key: one for one in pool.run(course, submissions, jobs, lambda _: None)}


def _class(*says: str) -> list[Submission]:
    return [handed_in(f"student{number}", one) for number, one in enumerate(says, 1)]


@pytest.fixture
def course(tmp_path: Path) -> DoubleCourse:
    (tmp_path / "done").mkdir()
    return DoubleCourse(tmp_path / "done")


def test_jobs_and_order_make_no_difference(course: DoubleCourse) -> None:
    submissions = _class("a", "sleep 0.05", "b", "c", "sleep 0.01")
    shuffled = random.Random(7).sample(submissions, len(submissions))  # noqa: S311
    expected = {one.key: Outcome(one, result_of(one)) for one in submissions}
    assert _run(course, submissions) == expected
    assert _run(course, shuffled, 2) == expected
    assert len(course.begun()) == 2 * len(submissions)


def test_one_job_is_one_process_and_two_jobs_are_two_with_a_number_each(course: DoubleCourse) -> None:
    _run(course, _class("a", "b", "c"))
    assert len({process for _, process, _ in course.begun()}) == 1
    both = DoubleCourse(course.place.parent)
    _run(both, _class("sleep 1", "sleep 1", "sleep 0.1"), 2)
    assert len({process for _, process, _ in both.begun()}) == 2
    assert len({slot for *_, slot in both.begun()}) == 2


def test_a_grader_is_left_in_order(course: DoubleCourse) -> None:
    _run(course, _class("a", "b"))
    (process,) = {process for _, process, _ in course.begun()}
    assert (course.place / f"left-{process}").exists()


def test_what_a_worker_does_is_told(course: DoubleCourse) -> None:
    lines: list[str] = []
    list(pool.run(course, _class("sleep 0"), 1, lines.append))
    assert lines == ["student1: doing sleep"]


def test_a_worker_that_was_killed_is_replaced_and_the_submission_tried_again(course: DoubleCourse) -> None:
    graded = _run(course, _class("a", "kill once", "b"))
    assert all(one.result is not None for one in graded.values())
    begun = course.begun()
    assert [key for key, *_ in begun].count("student2") == 2
    assert len({process for _, process, _ in begun}) == 2


def test_a_submission_that_kills_its_worker_twice_is_listed_and_costs_only_itself(course: DoubleCourse) -> None:
    graded = _run(course, _class("a", "kill", "b", "raise", "c"), 2)
    assert {key for key, one in graded.items() if one.result is None} == {"student2", "student4"}
    assert graded["student2"].problem.startswith("the process that graded it ended: killed by SIGKILL")
    assert "ValueError: a slip of the grader (in doubles.py:" in graded["student4"].problem
    tried = [key for key, *_ in course.begun()]
    assert {key: tried.count(key) for key in set(tried)} == {
        "student1": 1,
        "student2": 2,
        "student3": 1,
        "student4": 2,
        "student5": 1,
    }


def test_where_labkit_itself_fails_the_submission_is_listed(course: DoubleCourse) -> None:
    graded = _run(course, _class("a", "start-fails", "start-fails", "start-fails", "b"))
    assert [one.result is None for _, one in sorted(graded.items())] == [False, True, True, True, False]
    assert "no space left on device" in graded["student2"].problem


def test_where_nothing_goes_well_it_gives_up(course: DoubleCourse) -> None:
    with pytest.raises(GradingError, match=r"nothing can be graded here: .*no space left on device"):
        _run(course, _class(*["start-fails"] * 30))
    assert len(course.begun()) < 10


def test_three_bad_submissions_at_the_beginning_do_not_end_the_class(course: DoubleCourse) -> None:
    graded = _run(course, _class("raise", "raise", "kill", "kill", "a"))
    assert graded["student5"].result is not None


def test_another_course_on_this_machine_is_refused(course: DoubleCourse) -> None:
    other = DoubleCourse(course.place, fits=False)
    with pytest.raises(GradingError, match="this machine has another course"):
        _run(other, _class("a", "b", "c"))
    assert course.begun() == []


def test_a_submission_that_hangs_is_ended_at_the_limit(course: DoubleCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRADE_LIMIT_S", 1.0)
    monkeypatch.setattr(pool, "_LOOK_S", 0.1)
    monkeypatch.setattr(pool, "_END_LIMIT_S", 0.2)
    graded = _run(course, _class("a", "deaf", "b"))
    assert graded["student2"].problem == "it was not done after 1 s"
    assert graded["student1"].result is not None
    assert graded["student3"].result is not None


def test_what_a_dead_worker_left_running_is_ended(course: DoubleCourse, place: Path) -> None:
    crew = pool.Crew(course, 1)
    try:
        list(crew.run(_class("stray"), lambda _: None))
        assert len(_processes(place)) == 2
    finally:
        crew.end()
    assert _processes(place) == []


def test_a_crew_goes_on_with_its_worker(course: DoubleCourse) -> None:
    with pool.Crew(course, 1) as crew:
        for one in _class("a", "b"):
            assert [each.result for each in crew.run([one], lambda _: None)] == [result_of(one)]
    assert len({process for _, process, _ in course.begun()}) == 1


# -- when the whole is killed ----------------------------------------------------------------------------------------

DRIVER = """
import sys
from pathlib import Path
from labkit.grading import pool
from tests.grading.doubles import DoubleCourse, handed_in
place, *says = sys.argv[1:]
submissions = [handed_in(f"student{number}", one) for number, one in enumerate(says, 1)]
for one in pool.run(DoubleCourse(Path(place)), submissions, 2, lambda _: None):
    print(one.submission.key, flush=True)
"""


def _driver(course: DoubleCourse, *says: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(course.place), *says], stdout=subprocess.PIPE)


def _wait_for_nothing(place: Path) -> None:
    def look() -> Seen[None]:
        processes, files = _processes(place), list(place.iterdir())
        return Seen(not processes and not files, f"{processes}, {files}")

    wait_for("nothing to be left", look, limit_s=20.0)


def test_nothing_is_left_when_the_main_process_is_killed(course: DoubleCourse, place: Path) -> None:
    with _driver(course, "stray 600", "stray", "sleep 600") as driver:
        course.wait_for_begun(["student1", "student2", "student3"])
        assert len(_processes(place)) >= 3
        driver.kill()
    _wait_for_nothing(place)
    assert len(list(course.place.glob("left-*"))) == 2, "the graders were not left in order"


def test_the_next_grading_clears_up_behind_one_that_was_killed_with_its_workers(
    course: DoubleCourse, place: Path
) -> None:
    with _driver(course, "stray 600", "sleep 600") as driver:
        course.wait_for_begun(["student1", "student2"])
        for _, process, _ in course.begun():
            os.kill(int(process), signal.SIGSTOP)
        driver.kill()
        for _, process, _ in course.begun():
            os.kill(int(process), signal.SIGKILL)
    mine = place / f"labkit-grading-{os.getpid()}-mine"
    mine.mkdir()
    removed = pool.remove_leftovers()
    assert len(removed) == 2
    assert list(place.iterdir()) == [mine]
    assert _processes(place) == []
    mine.rmdir()
