"""Every attack gets the mark that it must get, the innocent get theirs, and nothing of an attack is left.

One class of all of them is graded by the real command with two workers, under limits shorter than a class has.
"""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.exercises.model import load_all
from labkit.exercises.probes import Step
from labkit.grading.walls import Walls
from labkit.waiting import Seen, wait_for
from tests.grading.attacks import ALL, CHEAP, Attack
from tests.grading.attacks.handed import CHOSEN, EXERCISES
from tests.grading.attacks.school import MARK, SECRET, School

GRADED = [one for one in ALL if one.points is not None]
LISTED = [one for one in ALL if one.points is None]


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    """The class, graded."""
    walls = Walls.find(do_without=True)
    if walls.bubblewrap is None:
        trouble = f"without bubblewrap attacks read what their user may read: {'; '.join(walls.missing)}"
        if os.environ.get("CI"):
            pytest.fail(f"{trouble}; where CI is set, nothing is skipped")
        pytest.skip(trouble)
    place = tmp_path_factory.mktemp("attacks")
    place.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_HOME", str(place / "home"))
        one = School(place)
        one.hand_in(ALL)
        before = one.listing()
        assert one.grade("--jobs", "2") == 1, one.errors
        assert one.listing() == before, "something was written where grading has nothing to write"
        yield one


@pytest.mark.parametrize("attack", GRADED, ids=lambda one: one.name)
def test_it_gets_the_mark_that_it_must_get(school: School, attack: Attack) -> None:
    row = school.marks[_shown(attack)]
    result = school.result(_shown(attack))
    mine = result["exercises"][CHOSEN.index(attack.exercise)]
    assert float(row[attack.exercise]) == attack.points, _told(result)
    assert mine["points"] == attack.points
    among = [one for one in GRADED if one.submission == attack.submission]
    assert float(row["score"]) == sum(one.points or 0 for one in among), _told(result)
    text = json.dumps(mine, ensure_ascii=False)
    codes = {note["code"] for one in (result, mine) for note in one["notes"]}
    assert set(attack.notes) <= codes, _told(result)
    assert [words for words in attack.says if words not in text] == [], _told(result)


@pytest.mark.parametrize("attack", LISTED, ids=lambda one: one.name)
def test_what_is_no_submission_is_listed_and_has_no_mark(school: School, attack: Attack) -> None:
    assert attack.submission not in school.marks
    listed = [one["code"] for one in school.book["problems"] if one["text"].startswith(f"{attack.name}: ")]
    assert listed == list(attack.notes)


def test_the_class_is_graded_whole_and_nobody_else_is_in_the_grade_book(school: School) -> None:
    assert set(school.marks) == {_shown(one) for one in GRADED}
    assert school.said.startswith(f"{len(school.marks)} submissions are graded: {len(school.marks)} anew")
    told = {(one["code"], one["text"]) for one in school.book["problems"]}
    named = {(code, _shown(one)) for one in ALL for code in one.notes}
    assert told
    assert [(code, text) for code, text in told if (code, text.split(": ")[0]) not in named] == []


def test_nothing_is_left_of_any(school: School) -> None:
    wait_for("everything to be gone", lambda: Seen(not school.left(), f"{school.left()}"), limit_s=10.0)
    assert school.marked() == []
    clusters = school.place / "home" / "clusters"
    assert [path for path in clusters.iterdir() if path.is_dir()] == []


def test_no_page_gives_away_a_hidden_probe(school: School) -> None:
    instructors = _words(html.unescape((school.place / "grades" / "junit.xml").read_text(encoding="utf-8")))
    told: list[str] = []
    for name in CHOSEN:
        (mine,) = (one for one in load_all(school.place / "course") if one.id == name)
        seen = " ".join(_words(text) for probe in mine.probes for step in probe.steps for text in _texts(step))
        hidden = {_words(text) for probe in mine.hidden for step in probe.steps for text in _texts(step)}
        secrets = [text for text in hidden if text not in seen]
        assert secrets, name
        told += [one for one in secrets if one in instructors]
        for path in _students_files(school):
            text = _words(html.unescape(path.read_text(encoding="utf-8")))
            assert [one for one in secrets if one in text] == [], path
    assert told, "where an instructor looks there must be some"


def test_no_page_acts_when_it_is_looked_at(school: School) -> None:
    assert "\x1b" not in school.said + school.errors
    assert any(MARK in path.read_text(encoding="utf-8") for path in _students_files(school)), "nothing was tried"
    for path in (school.place / "grades").rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert "\x1b" not in text, path
            assert "\u202e" not in text, path
            assert SECRET not in text, path
            if path.suffix == ".html":
                assert "<script>alert" not in text, path
                assert "<img src=x" not in text, path
            if path.suffix == ".ipynb":
                outputs = [out for cell in json.loads(text)["cells"] for out in cell.get("outputs", ())]
                assert not [
                    out for out in outputs if {"text/html", "application/javascript"} & set(out.get("data", ()))
                ]


def test_the_same_marks_in_another_order_with_one_worker(school: School) -> None:
    """The grade book of a part of the class, from the results that there are, and from new ones: the same bytes."""
    school.hand_in([one for one in ALL if one.submission in CHEAP], "part")
    shutil.copytree(school.place / "grades", school.place / "kept")
    codes = {school.grade("--jobs", "1", folder="part", out="kept")}
    assert "nothing was to be done anew" in school.said
    codes.add(school.grade("--jobs", "1", folder="part", out="anew", order="--last-first"))
    assert f"{len(CHEAP)} anew" in school.said
    assert codes == {1}, "a link is listed, both times"
    for name in ("grades.csv", "grades.json", "junit.xml"):
        assert (school.place / "anew" / name).read_bytes() == (school.place / "kept" / name).read_bytes(), name


def test_attacks_answer_exercises_of_the_class() -> None:
    assert {one.exercise for one in ALL} == set(CHOSEN) <= set(EXERCISES)
    assert len({one.name for one in ALL}) == len(ALL)
    assert set(CHEAP) <= {one.submission for one in ALL}


def _shown(attack: Attack) -> str:
    return attack.submission.replace("\x1b", "\ufffd")


def _texts(step: Step) -> tuple[str, ...]:
    """What is said of a step, where it is long enough to be told from other words."""
    return tuple(text for text in (step.name, step.otherwise) if len(text) > 15)


def _words(text: str) -> str:
    return " ".join(text.split())


def _told(result: dict[str, object]) -> str:
    """Of the exercise that was answered what helps to see why."""
    exercises = result["exercises"]
    assert isinstance(exercises, list)
    told = [{**one, "notebook": None, "answer": None} for one in exercises if one["report"] or one["notes"]]
    outputs = [
        cell["outputs"]
        for one in exercises
        if one["notebook"]
        for cell in one["notebook"]["cells"]
        if "outputs" in cell
    ]
    return json.dumps([told, result["notes"], outputs], indent=1)[:6000]


def _students_files(school: School) -> list[Path]:
    return [*(school.place / "grades").glob("*/feedback.html"), *(school.place / "grades").glob("*/*.ipynb")]
