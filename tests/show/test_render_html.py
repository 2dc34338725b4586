"""Documents as HTML: escaped, without scripts, the same bytes each time."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from labkit.show.document import Cell, Code, Document, Facts, Fold, Line, Note, Table
from labkit.show.render_html import render, style_sheet

EVIL = "</td><script>alert('x')</script><img src=x onerror=\"y\">&amp;"


class Reader(HTMLParser):
    """Every tag and attribute, and whether the tags are closed in order."""

    VOID = frozenset({"br", "img", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.text.append(data)

    def whole(self) -> str:
        assert self._open == []
        return "".join(self.text)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


EVERYWHERE = Document(
    EVIL,
    (
        Note(EVIL),
        Facts(((EVIL, Cell(EVIL, "good", EVIL, code=True)),)),
        Table((EVIL, "b"), ((Cell(EVIL), Cell(EVIL, word=EVIL)),), caption=EVIL),
        Table((EVIL,), (), caption=EVIL, empty=EVIL),
        Code((Line(EVIL), Line(EVIL, "added")), caption=EVIL),
        Fold(EVIL, (Note(EVIL),), "bad", opened=True),
    ),
)


def test_whatever_a_text_holds_it_is_shown_as_text() -> None:
    reader = read(render(EVERYWHERE))
    assert reader.whole().count(EVIL) == 17
    assert not {"script", "img"} & set(reader.tags)


def test_there_are_no_scripts_ids_handlers_or_addresses() -> None:
    names = {name for name, _ in read(render(EVERYWHERE)).attributes}
    assert names <= {"class", "scope", "open"}


def test_the_same_document_is_the_same_bytes() -> None:
    assert render(EVERYWHERE) == render(EVERYWHERE)


@pytest.mark.parametrize("mark", ["good", "bad", "added", "removed", "changed", "quiet"])
def test_every_mark_has_a_style(mark: str) -> None:
    html = render(Document("t", (Table(("a",), ((Cell("x", mark),),)),)))  # type: ignore[arg-type]
    assert f'<td class="labkit-{mark}">' in html
    assert f".labkit-{mark}" in style_sheet()


def test_the_style_of_folds_and_code_goes_only_where_they_are() -> None:
    assert style_sheet("folds.css") in render(EVERYWHERE)
    assert style_sheet("folds.css") not in render(Document("t", (Note("n"),)))


@pytest.mark.parametrize("sheet", ["style.css", "folds.css"])
def test_the_style_is_small_lies_in_the_package_and_touches_nothing_else_on_the_page(sheet: str) -> None:
    rules = style_sheet(sheet).splitlines()
    assert len(style_sheet(sheet)) < 2_500
    assert all(part.strip().startswith(".labkit") for rule in rules for part in rule.partition("{")[0].split(","))
    assert style_sheet() in render(Document("t"))


def test_no_colour_is_fixed_so_that_light_and_dark_themes_both_work() -> None:
    for declaration in (style_sheet() + style_sheet("folds.css")).replace("{", ";").split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() == "color":
            assert "inherit" in value or "currentColor" in value
        if name.strip() == "background":
            assert "none" in value or "rgba" in value
