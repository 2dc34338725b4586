"""One submission graded for real, on an exercise of the tests' own: its mark, and that nothing of it is left."""

from __future__ import annotations

import pickle
import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterStartError
from labkit.exercises.model import ExerciseError
from labkit.grading import judging, pool, running, strays
from labkit.grading.errors import GradingError
from labkit.grading.grader import Course, Grader
from labkit.grading.values import NOT_JUDGED, Result, Submission
from tests.exercises import sample
from tests.grading.doubles import SLEEPER


def handed_in(key: str, text: str) -> Submission:
    return Submission(key, f"{key}.zip", None, (("limit.yaml", text.encode()),))


RIGHT = handed_in("ada", sample.solution())
WRONG = handed_in("bob", sample.with_rule("self.worker.max <= 5 * self.api.replicas"))
EMPTY = handed_in("eve", sample.starter())


@pytest.fixture(scope="module")
def course(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("course")
    sample.make(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_HOME", str(tmp_path_factory.mktemp("home")))
        return Course.load(root).prepared(opener=lambda: nullcontext(cluster))


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[Grader]:
    with course.grader(1) as one:
        yield one


@pytest.fixture(scope="module")
def graded(grader: Grader, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Each of the three, and what was told on the way to the right one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_HOME", str(tmp_path_factory.mktemp("home")))
        return {one.key: grader.grade(one) for one in (RIGHT, WRONG, EMPTY)}


def test_a_right_a_wrong_and_an_empty_answer_get_their_marks(graded: dict[str, Result]) -> None:
    assert {key: (one.points, one.max_points) for key, one in graded.items()} == {
        "ada": (3, 3),
        "bob": (1, 3),
        "eve": (0, 3),
    }
    assert [one.sha256 for one in graded.values()] == [RIGHT.sha256, WRONG.sha256, EMPTY.sha256]


def test_a_right_answer_is_green_and_a_wrong_one_is_not(graded: dict[str, Result]) -> None:
    cells = {key: [cell.status for cell in one.exercises[0].cells] for key, one in graded.items()}
    assert cells == {"ada": ["passed"] * 3, "bob": ["passed", "passed", "failed"], "eve": []}
    notebook = graded["ada"].exercises[0].notebook
    assert notebook is not None
    assert "x-kubernetes-validations" in str(notebook["cells"])


def test_hidden_probes_are_judged(graded: dict[str, Result]) -> None:
    report = graded["bob"].exercises[0].report
    assert report is not None
    assert any(found.hidden for task in report.tasks for found in task.findings)


def test_of_an_empty_answer_nothing_is_run_or_judged(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    def starts(*_: object) -> None:
        raise AssertionError("a cluster was started")

    monkeypatch.setattr(EmbeddedCluster, "start", starts)
    (one,) = grader.grade(EMPTY).exercises
    assert one.empty
    assert (one.report, one.notebook, one.cells) == (None, None, ())


def test_the_walls_are_told(graded: dict[str, Result]) -> None:
    assert any("user id" in line or "bubblewrap" in line for line in graded["ada"].walls)
    assert graded["ada"].walls == graded["bob"].walls


def test_a_result_is_kept_as_json_and_comes_back(graded: dict[str, Result]) -> None:
    assert {key: Result.from_json(one.to_json()) for key, one in graded.items()} == graded


def test_workers_give_the_same_results_in_any_order(course: Course, graded: dict[str, Result]) -> None:
    submissions = [EMPTY, WRONG, RIGHT]
    random.Random(5).shuffle(submissions)  # noqa: S311
    outcomes = {one.submission.key: one for one in pool.run(course, submissions, 2, lambda _: None)}
    assert {key: one.problem for key, one in outcomes.items()} == dict.fromkeys(graded, "")
    assert {key: one.result for key, one in outcomes.items()} == graded


# -- what is left ----------------------------------------------------------------------------------------------------


def test_nothing_is_left_of_a_submission_also_when_labkit_itself_fails(
    grader: Grader, graded: dict[str, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_self: object, answers: Sequence[Any], cluster: EmbeddedCluster) -> None:
        assert cluster.gone() is None
        assert answers
        started.append(subprocess.Popen(SLEEPER, start_new_session=True))
        clusters.append(cluster.state_dir)
        raise OSError(28, "No space left on device")

    started: list[subprocess.Popen[bytes]] = []
    clusters: list[Path] = []
    before = strays.children()
    monkeypatch.setattr(running.Running, "run", breaks)
    with pytest.raises(OSError, match="No space left"):
        grader.grade(RIGHT)
    assert not [one for one in strays.children() if one not in before]
    assert started[0].wait(0) is not None
    assert not clusters[0].exists()
    monkeypatch.undo()
    assert graded["eve"] == grader.grade(EMPTY)


def test_an_answer_that_cannot_be_judged_has_no_mark_but_a_note(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise judging.CannotJudge("the control plane died of it twice", evidence="killed by SIGKILL")

    monkeypatch.setattr(judging.Judge, "judge", dies)
    monkeypatch.setattr(running.Running, "run", lambda *_: {})
    (one,) = grader.grade(RIGHT).exercises
    assert (one.points, one.report, one.empty) == (0, None, False)
    assert [(note.code, note.text) for note in one.notes] == [
        (NOT_JUDGED, "the control plane died of it twice: killed by SIGKILL")
    ]


def test_a_slip_of_ours_about_one_answer_costs_that_exercise_alone_its_mark(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slips(*_: object) -> None:
        raise KeyError("metadata")

    renewed: list[int] = []
    monkeypatch.setattr(judging.Judge, "judge", slips)
    monkeypatch.setattr(judging.Judge, "renew", lambda _: renewed.append(1), raising=False)
    monkeypatch.setattr(running.Running, "run", lambda *_: {})
    (one,) = grader.grade(RIGHT).exercises
    assert (one.points, one.report, one.empty) == (0, None, False)
    assert [(note.code, note.text) for note in one.notes] == [
        (NOT_JUDGED, "the answer to \"limit\" could not be judged: KeyError: 'metadata'")
    ]
    assert renewed, "who knows what the cluster is like"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ClusterStartError("it did not start")])
def test_what_the_machine_lacks_is_not_told_of_an_answer(
    error: Exception, grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(judging.Judge, "judge", fails)
    monkeypatch.setattr(running.Running, "run", lambda *_: {})
    with pytest.raises(type(error)):
        grader.grade(RIGHT)


# -- the course ------------------------------------------------------------------------------------------------------


def test_a_course_goes_to_another_process_and_is_the_same_there(course: Course) -> None:
    there = pickle.loads(pickle.dumps(course))  # noqa: S301
    assert there == course
    assert there.sources == course.sources
    there.expect_here()


def test_the_digest_is_of_what_is_graded_by_and_of_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = metadata.version
    folders = [sample.make(tmp_path / name) for name in ("one", "two")]
    first, second = (Course.load(tmp_path / name) for name in ("one", "two"))
    assert first.digest == second.digest, "it depends on the place"
    (folders[1] / "__pycache__").mkdir()
    (folders[1] / "__pycache__" / "judge.pyc").write_bytes(b"made on the way")
    assert Course.load(tmp_path / "two").digest == first.digest
    for name in ("hidden/1-more.yaml", "solution.yaml", "exercise.toml"):
        before = (folders[1] / name).read_text()
        (folders[1] / name).write_text(before + "\n")
        assert Course.load(tmp_path / "two").digest != first.digest, name
        (folders[1] / name).write_text(before)
    assert Course.load(tmp_path / "two", "fr").digest != first.digest
    for package in ("PyYAML", "kubernetes", "nbval", "ipykernel"):
        with monkeypatch.context() as patch:
            patch.setattr(metadata, "version", lambda name, package=package: "0" if name == package else version(name))
            assert Course.load(tmp_path / "two").digest != first.digest, package


def test_a_machine_with_another_course_or_none_is_refused(tmp_path: Path) -> None:
    folder = sample.make(tmp_path / "course")
    course = Course.load(tmp_path / "course")
    (folder / "hidden/1-more.yaml").unlink()
    with pytest.raises(GradingError, match="this machine would grade by something else"):
        course.expect_here()
    (tmp_path / "course").rename(tmp_path / "moved")
    with pytest.raises(GradingError, match=r"the course is not at .* on this machine"):
        course.expect_here()


def test_exercises_that_count_are_named_and_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    sample.make(tmp_path)
    assert [one.id for one in Course.load(tmp_path, only=["limit"]).exercises] == ["limit"]
    with pytest.raises(GradingError, match=r"no exercise 'limits'\n.*there are limit"):
        Course.load(tmp_path, only=["limits"])
    with pytest.raises(ExerciseError):
        Course.load(tmp_path / "nothing")
