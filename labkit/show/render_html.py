"""A document as HTML, for notebooks and pages.

This is the only module that writes tags. Every text of a document goes through ``escape``: an object's fields are
whatever somebody put on the server, a script element included. There are no scripts and no ids, so two outputs with
the same content are the same bytes and never clash on one page. The style sheet lies beside, in ``style.css``; it goes
with each output, because an output may be shown alone.
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

from labkit.show.document import Cell, Document, Facts, Part, Table

__all__ = ["render", "style_sheet"]


@cache
def style_sheet() -> str:
    """The style sheet without its comments."""
    lines = files("labkit.show").joinpath("style.css").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("/*"))


def render(document: Document) -> str:
    """One ``div`` of class "labkit" that brings its style."""
    title = f'<p class="labkit-title">{escape(document.title)}</p>\n' if document.title else ""
    body = "\n".join(_part(part) for part in document.parts)
    return f'<div class="labkit">\n<style>\n{style_sheet()}\n</style>\n{title}{body}\n</div>'


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Facts):
        return _facts(part)
    return f'<p class="labkit-note">{escape(part.text)}</p>'


def _table(part: Table) -> str:
    caption = f"<caption>{escape(part.caption)}</caption>\n" if part.caption else ""
    if not part.rows:
        return f'<p class="labkit-note">{escape(f"{part.caption}: {part.empty}" if part.caption else part.empty)}</p>'
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in part.columns)
    rows = "\n".join("<tr>" + "".join(_cell(c) for c in row) + "</tr>" for row in part.rows)
    kind = ' class="labkit-numbers"' if part.numbers else ""
    return f"<table{kind}>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _facts(part: Facts) -> str:
    rows = "\n".join(f'<tr><th scope="row">{escape(name)}</th>{_cell(value)}</tr>' for name, value in part.pairs)
    return f'<table class="labkit-facts">\n<tbody>\n{rows}\n</tbody>\n</table>'


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.code:
        text = f"<code>{text}</code>"
    word = f" <em>{escape(cell.word)}</em>" if cell.word else ""
    mark = f' class="labkit-{cell.mark}"' if cell.mark else ""
    return f"<td{mark}>{text}{word}</td>"
