"""The whole way of a student, in a real JupyterLab, as the documents tell it: from the edition to the feedback page.

It is walked once. Each station is one that a student comes to, and what is looked at is what stands on the screen.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from labkit.exercises import model
from labkit.exercises.edits import edited
from tests import browser
from tests.cluster.helpers import eventually
from tests.jupyterlab import PROGRAMS, Notebook, serving, surroundings
from tests.machine.conftest import gone

ROOT = Path(__file__).resolve().parents[2]
LABKIT = str(PROGRAMS / "labkit")
BOOK = "10-exercises.ipynb"
SCHEMA = model.find(ROOT, "schema")
RULE = model.find(ROOT, "rule")
NOT_FOR_STUDENTS = re.compile(r"solution|judge|^(right|wrong|hidden)$")


def _wrong(exercise: model.Exercise, name: str) -> str:
    """A wrong answer without the comment that says what is wrong with it."""
    edits = (exercise.folder / "wrong" / f"{name}.edits.yaml").read_text(encoding="utf-8")
    assert exercise.solution is not None
    lines = edited(exercise.solution, edits, name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


def _run(*argv: str, cwd: Path, environ: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(argv, cwd=cwd, env=environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Student:
    """Where a student works, and the environment of the student's terminal."""

    course: Path
    environ: dict[str, str]

    @property
    def notebook(self) -> Path:
        return self.course / "notebooks" / BOOK


@pytest.fixture
def student(tmp_path: Path) -> Student:
    """Somebody who has unzipped the course that an instructor has made and packed as docs/instructors.md says."""
    office, desk = tmp_path / "office", tmp_path / "desk"
    edition = office / "dist" / "student" / "en"
    _run(LABKIT, "release", "--lang", "en", "-o", str(edition), cwd=ROOT)
    _run(sys.executable, "-m", "zipfile", "-c", "labkit-course.zip", "dist/student/en/", cwd=office)
    with zipfile.ZipFile(office / "labkit-course.zip") as packed:
        packed.extractall(desk)
    (course,) = desk.iterdir()
    return Student(course, surroundings(tmp_path / "person"))


@pytest.fixture
def page() -> Iterator[Page]:
    with browser.opened() as one:
        yield one


def test_a_student_goes_from_the_zip_of_the_course_to_the_feedback_page(
    student: Student, page: Page, tmp_path: Path
) -> None:
    _no_answer_on_the_disk(student)
    before = _processes(student)
    with serving(student.course / "notebooks", student.environ, within=student.course) as server:
        lab = Notebook(page, server, student.notebook, BOOK)
        _answer_both(lab)
        lab.save()
        pids = _processes(student) - before
        page.goto("about:blank")
    assert len(pids) >= 3, "Jupyter, a kernel and a control plane"
    assert gone(sorted(pids))
    clusters = Path(student.environ["LABKIT_HOME"]) / "clusters"
    eventually("the cluster's directory to be removed", lambda: not list(clusters.glob("*-*")))
    handed_in = _submit(student)
    _feedback(page, handed_in, tmp_path)


def _no_answer_on_the_disk(student: Student) -> None:
    names = [path.relative_to(student.course) for path in student.course.rglob("*")]
    assert len(names) > 80
    assert not [name for name in names if any(map(NOT_FOR_STUDENTS.search, name.parts))]
    assert _run(LABKIT, "scan", str(student.course), cwd=ROOT)


def _answer_both(lab: Notebook) -> None:
    """One exercise wrongly, then rightly, and one that is left half right."""
    _seen(lab, lab.run("exercises-begin"), "1-begun", "at the beginning of")
    assert SCHEMA.solution is not None
    assert RULE.solution is not None
    lab.go_to(SCHEMA.title)
    lab.put("schema", f"%%answer schema\n{_wrong(SCHEMA, 'forty-excluded')}")
    _seen(lab, lab.run("schema"), "2-answered", 'kept in answers/schema.yaml; next: lab.check("schema")')
    wrong = lab.run("schema-check")
    _seen(lab, wrong, "3-not-yet", f"{SCHEMA.title}: 7 of 10 points")
    finding = wrong.locator("details").filter(has_text="only values that make sense")
    expect(finding).to_contain_text("expected: accepted")
    expect(finding).to_contain_text("spec.casiers.petits")
    _seen(lab, lab.run("schema-hint"), "4-hint", "only values that make sense, where you are")
    lab.type_in_place_of("schema", "exclusiveMaximum: true", "exclusiveMaximum: false")
    _seen(lab, lab.run("schema"), "5-mended", "kept in answers/schema.yaml")
    _seen(lab, lab.run("schema-check"), "6-passed", f"{SCHEMA.title}: 10 of 10 points")

    lab.go_to(RULE.title)
    lab.put("rule", f"%%answer rule\n{_wrong(RULE, 'no-message')}")
    _seen(lab, lab.run("rule"), "7-half", "kept in answers/rule.yaml")
    _seen(lab, lab.run("rule-check"), "8-half", f"{RULE.title}: 7 of 8 points")


def _seen(lab: Notebook, output: Locator, station: str, text: str) -> None:
    browser.shoot(lab.page, station)
    expect(output).to_contain_text(text)


def _processes(student: Student) -> set[int]:
    """All processes with the student's state folder, which is no other's, in their environment."""
    mark = ("LABKIT_HOME", student.environ["LABKIT_HOME"])
    found = set()
    for one in psutil.process_iter(["environ"]):
        if mark in (one.info["environ"] or {}).items():
            found.add(one.pid)
    return found


def _submit(student: Student) -> Path:
    said = _run("labkit", "submit", cwd=student.course, environ=student.environ)
    zipped = student.course / "submission.zip"
    assert re.findall(r"empty: (\w+)", said) == [
        one.id for one in model.load_all(ROOT) if one.id not in ("schema", "rule")
    ]
    with zipfile.ZipFile(zipped) as packed:
        assert packed.namelist() == [BOOK, "answers/rule.yaml", "answers/schema.yaml"]
        text = packed.read("answers/schema.yaml").decode()
    assert "exclusiveMaximum: false" in text
    return zipped


def _feedback(page: Page, handed_in: Path, tmp_path: Path) -> None:
    """The instructor grades what was handed in; the student opens the page that comes of it."""
    class_folder = tmp_path / "office" / "submissions"
    class_folder.mkdir()
    (class_folder / "ada.zip").write_bytes(handed_in.read_bytes())
    grades = tmp_path / "office" / "grades"
    only = ("--exercise", "rule", "--exercise", "schema")
    _run(LABKIT, "grade", str(class_folder), "-o", str(grades), "--jobs", "1", *only, cwd=ROOT)
    (feedback,) = grades.glob("*/feedback.html")
    page.goto(feedback.as_uri())
    browser.shoot(page, "9-feedback")
    expect(page.get_by_role("heading", level=1)).to_contain_text("17 of 18 points")
    for title, points in ((RULE.title, "7 of 8"), (SCHEMA.title, "10 of 10")):
        expect(page.get_by_role("row", name=title)).to_contain_text(points)
        expect(page.get_by_role("heading", name=f"{title}: {points} points")).to_be_visible()
