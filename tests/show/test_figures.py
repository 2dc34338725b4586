"""The course's figures: fresh files, words apart from geometry, readable by people and programs."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from labkit.machine import figures as files
from labkit.show import figures
from labkit.show.figures.svg import WIDTH, wrap

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
SHOWN = re.compile(r"!\[([^\]]*)\]\((figures/[^)]*)\)")

every = pytest.mark.parametrize("name", figures.NAMES)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  (drawn by ourselves)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


@every
def test_the_file_in_the_notebooks_folder_is_what_would_be_drawn(name: str) -> None:
    assert (ROOT / files.FOLDER / f"{name}.svg").read_text(encoding="utf-8") == figures.draw(name), (
        "draw them anew: python -m labkit.machine.figures"
    )


def test_there_is_no_other_file_among_the_figures() -> None:
    assert {path.name for path in (ROOT / files.FOLDER).iterdir()} == {f"{name}.svg" for name in figures.NAMES}


def test_notebooks_show_every_figure_with_an_alternative_in_words() -> None:
    shown = [
        found
        for page in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for found in SHOWN.findall(page.read_text("utf-8"))
    ]
    assert {target for _, target in shown} == {f"figures/{name}.svg" for name in figures.NAMES}
    assert all(len(alternative) > 40 for alternative, _ in shown)


@every
def test_says_what_it_shows_to_those_who_cannot_see_it(name: str) -> None:
    root = parsed(figures.draw(name))
    assert root.get("role") == "img"
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    title, desc = (by_id[one] for one in (root.get("aria-labelledby") or "").split())
    first, *rest = figures.description(name).splitlines()
    assert (title.tag, title.text) == (f"{SVG}title", first)
    assert (desc.tag, desc.text) == (f"{SVG}desc", " ".join(rest))


@every
def test_fetches_nothing_and_runs_nothing(name: str) -> None:
    svg = figures.draw(name)
    assert {element.tag.removeprefix(SVG) for element in parsed(svg).iter()} <= {
        "svg", "title", "desc", "style", "rect", "path", "ellipse", "circle", "line", "polygon", "text",
    }  # fmt: skip
    assert not re.search(r"url\(|href|@import|@font-face|\bon\w+=", svg)
    assert re.findall(r"https?://[^\"']*", svg) == ["http://www.w3.org/2000/svg"]


@every
def test_every_word_can_be_put_into_another_language(name: str) -> None:
    """Whatever is still English afterwards is data: versions, names of objects, numbers, a field of the API."""
    marked = {word: f"‹{number}›" for number, word in enumerate(figures.words(name))}
    svg = figures.draw(name, marked)
    said = {*texts(svg), *(element.text or "" for element in parsed(svg).iter() if element.tag == f"{SVG}desc")}
    left = set(re.findall(r"[^\W\d_]\w+", re.sub(r"‹\d+›", "", " ".join(said))))
    assert left <= {"v1", "v1alpha1", "principal", "mini", "ancien", "storedVersions"}
    description = figures.description(name, marked)
    assert all(mark in description for mark in marked.values())


@every
def test_each_word_is_listed_once_and_drawn_in_english_by_default(name: str) -> None:
    words = figures.words(name)
    assert len(set(words)) == len(words)
    assert all(word in figures.description(name) for word in words)


@every
def test_longer_words_make_a_higher_figure_and_stay_inside(name: str) -> None:
    longer = {word: f"{word} {word}" for word in figures.words(name)}
    plain, grown = parsed(figures.draw(name)), parsed(figures.draw(name, longer))
    assert float(grown.get("height", 0)) > float(plain.get("height", 0))
    for root in (plain, grown):
        height = float(root.get("height", 0))
        for text in root.iter(f"{SVG}text"):
            assert 0 < float(text.get("x", -1)) < WIDTH
            assert 0 < float(text.get("y", -1)) < height


@every
def test_words_are_text_whatever_they_hold(name: str) -> None:
    evil = dict.fromkeys(figures.words(name), "</text><script>alert(1)</script>")
    root = parsed(figures.draw(name, evil))
    assert not [element for element in root.iter() if "script" in element.tag]
    assert "<script>" in " ".join(text.text or "" for text in root.iter(f"{SVG}text"))


def test_a_figure_there_is_not_is_a_key_error() -> None:
    for ask in (figures.draw, figures.words, figures.description):
        with pytest.raises(KeyError):
            ask("nothing")


def test_lines_are_broken_between_words_only() -> None:
    assert wrap("", 100, 16) == []
    assert wrap("one two three", 60, 16) == ["one", "two", "three"]
    assert wrap("incontournablement", 20, 16) == ["incontournablement"]


def test_the_program_writes_the_figures_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files.main([str(tmp_path / "new" / "place")]) == 0
    assert sorted(path.stem for path in (tmp_path / "new" / "place").iterdir()) == sorted(figures.NAMES)
    (tmp_path / "file").write_text("")
    assert files.main([str(tmp_path / "file")]) == 1
    assert files.main(["--help"]) == 2
    assert "usage" in capsys.readouterr().err
