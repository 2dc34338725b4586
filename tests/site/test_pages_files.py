"""The course pages as files: what they link to, load, weigh and give away, in both languages."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zipfile
import zlib
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from labkit.exercises.model import load_all
from labkit.languages import LANGUAGES
from labkit.scan import read_answers, scan

from .conftest import ROOT
from .html import Html, dead_links

WEIGHT = 1_500_000
"""Bytes that a reader's browser loads for one page, all that it loads with it included."""

OF_THE_THEME = {
    "<meta name='viewport'> twice": "Sphinx's basic theme and pydata-sphinx-theme write one each, of the same content",
}
"""What is wrong in every page and not ours, and why it is left."""


def pages(course: Path, lang: str) -> list[Html]:
    found = [Html(path) for path in sorted((course / lang).rglob("*.html"))]
    assert len(found) > 15
    return found


def test_both_languages_have_the_same_pages_with_the_same_anchors_in_the_same_order(course: Path) -> None:
    english, french = (
        {str(page.path.relative_to(course / lang)): page.anchors for page in pages(course, lang)} for lang in LANGUAGES
    )
    assert english == french
    assert sum(map(len, english.values())) > 200


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_link_leads_to_a_page_that_is_there_and_to_a_place_on_it(course: Path, lang: str) -> None:
    dead, followed = dead_links(course, pages(course, lang))
    assert dead == []
    assert followed > 500


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_link_to_the_playground_carries_texts_that_can_be_read(course: Path, lang: str) -> None:
    found = [one for page in pages(course, lang) for one in page.links if "#try=" in one]
    for one in set(found):
        packed = one.partition("#try=")[2]
        told = json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS))
        assert set(told) <= {"definition", "object", "old"}
        assert yaml.safe_load(told["definition"])["kind"] == "CustomResourceDefinition"
    assert len(found) > 50


@pytest.mark.parametrize("lang", LANGUAGES)
def test_links_out_lead_to_documentation_alone_and_nothing_is_loaded_from_outside(course: Path, lang: str) -> None:
    hosts, loaded = set(), []
    for page in pages(course, lang):
        hosts |= {urlsplit(one).scheme + "://" + urlsplit(one).netloc for one in page.links if urlsplit(one).scheme}
        for tag in page.tags:
            for address in tag.loads:
                parts = urlsplit(address)
                inside = (page.path.parent / unquote(parts.path)).resolve()
                if parts.scheme or parts.netloc or not (inside.is_relative_to(course / lang) and inside.exists()):
                    loaded.append(f"{page.path.name}:{tag.line}: {address}")
    assert loaded == []
    assert "https://kubernetes.io" in hosts
    assert all(host.startswith("https://") for host in hosts), hosts
    sheets = [sheet.read_text("utf-8") for sheet in (course / lang).rglob("*.css")]
    assert [one for one in sheets if re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", one)] == []
    assert len(sheets) > 5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_pages_follow_the_grammar_of_html_but_for_what_the_theme_does(course: Path, lang: str) -> None:
    found = {page.path.name: set(page.faults()) for page in pages(course, lang)}
    assert {name: faults - set(OF_THE_THEME) for name, faults in found.items() if faults - set(OF_THE_THEME)} == {}
    assert set.union(*found.values()) == set(OF_THE_THEME), "what the theme does not any more is no exception any more"


def test_a_fault_in_a_page_is_found(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    for wrong in ("<p><div>x</div></p>", "<b>x", '<p id="a" id="b">x</p>', '<p id="a">x</p><p id="a">x</p>',
                  "<span><table></table></span>", "<a href=x&copy>x</a>"):  # fmt: skip
        page.write_text(f'<!DOCTYPE html><html lang="en"><head><title>x</title></head><body>{wrong}</body></html>')
        assert list(Html(page).faults()), wrong


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_page_has_a_script_a_style_or_a_handler_of_its_own_in_what_we_write(course: Path, lang: str) -> None:
    for page in pages(course, lang):
        own = [tag for tag in page.tags if tag.in_article]
        assert [tag for tag in own if tag.name in ("script", "style", "iframe", "object", "embed", "base")] == []
        assert [tag for tag in own if any(name.startswith("on") for name in tag.given)] == []
        assert [one for one in page.links if one.lower().startswith(("javascript:", "data:"))] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_and_all_that_it_loads_is_no_heavier_than_a_picture(course: Path, lang: str) -> None:
    for page in pages(course, lang):
        if page.path.parent.name == "playground":
            continue
        loaded = {(page.path.parent / urlsplit(one).path).resolve() for tag in page.tags for one in tag.loads}
        assert len(loaded) > 5
        assert page.path.stat().st_size + sum(one.stat().st_size for one in loaded) <= WEIGHT, page.path.name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_picture_that_is_handed_out_is_on_a_page(course: Path, lang: str) -> None:
    shown = {(page.path.parent / urlsplit(one).path).resolve() for page in pages(course, lang)
             for tag in page.tags if tag.name == "img" for one in tag.loads}  # fmt: skip
    assert {path.resolve() for path in (course / lang / "_images").iterdir()} <= shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_sphinx_works_with_is_not_handed_out(course: Path, lang: str) -> None:
    files = [path.relative_to(course / lang) for path in (course / lang).rglob("*") if path.is_file()]
    assert not [
        one
        for one in files
        if one.suffix in (".doctree", ".pickle", ".map", ".ipynb", ".md", ".txt") and "LICENSE" not in one.name
    ]
    assert not [
        one for one in files if set(one.parts) & {"_sources", ".doctrees", "doctrees", "solution", "hidden", "wrong"}
    ]
    assert not [one for one in files if any(part.startswith(".") for part in one.parts)]
    with zipfile.ZipFile(course / lang / "crd.zip") as packed:
        inside = {name: packed.read(name) for name in packed.namelist()}
    assert inside == {
        f"crd/{path.relative_to(ROOT / 'crd').as_posix()}": path.read_bytes() for path in (ROOT / "crd").rglob("*.yaml")
    }
    for name, content in inside.items():
        assert (course / lang / name).read_bytes() == content


def test_no_answer_is_in_the_students_pages_and_one_that_is_put_there_is_found(course: Path, tmp_path: Path) -> None:
    answers = read_answers(ROOT)
    module = {path.name: path.read_bytes() for path in (course / "en/playground/module").iterdir()}
    assert module == {path.name: path.read_bytes() for path in (course / "fr/playground/module").iterdir()}
    french = [path for path in (course / "fr").rglob("*") if path.is_file() and path.parent.name != "module"]
    found = scan(answers, [course / "en", *french])
    assert found.clean, found.text
    assert found.files > 150
    secret = next(secret for one in load_all(ROOT) for secret in one.secrets if "<=" in secret)
    spoiled = {
        "searchindex.js": lambda text: text.replace('"titles":', f'"told":{json.dumps(secret)},"titles":', 1),
        "10-exercises.html": lambda text: text.replace("</article>", f"<p hidden>{escape(secret)}</p></article>", 1),
        "_static/predictions.js": lambda text: f"{text}\n// {secret}\n",
        "playground/words.js": lambda text: text.replace(
            "const words = {", f"const words = {{x: {json.dumps(secret)},", 1
        ),
    }
    for name, spoil in spoiled.items():
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course / "en" / name, copy)
        copy.write_text(spoil(copy.read_text("utf-8")), "utf-8")
    told = scan(answers, [tmp_path])
    assert {Path(one.where).relative_to(tmp_path).as_posix() for one in told.findings} == set(spoiled)
