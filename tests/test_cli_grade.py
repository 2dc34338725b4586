"""``labkit grade`` as an instructor runs it: a real class of one small exercise, killed once on the way."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from labkit.cli import cli
from labkit.grading.errors import GradingError
from labkit.grading.keeping import RECORD
from labkit.waiting import Seen, wait_for
from tests.exercises import sample
from tests.grading.looking import left_in

LABKIT = Path(sys.executable).parent / "labkit"

ROSTER = """id,last_name,first_name,email,folder
1,Lovelace,Ada,ada@example.com,ada
2,Babbage,Charles,charles@example.com,bob
3,Hopper,Grace,grace@example.com,grace
"""
ADJUST = "student,exercise,points,comment\n2,limit,1.5,a good comment\n9,limit,1,nobody\n"


class Instructor:
    """A course with one exercise, what a class handed in, and a shell in the course's folder."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.course = place / "course"
        sample.make(self.course)
        self.tmp = place / "tmp"
        self.tmp.mkdir()
        self.submissions = place / "submissions"
        (self.submissions / "ada" / "answers").mkdir(parents=True)
        (self.submissions / "ada" / "answers" / "limit.yaml").write_text(sample.solution())
        self._zip("bob", sample.with_rule("self.worker.max <= 5 * self.api.replicas"))
        self._zip("eve", sample.starter())
        (self.submissions / "broken.zip").write_bytes(b"PK\x03\x04 not a zip")
        (place / "roster.csv").write_text(ROSTER)
        (place / "adjust.csv").write_text(ADJUST)

    def _zip(self, name: str, text: str) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("answers/limit.yaml", text)
        (self.submissions / f"{name}.zip").write_bytes(packed.getvalue())

    def begin(self, *more: str) -> subprocess.Popen[str]:
        environ = {**os.environ, "LABKIT_HOME": str(self.place / "home"), "TMPDIR": str(self.tmp)}
        argv = [str(LABKIT), "grade", str(self.submissions), "-o", "grades", *more]
        return subprocess.Popen(
            argv, cwd=self.course, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def grade(self, *more: str) -> tuple[int, str, str]:
        with self.begin(*more) as process:
            said, errors = process.communicate(timeout=180)
        return process.returncode, said, errors

    @property
    def grades(self) -> Path:
        return self.course / "grades"

    def kept(self) -> set[str]:
        return {path.parent.name for path in self.grades.glob("*/result.json")}

    def left(self) -> list[object]:
        """Processes and folders that a worker, a cluster or a kernel has left."""
        return left_in(self.tmp)


ALL = ("--roster", "../roster.csv", "--adjust", "../adjust.csv")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Instructor, int, str]]:
    """A class graded with one worker and killed when the first has its result, then graded with two to the end."""
    one = Instructor(tmp_path_factory.mktemp("instructor"))
    with one.begin(*ALL, "--jobs", "1") as process:
        wait_for("a result", lambda: Seen(bool(one.kept()), "none"), limit_s=150.0)
        assert any("controlplane" in str(each) for each in one.left()), "no cluster was running"
        process.kill()
    wait_for("everything to be gone", lambda: Seen(not one.left(), f"{one.left()}"), limit_s=20.0)
    kept = len(one.kept())
    code, said, _ = one.grade(*ALL)
    assert code == 1, "something is listed"
    assert said.startswith(f"4 submissions are graded: {4 - kept} anew, {kept} as they were\n")
    yield one, kept, said


def test_the_class_gets_its_marks(graded: tuple[Instructor, int, str]) -> None:
    rows = list(csv.DictReader(io.StringIO((graded[0].grades / "grades.csv").read_text())))
    assert [(one["student_id"], one["last_name"], one["score"], one["limit"]) for one in rows] == [
        ("2", "Babbage", "2.5", "2.5"),
        ("3", "Hopper", "0.0", "0.0"),
        ("1", "Lovelace", "3.0", "3.0"),
    ]


def test_everything_that_is_not_as_it_should_be_is_listed_and_nothing_else(
    graded: tuple[Instructor, int, str],
) -> None:
    listed = [line.strip().partition(": ")[::2] for line in graded[2].splitlines() if line.startswith("  ")]
    assert sorted(code for code, _ in listed) == ["adjustment", "missing", "refused", "unknown", "unknown"]
    told = dict(listed)
    assert told["refused"].startswith("broken: *.zip: not a whole zip")
    assert {text.partition(":")[0] for code, text in listed if code == "unknown"} == {"broken", "eve"}
    assert "Grace Hopper (3)" in told["missing"]
    assert told["adjustment"].startswith("9, limit")
    book = json.loads((graded[0].grades / "grades.json").read_text())
    assert [one["code"] for one in book["problems"]] == [code for code, _ in listed]


def test_each_student_has_a_page_and_the_notebook_as_it_ran(graded: tuple[Instructor, int, str]) -> None:
    for name in ("ada", "bob", "broken", "eve"):
        assert {path.name for path in (graded[0].grades / name).iterdir()} == {
            "result.json",
            "feedback.html",
            "10-exercises.ipynb",
        }
    assert (graded[0].grades / "class.html").is_file()
    assert (graded[0].grades / "junit.xml").is_file()


def test_nothing_is_left_of_what_was_graded(graded: tuple[Instructor, int, str]) -> None:
    assert graded[0].left() == []
    clusters = graded[0].place / "home" / "clusters"
    assert [path for path in clusters.iterdir() if path.is_dir()] == []


def test_the_same_command_again_grades_nothing_and_changes_nothing(graded: tuple[Instructor, int, str]) -> None:
    one, _, before = graded
    files = {path: path.read_bytes() for path in one.grades.rglob("*") if path.is_file()}
    code, said, _ = one.grade(*ALL)
    assert code == 1
    assert said.splitlines()[0] == "4 submissions are graded: nothing was to be done anew"
    assert said.splitlines()[1:] == before.splitlines()[1:]
    assert {path: path.read_bytes() for path in one.grades.rglob("*") if path.is_file()} == files


def test_a_class_without_anything_to_list_ends_with_exit_code_0(graded: tuple[Instructor, int, str]) -> None:
    one, _, _ = graded
    before = (one.submissions / "broken.zip").read_bytes()
    (one.submissions / "broken.zip").unlink()
    code, said, _ = one.grade()
    (one.submissions / "broken.zip").write_bytes(before)
    assert code == 0
    assert said.splitlines()[1].startswith("written: ")


# -- what is wrong with the command ----------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An instructor's course, where we are, and two empty folders."""
    sample.make(tmp_path / "course")
    (tmp_path / "submissions" / "nobody").mkdir(parents=True)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("../nothing", "-o", "g"), "does not exist"),
        (("../submissions",), "Missing option '-o'"),
        (("../submissions", "-o", "g", "--jobs", "0"), 'neither "auto" nor a number from 1'),
        (("../submissions", "-o", "g", "--jobs", "two"), 'neither "auto" nor a number from 1'),
        (("../submissions", "-o", "g", "--lang", "xx"), "'xx' is not one of"),
        (("../submissions", "-o", "g", "--exercise", "rules"), "no exercise 'rules'; there are limit"),
        (("../submissions", "-o", "g", "--scheduler", "foo"), "'foo' is no address"),
        (("../submissions", "-o", "g", "--roster", "../nothing.csv"), "does not exist"),
    ],
)
def test_a_slip_on_the_command_line_is_exit_code_2(place: Path, argv: tuple[str, ...], words: str) -> None:
    done = CliRunner().invoke(cli, ["grade", *argv])
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (place / "course" / "g").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("../submissions", "-o", "../submissions/grades"), "one lies in the other"),
        (("../submissions", "-o", "../submissions"), "are the same folder"),
        (("../submissions", "-o", "g"), "name the folder or zip in which each student has"),
        (("../earlier", "-o", "g"), "not what students handed in"),
        (("../submissions", "-o", "g", "--roster", "../thesis/chapter.txt"), "line 1: "),
    ],
)
def test_what_concerns_everybody_is_an_error_before_anything_is_written(
    place: Path, argv: tuple[str, ...], words: str
) -> None:
    (place / "earlier" / "ada").mkdir(parents=True)
    (place / "earlier" / RECORD).write_text("{}")
    done = CliRunner().invoke(cli, ["grade", *argv])
    assert isinstance(done.exception, GradingError)
    assert words in str(done.exception)
    assert not (place / "course" / "g").exists()
    assert not (place / "submissions" / "grades").exists()


def test_a_folder_of_somebody_else_is_not_written_into(place: Path) -> None:
    answers = place / "submissions" / "ada" / "answers"
    answers.mkdir(parents=True)
    (answers / "limit.yaml").write_text(sample.solution())
    done = CliRunner().invoke(cli, ["grade", "../submissions", "-o", "../thesis"])
    assert isinstance(done.exception, GradingError)
    assert "is not empty, and no folder of labkit's grades: it holds chapter.txt" in str(done.exception)
    assert [path.name for path in (place / "thesis").iterdir()] == ["chapter.txt"]


def test_it_needs_linux_and_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    done = CliRunner().invoke(cli, ["grade", "../submissions", "-o", "g"])
    monkeypatch.undo()
    assert isinstance(done.exception, GradingError)
    assert str(done.exception) == "grading needs Linux: this is darwin\n  → use a Linux machine, or WSL 2"
    assert not (place / "course" / "g").exists()
