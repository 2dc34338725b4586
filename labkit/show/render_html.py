"""A document as HTML, for notebooks and pages.

This is the only module that writes tags. Every text of a document goes through ``escape``: an object's fields are
whatever somebody put on the server, a script element included. There are no scripts and no ids, so two outputs with
the same content are the same bytes and never clash on one page. The style sheet lies beside, in ``style.css``; it goes
with each output, because an output may be shown alone.
"""

from __future__ import annotations

from functools import cache
from html import escape as escape_html
from importlib.resources import files

from labkit.show.document import Cell, Code, Document, Facts, Fold, Part, Table
from labkit.show.plain import plain
from labkit.show.render_text import SIGNS

__all__ = ["page", "render", "style_sheet"]


PAGE_STYLE = """:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; margin: 1em auto; max-width: 72em; padding: 0 1em; }"""


@cache
def style_sheet(name: str = "style.css") -> str:
    """A style sheet of this folder without its comments. "folds.css" goes only with what has folds or code."""
    lines = files("labkit.show").joinpath(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("/*"))


def render(document: Document, *, announced: bool = False) -> str:
    """One ``div`` of class "labkit" that brings its style; *announced* is read aloud when it comes."""
    role = ' role="status" aria-live="polite"' if announced else ""
    title = f'<p class="labkit-title">{escape(document.title)}</p>\n' if document.title else ""
    body = "\n".join(_part(part) for part in document.parts)
    return f'<div class="labkit"{role}>\n<style>\n{_styles(document.parts)}\n</style>\n{title}{body}\n</div>'


def page(document: Document) -> str:
    """A whole page with this one document, to be opened from a disk; the browser may load and run nothing for it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{PAGE_STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n{render(document)}\n</main>\n</body>\n</html>\n"
    )


def escape(text: str) -> str:
    """*text* as nothing but text: no tag, and no character that a page cannot hold or that turns its lines around."""
    return escape_html(plain(text))


def _styles(parts: tuple[Part, ...]) -> str:
    folds = any(isinstance(part, Fold | Code) for part in parts)
    return f"{style_sheet()}\n{style_sheet('folds.css')}" if folds else style_sheet()


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Facts):
        return _facts(part)
    if isinstance(part, Code):
        return _code(part)
    if isinstance(part, Fold):
        return _fold(part)
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


def _code(part: Code) -> str:
    caption = f'<p class="labkit-note">{escape(part.caption)}</p>\n' if part.caption else ""
    lines = "\n".join(_line(SIGNS[line.mark], line.text, line.mark) for line in part.lines)
    return f'{caption}<pre class="labkit-code">{lines}</pre>'


def _line(sign: str, text: str, mark: str) -> str:
    shown = escape(f"{sign} {text}")
    return f'<span class="labkit-{mark}">{shown}</span>' if mark else shown


def _fold(part: Fold) -> str:
    mark = f' class="labkit-{part.mark}"' if part.mark else ""
    body = "\n".join(_part(one) for one in part.parts)
    opened = " open" if part.opened else ""
    return f"<details{opened}>\n<summary{mark}>{escape(part.summary)}</summary>\n{body}\n</details>"
