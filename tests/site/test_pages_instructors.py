"""The pages for instructors: they have the answers that students' pages have not, and never lie where those do."""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from labkit.cli import cli
from labkit.course.catalogues import catalogue
from labkit.exercises.model import load_all, variants
from labkit.exercises.texts import catalogue_name
from labkit.languages import LANGUAGES
from labkit.site.building import EDITION, SiteError
from tests import browser

from .conftest import ROOT, Visits, make_pages
from .html import Html, dead_links

EXERCISES = "10-exercises.html"
SAMPLE = ("index.html", "04-cel.html", EXERCISES, "instructors.html")
WIDTHS = (1400, 800, 390)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_solutions_reasons_and_wrong_answers_are_on_instructors_pages_and_on_no_others(
    instructors: Path, course: Path, chromium: Browser, lang: str
) -> None:
    visits = Visits(instructors, chromium)
    page = visits.open(f"{lang}/{EXERCISES}")
    boxes = page.locator(".labkit-exercise")
    exercises = load_all(ROOT)
    assert boxes.count() == len(exercises)
    for number, one in enumerate(exercises):
        folds = boxes.nth(number).locator("details.labkit-instructor")
        wrong = [name for name, _ in variants(one, "wrong")]
        explained = (one.folder / "solution.md").is_file()
        assert folds.count() == 1 + explained + bool(wrong), one.id
        for fold in folds.all():
            expect(fold.locator(":scope > :not(summary)").first).to_be_hidden()
            fold.locator("summary").first.click()
        said = " ".join(folds.all_inner_texts())
        assert one.solution is not None
        assert one.solution.strip() in folds.first.inner_text()
        assert all(name in said for name in wrong), one.id
        if explained:
            why = catalogue(ROOT, lang, catalogue_name(one)).text(
                "solution", (one.folder / "solution.md").read_text("utf-8")
            )
            first = next(
                line for line in why.splitlines() if line[:1].isalpha() and "`" not in line and "*" not in line
            )
            assert first in folds.nth(1).inner_text().replace("\n", " "), one.id
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.shoot(page, f"instructors-{lang}-{width}")
    visits.close()
    visits.check()
    students = (course / lang / EXERCISES).read_text("utf-8")
    assert "labkit-instructor" not in students
    assert [one.id for one in exercises if escape(one.solution or "", quote=False).strip() in students] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_their_links_lead_somewhere_and_a_sample_loads_without_complaint(
    instructors: Path, chromium: Browser, lang: str
) -> None:
    dead, followed = dead_links(instructors, map(Html, sorted((instructors / lang).rglob("*.html"))))
    assert dead == []
    assert followed > 500
    visits = Visits(instructors, chromium)
    page = visits.open("")
    for name in SAMPLE:
        page.goto(f"{instructors.as_uri()}/{lang}/{name}")
        expect(page.locator("h1:visible")).to_have_count(1)
    visits.close()
    visits.check()


def test_both_editions_have_the_same_pages_and_anchors(instructors: Path, course: Path) -> None:
    for path in (course / "en").glob("*.html"):
        theirs = Html(instructors / "en" / path.name)
        assert set(Html(path).anchors) <= set(theirs.anchors), path.name


def test_a_search_for_answers_finds_them_in_instructors_pages(instructors: Path) -> None:
    told = CliRunner().invoke(cli, ["scan", str(instructors / "en" / EXERCISES)])
    assert told.exit_code == 1
    assert [one.id for one in load_all(ROOT) if one.secrets and one.id not in told.output] == []


@pytest.mark.parametrize("instructor", [False, True])
def test_no_edition_is_put_where_the_other_is(
    instructors: Path, course: Path, tmp_path: Path, instructor: bool
) -> None:
    there = tmp_path / "en"
    shutil.copytree((course if instructor else instructors) / "en", there, ignore=shutil.ignore_patterns("module"))
    before = {path: path.stat().st_mtime_ns for path in there.rglob("*")}
    with pytest.raises(SiteError, match=f"the {'students' if instructor else 'instructors'}' pages in 'en'"):
        make_pages(ROOT, there, "en", instructor=instructor)
    assert {path: path.stat().st_mtime_ns for path in there.rglob("*")} == before


def test_a_folder_with_anything_else_is_left_alone(tmp_path: Path) -> None:
    for content in ("", "[]", json.dumps({"a": 1}), json.dumps({"edition": "students", "language": "fr"})):
        (tmp_path / EDITION).write_text(content)
        with pytest.raises(SiteError, match="is there, and is"):
            make_pages(ROOT, tmp_path, "en")
        assert [path.name for path in tmp_path.iterdir()] == [EDITION]
