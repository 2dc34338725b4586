"""A document as HTML, for notebooks and pages.

This is the only module that writes tags. Every text of a document goes through ``escape``: an object's fields are
whatever somebody put on the server, a script element included. There are no scripts and no ids, so two outputs with
the same content are the same bytes and never clash on one page. The style sheet lies beside, in ``style.css``; it goes
with each output, because an output may be shown alone.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from html import escape as escape_html
from importlib.resources import files
from urllib.parse import quote

from labkit.show.document import Cell, Code, Document, Facts, Figure, Fold, Markdown, Part, Section, Table
from labkit.show.plain import plain
from labkit.show.render_text import SIGNS

__all__ = ["page", "render", "style_sheet"]


PAGE_STYLE = """:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; line-height: 1.45; margin: 1em auto; max-width: 72em; padding: 0 1em; }
h1 { font-size: 1.5em; line-height: 1.25; overflow-wrap: anywhere; }
@media print { details::details-content { content-visibility: visible; } }"""


@cache
def style_sheet(name: str = "style.css") -> str:
    """A style sheet of this folder without its comments. "folds.css" goes only with what has folds or code."""
    lines = files("labkit.show").joinpath(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("/*"))


def render(document: Document, *, announced: bool = False, styled: bool = True) -> str:
    """One ``div`` of class "labkit"; *announced* is read aloud when it comes. It brings its style if it is *styled*."""
    role = ' role="status" aria-live="polite"' if announced else ""
    title = f'<p class="labkit-title">{escape(document.title)}</p>\n' if document.title else ""
    return f'<div class="labkit"{role}>\n{_body(document, title, styled=styled)}\n</div>'


def page(document: Document, *, lang: str = "en") -> str:
    """A whole page with this one document, to be opened from a disk; the browser may load and run nothing for it.

    *lang* is the language that the document is in.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(lang)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{PAGE_STYLE}\n</style>\n</head>\n"
        f'<body>\n<main class="labkit">\n{_body(document, f"<h1>{escape(document.title)}</h1>{chr(10)}")}\n'
        "</main>\n</body>\n</html>\n"
    )


def _body(document: Document, title: str, *, styled: bool = True) -> str:
    parts = "\n".join(_part(part, 2) for part in document.parts)
    style = f"<style>\n{_styles(document.parts)}\n</style>\n" if styled else ""
    return f"{style}{title}{parts}"


def escape(text: str) -> str:
    """*text* as nothing but text: no tag, and no character that a page cannot hold or that turns its lines around."""
    return escape_html(plain(text))


def _styles(parts: tuple[Part, ...]) -> str:
    inside = tuple(_inside(parts))
    sheets = ["style.css"]
    if any(isinstance(part, Fold | Code) for part in inside):
        sheets.append("folds.css")
    if any(isinstance(part, Section | Markdown | Figure) for part in inside):
        sheets.append("sections.css")
    return "\n".join(map(style_sheet, sheets))


def _inside(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Fold | Section):
            yield from _inside(part.parts)


def _part(part: Part, level: int) -> str:  # noqa: PLR0911  (one a kind)
    """*level* is that of the next heading."""
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Facts):
        return _facts(part)
    if isinstance(part, Code):
        return _code(part)
    if isinstance(part, Fold):
        return _fold(part, level)
    if isinstance(part, Section):
        body = "\n".join(_part(one, level + 1) for one in part.parts)
        head = f"h{min(level, 6)}"
        return f"<section>\n<{head}>{escape(part.title)}</{head}>\n{body}\n</section>"
    if isinstance(part, Markdown):
        return f'<div class="labkit-prose">\n{_markdown(part.text)}</div>'
    if isinstance(part, Figure):
        data = base64.b64encode(part.svg.encode()).decode()
        return f'<img alt="{escape(part.words)}" src="data:image/svg+xml;base64,{data}">'
    return f'<p class="labkit-note">{escape(part.text)}</p>'


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(plain(text)))


def _table(part: Table) -> str:
    caption = f"<caption>{escape(part.caption)}</caption>\n" if part.caption else ""
    if not part.rows:
        return f'<p class="labkit-note">{escape(f"{part.caption}: {part.empty}" if part.caption else part.empty)}</p>'
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in part.columns)
    rows = "\n".join(f"<tr>{_row(row, named=part.named)}</tr>" for row in part.rows)
    kind = ' class="labkit-numbers"' if part.numbers else ""
    return f"<table{kind}>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _facts(part: Facts) -> str:
    rows = "\n".join(f'<tr><th scope="row">{escape(name)}</th>{_cell(value)}</tr>' for name, value in part.pairs)
    return f'<table class="labkit-facts">\n<tbody>\n{rows}\n</tbody>\n</table>'


def _row(row: tuple[Cell, ...], *, named: bool) -> str:
    return "".join(_cell(cell, name=named and not index) for index, cell in enumerate(row))


def _cell(cell: Cell, *, name: bool = False) -> str:
    text = escape(cell.text)
    if cell.code:
        text = f"<code>{text}</code>"
    if cell.link:
        text = f'<a href="./{escape(quote(cell.link))}">{text}</a>'
    word = f" <em>{escape(cell.word)}</em>" if cell.word else ""
    mark = f' class="labkit-{cell.mark}"' if cell.mark else ""
    return f'<th scope="row"{mark}>{text}{word}</th>' if name else f"<td{mark}>{text}{word}</td>"


def _code(part: Code) -> str:
    caption = f'<p class="labkit-note">{escape(part.caption)}</p>\n' if part.caption else ""
    lines = "\n".join(_line(f"{SIGNS[line.mark]} " if part.signs else "", line.text, line.mark) for line in part.lines)
    return f'{caption}<pre class="labkit-code">{lines}</pre>'


def _line(sign: str, text: str, mark: str) -> str:
    shown = escape(f"{sign}{text}")
    return f'<span class="labkit-{mark}">{shown}</span>' if mark else shown


def _fold(part: Fold, level: int) -> str:
    mark = f' class="labkit-{part.mark}"' if part.mark else ""
    body = "\n".join(_part(one, level) for one in part.parts)
    opened = " open" if part.opened else ""
    return f"<details{opened}>\n<summary{mark}>{escape(part.summary)}</summary>\n{body}\n</details>"
