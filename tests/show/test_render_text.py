"""Documents as plain text."""

from __future__ import annotations

import pytest

from labkit.show.document import Cell, Document, Facts, Note, Table
from labkit.show.render_text import WIDEST_CELL, render


def table(columns: list[str], rows: list[list[str]]) -> Document:
    """A document that is one table of plain cells."""
    return Document("", (Table(tuple(columns), tuple(tuple(Cell(text) for text in row) for row in rows)),))


def test_columns_line_up_and_no_line_ends_in_blanks() -> None:
    assert render(table(["name", "what"], [["a", "short"], ["longer name", "x"]])) == (
        "name          what\na             short\nlonger name   x"
    )


def test_numbers_end_at_the_right_of_their_column() -> None:
    rows = tuple((Cell(name), Cell(value)) for name, value in (("a", "5"), ("b", "1234")))
    assert render(Document("", (Table(("n", "v"), rows, numbers=True),))) == "n      v\na      5\nb   1234"


def test_accents_written_as_two_characters_take_one_column() -> None:
    first, second = render(table(["x", "y"], [["e\u0301", "1"], ["é", "2"]])).splitlines()[1:]
    assert first.index("1") - 1 == second.index("2")


def test_the_word_of_a_cell_is_said_where_colour_cannot() -> None:
    document = Document("t", (Table(("f", "v"), ((Cell("a"), Cell("5", "added", "defaulted")),)),))
    assert "5 (defaulted)" in render(document)


def test_long_text_is_cut_but_never_in_the_last_column() -> None:
    lines = render(table(["a", "b"], [["x" * 200, "y" * 200]])).splitlines()
    assert "x" * (WIDEST_CELL - 1) + "…" in lines[1]
    assert lines[1].endswith("y" * 200)


def test_a_cell_of_several_lines_stays_on_one() -> None:
    assert render(table(["a"], [["one\n  two"]])).splitlines()[1] == "one two"


def test_title_facts_notes_and_captions_come_in_order() -> None:
    document = Document(
        "title",
        (
            Note("a note"),
            Facts((("n", Cell("1")), ("name", Cell("2")))),
            Table(("c",), (), caption="cap", empty="none yet"),
        ),
    )
    assert render(document) == "title\na note\nn:      1\nname:   2\ncap\nnone yet"


def test_a_row_that_does_not_fit_its_columns_is_a_mistake_of_the_view() -> None:
    with pytest.raises(ValueError, match="2 cells under 1 columns"):
        table(["a"], [["x", "y"]])
