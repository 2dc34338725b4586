"""The cells of an executed notebook as the cells of a page.

A page is read without a kernel: the answer to a question must not stand under the question, outputs bring their style
once and not each time, and a manifest that is quoted can be opened. All of that follows from the cells' metadata, so
this module takes a notebook (a dict of nbformat 4) and gives another one, without Sphinx. It adds plain HTML around
outputs, and neither changes nor drops what the server said.

An answer is in the output, and once more in the words below it, which begin with it ("None, because …"). So these words
are folded together with it, up to the next heading, the next question, or the words that lead to the next command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from labkit.languages import translate
from labkit.site.fences import fence
from labkit.site.predictions import question
from labkit.site.tryit import Changes, InForce, Manifests, line, mentioned

__all__ = ["Form", "headings", "markdown", "page"]

Cell = dict[str, Any]
Form = Callable[[Mapping[str, Any], Mapping[str, Any], str], str | None]
"""Cell, notebook and language → the HTML that stands in the place of a prediction; None for another cell."""

_STYLE = re.compile(r"<style>.*?</style>\s*", re.DOTALL)
_FENCE = re.compile(r"(?ms)^(?P<fence>`{3,}|~{3,}|:{3,}\{code).*?^(?P=fence)\s*$")
_HEADING = re.compile(r"(?m)^#{1,6} +(.+?)\s*#*$")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_ASKS = re.compile(r"\*\*[^*]*\?\*\*")
"""How the course asks: in bold."""
_LAST_SENTENCE = re.compile(r"(?<=[.!?)])\s+(?=[^.!?]*:$)")


def page(notebook: Mapping[str, Any], lang: str, manifests: Manifests, form: Form) -> dict[str, Any]:
    """*notebook* as it stands on a page in *lang*, which is the language that is spoken here."""
    begin = notebook["metadata"]["labkit"]["begin"].get("definition")
    in_force, changes = InForce(manifests, begin), Changes(manifests)
    cells: list[Cell] = []
    folded = predicted = False
    given = [dict(cell) for cell in notebook["cells"]]
    for cell, after, then in zip(given, [*given[1:], {}], [*given[2:], {}, {}], strict=False):
        if cell["cell_type"] != "code":
            folded = predicted
            cells += [_cell(cell, outputs=None)] if "".join(cell["source"]).strip() else []
            continue
        told = cell["metadata"].get("labkit", {})
        folded = folded or predicted or bool(told.get("surprise"))
        source = "".join(cell["source"])
        asked = form(cell, notebook, lang)
        predicted = asked is not None  # what comes next is its answer, whatever stands between
        why = ""
        if folded and not predicted and after.get("cell_type") == "markdown":
            why, after["source"] = explained("".join(after["source"]), leads=then.get("cell_type") == "code")
        if asked is None:
            cells += _code(cell, lang, folded=folded, why=why, manifests=manifests)
        else:
            cells.append(markdown(asked))
        changed, sent = changes.after(source)
        told_of = line(list(mentioned(source, manifests)), manifests, in_force.text, changed)
        cells += [markdown(told_of)] if told_of else []
        in_force.after(source, told.get("expect", "shown"), sent)
    metadata = {**notebook["metadata"], "language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    numbered = [{**cell, "id": f"cell-{number:03}"} for number, cell in enumerate(cells, 1)]
    return {**notebook, "cells": numbered, "metadata": metadata}


def markdown(text: str) -> Cell:
    """A cell of our own: Markdown, or HTML that stands by itself."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def explained(text: str, *, leads: bool) -> tuple[str, str]:
    """The words after an answer: what explains it, and the rest. *leads* says that a command comes next, so that words
    ending in a colon belong to it. A heading, a question and what comes after them are of the rest.
    """
    blocks = _blocks(text)
    until = next(
        (at for at, one in enumerate(blocks) if one.startswith("#") or _ASKS.search(_FENCE.sub("", one))), len(blocks)
    )
    told, rest = blocks[:until], blocks[until:]
    if leads and not rest and told and told[-1].endswith(":"):
        last = told.pop()
        cut = _LAST_SENTENCE.search(last) if not told else None
        if cut:
            told, last = [last[: cut.start()]], last[cut.end() :]
        rest = [last]
    return "\n\n".join(told), "\n\n".join(rest)


def _blocks(text: str) -> list[str]:
    """What blank lines part, but for those inside of code."""
    blocks: list[str] = []
    for one in re.split(r"\n\s*\n", text.strip()):
        if blocks and len(re.findall(r"(?m)^(?:```|~~~)", blocks[-1])) % 2:
            blocks[-1] += f"\n\n{one}"
        else:
            blocks.append(one)
    return blocks


def headings(text: str) -> Iterator[str]:
    """The ids of the headings of a Markdown text, in order, made from their words; the same words get a number."""
    seen: dict[str, int] = {}
    for title in _HEADING.findall(_FENCE.sub("", text)):
        slug = _NO_WORD.sub("-", title.lower()).strip("-") or "section"
        seen[slug] = seen.get(slug, 0) + 1
        yield slug if seen[slug] == 1 else f"{slug}-{seen[slug]}"


def _code(cell: Mapping[str, Any], lang: str, *, folded: bool, why: str, manifests: Manifests) -> Iterator[Cell]:
    """The command, and what came of it: in sight, or folded with the words that explain it."""
    outputs = [_without_style(one) for one in cell["outputs"]]
    quoted = _quoted(outputs, manifests)
    yield _cell(cell, outputs=None)
    if not outputs:
        return
    if folded:
        asked = question(cell, lang)
        if asked is not None:
            yield markdown(asked)
        summary = escape(translate("What the server answers, and why") if why else translate("What the server answers"))
        yield markdown(f'<details class="labkit-answer">\n<summary>{summary}</summary>')
    if quoted is not None:
        yield markdown(fence("yaml", quoted))
    else:
        yield {**_cell(cell, outputs=outputs), "metadata": {"tags": ["remove-input"]}}
    if folded:
        yield from [markdown(why)] if why else []
        yield markdown("</details>")


def _cell(cell: Mapping[str, Any], *, outputs: list[Any] | None) -> Cell:
    if cell["cell_type"] != "code":
        return {**cell, "metadata": {}}
    return {**cell, "metadata": {"labkit": {"anchor": cell["id"]}}, "outputs": outputs or []}


def _without_style(output: Mapping[str, Any]) -> dict[str, Any]:
    """The site has the style sheet; an output that brings its own would be no valid page."""
    html = output.get("data", {}).get("text/html")
    if html is None:
        return dict(output)
    return {**output, "data": {**output["data"], "text/html": _STYLE.sub("", "".join(html))}}


def _quoted(outputs: list[dict[str, Any]], manifests: Manifests) -> str | None:
    """The text of the only output, if it is a piece of a manifest of some length: it can be shown as what it is."""
    if len(outputs) != 1 or outputs[0].get("name") != "stdout":
        return None
    text = "".join(outputs[0]["text"])
    lines = len(text.splitlines())
    return text if lines > 3 and any(text.strip() in one.text for one in manifests.by_name.values()) else None
