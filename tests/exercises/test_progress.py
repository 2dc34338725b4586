"""Answers are files, a record only remembers, hints come one by one, and one zip is handed in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from labkit.errors import CourseError
from labkit.exercises import model, submission
from labkit.exercises.hints import next_hint
from labkit.exercises.model import Exercise
from labkit.exercises.progress import Answers, folder
from labkit.exercises.report import Finding, Report, TaskResult

from . import sample

FINDING = Finding("refused", "the server accepted it", "spec", "a rule", "Add a rule.", "five workers", hidden=True)


def _report(*passed: bool) -> Report:
    first, second = passed
    return Report(
        "limit",
        "A limit on workers",
        (
            TaskResult("refuses", "Too many workers are refused", 2 * first, 2, first, () if first else (FINDING,)),
            TaskResult("accepts", "Others are not", 1 * second, 1, second, () if second else (FINDING,)),
        ),
        ("a note",),
    )


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    return model.load(sample.make(tmp_path))


@pytest.fixture
def answers(exercise: Exercise) -> Answers:
    return Answers(folder(exercise.root))


def test_a_report_survives_json() -> None:
    report = _report(False, True)
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report
    assert (report.points, report.max_points, report.passed) == (1, 3, False)
    assert report.to_json()["points"] == 1


def test_answers_lie_beside_the_notebooks_wherever_a_kernel_was_started(tmp_path: Path) -> None:
    assert folder(tmp_path) == tmp_path / "answers"
    (tmp_path / "notebooks").mkdir()
    assert folder(tmp_path) == tmp_path / "notebooks" / "answers"


def test_an_answer_is_kept_as_text(exercise: Exercise, answers: Answers) -> None:
    assert answers.read(exercise) is None
    path = answers.write(exercise, "taille: 1Gi é\n")
    assert path == answers.place / "limit.yaml"
    assert answers.read(exercise) == "taille: 1Gi é\n"
    assert list(answers.place.iterdir()) == [path]


def test_an_answer_that_is_no_text_is_told(exercise: Exercise, answers: Answers) -> None:
    answers.write(exercise, "x")
    answers.path(exercise).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CourseError, match="cannot be read"):
        answers.read(exercise)


def test_standing_follows_the_text_that_was_checked(exercise: Exercise, answers: Answers) -> None:
    def state() -> str:
        return answers.progress([exercise]).exercises[0].state

    assert state() == "not begun"
    answers.write(exercise, exercise.starter + "\n\n")
    assert state() == "not begun"
    answers.write(exercise, "a")
    assert state() == "not checked"
    answers.keep(exercise, "a", _report(False, True))
    assert state() == "not yet"
    answers.write(exercise, "b")
    assert state() == "changed since it was checked"
    answers.keep(exercise, "b\n", _report(True, True))
    assert state() == "passed"
    assert answers.progress([exercise]).exercises[0].points == 3
    answers.reset(exercise)
    assert state() == "not begun"
    assert answers.read(exercise) == exercise.starter


@pytest.mark.parametrize("content", ["{", "[]", '{"exercises": 1}', '{"exercises": {"limit": 1}}', "\x00"])
def test_a_record_that_is_none_is_put_aside_and_nothing_is_lost_of_the_answers(
    content: str, exercise: Exercise, answers: Answers
) -> None:
    answers.write(exercise, "a")
    (answers.place / "progress.json").write_text(content)
    assert answers.progress([exercise]).exercises[0].state == "not checked"
    answers.keep(exercise, "a", _report(True, True))
    assert answers.last_report(exercise, "a") == _report(True, True)
    assert answers.read(exercise) == "a\n"


def test_hints_begin_with_the_actual_state_and_go_on_one_by_one(exercise: Exercise, answers: Answers) -> None:
    asked: list[str] = []

    def check(text: str) -> Report:
        asked.append(text)
        return _report(False, False)

    first = next_hint(exercise, answers, check)
    assert (first.step, first.of, first.task) == (0, 2, "refuses")
    assert "five workers: expected refused; the server accepted it, at spec. Add a rule." in first.text
    assert asked == [exercise.starter]
    following = [next_hint(exercise, answers, check) for _ in range(3)]
    assert [(one.step, one.text) for one in following] == [
        (1, exercise.hints["refuses"][0]),
        (2, exercise.hints["refuses"][1]),
        (2, exercise.hints["refuses"][1]),
    ]
    assert len(asked) == 1


def test_a_changed_answer_is_looked_at_again_for_a_hint(exercise: Exercise, answers: Answers) -> None:
    answers.write(exercise, "a")
    answers.keep(exercise, "a", _report(False, False))
    answers.write(exercise, "b")
    hint = next_hint(exercise, answers, lambda _: _report(True, False))
    assert (hint.task, hint.step) == ("accepts", 0)


def test_there_is_no_hint_where_all_is_passed(exercise: Exercise, answers: Answers) -> None:
    hint = next_hint(exercise, answers, lambda _: _report(True, True))
    assert (hint.task, hint.of) == ("", 0)
    assert "passed" in hint.text


def test_one_zip_holds_the_answers_and_says_what_is_empty(exercise: Exercise, answers: Answers, tmp_path: Path) -> None:
    toml = sample.TOML.replace('"limit"', '"other"')
    other = model.load(sample.make(tmp_path, slug="02-other", files={"exercise.toml": toml}))
    answers.write(exercise, "a")
    answers.write(other, other.starter)
    answers.keep(exercise, "a", _report(True, True))
    made = submission.make(tmp_path, tmp_path / "mine.zip")
    assert made.empty == ("other",)
    assert "empty: other" in made.text
    with zipfile.ZipFile(made.path) as archive:
        assert archive.namelist() == ["answers/limit.yaml", "answers/other.yaml"]
        assert archive.read("answers/limit.yaml") == b"a\n"
    again = submission.make(tmp_path, tmp_path / "again.zip")
    assert again.path.read_bytes() == made.path.read_bytes()


def test_nothing_is_handed_in_without_an_answer(tmp_path: Path) -> None:
    sample.make(tmp_path)
    with pytest.raises(CourseError, match="no answer to hand in"):
        submission.make(tmp_path, tmp_path / "mine.zip")
    assert not (tmp_path / "mine.zip").exists()


def test_a_zip_that_cannot_be_written_leaves_nothing(exercise: Exercise, answers: Answers, tmp_path: Path) -> None:
    answers.write(exercise, "a")
    with pytest.raises(CourseError, match="cannot be written"):
        submission.make(tmp_path, tmp_path / "nowhere" / "mine.zip")
    assert not (tmp_path / "nowhere").exists()
