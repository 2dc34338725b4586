"""The source tree that Sphinx reads: plain files, made from executed notebooks, exercises, manifests and pages.

All that makes these pages what they are is decided here, where it can be tested without Sphinx: which pages there are,
in which order, what stands on them and which anchors they have. What Sphinx does is layout. A tree is a mapping of
names to bytes, so that writing it touches only what has changed, and a second build is short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from labkit.course.catalogues import catalogue, page_in
from labkit.course.notebook import EXERCISES, SECTIONS
from labkit.exercises import model
from labkit.exercises import notebook as exercise_notebook
from labkit.exercises.texts import exercise_in
from labkit.languages import speaking, translate
from labkit.site import boxes, cells, messages, predictions, reading
from labkit.site.extension import ANCHORS
from labkit.site.fences import fence
from labkit.site.tryit import PLAYGROUND, Manifests, line

__all__ = ["EXERCISE_PAGE", "Edition", "pages", "tree"]

EXERCISE_PAGE = Path(EXERCISES["exercises"]).stem
WRITTEN = ("students", "instructors", "authors")
"""Pages of ``docs/pages``, after the cover."""

BOTH_VERSIONS = "05-colis-v1.yaml"

_SENTENCE = re.compile(r".+?[.!?](?=\s|$)")


@dataclass(frozen=True)
class Edition:
    """Which pages: of the course at *root*, in *lang*, from its executed *notebooks* (a folder); for whom."""

    root: Path
    lang: str
    notebooks: Path
    instructor: bool = False

    def of_source(self) -> Edition:
        """The same in English, from which anchors are made."""
        return Edition(self.root, "en", self.root / "notebooks", self.instructor)


def tree(edition: Edition) -> dict[str, bytes]:
    """Every file of the source tree, by name. Raises what reading the course raises."""
    made = pages(edition)
    english = made if edition.lang == "en" else pages(edition.of_source())
    anchors = {name: list(cells.headings(_text(text))) for name, text in english.items()}
    files = {f"{name}{_suffix(text)}": _bytes(text) for name, text in made.items()}
    files |= {
        f"figures/{path.name}": path.read_bytes() for path in sorted((edition.notebooks / "figures").glob("*.svg"))
    }
    return files | {ANCHORS: _bytes(anchors)}


def pages(edition: Edition) -> dict[str, Any]:
    """Name → a notebook (dict) or Markdown (str), in the order in which they are read, the cover first."""
    with speaking(edition.lang):
        manifests = Manifests(edition.root)
        made: dict[str, Any] = dict(_notebooks(edition, manifests))
        made[EXERCISE_PAGE] = _exercises(edition, manifests)
        made["messages"] = messages.page(edition.root, edition.lang)
        made["manifests"] = _manifests(manifests)
        made |= {name: _written(edition, name) for name in WRITTEN}
        return {"index": _cover(edition, made), **made}


def _notebooks(edition: Edition, manifests: Manifests) -> Iterator[tuple[str, Any]]:
    for section, name in SECTIONS.items():
        notebook = json.loads((edition.notebooks / name).read_text(encoding="utf-8"))
        further = reading.further(section)
        if further:
            notebook["cells"].append(cells.markdown(further))
        form = partial(predictions.form, root=edition.root)
        yield Path(name).stem, cells.page(notebook, edition.lang, manifests, form)


def _exercises(edition: Edition, manifests: Manifests) -> str:
    """The page of exercises; its head is that of their notebook."""
    every = model.load_all(edition.root)
    notebook = json.loads(exercise_notebook.text(every, lang=edition.lang))
    head = "".join(notebook["cells"][0]["source"])
    asked = {
        cell["id"]: predictions.form(cell, notebook, edition.lang, root=edition.root) for cell in notebook["cells"]
    }
    exercises = [exercise_in(edition.lang, one) for one in every]
    return boxes.page(head, exercises, edition.lang, manifests, asked.get, instructor=edition.instructor)


def _written(edition: Edition, name: str) -> str:
    text = (edition.root / "docs" / "pages" / f"{name}.md").read_text(encoding="utf-8")
    return page_in(text, catalogue(edition.root, edition.lang, f"pages-{name}"))


def _cover(edition: Edition, made: Mapping[str, Any]) -> str:
    """The cover: a few words, the pages as cards, and the table of contents for Sphinx."""
    chapter = [name for name in made if name[0].isdigit()]
    cards = [
        f":::{{grid-item-card}} {_title(made[name])}\n:link: {name}\n:link-type: doc\n\n"
        f"{_first_sentence(made[name])}\n:::"
        for name in chapter
    ]
    begin, play = translate("Begin the chapter"), translate("Open the playground")
    buttons = (
        f'<p class="labkit-begin"><a class="labkit-button" href="{chapter[0]}.html">{escape(begin)}</a>\n'
        f'<a class="labkit-button labkit-second" href="{PLAYGROUND}">{escape(play)}</a></p>'
    )
    return "\n\n".join(
        [
            _written(edition, "index").strip(),
            buttons,
            "::::{grid} 1 2 2 3\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n\n::::",
            _contents(translate("The chapter"), [name for name in chapter if name != EXERCISE_PAGE]),
            _contents(translate("To try"), [EXERCISE_PAGE, "messages", "manifests"]),
            _contents(translate("About"), list(WRITTEN)),
        ]
    )


def _contents(caption: str, names: list[str]) -> str:
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(names) + "\n```"


def _manifests(manifests: Manifests) -> str:
    """Every manifest: to read, to try, to download."""
    lead = translate(
        "The files that the chapter plays, in the order of use, byte for byte the same in every language. "
        "All of them: {zip}.",
        zip='<a href="crd.zip" download>crd.zip</a>',
    )
    parts = [f"# {translate('Manifests')}", lead]
    for one in manifests.by_name.values():
        parts += [f"## {one.name}", line([one], manifests, _definition_for(manifests)), fence("yaml", one.text)]
    return "\n\n".join(parts) + "\n"


def _definition_for(manifests: Manifests) -> str:
    """What an object is tried with where no place of the chapter says: the definition that has both versions."""
    return manifests.by_name[BOTH_VERSIONS].text


def _text(page: Any) -> str:
    """The Markdown of a page, one text."""
    if isinstance(page, str):
        return page
    return "\n\n".join("".join(cell["source"]) for cell in page["cells"] if cell["cell_type"] == "markdown")


def _title(page: Any) -> str:
    return next(line.removeprefix("# ").strip() for line in _text(page).splitlines() if line.startswith("# "))


def _first_sentence(page: Any) -> str:
    """Of the first paragraph below the title."""
    paragraph = next(one for one in _text(page).split("\n\n")[1:] if one.strip() and not one.startswith("#"))
    found = _SENTENCE.match(" ".join(paragraph.split()))
    return found[0] if found else paragraph


def _suffix(page: Any) -> str:
    return ".md" if isinstance(page, str) else ".ipynb"


def _bytes(value: Any) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text.encode()
