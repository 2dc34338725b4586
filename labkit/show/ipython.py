"""Gives the views to IPython, so that a value shows itself when it is a cell's last line.

Formatters are registered by type, from outside: the values keep no method of display and this package is not needed to
make one. Text is always registered with HTML; a front end shows the richest it trusts.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from labkit.observe.cost import Cost
from labkit.observe.prediction import Question
from labkit.show import plots, render_html, render_text, views
from labkit.show.document import Document
from labkit.trace.values import Trace

__all__ = ["WIDGET_VIEW", "register", "widget_view"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def register(ipython: Any, also: Mapping[type, Callable[[Any], Document]] | None = None) -> None:
    """Register text/plain and text/html for every value with a view, and image/png for figures. Idempotent.

    *also* has the views of values that this package does not know.

    In a kernel (not in a terminal) a trace and a question are widgets as well, loaded when the first is shown.

    *ipython* is an InteractiveShell, as ``get_ipython()`` returns it.
    """
    formatters = ipython.display_formatter.formatters
    for kind in views.VIEWS:
        formatters["text/plain"].for_type(kind, _print_text)
        formatters["text/html"].for_type(kind, views.html)
    for kind, view in (also or {}).items():
        formatters["text/plain"].for_type(kind, _printer(view))
        formatters["text/html"].for_type(kind, _html(view))
    if getattr(ipython, "kernel", None) is not None:
        ipython.display_formatter.mimebundle_formatter.for_type(Trace, _trace_widget)
        ipython.display_formatter.mimebundle_formatter.for_type(Question, _question_widget)
    formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _png)
    ipython.display_formatter.ipython_display_formatter.for_type(Cost, _tables_and_plots)


def _print_text(value: object, printer: Any, cycle: bool) -> None:
    printer.text("…" if cycle else views.text(value))


def _printer(view: Callable[[Any], Document]) -> Callable[[object, Any, bool], None]:
    return lambda value, printer, cycle: printer.text("…" if cycle else render_text.render(view(value)))


def _html(view: Callable[[Any], Document]) -> Callable[[object], str]:
    return lambda value: render_html.render(view(value))


def widget_view(widget: Any) -> dict[str, Any]:
    """A widget's own part of an output; the text and the HTML come with it from the other views."""
    return {WIDGET_VIEW: widget._repr_mimebundle_()[WIDGET_VIEW]}


def _trace_widget(value: Trace) -> dict[str, Any]:
    from labkit.show import trace_widget

    return widget_view(trace_widget.widget(value))


def _tables_and_plots(value: Cost) -> None:
    """Two outputs: a front end shows only one form of each, and these are two things."""
    import IPython.display

    display: Any = IPython.display.display
    display(views.document(value))
    display(plots.cost(value))


def _question_widget(value: Question) -> dict[str, Any]:
    from labkit.show import prediction_widget

    return widget_view(prediction_widget.widget(value))


def _png(figure: Any) -> bytes:
    """The figure's pixels without the name and version of what drew them, which would differ between machines."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=110, metadata={"Software": None})
    return target.getvalue()
