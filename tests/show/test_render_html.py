"""Documents as HTML: escaped, without scripts, the same bytes each time."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from labkit.show import render_text
from labkit.show.document import Cell, Code, Document, Facts, Figure, Fold, Line, Markdown, Note, Section, Table
from labkit.show.render_html import page, render, style_sheet

EVIL = "</td><script>alert('x')</script><img src=x onerror=\"y\">&amp;"


class Reader(HTMLParser):
    """Every tag and attribute, and whether the tags are closed in order."""

    VOID = frozenset({"br", "img", "hr", "meta"})

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


@pytest.mark.parametrize("sheet", ["style.css", "folds.css", "sections.css"])
def test_the_style_is_small_lies_in_the_package_and_touches_nothing_else_on_the_page(sheet: str) -> None:
    rules = re.sub(r"@media [^{]*\{", "", style_sheet(sheet))
    assert len(style_sheet(sheet)) < 2_500
    selectors = [one for many in re.findall(r"([^{}]+)\{", rules) for one in many.split(",")]
    assert all(one.strip().startswith(".labkit") for one in selectors)
    assert style_sheet() in render(Document("t"))


def test_no_colour_is_fixed_so_that_light_and_dark_themes_both_work() -> None:
    for declaration in (style_sheet() + style_sheet("folds.css")).replace("{", ";").split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() == "color":
            assert "inherit" in value or "currentColor" in value
        if name.strip() == "background":
            assert "none" in value or "rgba" in value


def test_a_section_has_a_heading_one_level_below_what_it_stands_in() -> None:
    inner = Section("c", (Note("d"),))
    made = page(Document("a", (Section("b", (inner, Fold("e", (inner,)))),)), lang="fr")
    assert re.findall(r"<h(\d)>(\w)</h", made) == [("1", "a"), ("2", "b"), ("3", "c"), ("3", "c")]
    assert '<html lang="fr">' in made
    assert render_text.render(Document("a", (Section("b", (Note("d"),)),))) == "a\n\nb\nd"


def test_prose_of_an_author_is_marked_up_but_has_no_tags_pictures_or_scripts_of_its_own() -> None:
    text = (
        f"**strong** `code` {EVIL}\n\n![p](http://example.com/p.png) [x](javascript:alert(1))\n\n| a |\n|---|\n| b |\n"
    )
    made = read(render(Document("", (Markdown(text),))))
    assert {"strong", "code", "table"} <= set(made.tags)
    assert not {"script", "img"} & set(made.tags)
    assert not [value for name, value in made.attributes if name == "href" and value and "javascript" in value]
    assert render_text.render(Document("", (Markdown("**a**"),))) == "**a**"


def test_a_figure_is_a_picture_in_the_page_and_words_in_text() -> None:
    document = Document("", (Figure("<svg/>", EVIL),))
    made = read(render(document))
    assert made.attributes[1:] == [("alt", EVIL), ("src", "data:image/svg+xml;base64,PHN2Zy8+")]
    assert render_text.render(document) == EVIL


@pytest.mark.parametrize("link", ["javascript:alert(1)", "//example.com", 'x" onclick="y', "é è/a b"])
def test_a_link_leads_to_a_file_below_the_page_and_nowhere_else(link: str) -> None:
    made = read(render(Document("", (Table(("a",), ((Cell("t", link=link),),)),))))
    (address,) = (value for name, value in made.attributes if name == "href")
    assert address is not None
    assert re.fullmatch(r"\./[\w.%/~-]*", address)


def test_the_first_cell_of_a_named_row_is_its_head() -> None:
    made = render(Document("", (Table(("a", "b"), ((Cell("n", "good"), Cell("v")),), named=True),)))
    assert '<tr><th scope="row" class="labkit-good">n</th><td>v</td></tr>' in made


def test_code_without_signs_can_be_copied() -> None:
    document = Document("", (Code((Line("a:"), Line("  - b")), signs=False),))
    assert '<pre class="labkit-code">a:\n  - b</pre>' in render(document)
    assert render_text.render(document) == "a:\n  - b"
