"""Which view a value has. A new observation is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.observe.cleanup import CleanUp
from labkit.observe.cost import Cost
from labkit.observe.definition import Definition
from labkit.observe.discovery import Group
from labkit.observe.fields import PrunedAndDefaulted, Refusal
from labkit.observe.migration import Migration
from labkit.observe.prediction import Question, Score
from labkit.observe.stored import StoredAndRead
from labkit.observe.verdict import Verdict
from labkit.show import (
    celcost,
    cleanup,
    cost,
    definition,
    discovery,
    fields,
    migration,
    prediction,
    preview,
    render_html,
    render_text,
    stored,
    trace,
)
from labkit.show.document import Document
from labkit.trace.celcost import Costs
from labkit.trace.preview import Preview
from labkit.trace.values import Trace

__all__ = ["VIEWS", "document", "html", "html_document", "page", "text"]

VIEWS: dict[type, Callable[[Any], Document]] = {
    CleanUp: cleanup.document,
    Cost: cost.document,
    Costs: celcost.document,
    Definition: definition.document,
    Document: lambda value: value,
    Group: discovery.document,
    Migration: migration.document,
    Preview: preview.document,
    PrunedAndDefaulted: fields.document,
    Question: prediction.question_document,
    Refusal: fields.refusal_document,
    Score: prediction.document,
    StoredAndRead: stored.document,
    Trace: trace.document,
    Verdict: prediction.verdict_document,
}

FULLER: dict[type, Callable[[Any], Document]] = {Trace: trace.full_document}
"""Views that say more in HTML than in text, where folding keeps it out of the way; they leave nothing out."""


def document(value: object) -> Document:
    """What is said of *value*. Raises TypeError for a value that has no view."""
    view = VIEWS.get(type(value))
    if view is None:
        raise TypeError(
            f"{type(value).__name__} has no view; those that have: {', '.join(sorted(t.__name__ for t in VIEWS))}"
        )
    return view(value)


def html_document(value: object) -> Document:
    """What is said of *value* where there is room for all of it. Raises as ``document`` does."""
    fuller = FULLER.get(type(value))
    return fuller(value) if fuller is not None else document(value)


def text(value: object) -> str:
    """*value* as lines of plain text, without a final newline."""
    return render_text.render(document(value))


def html(value: object) -> str:
    """*value* as one HTML element that brings its style and no script."""
    return render_html.render(html_document(value))


def page(value: object) -> str:
    """*value* as a whole HTML page that needs nothing else, to be opened from a disk."""
    return render_html.page(html_document(value))
