"""The Dask adapter, with a real scheduler and real workers on this machine's loopback. The course is a double."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from labkit.grading import dask, pool
from labkit.grading.errors import GradingError
from labkit.grading.pool import Outcome
from labkit.grading.values import Submission
from labkit.waiting import Seen, wait_for
from tests.grading.doubles import DoubleCourse, handed_in, result_of
from tests.grading.looking import Class

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRON = {"PYTHONPATH": str(REPOSITORY), "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s"}


@contextmanager
def _started(*argv: str, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``python -m distributed.cli…``, ended with all that it started."""
    environ = {**os.environ, **ENVIRON, "TMPDIR": str(place)}
    with (place / "log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", *argv], env=environ, stdout=log, stderr=log, cwd=place)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:  # a worker ends its task first
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dask")


@contextmanager
def _scheduler(place: Path) -> Iterator[str]:
    file = place / "scheduler.json"
    argv = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with _started("distributed.cli.dask_scheduler", *argv, place=place):
        told = wait_for("the scheduler", lambda: Seen(file.exists(), "not up", file), limit_s=30.0)
        assert told is not None
        yield str(json.loads(told.read_text())["address"])
        file.unlink()


@contextmanager
def _worker(address: str, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = (address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    with _started("distributed.cli.dask_worker", *argv, "--local-directory", str(place / "space"), place=place) as one:
        yield one


def _class(*says: str) -> list[Submission]:
    return [handed_in(f"student{number}", one) for number, one in enumerate(says, 1)]


@pytest.fixture
def course(tmp_path: Path) -> DoubleCourse:
    return DoubleCourse(tmp_path)


def _below(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


@pytest.fixture(scope="module")
def scheduler(place: Path) -> Iterator[str]:
    with _scheduler(place) as address:
        yield address


def test_workers_grade_as_one_machine_does_also_when_one_of_them_is_killed(
    scheduler: str, place: Path, course: DoubleCourse
) -> None:
    submissions = _class(*["sleep 0.2"] * 6, "raise", "kill", *["sleep 0.2"] * 4)
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(scheduler, place)) for _ in range(2)]
        outcomes: dict[str, Outcome] = {}
        killed = False
        for one in dask.run(course, submissions, scheduler, lambda _: None):
            outcomes[one.submission.key] = one
            if not killed and len({process for _, process, _ in course.begun()}) > 1:
                workers[0].kill()
                killed = True
        assert killed
        assert _below(workers[1]) == [], "something of the class is left on the worker"
    here = DoubleCourse(course.place / "here")
    here.place.mkdir()
    local = {one.submission.key: one for one in pool.run(here, submissions, 2, lambda _: None)}
    assert {key: one.result for key, one in outcomes.items()} == {key: one.result for key, one in local.items()}
    assert {key for key, one in outcomes.items() if one.result is None} == {"student7", "student8"}
    assert "killed by SIGKILL" in outcomes["student8"].problem


def test_the_grade_book_is_that_of_one_machine(scheduler: str, place: Path, tmp_path: Path) -> None:
    students = Class(tmp_path, 8)
    students.grade("here")
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(scheduler, place)) for _ in range(2)]
        with students.begin("there", "--scheduler", scheduler) as process:
            students.wait_for_results("there", 2)
            workers[0].kill()
            said, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert said.startswith("8 submissions are graded: 8 anew, 0 as they were\n")
    assert students.book("there") == students.book("here")


def test_a_worker_keeps_its_grader_for_the_class(scheduler: str, place: Path, course: DoubleCourse) -> None:
    with _worker(scheduler, place) as worker:
        submissions = _class("a", "b", "c")
        outcomes = list(dask.run(course, submissions, scheduler, lambda _: None))
        assert sorted(one.submission.key for one in outcomes) == ["student1", "student2", "student3"]
        assert [one.result for one in outcomes] == [result_of(one.submission) for one in outcomes]
        assert len({process for _, process, _ in course.begun()}) == 1
        assert _below(worker) == []


def test_a_worker_with_another_course_says_so(scheduler: str, place: Path, course: DoubleCourse) -> None:
    with _worker(scheduler, place), pytest.raises(GradingError) as caught:
        list(dask.run(DoubleCourse(course.place, fits=False), _class("a"), scheduler, lambda _: None))
    assert caught.value.state == "1 of 1 Dask workers cannot grade this class"
    assert "this machine has another course" in caught.value.evidence
    assert course.begun() == []


def test_a_client_that_gives_up_leaves_nothing_on_the_worker(scheduler: str, place: Path, course: DoubleCourse) -> None:
    with _worker(scheduler, place) as worker:
        outcomes = dask.run(course, _class("a", "b", "c"), scheduler, lambda _: None)
        next(outcomes)
        outcomes.close()
        wait_for("the worker to be empty", lambda: Seen(not _below(worker), "busy"), limit_s=20.0)


def test_a_scheduler_without_workers_is_told(
    scheduler: str, course: DoubleCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "WORKERS_LIMIT_S", 0.5)
    with pytest.raises(GradingError, match="has no workers"):
        list(dask.run(course, _class("a"), scheduler, lambda _: None))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_no_scheduler_there_is_told(course: DoubleCourse, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "CONNECT_LIMIT_S", 1.0)
    with pytest.raises(GradingError, match=f"no Dask scheduler answers at {address}"):
        list(dask.run(course, _class("a"), address, lambda _: None))


def test_a_scheduler_that_goes_is_told(tmp_path: Path, course: DoubleCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "CONNECT_LIMIT_S", 2.0)
    with ExitStack() as stack:
        processes = stack.enter_context(ExitStack())
        address = processes.enter_context(_scheduler(tmp_path))
        stack.enter_context(_worker(address, tmp_path))
        outcomes = dask.run(course, _class("a", "sleep 60"), address, lambda _: None)
        next(outcomes)
        processes.close()
        with pytest.raises(GradingError, match=r"is gone\n.*what is graded is kept"):
            next(outcomes)


def test_a_missing_extra_is_told_with_the_line_that_installs_it(
    course: DoubleCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(GradingError, match="the package distributed is not installed") as caught:
        list(dask.run(course, _class("a"), "tcp://127.0.0.1:9", lambda _: None))
    assert caught.value.next_act == "pip install 'labkit[dask]'"
