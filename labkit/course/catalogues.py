"""The course's texts in another language: one catalogue a notebook or exercise, and a notebook made with one.

A translated notebook must stay the same notebook, or links, recorded outputs and grafted answers no longer meet: so it
is made from the English one, and only the Markdown is another. Cells keep their ids, metadata and code, byte for byte;
the notebook says its language in ``metadata.labkit.lang``.

A page that is no notebook is translated by its blocks: what stands between two blank lines, a fence as one.

Catalogues lie in ``locale/LANG/LC_MESSAGES`` of the instructors' repository. An edition for students needs none.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labkit import languages
from labkit.errors import CourseError

__all__ = ["Catalogue", "catalogue", "notebook_in", "notebook_texts", "page_in", "page_texts", "place"]

_BLOCK = re.compile(r"(?ms)^(?P<fence>`{3,}).*?^(?P=fence)$|^\S.*?(?=\n\s*\n|\s*\Z)")


class Catalogue:
    """The texts of one file; what it does not have stays English."""

    def __init__(self, texts: languages.Texts) -> None:
        self._texts = texts

    def text(self, context: str, english: str) -> str:
        """*english* as it stands at *context*, in the language of the catalogue."""
        return self._texts.get((context, english), (english,))[0]


def place(root: Path, lang: str, name: str) -> Path:
    """Where the catalogue *name* ("04-cel", "exercises-02-rule") of the course at *root* is."""
    return root / "locale" / lang / "LC_MESSAGES" / f"{name}.po"


def catalogue(root: Path, lang: str, name: str) -> Catalogue:
    """That catalogue; an empty one for English, and where there is no file. Raises CourseError for one that is none."""
    if lang == "en":
        return Catalogue({})
    try:
        return Catalogue(languages.read(place(root, lang, name)))
    except ValueError as error:
        raise CourseError(str(error), next_act="labkit languages check") from error


def notebook_texts(notebook: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Id and text of each Markdown cell, which are what is translated of a notebook."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            yield cell["id"], "".join(cell["source"])


def notebook_in(lang: str, notebook: Mapping[str, Any], texts: Catalogue) -> dict[str, Any]:
    """A copy of *notebook* in *lang*, without the outputs of cells, which belong to the English one."""
    made = copy.deepcopy(dict(notebook))
    made["metadata"].setdefault("labkit", {})["lang"] = lang
    for cell in made["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = texts.text(cell["id"], "".join(cell["source"])).splitlines(keepends=True)
        elif cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return made


def page_texts(text: str) -> Iterator[tuple[str, str]]:
    """Context (none: a block is known by its text) and text of each block of a Markdown page."""
    for block in _BLOCK.finditer(text):
        yield "", block[0]


def page_in(text: str, texts: Catalogue) -> str:
    """The page with each block in the language of *texts*."""
    return _BLOCK.sub(lambda block: texts.text("", block[0]), text)
