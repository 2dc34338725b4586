"""A submission goes to the person whose folder it is, or to nobody; an unclear table is refused by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.grading.errors import GradingError
from labkit.grading.roster import (
    Adjustment,
    Matched,
    Person,
    Roster,
    expect_known,
    read_adjustments,
    read_roster,
)
from labkit.grading.values import Submission

ZOE = Person("p1", "Ünal", "Zoé", "zoe@example.com", "Zoé Ünal_12_file_")
BOB = Person("p2", "Cox", "Bob", "bob@example.com", "p2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def handed(key: str) -> Submission:
    return Submission(key, f"class/{key}")


ENGLISH = """\
folder,id,last_name,first_name,email
Zoé Ünal_12_file_,p1,Ünal,Zoé,zoe@example.com
,p2,Cox,Bob,bob@example.com
"""
EXCEL = """\
ID;Email;First Name;LAST_NAME;Submission;Group
p1;zoe@example.com;Zoé;Ünal;Zoé Ünal_12_file_;a
;;;;;
p2;bob@example.com;Bob;Cox;;b
""".replace("\n", "\r\n")


@pytest.mark.parametrize("table", [ENGLISH, EXCEL])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_a_roster_is_read_as_spreadsheets_write_it(path: Path, table: str, encoding: str) -> None:
    path.write_bytes(table.encode(encoding))
    assert read_roster(path) == Roster((ZOE, BOB))


def test_nbgraders_own_list_is_a_roster(path: Path) -> None:
    path.write_text('id,last_name,first_name,email,lms_user_id\nann,"Lee, Jr.",Ann,,7\n')
    assert read_roster(path).people == (Person("ann", "Lee, Jr.", "Ann", "", "ann"),)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("folder,email\na,b\n", "line 1: no column id: there are folder, email"),
        ("id,id\na,b\n", "line 1: column id is there twice"),
        ("id,folder,submission\na,b,c\n", "line 1: column folder is there twice"),
        ("id,email\na,b,c\n", "line 2: 3 values, but the header has 2 columns"),
        ("id,email\na\n", "line 2: 1 values"),
        ("id,email\na,b\n,c\n", "line 3: id is empty"),
        ("id\na\nb\na\n", "line 4: folder 'a' is there twice: line 2"),
        ("id,folder\na,Zo\u00e9\nb,Zoe\u0301\n", "line 3: folder 'Zo\u00e9' is there twice: line 2"),
        ("id,folder,email\na,1,x\na,2,y\n", "line 3: id 'a' is another person's: line 2"),
        ('id,email\n"a,b\n', "not CSV"),
        ("id\na\x1b[2J\n", "line 2: id: a character that cannot be shown"),
        ('id\n"a\nb"\n', "line 3: id: a character that cannot be shown"),
    ],
)
def test_a_roster_that_is_not_clear_is_refused_by_its_line(path: Path, table: str, said: str) -> None:
    path.write_bytes(table.encode())
    with pytest.raises(GradingError) as refused:
        read_roster(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)


@pytest.mark.parametrize("data", [None, b"id\n\x81\xfe\n"])
def test_a_file_that_is_no_table_is_refused(path: Path, data: bytes | None) -> None:
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(GradingError, match=r"table\.csv: (cannot be read: No such|neither UTF-8 nor)"):
        read_roster(path)


def test_everybody_and_every_submission_is_in_one_part() -> None:
    more = Person("p2", "Cox", "Bob", "bob@example.com", "Bob again")
    ann = Person("p3", "Lee", "Ann", "", "ann")
    bobs = (handed("Bob again"), handed("p2"))
    zoe, eve = handed("Zoé Ünal_12_file_"), handed("eve")
    matched = Roster((ZOE, BOB, more, ann)).match([eve, zoe, *reversed(bobs)])
    assert matched == Matched(((ZOE, zoe),), (eve,), ((BOB, bobs),), (ann,))
    assert [one.text for one in matched.problems] == [
        "p2: several submissions: class/Bob again, class/p2; none is taken"
    ]


def test_a_person_with_two_folders_is_found_by_the_one_that_is_there() -> None:
    more = Person("p2", "Cox", "Bob", "bob@example.com", "Bob again")
    submission = handed("Bob again")
    assert Roster((BOB, more)).match([submission]) == Matched(((more, submission),))


@pytest.mark.parametrize("key", ["P2", "p2 (1)", "p", "Cox"])
def test_a_name_that_is_nearly_right_is_not_guessed(key: str) -> None:
    matched = Roster((BOB,)).match([handed(key)])
    assert (matched.people, matched.missing) == ((), (BOB,))
    assert [one.key for one in matched.unknown] == [key]


def test_the_two_ways_to_write_an_accent_are_the_same() -> None:
    zoe = Person("p1", "", "", "", "Zoe\u0301")
    assert Roster((zoe,)).match([handed("Zo\u00e9")]).people


# -- adjustments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        "student,exercise,points,comment\np1,rule,-1,late\np2,rule,+0.5,\n",
        "Exercise;Points;Student;Comment\nrule;-1;p1;late\nrule;0,5;p2;\n",
    ],
)
def test_adjustments_are_read(path: Path, table: str) -> None:
    path.write_text(table)
    found = read_adjustments(path)
    assert found == (Adjustment("p1", "rule", -1.0, "late"), Adjustment("p2", "rule", 0.5, ""))
    assert [one.line for one in found] == [2, 3]
    expect_known(path, found, ["rule", "schema"])


def test_a_comment_is_not_needed(path: Path) -> None:
    path.write_text("student,exercise,points\np1,rule,2\n")
    assert read_adjustments(path) == (Adjustment("p1", "rule", 2.0, ""),)


@pytest.mark.parametrize("points", ["nan", "inf", "1e5", "1_0", '"1,5"', "two", "٣", "1.", ".5", "--1", "9" * 10])
def test_points_are_numbers_as_people_write_them(path: Path, points: str) -> None:
    path.write_text(f"student,exercise,points\np1,rule,{points}\n", encoding="utf-8")
    with pytest.raises(GradingError, match=r"table\.csv: line 2: points: .* is no number"):
        read_adjustments(path)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("student,points\np1,1\n", "line 1: no column exercise"),
        ("student,exercise,points\np1,rule,\n", "line 2: points is empty"),
        (
            "student,exercise,points\np1,rule,1\np2,rule,1\np1,rule,2\n",
            "line 4: 'p1' has points for 'rule' already: line 2",
        ),
    ],
)
def test_adjustments_that_are_not_clear_are_refused_by_their_line(path: Path, table: str, said: str) -> None:
    path.write_text(table)
    with pytest.raises(GradingError) as refused:
        read_adjustments(path)
    assert f"{path}: {said}" in str(refused.value)


@pytest.mark.parametrize(
    ("exercises", "said"),
    [
        (["schema"], "line 3: no exercise 'rules': there are schema"),
        ([], "line 2: no exercise 'schema': there is none"),
    ],
)
def test_points_for_no_exercise_are_refused(path: Path, exercises: list[str], said: str) -> None:
    path.write_text("student,exercise,points\np1,schema,1\np1,rules,1\n")
    with pytest.raises(GradingError) as refused:
        expect_known(path, read_adjustments(path), exercises)
    assert said in str(refused.value)
