"""A trace to walk through: back, forward, one stage at a time.

Twelve stages below each other are a document; a class wants to look at one and guess the next. JupyterLab takes the
arrow keys and single letters for itself wherever the focus is in an output and not in a text field, so there is no list
here: back, forward and each stage are buttons, reached with Tab and pressed with Space or Enter. Each has its name in
text; where one has got to is said aloud by screen readers. A page is the HTML of the document that says it
(``trace.pages``).
"""

from __future__ import annotations

import ipywidgets as widgets

from labkit.languages import translate
from labkit.show import render_html, trace
from labkit.show.document import Document
from labkit.trace.values import Trace

__all__ = ["widget"]


def widget(value: Trace) -> widgets.VBox:
    """The pages of *value*: two buttons, a button for each stage, the heading and the body of the one chosen."""
    pages = trace.pages(value)
    chosen = widgets.ToggleButtons(
        options=[(name, place) for place, (name, _) in enumerate(pages)],
        value=0,
        description=translate("stage"),
        style={"button_width": "auto", "description_width": "initial"},
    )
    before, after = translate("to the stage before"), translate("to the next stage")
    back = widgets.Button(description=translate("back"), icon="arrow-left", tooltip=before)
    forward = widgets.Button(description=translate("forward"), icon="arrow-right", tooltip=after)
    heading, body = widgets.HTML(), widgets.HTML()

    def show(place: int) -> None:
        page = pages[place][1]
        heading.value = render_html.render(Document(page.title), announced=True)
        body.value = render_html.render(Document("", page.parts))

    def go(steps: int) -> None:
        chosen.value = min(max(chosen.value + steps, 0), len(pages) - 1)

    chosen.observe(lambda change: show(change["new"]), "value")
    back.on_click(lambda _: go(-1))
    forward.on_click(lambda _: go(+1))
    show(0)
    controls = widgets.HBox([back, forward, chosen], layout=widgets.Layout(flex_flow="row wrap"))
    title = widgets.HTML(render_html.render(Document(trace.title(value, judged=False))))
    return widgets.VBox([title, controls, heading, body])
