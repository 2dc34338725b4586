"""What a view says, before it is text or HTML.

An observation must look the same in a terminal and in a notebook, and writing each view twice would let them drift
apart. So a view is written once, as a small document: a title, then facts, tables and notes. Two renderers turn any
document into text and into HTML; the one for HTML is the only place that writes tags, and it escapes everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Cell",
    "Code",
    "Document",
    "Facts",
    "Figure",
    "Fold",
    "Line",
    "Mark",
    "Markdown",
    "Note",
    "Part",
    "Section",
    "Table",
]

Mark: TypeAlias = Literal["", "good", "bad", "added", "removed", "changed", "quiet"]
"""Colours a cell. What a mark means is always said in words as well, in the cell's text or in its *word*."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, a mark, and a *word* printed after the text ("defaulted"); *code* means fixed-width.

    *link* is the path of a file, relative to the page, that the text leads to; text has no links.
    """

    text: str
    mark: Mark = ""
    word: str = ""
    code: bool = False
    link: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under columns; *caption* is printed above. A table without rows prints *empty* instead.

    With *numbers* every column but the first ends at the right. With *named* the first cell of a row is its name, and
    is read aloud with the others.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    empty: str = "none"
    numbers: bool = False
    named: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Facts:
    """Names and their values, one a line."""

    pairs: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Note:
    """A paragraph of prose."""

    text: str


@dataclass(frozen=True)
class Line:
    """One line of a ``Code``; "added" and "removed" are also said by a sign before it."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True)
class Code:
    """Lines of fixed width, kept as they are; *caption* is printed above. Without *signs* they can be copied."""

    lines: tuple[Line, ...]
    caption: str = ""
    signs: bool = True


@dataclass(frozen=True)
class Fold:
    """Parts under a line of *summary* that a reader opens and closes; *opened* is how it begins. Text has all of it."""

    summary: str
    parts: tuple[Part, ...]
    mark: Mark = ""
    opened: bool = False


@dataclass(frozen=True)
class Section:
    """Parts under a heading, one level below what it stands in: what a long page is walked through by."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Markdown:
    """Prose of an author's, in Markdown. Tags in it are text, and pictures are not loaded."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, and what it shows in words, which is all that text has of it."""

    svg: str
    words: str


Part: TypeAlias = "Table | Facts | Note | Code | Fold | Section | Markdown | Figure"


@dataclass(frozen=True)
class Document:
    """A title and what follows it. It is a value of its own: shown by itself, it looks as it says."""

    title: str
    parts: tuple[Part, ...] = ()
