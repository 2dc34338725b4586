"""The class page: counts that agree with the results, what is to be looked at first, and nothing that runs."""

from __future__ import annotations

import base64
import re
import urllib.parse
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from labkit.exercises.model import Exercise
from labkit.grading import classpage, pages
from labkit.grading.gradebook import Gradebook, make
from labkit.grading.roster import Adjustment, Person
from labkit.grading.values import Note
from labkit.languages import speaking
from labkit.show import render_html, render_text
from tests.grading.classes import ADA, ALAN, EVIL, HIDDEN, SEEN, STEERS, answered, empty, exercises, result
from tests.show.test_render_html import read


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Exercise, ...]:
    return exercises(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def book(asked: tuple[Exercise, ...]) -> Gradebook:
    """Three submissions of four people: Ada all right, Alan half, one of nobody with no answer."""
    people = [ADA, ALAN, Person("s3", "Hopper", "Grace", "", "grace")]
    results = [
        result("ada", answered("limit"), answered("other"), seconds=4),
        result("alan", answered("limit", SEEN, HIDDEN), answered("other", SEEN), seconds=12),
        result("nobody", empty("limit"), answered("other", SEEN), seconds=5),
    ]
    return make(people, results, [Adjustment("s2", "limit", 1.5, "")], [Note("unreadable", "x.rar")], asked)


def text(book: Gradebook) -> str:
    return render_text.render(classpage.document(book))


@pytest.fixture(scope="module")
def said(book: Gradebook) -> list[str]:
    """The page's lines, with one blank between cells."""
    return [" ".join(line.split()) for line in text(book).splitlines()]


def test_what_is_to_be_looked_at_comes_first(said: list[str]) -> None:
    assert said[:6] == [
        "ch54: 3 students",
        "",
        "For you to look at",
        "unreadable: x.rar",
        "missing: Grace Hopper (s3): no submission that counts",
        "unknown: nobody: nobody on the roster has this folder",
    ]


def test_the_marks_are_counted_in_steps_with_their_middle(said: list[str]) -> None:
    assert "Half of those who handed something in have 3.5 points or more; the mean is 3.5 of 6." in said
    start = said.index("points, from – to below students")
    assert said[start + 1 : start + 8] == [
        "0 – 1 0",
        "1 – 2 1",
        "2 – 3 0",
        "3 – 4 1",
        "4 – 5 0",
        "5 – 6 0",
        "6 or more 1",
    ]


def test_in_french_no_number_has_a_point_between_its_digits(book: Gradebook) -> None:
    assert re.search(r"\d\.\d", text(book)), "there are such numbers"
    with speaking("fr"):
        said = text(book)
    assert not re.search(r"\d\.\d", said)
    assert re.search(r"\d,\d", said)


def test_each_exercise_and_task_says_how_many_answered_and_passed_it(said: list[str]) -> None:
    start = said.index("exercise answered passed mean points")
    assert said[start + 1 : start + 3] == [
        "A limit on workers 2 (67 %) 1 (33 %) 1.8 of 3",
        "A limit on workers 3 (100 %) 1 (33 %) 1.7 of 3",
    ]
    assert said.count("Too many workers are refused 1 (33 %)") == 2
    assert {"Others are not 2 (67 %)", "Others are not 3 (100 %)"} <= set(said)


def test_a_wrong_answer_counts_once_a_submission_and_a_hidden_one_says_so(
    book: Gradebook, asked: tuple[Exercise, ...], said: list[str]
) -> None:
    assert [(one.got, one.count, one.hidden) for one in classpage.frequent(book, asked[0])] == [
        ("the server accepted it", 1, False),
        ("H-GOT", 1, True),
    ]
    (other,) = classpage.frequent(book, asked[1])
    assert (other.tasks, other.probe, other.count) == (("refuses",), "five workers and one replica", 2)
    assert "H-PROBE (hidden) H-GOT Too many workers are refused 1 (33 %)" in said


def test_an_answer_that_could_not_be_applied_is_one_mistake_however_many_tasks_it_costs(
    asked: tuple[Exercise, ...],
) -> None:
    whole = answered("limit", SEEN)
    assert whole.report is not None
    tasks = tuple(replace(one, passed=False, points=0, findings=(SEEN,)) for one in whole.report.tasks)
    results = [result(key, replace(whole, report=replace(whole.report, tasks=tasks))) for key in ("a", "b")]
    (found,) = classpage.frequent(make([], results, [], [], asked), asked[0])
    assert (found.tasks, found.count) == (("refuses", "accepts"), 2)


def test_what_is_most_frequent_comes_first_and_does_not_depend_on_the_order(asked: tuple[Exercise, ...]) -> None:
    findings = [replace(SEEN, got=f"got {n}") for n in range(8)]
    results = [result(f"s{n}", answered("limit", *findings[: n + 1], findings[0])) for n in range(8)]
    found = classpage.frequent(make([], results, [], [], asked), asked[0])
    assert [(one.got, one.count) for one in found] == [(f"got {n}", 8 - n) for n in range(8)]
    assert found == classpage.frequent(make([], reversed(results), [], [], asked), asked[0])


def test_everybody_is_there_with_points_and_a_link_to_a_page_that_exists(
    said: list[str], asked: tuple[Exercise, ...], tmp_path: Path
) -> None:
    people = [Person("s1", "Lovelace", "Ada", "", "Ada & Charles: «1843»"), replace(ALAN, folder="")]
    graded = [result("Ada & Charles: «1843»", answered("limit"), empty("other")), result("who?", answered("limit"))]
    pages.write(tmp_path, people, graded, [], [], exercises=asked)
    page = (tmp_path / "class.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', page)
    assert [name for _, name in links] == ["Ada Lovelace", "Alan Turing", "who?"]
    for link, _ in links:
        assert re.fullmatch(r"\./[\w.%~/-]+", link), "nothing in it that an address could mean"
        assert (tmp_path / urllib.parse.unquote(link)).is_file()
    assert {"Ada Lovelace s1 ada 6 of 6", "Grace Hopper s3 nothing 0 of 6", "Alan Turing s2 alan 3.5 of 6"} <= set(said)
    assert "nobody nobody nobody (nobody on the roster) 1 of 6" in said


def test_time_and_walls_are_told(said: list[str]) -> None:
    assert "All together 21 s; half of the submissions took 5.0 s or less, the longest 12.0 s (Alan Turing)." in said
    start = said.index("seconds, from – to below submissions")
    assert said[start + 1 : start + 8] == [
        "0 – 2 0",
        "2 – 4 0",
        "4 – 6 2",
        "6 – 8 0",
        "8 – 10 0",
        "10 – 12 0",
        "12 or more 1",
    ]
    assert "no wall but this 3" in said


def test_every_figure_is_a_picture_without_scripts_that_says_in_words_what_it_shows(book: Gradebook) -> None:
    page = render_html.page(classpage.document(book))
    figures = re.findall(r'<img alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]*)">', page)
    assert len(figures) == 3
    for words, data in figures:
        assert words.startswith("Bars: ")
        svg = base64.b64decode(data)
        tags = {one.tag.rpartition("}")[2] for one in ET.fromstring(svg).iter()}  # noqa: S314  (our own)
        assert not tags & {"script", "image", "foreignObject", "a", "text"}
    assert page == render_html.page(classpage.document(book)), "the same class, the same bytes"


@pytest.mark.parametrize("people", [[], [ADA]])
def test_a_class_in_which_nobody_handed_anything_in_has_a_page(
    asked: tuple[Exercise, ...], people: list[Person]
) -> None:
    assert "Students" in text(make(people, [], [], [], asked))


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 0.3, 900.0])
def test_any_time_and_any_points_have_a_place(asked: tuple[Exercise, ...], seconds: float) -> None:
    by_hand = [Adjustment("a", "limit", 1000.5, ""), Adjustment("b", "limit", -1000, "")]
    results = [result(key, answered("limit"), seconds=seconds) for key in ("a", "b")]
    said = text(make([], results, by_hand, [], asked))
    assert "1003.5" in said


def test_whatever_anybody_wrote_is_text_on_the_page(asked: tuple[Exercise, ...]) -> None:
    bad = f"{EVIL}{STEERS}$x^2$</table>"
    graded = answered("limit", replace(SEEN, probe=bad, got=bad))
    one = replace(result("ada", graded), walls=(bad,))
    book = make([Person(bad, bad, bad, bad, "ada")], [one], [], [Note("odd", bad)], asked)
    page = render_html.page(classpage.document(book))
    reader = read(page)
    assert "script" not in reader.tags
    assert reader.tags.count("img") == 3
    assert not set(page) & {"\x1b", "\x07", "\u202e"}
    assert "<script>alert(1)</script>" in reader.whole()
