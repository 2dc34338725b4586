"""The form that asks before it runs: an outcome, a field, a rule, and a button that asks the real server.

Each control has its label in text and is reached with Tab; Space chooses and presses. JupyterLab takes the arrow keys
and single letters for itself wherever the focus is in an output and not in a text field, so there is no list and no
menu here: what can be chosen from stands there as radio buttons, or is suggested while one types.
Nothing is asked of the server before the button is pressed.
"""

from __future__ import annotations

import ipywidgets as widgets

from labkit.errors import LabkitError
from labkit.languages import translate
from labkit.observe.prediction import Prediction, Question
from labkit.observe.verdict import GRAVEST_FIRST
from labkit.show import prediction as view
from labkit.show import render_html
from labkit.show.document import Document, Note

__all__ = ["widget"]

_WIDE = {"description_width": "5em"}


def widget(value: Question) -> widgets.VBox:
    """The form of one question. Its children, in order: the question, outcome, field, rule, button, answer."""
    layout = widgets.Layout(width="auto", max_width="44em")
    outcome = widgets.RadioButtons(
        options=[
            (translate("{name}: {meaning}", name=name, meaning=translate(view.MEANINGS[name])), name)
            for name in reversed(GRAVEST_FIRST)
        ],
        value=None,
        description=translate("outcome"),
        style=_WIDE,
        layout=layout,
    )
    field = _suggesting(
        translate("field"), value.choices.fields, translate("such as spec.worker; may be left open"), layout
    )
    rule = _suggesting(
        translate("rule"),
        value.choices.rules,
        translate("such as maximum, or a rule's text; may be left open"),
        layout,
    )
    tooltip = translate("sends the object as a dry run; nothing is stored")
    wide = widgets.Layout(width="auto", align_self="flex-start")
    button = widgets.Button(description=translate("ask the server"), tooltip=tooltip, layout=wide)
    answer = widgets.HTML()

    def ask(_: widgets.Button) -> None:
        answer.value = render_html.render(_answer(value, outcome.value, field.value, rule.value), announced=True)

    button.on_click(ask)
    title = widgets.HTML(render_html.render(Document(view.asked(value))))
    return widgets.VBox([title, outcome, field, rule, button, answer])


def _suggesting(name: str, options: tuple[str, ...], placeholder: str, layout: widgets.Layout) -> widgets.Combobox:
    return widgets.Combobox(
        options=options, placeholder=placeholder, ensure_option=False, description=name, style=_WIDE, layout=layout
    )


def _answer(value: Question, outcome: str | None, field: str, rule: str) -> Document:
    """The score, or the one or two lines that say why there is none: a button cannot raise where anybody sees it."""
    if outcome is None:
        return Document(translate("Choose an outcome first; field and rule may be left open."))
    try:
        return view.document(value.answer(Prediction.of(outcome, field, rule)))
    except LabkitError as error:
        told = tuple(Note(text) for text in (error.evidence, error.next_act) if text)
        return Document(translate("No answer: {state}", state=error.state), told)
