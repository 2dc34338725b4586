"""The grade book: nbgrader's columns, all that is known as JSON, JUnit, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from labkit.exercises.model import Exercise
from labkit.grading import gradebook
from labkit.grading.errors import GradingError
from labkit.grading.gradebook import Gradebook, make
from labkit.grading.roster import Adjustment, Matched, Person
from labkit.grading.values import Note, Submission
from tests.grading.classes import ADA, ALAN, EVIL, HIDDEN, SEEN, STEERS, answered, empty, exercises, result

nbgraders_warning = pytest.mark.filterwarnings(
    r"ignore:Object of type <\w+> not in session"  # nbgrader's own, when it adds a submission
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Exercise, ...]:
    return exercises(tmp_path_factory.mktemp("course"))


@pytest.fixture
def book(asked: tuple[Exercise, ...]) -> Gradebook:
    """Ada has one exercise right and the other half; Alan handed in nothing; one submission is of nobody."""
    results = [result("ada", answered("limit"), answered("other", SEEN, HIDDEN)), result("nobody", answered("limit"))]
    return make([ALAN, ADA], results, [], [], asked)


def rows(book: Gradebook) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gradebook.grades_csv(book))))


@nbgraders_warning
def test_the_csv_is_what_nbgrader_exports_of_the_same_class_and_a_column_for_each_exercise(
    book: Gradebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = gradebook.grades_csv(book).splitlines()
    count = len(gradebook.COLUMNS)
    assert [",".join(line.split(",")[:count]) for line in ours] == exported(book, tmp_path, monkeypatch)
    assert [line.split(",")[count:] for line in ours] == [["limit", "other"], ["3.0", "1.0"], ["0.0", "0.0"]]


def exported(book: Gradebook, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of nbgrader's own exporter, of a database with this class."""
    from nbgrader import api
    from nbgrader.plugins.export import CsvExportPlugin

    monkeypatch.setattr(api, "get_alembic_version", lambda: "none")  # a program that takes seconds
    with api.Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as db:
        db.add_assignment("ch54")
        db.add_notebook("10-exercises", "ch54")
        for one in book.exercises:
            db.add_grade_cell(f"{one.id}-check", "10-exercises", "ch54", max_score=one.points, cell_type="code")
        for entry in book.entries:
            person = entry.person
            names = {"last_name": person.last_name, "first_name": person.first_name, "email": person.email}
            db.add_student(person.id, **names)
            if entry.result is None:
                continue
            db.add_submission("ch54", person.id)
            for one in book.exercises:
                grade = db.find_grade(f"{one.id}-check", "10-exercises", "ch54", person.id)
                given = sum(each.points for each in entry.adjusted(one))
                grade.auto_score, grade.extra_credit = entry.points(one) - given, given
        db.db.commit()
        CsvExportPlugin(to=str(folder / "grades.csv")).export(db)
    return (folder / "grades.csv").read_text().splitlines()


@nbgraders_warning
def test_points_by_hand_count_as_nbgraders_extra_credit_and_the_score_is_never_below_zero(
    asked: tuple[Exercise, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand = [Adjustment("s1", "limit", -4.5, "copied"), Adjustment("s1", "other", 0.5, "nearly")]
    book = make([ADA], [result("ada", answered("limit"), empty("other"))], by_hand, [], asked)
    (row,) = rows(book)
    assert (row["raw_score"], row["score"], row["limit"], row["other"]) == ("-1.0", "0.0", "-1.5", "0.5")
    assert exported(book, tmp_path, monkeypatch)[1] == gradebook.grades_csv(book).splitlines()[1].rsplit(",", 2)[0]
    told = json.loads(gradebook.grades_json(book))["students"][0]
    assert told["exercises"][0]["adjustments"] == [{"points": -4.5, "comment": "copied"}]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t=", "\r@", " =", "\uff1d", "\n-"])
def test_no_text_in_the_csv_begins_as_a_formula(asked: tuple[Exercise, ...], begin: str) -> None:
    bad = f"{begin}cmd|' /C calc'!A0"
    book = make([Person(bad, bad, bad, bad, "ada")], [result("ada", answered("limit"))], [], [], asked)
    (row,) = rows(book)
    for name in ("student_id", "last_name", "first_name", "email"):
        assert row[name].startswith("'"), row[name]
        assert row[name].endswith("calc'!A0")


def test_commas_quotes_and_line_ends_in_names_stay_in_their_column(asked: tuple[Exercise, ...]) -> None:
    book = make([Person("s1", 'O"Neil, Jr', "A\nB", "", "ada")], [], [], [], asked)
    (row,) = rows(book)
    assert (row["last_name"], row["first_name"]) == ('O"Neil, Jr', "A B")


def test_who_is_missing_and_what_is_of_nobody_is_listed_and_gets_nobodys_points(book: Gradebook) -> None:
    assert [row["student_id"] for row in rows(book)] == ["s1", "s2"]
    assert [(one.code, one.text) for one in book.problems] == [
        ("missing", "Alan Turing (s2): no submission that counts"),
        ("unknown", "nobody: nobody on the roster has this folder"),
    ]
    told = json.loads(gradebook.grades_json(book))
    assert [one["id"] for one in told["unknown"]] == ["nobody"]
    assert told["students"][1]["submission"] is None


def test_without_a_roster_everybody_is_called_as_their_submission(asked: tuple[Exercise, ...]) -> None:
    book = make([], [result("b", answered("limit")), result("a", empty("limit"))], [], [], asked)
    assert [(row["student_id"], row["score"]) for row in rows(book)] == [("a", "0.0"), ("b", "3.0")]
    assert book.problems == ()


def test_people_of_a_roster_have_the_key_of_the_submission_that_counts() -> None:
    handed = Submission("Ada L\u0061\u0301", "x.zip")
    twice = (Submission("alan", "a.zip"), Submission("alan 2", "b.zip"))
    grace = Person("s3", "Hopper", "Grace", "", "grace")
    matched = Matched(((ADA, handed),), (), ((ALAN, twice),), (grace,))
    assert [(one.id, one.folder) for one in gradebook.people_of(matched)] == [
        ("s1", handed.key),
        ("s2", ""),
        ("s3", ""),
    ]


def test_whoever_handed_in_nothing_never_gets_the_folder_of_a_submission(asked: tuple[Exercise, ...]) -> None:
    book = make([Person("ada", "L", "A", "", "")], [result("ada", answered("limit"))], [], [], asked)
    assert len({one.folder for one in book.everybody}) == 2
    assert book.strangers[0].folder == "ada"


def test_an_adjustment_of_nobody_or_of_an_exercise_that_was_not_graded_is_told(asked: tuple[Exercise, ...]) -> None:
    by_hand = [Adjustment("s9", "limit", 1, ""), Adjustment("s1", "gone", 1, "")]
    book = make([ADA], [result("ada", answered("limit"))], by_hand, [], asked)
    assert [one.text for one in book.problems] == [
        "s1, gone: no exercise 'gone' is graded here; there are limit, other",
        "s9, limit: no student 's9' is graded here; there are s1",
    ]
    assert book.entries[0].raw == 3


@pytest.mark.parametrize(
    ("people", "keys"), [([], ["a", "a"]), ([ADA, ADA], []), ([ADA, Person("s9", "", "", "", "ada")], [])]
)
def test_two_of_one_name_are_refused(asked: tuple[Exercise, ...], people: list[Person], keys: list[str]) -> None:
    with pytest.raises(GradingError, match="two"):
        make(people, [result(key, answered("limit")) for key in keys], [], [], asked)


def test_the_same_class_is_the_same_bytes_whatever_the_order_and_the_time(asked: tuple[Exercise, ...]) -> None:
    graded = (answered("limit"), answered("other", SEEN))
    first = [result("ada", *graded, seconds=1.0), result("alan", *graded, seconds=2.0)]
    again = [result("alan", *graded, seconds=9.0), result("ada", *graded, seconds=7.0)]
    problems = [Note("unreadable", "x.rar")]
    one, other = make([ADA, ALAN], first, [], problems, asked), make([ALAN, ADA], again, [], problems, asked)
    for made in (gradebook.grades_csv, gradebook.grades_json, gradebook.junit_xml):
        assert made(one) == made(other)
        assert "seconds" not in made(one)


def test_the_json_has_each_task_with_its_findings_and_the_notes(book: Gradebook) -> None:
    told = json.loads(gradebook.grades_json(book))
    tasks = told["students"][0]["exercises"][1]["tasks"]
    assert [(one["task"], one["passed"], one["points"]) for one in tasks] == [
        ("refuses", False, 0),
        ("accepts", True, 1),
    ]
    assert [one["hidden"] for one in tasks[0]["findings"]] == [False, True]
    assert [one["task"] for one in told["students"][1]["exercises"][0]["tasks"]] == ["refuses", "accepts"]
    assert told["max_score"] == 6


def test_junit_has_a_suite_for_each_student_and_says_why_a_task_failed(book: Gradebook) -> None:
    root = ET.fromstring(gradebook.junit_xml(book))  # noqa: S314  (our own)
    assert root.attrib == {"name": "ch54", "tests": "12", "failures": "7", "errors": "0", "skipped": "0"}
    assert [suite.attrib["name"] for suite in root] == ["s1", "s2", "nobody"]
    failure = root.find("testsuite[@name='s1']/testcase[@classname='other']/failure")
    assert failure is not None
    assert failure.attrib["message"] == (
        "five workers and one replica: expected refused; the server accepted it; at field: spec.worker; "
        "by rule: self.max <= 5; next: Add a rule where both numbers can be seen."
    )
    assert "(hidden) H-PROBE" in (failure.text or "")
    nothing = root.find("testsuite[@name='s2']/testcase/failure")
    assert nothing is not None
    assert nothing.attrib["message"] == "nothing was handed in"


def test_whatever_names_and_comments_hold_the_files_stay_what_they_are(asked: tuple[Exercise, ...]) -> None:
    bad = f"{EVIL}{STEERS}\ud800\x00\ufffe]]>"
    by_hand = [Adjustment(bad, "limit", 1, bad)]
    graded = answered("limit", SEEN, remarks=(bad,), notes=(Note("odd", bad),))
    book = make([Person(bad, bad, bad, bad, "ada")], [result("ada", graded)], by_hand, [Note("odd", bad)], asked)
    ET.fromstring(gradebook.junit_xml(book))  # noqa: S314  (our own)
    for made in (gradebook.grades_csv(book), gradebook.grades_json(book), gradebook.junit_xml(book)):
        assert not set(made.encode().decode()) & {"\x1b", "\x00", "\x07", "\u202e"}
    json.loads(gradebook.grades_json(book))
    assert len(rows(book)) == 1
