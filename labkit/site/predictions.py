"""Predictions on a page: the question of a notebook, answered by a reader who has no server to ask.

A reader learns most from a guess that is answered at once, and a page has nothing that could answer. But the notebook
has recorded what the server said, so every answer that can be chosen is scored while the page is built, by the very
functions that score in a notebook, and the words of that go with the form. The script of a page looks them up; it
judges nothing. Without it the choices are a list, and the server's answer is folded under them.

What the notebook records is the command's output in the cell after the prediction. That tells a refusal and not which
rule of the definition it was, nor what was filled in; so the verdict is that of the trace (the server's own libraries),
and a page is refused whose record says anything else.

Where a cell is marked as a surprise and writes one thing, there is a smaller question: accepted, or refused? Exercises
that are marked have neither: their answers are nowhere on a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from labkit.course import manifests, outputs
from labkit.errors import NotebookError
from labkit.languages import speaking, translate, worded
from labkit.observe import verdict as verdicts
from labkit.observe.foreseen import foresee
from labkit.observe.prediction import Judged, Mark, Prediction, Score, score
from labkit.observe.verdict import GRAVEST_FIRST, Checking, Choices, Verdict
from labkit.show import prediction as view
from labkit.show import render_html
from labkit.show.document import Cell as Shown
from labkit.show.document import Table
from labkit.show.plain import plain

__all__ = ["FILES", "form", "question"]

Cell = Mapping[str, Any]

FILES: tuple[tuple[str, bytes], ...] = tuple(
    (name, files("labkit.site").joinpath("predictions", name).read_bytes())
    for name in ("predictions.js", "predictions.css")
)
"""Name and content of what a page with predictions loads."""

_WRITES = re.compile(r'(?m)^%{1,2}kubectl\b.*?\b(apply|create|patch|replace)\b|\blab\.kubectl\("(?:apply|create)"')
_APPLIED = re.compile(r"(?m)^%kubectl apply -f (crd/\S+\.yaml)$")
_CREATED = re.compile(r"(?m)^\S+ created\b")

_ANSWERS: Mapping[str, tuple[str, str]] = {
    "accepted": (worded("accepted"), worded("the server accepts it")),
    "refused": (worded("refused"), worded("the server refuses it")),
}
"""Of the smaller question: what a reader chooses, and what the page says afterwards."""


def form(cell: Cell, notebook: Mapping[str, Any], lang: str, *, root: Path) -> str | None:
    """The form, as HTML without a blank line, of a cell that asks by ``lab.predict``; None for another cell.

    *notebook* is the executed one that the cell is from (nbformat 4, as a dict), *root* the folder that holds ``crd/``.
    Raises NotebookError where no output is recorded after the cell, or another verdict than the trace has; ToolMissing
    where there is no trace.
    """
    source = _source(cell)
    if cell["cell_type"] != "code" or "lab.predict(" not in source:
        return None
    asked = _asked(source, root)
    if asked is None:
        return None
    manifest, checking = asked
    definition = _in_force(cell, notebook, root)
    seen = foresee(manifest, definition, checking=checking)
    _expect_recorded(seen, cell, notebook)
    found = verdicts.choices_in(manifest, verdicts.schema_in(definition, str(manifest["apiVersion"])))
    choices = Choices(tuple(map(_line, found.fields)), tuple(map(_line, found.rules)))
    with speaking(lang):
        return _form(cell, seen, choices)


def question(cell: Cell, lang: str) -> str | None:
    """The smaller question, to stand between a command and its folded output; None where there is none to ask: the cell
    is no surprise, does more than one thing, or is itself a prediction.
    """
    told = cell.get("metadata", {}).get("labkit", {})
    source = _source(cell)
    right = told.get("expect")
    if not told.get("surprise") or right not in _ANSWERS or "lab.predict(" in source:
        return None
    if source.count("kubectl") != 1 or not _WRITES.search(source):
        return None
    if right == "refused" and _CREATED.search(outputs.text(cell["outputs"])):
        return None  # one part was taken and one refused
    with speaking(lang):
        return _question(_id(cell), right)


def _id(cell: Cell) -> str:
    return str(cell["metadata"]["labkit"]["step"])


def _line(text: str) -> str:
    """A choice in one line, as it is shown and said; the score takes no notice of blanks."""
    return " ".join(plain(text).split())


def _source(cell: Cell) -> str:
    return "".join(cell["source"])


# -- what the notebook says -----------------------------------------------------------------------------------------


class _Asking:
    """Stands in the place of ``lab`` in a cell that predicts, and keeps what it asks about."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.asked: tuple[dict[str, Any], Checking] | None = None

    def load(self, path: str) -> dict[str, Any]:
        return manifests.documents(self._root / path)[0]

    def predict(
        self,
        obj: str | Mapping[str, Any],
        outcome: object = None,
        *_: object,
        validate: str | bool = "strict",
        **__: object,
    ) -> None:
        if outcome is None:
            sent = self.load(obj) if isinstance(obj, str) else dict(obj)
            self.asked = sent, verdicts.checking(validate)


def _asked(source: str, root: Path) -> tuple[dict[str, Any], Checking] | None:
    """The object that a cell asks about, and how it is sent; None where the cell answers itself."""
    lab = _Asking(root)
    exec(compile(source, "a cell that predicts", "exec"), {"lab": lab})  # noqa: S102  (the course's own cell, as a kernel does)
    return lab.asked


def _in_force(cell: Cell, notebook: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The definition that is on the server when *cell* is run: of the beginning, or one applied since."""
    name = notebook["metadata"]["labkit"]["begin"]["definition"]
    found = manifests.documents(root / name)[0] if name else None
    for one in _code(notebook):
        if one["id"] == cell["id"]:
            break
        for applied in _APPLIED.findall(_source(one)):
            new = manifests.documents(root / applied)[0]
            if one["metadata"]["labkit"].get("expect") == "accepted" and new["kind"] == "CustomResourceDefinition":
                found = new
    if found is None:
        raise NotebookError(f"{_id(cell)}: a prediction, and no definition is in force")
    return found


def _expect_recorded(seen: Verdict, cell: Cell, notebook: Mapping[str, Any]) -> None:
    """The next cell records what became of the object. Raises NotebookError where that is something else."""
    cells = _code(notebook)
    place = next(index for index, one in enumerate(cells) if one["id"] == cell["id"])
    told = outputs.text(cells[place + 1]["outputs"]) if place + 1 < len(cells) else ""
    wanted = [reason.message for reason in seen.reasons] or [" created"]
    if seen.checking == "warn":
        wanted += [f"Warning: {one}" for one in seen.warnings]
    missing = [one for one in wanted if one not in told]
    if missing:
        raise NotebookError(
            f"{_id(cell)}: the cell after a prediction does not record its verdict",
            evidence=f"the trace says {missing[0]!r}, its output {told.strip()[:200]!r}",
            next_act="let the next code cell send the same object, and record the notebook anew",
        )


def _code(notebook: Mapping[str, Any]) -> list[Cell]:
    return [one for one in notebook["cells"] if one["cell_type"] == "code"]


# -- what each answer is worth --------------------------------------------------------------------------------------


@dataclass
class _Pool:
    """Values each once, and their numbers."""

    values: list[Any]

    def number(self, value: Any) -> int:
        if value not in self.values:
            self.values.append(value)
        return self.values.index(value)


def _worth(seen: Verdict, choices: Choices) -> dict[str, Any]:
    """The words of every answer. A field's mark depends on the outcome said, a rule's on the field, and on no more."""
    rows, tables = _Pool([]), _Pool([])
    found: dict[str, Any] = {"outcome": {}, "field": {}, "rule": {}, "why": {}}

    def row(prediction: Prediction, place: int) -> int:
        scored = score(prediction, seen)
        shown = cast("Table", view.document(scored).parts[0])
        return rows.number({"mark": scored.judged[place].mark, "cells": [_shown(one) for one in shown.rows[place]]})

    for outcome in GRAVEST_FIRST:
        said = Prediction((outcome,))
        found["outcome"][outcome] = row(said, 0)
        found["field"][outcome] = {one: row(Prediction((outcome,), one), 1) for one in choices.fields}
        reasons = cast("Table", view.document(score(said, seen)).parts[1])
        shown = {
            "columns": [plain(one) for one in reasons.columns],
            "rows": [[_shown(c) for c in r] for r in reasons.rows],
        }
        found["why"][outcome] = tables.number(shown)
    for field in ("", *choices.fields):
        told = [Prediction(("refused",), field, one) for one in choices.rules]
        found["rule"][field] = {one.rule: row(one, 2 if field else 1) for one in told}
    columns = cast("Table", view.document(score(Prediction(("refused",)), seen)).parts[0]).columns
    titles = {mark: view.document(_scored(seen, mark)).title for mark in ("right", "partly", "wrong")}
    return found | _head(titles, columns) | {"rows": rows.values, "tables": tables.values}


def _scored(seen: Verdict, mark: Mark) -> Score:
    """A score that comes to *mark* as a whole."""
    return Score(Prediction(seen.outcomes[:1]), seen, (Judged("outcome", "", (), mark, "far"),), ())


def _head(titles: Mapping[str, str], columns: Iterable[str]) -> dict[str, Any]:
    choose = translate("Choose an outcome first; field and rule may be left open.")
    return {
        "titles": {key: plain(text) for key, text in titles.items()},
        "choose": choose,
        "columns": [plain(one) for one in columns],
    }


def _shown(cell: Shown) -> dict[str, Any]:
    return {"text": plain(cell.text), "mark": cell.mark, "code": cell.code}


# -- HTML -----------------------------------------------------------------------------------------------------------


def _form(cell: Cell, seen: Verdict, choices: Choices) -> str:
    asked = view.asked(seen)
    said: list[tuple[str, str]] = [(one, translate(view.MEANINGS[one])) for one in reversed(GRAVEST_FIRST)]
    named = [(name, _named_choice(name, meaning)) for name, meaning in said]
    listed = "".join(f"<li>{label}</li>" for _, label in named)
    answer = render_html.render(view.verdict_document(seen), styled=False)
    told = (
        f'<ul class="labkit-without-script">{listed}</ul>',
        f'<details class="labkit-without-script"><summary>{_text(translate("What the server said"))}</summary>',
        f"{answer}</details>",
    )
    outcomes = [_radio(name, label) for name, label in named]
    controls = (
        _fieldset(translate("outcome"), outcomes),
        _select("field", translate("field"), choices.fields),
        _select("rule", translate("rule"), choices.rules),
    )
    step = f'{_named(_id(cell))} id="{_text(str(cell["id"]))}"'  # links to the step lead here
    return _box(step, asked, _worth(seen, choices), told, controls)


def _question(step: str, right: str) -> str:
    """Two answers, and a line that says which is right."""
    whole = {"right": translate("your prediction is right"), "wrong": translate("your prediction is wrong")}
    because = translate(_ANSWERS[right][1])
    titles = {mark: translate("{result}: {because}", result=text, because=because) for mark, text in whole.items()}
    names = [(name, translate(word)) for name, (word, _) in _ANSWERS.items()]
    marks = {name: "right" if name == right else "wrong" for name, _ in names}
    worth = _head(titles, ()) | {
        "choose": translate("Choose one of the two first."),
        "rows": [{"mark": mark, "cells": []} for mark in marks.values()],
        "outcome": {name: number for number, name in enumerate(marks)},
    }
    radios = [_radio(name, _text(word), short=True) for name, word in names]
    asked = translate("Before you unfold it: is this accepted, or refused?")
    return _box(_named(step), asked, worth, (), (_fieldset(translate("outcome"), radios),))


def _named(step: str) -> str:
    return f'data-prediction="{_text(step)}"'


def _box(named: str, asked: str, worth: Mapping[str, Any], told: tuple[str, ...], controls: tuple[str, ...]) -> str:
    data = escape(json.dumps(worth, ensure_ascii=False, separators=(",", ":")))
    compare, forget = translate("compare with the server"), translate("forget my answer")
    parts = (
        f'<div class="labkit labkit-prediction" {named} data-worth="{data}">',
        f'<p class="labkit-title">{_text(asked)}</p>',
        *told,
        '<form hidden autocomplete="off">',
        *controls,
        f'<p><button type="submit">{_text(compare)}</button> <button type="reset">{_text(forget)}</button></p>',
        "</form>",
        '<div role="status" aria-live="polite"></div>',
        "</div>",
    )
    return "\n".join(line for part in parts for line in part.splitlines() if line.strip())


def _named_choice(name: str, meaning: str) -> str:
    return _text(translate("{name}: {meaning}")).format(name=f"<code>{_text(name)}</code>", meaning=_text(meaning))


def _fieldset(legend: str, inside: Iterable[str]) -> str:
    return f"<fieldset><legend>{_text(legend)}</legend>{''.join(inside)}</fieldset>"


def _radio(value: str, label: str, *, short: bool = False) -> str:
    kind = ' class="labkit-short"' if short else ""
    return f'<label{kind}><input type="radio" name="outcome" value="{_text(value)}"> {label}</label>'


def _select(name: str, label: str, values: Iterable[str]) -> str:
    options = "".join(f'<option value="{_text(one)}">{_text(one)}</option>' for one in values)
    nothing = _text(translate("left open"))
    return (
        f'<p><label><span>{_text(label)}</span> <select name="{name}"><option value="">{nothing}</option>'
        f"{options}</select></label></p>"
    )


_text: Callable[[str], str] = render_html.escape
