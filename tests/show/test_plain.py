"""Whatever a text holds, it cannot steer the terminal that shows it, nor turn a line around."""

from __future__ import annotations

import json
import re

import pytest

from labkit.show import render_html, render_text
from labkit.show.document import Cell, Code, Document, Facts, Fold, Line, Note, Table
from labkit.show.plain import plain, plain_json

HOSTILE = "\x00\x07\x08\r\x1b[31mred\x1b]0;title\x07 \x7f\x9b31m \u202egnp\u2066 \u2028"
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

EVERYWHERE = Document(
    HOSTILE,
    (
        Note(HOSTILE),
        Facts(((HOSTILE, Cell(HOSTILE, word=HOSTILE)),)),
        Table((HOSTILE, "b"), ((Cell(HOSTILE, code=True), Cell(HOSTILE)),), caption=HOSTILE),
        Table(("a",), (), caption=HOSTILE, empty=HOSTILE),
        Fold(HOSTILE, (Code((Line(HOSTILE, "added"),), caption=HOSTILE),)),
    ),
)


def test_what_steers_is_spelled_and_all_else_is_left() -> None:
    assert plain(HOSTILE) == (r"\x00\x07\x08\x0d\x1b[31mred\x1b]0;title\x07 \u007f\u009b31m \u202egnp\u2066 \u2028")
    assert plain("été\tこんにちは 👋\n") == "été\tこんにちは 👋\n"


@pytest.mark.parametrize("render", [render_text.render, render_html.render, render_html.page])
def test_no_part_of_a_document_lets_it_through(render: object) -> None:
    assert callable(render)
    shown = render(EVERYWHERE)
    assert not STEERS.search(shown)
    assert shown.count(r"\x1b[31mred") == HOSTILE_PLACES[render]


HOSTILE_PLACES = {render_text.render: 14, render_html.render: 14, render_html.page: 15}
"""Of all that is shown; a page has the title once more."""


def test_json_is_escaped_and_says_the_same() -> None:
    told = plain_json({HOSTILE: [HOSTILE]}, indent=2)
    assert not STEERS.search(told)
    assert json.loads(told) == {HOSTILE: [HOSTILE]}
