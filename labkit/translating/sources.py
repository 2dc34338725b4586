"""Every text there is to translate, and the catalogue it belongs in."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import labkit
from labkit import languages
from labkit.course import catalogues
from labkit.course.notebook import EXERCISES
from labkit.errors import CourseError
from labkit.exercises import model, texts
from labkit.show import figures

__all__ = ["Entry", "Source", "sources"]

_MARKS = {"translate": 1, "plural": 2, "worded": 1}
"""What marks a message, and how many of its arguments are texts."""

_PACKAGE = Path(labkit.__file__).parent


@dataclass(frozen=True)
class Entry:
    """One text: its *context* in the file, *where* it comes from, and the *many* form of a message that counts."""

    context: str
    text: str
    where: str
    many: str = ""


@dataclass(frozen=True)
class Source:
    """One catalogue: its file, and its entries in the order of the English texts."""

    path: Path
    entries: tuple[Entry, ...]


def sources(root: Path, lang: str) -> Iterator[Source]:
    """The catalogues of the course at *root*, and labkit's own. Raises what reading the course raises."""
    for path in sorted((root / "notebooks").glob("[0-9][0-9]-*.ipynb")):
        if path.name not in EXERCISES.values():
            notebook = json.loads(path.read_text(encoding="utf-8"))
            found = catalogues.notebook_texts(notebook)
            yield Source(catalogues.place(root, lang, path.stem), _entries(root, path, found))
    for one in model.load_all(root):
        place = catalogues.place(root, lang, texts.catalogue_name(one))
        yield Source(place, _entries(root, one.folder, texts.texts(one)))
    for path in sorted((root / "docs" / "pages").glob("*.md")):
        found = catalogues.page_texts(path.read_text(encoding="utf-8"))
        yield Source(catalogues.place(root, lang, f"pages-{path.stem}"), _entries(root, path, found))
    yield Source(languages.OWN / lang / "LC_MESSAGES" / "labkit.po", tuple(_messages(root)))


def _entries(root: Path, path: Path, found: Iterator[tuple[str, str]]) -> tuple[Entry, ...]:
    where = path.relative_to(root).as_posix()
    return tuple(Entry(context, text, where) for context, text in found if text.strip())


def _messages(root: Path) -> Iterator[Entry]:
    """Each marked message once, with every file that has it, and the words of the figures."""
    found: dict[str, Entry] = {}
    for where, text, many in [*_marked(root), *_figures()]:
        known = found.get(text)
        if known is not None:
            where = " ".join(dict.fromkeys((*known.where.split(" "), where)))  # noqa: PLW2901
            many = many or known.many  # noqa: PLW2901
        found[text] = Entry("", text, where, many)
    yield from found.values()


def _marked(root: Path) -> Iterator[tuple[str, str, str]]:
    """Place, text and plural of what goes through a mark in the package, and in the judges of exercises."""
    for path in [*sorted(_PACKAGE.rglob("*.py")), *sorted(root.glob("exercises/*/judge.py"))]:
        content = path.read_text(encoding="utf-8")
        if "labkit.languages import" not in content:
            continue
        where = path.relative_to(_PACKAGE.parent if path.is_relative_to(_PACKAGE) else root).as_posix()
        calls = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            marked = call.args[: _MARKS.get(call.func.id, 0)] if isinstance(call.func, ast.Name) else []
            texts_in = [one.value for one in marked if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if texts_in:
                one, many = (*texts_in, "")[:2]
                yield where, one, many
            elif any(isinstance(one, ast.JoinedStr) for one in marked):
                raise CourseError(
                    f"{where}: line {call.lineno}: an f-string cannot be translated", next_act="{name}, name=…"
                )


def _figures() -> Iterator[tuple[str, str, str]]:
    for name in figures.NAMES:
        for word in figures.words(name):
            yield f"labkit/show/figures/{name}.py", word, ""
