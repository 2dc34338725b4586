"""A document as plain text, for terminals, reports, and notebooks that are not trusted. It steers none of them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict

from labkit.languages import translate
from labkit.show.document import Cell, Code, Document, Facts, Figure, Fold, Mark, Part, Section, Table
from labkit.show.plain import plain

__all__ = ["SIGNS", "render"]

WIDEST_CELL = 72
"""Wider text ends in an ellipsis, except in the last column; the HTML and the observation itself have it whole."""

GAP = "   "

SIGNS: defaultdict[Mark, str] = defaultdict(lambda: " ", {"added": "+", "removed": "-", "changed": "~"})
"""What stands before a marked line of code."""


def render(document: Document) -> str:
    """Lines without trailing blanks and without a final newline."""
    blocks = [document.title] if document.title else []
    blocks += [_part(part) for part in document.parts]
    return plain("\n".join(block for block in blocks if block))


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Facts):
        return _grid([[translate("{name}:", name=name), _text(value)] for name, value in part.pairs])
    if isinstance(part, Code):
        signs = [f"{SIGNS[line.mark]} " if part.signs else "" for line in part.lines]
        lines = [f"{sign}{line.text}" for sign, line in zip(signs, part.lines, strict=True)]
        return "\n".join(([part.caption] if part.caption else []) + lines)
    if isinstance(part, Fold):
        inside = "\n".join(_part(one) for one in part.parts)
        return "\n".join([part.summary, *(f"  {line}".rstrip() for line in inside.split("\n"))])
    if isinstance(part, Section):
        return "\n".join(["", part.title, *(_part(one) for one in part.parts)])
    return part.words if isinstance(part, Figure) else part.text


def _table(part: Table) -> str:
    lines = [part.caption] if part.caption else []
    rows = [[_text(cell) for cell in row] for row in part.rows]
    lines.append(_grid([list(part.columns), *rows], numbers=part.numbers) if rows else part.empty)
    return "\n".join(lines)


def _text(cell: Cell) -> str:
    text = " ".join(cell.text.split())
    return f"{text} ({cell.word})" if cell.word else text


def _grid(rows: list[list[str]], *, numbers: bool = False) -> str:
    rows = [[*(_cut(text) for text in row[:-1]), row[-1]] for row in rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for index, (text, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - _width(text))
            cells.append(blanks + text if numbers and index else text + blanks)
        lines.append(GAP.join(cells).rstrip())
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"


def _width(text: str) -> int:
    """Columns of a terminal: combining marks take none, wide East Asian characters two."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
