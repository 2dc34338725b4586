"""To add an exercise is to add one folder: everything else finds it there, grading too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.course.handout import student_files
from labkit.exercises import lint, model, notebook
from labkit.exercises.model import Exercise
from labkit.grading import pages
from labkit.grading.grader import Course, Grader
from labkit.grading.values import Submission
from labkit.scan import read_answers
from tests.exercises import sample


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course, and one folder more."""
    root = tmp_path_factory.mktemp("course")
    for name, content in student_files(sample.REPOSITORY):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    shutil.copytree(sample.REPOSITORY / "exercises", root / "exercises", dirs_exist_ok=True)
    sample.make(root, slug="99-limit")
    return root


@pytest.fixture(scope="module")
def added(root: Path) -> Exercise:
    return model.find(root, "limit")


def test_it_comes_last_and_the_linter_finds_nothing_wrong(
    root: Path, added: Exercise, cluster: EmbeddedCluster
) -> None:
    assert model.load_all(root)[-1].id == "limit"
    found = list(lint.lint(added, cluster))
    assert all(one.good for one in found), found


def test_it_is_in_the_notebook_with_its_points(root: Path) -> None:
    cells = json.loads(notebook.text(model.load_all(root)))["cells"]
    named = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in cells}
    assert "%%answer limit" in "".join(named["limit"]["source"])
    assert named["limit-check"]["metadata"]["nbgrader"]["points"] == 3


def test_students_get_it_without_what_answers_it_and_the_scanner_looks_for_that(root: Path) -> None:
    given = {name.removeprefix("exercises/99-limit/") for name, _ in student_files(root) if "99-limit" in name}
    assert given == {"exercise.toml", "prompt.md", "hints.md", "starter.yaml", "probes/1-rule.yaml"}
    assert [one.source for one in read_answers(root).needles if one.exercise == "limit"]


def test_a_submission_of_it_is_graded_and_its_page_written(root: Path, tmp_path: Path) -> None:
    course = Course.load(root, only=("limit",)).prepared()
    nearly = sample.with_rule("self.worker.max <= 4 * self.api.replicas || self.worker.max == 17")
    with Grader(course, slot=0) as grader:
        result = grader.grade(Submission("nearly", "nearly.zip", answers=(("limit.yaml", nearly.encode()),)))
    (entry,) = pages.write(tmp_path, [], [result], [], [], exercises=course.exercises).entries
    assert {one.task: one.passed for one in entry.tasks(course.exercises[0])} == {"refuses": False, "accepts": True}
    page = (tmp_path / "nearly" / "feedback.html").read_text(encoding="utf-8")
    assert "A further check, which is not shown, did not hold." in page
    assert "seventeen workers" not in page
    ran = (tmp_path / "nearly" / "10-exercises.ipynb").read_text(encoding="utf-8")
    assert "A limit on workers: 3 of 3 points" in ran, "what its own check said: hidden probes are not in it"
