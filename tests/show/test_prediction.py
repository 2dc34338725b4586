"""A question and its score, shown; and the form, filled in as a person does: through its controls."""

from __future__ import annotations

from typing import Any, get_args

import ipywidgets as widgets

from labkit.errors import ClusterGone
from labkit.observe.fieldpaths import Nearness
from labkit.observe.prediction import Finding, Prediction, Question, Score
from labkit.observe.reasons import Station
from labkit.observe.verdict import Choices, Outcome
from labkit.show import ipython, prediction, prediction_widget, views

from .samples_prediction import EVIL, QUESTION, RULE, SCORE, VERDICT
from .test_render_html import read


def lines(value: object) -> list[str]:
    return [" ".join(line.split()) for line in views.text(value).splitlines()]


def test_a_score_says_what_was_right_and_names_the_stations() -> None:
    assert lines(SCORE) == [
        "Colis essai-d in ch54, as kubectl apply sends it: your prediction is partly right",
        "you said the server says",
        "outcome refused refused right",
        "field spec.worker.max spec.worker, spec.version partly right near: it is the field that holds this one",
        "rule self.min<=self.max self.min <= self.max, pattern right",
        "station rule what happened there",
        "① fill defaults spec.worker.max: left out in the manifest; its default is in place before a rule looks",
        "validate: schema pattern spec.version: Invalid value: …",
        f"validate: CEL rules self.min <= self.max spec.worker: Invalid value: min (6) dépasse max (5) {EVIL}",
    ]


def test_a_verdict_alone_has_the_same_stations() -> None:
    assert lines(VERDICT)[0] == "Colis essai-d in ch54, as kubectl apply sends it: refused"
    assert lines(VERDICT)[1:] == lines(SCORE)[5:]


def test_the_text_twin_of_the_form_says_how_to_answer_in_code() -> None:
    said = lines(QUESTION)
    assert said[0] == f"What will the server do with Colis essai-d{EVIL}, as kubectl apply sends it?"
    assert [line.partition(":")[0] for line in said[1:5]] == [f'"{one}"' for one in get_args(Outcome)]
    assert "lab.predict(" in said[-1]


def test_there_are_words_for_everything_that_can_be_found() -> None:
    assert set(prediction.SAYS) == set(get_args(Finding))
    assert set(prediction.STATIONS) == set(get_args(Station))
    assert set(prediction.MEANINGS) == set(get_args(Outcome))
    assert set(prediction.NEAR) == set(get_args(Nearness))


def test_stations_are_called_as_in_the_figure_of_the_path() -> None:
    from labkit.show import figures

    drawn = figures.words("path")
    for name in prediction.STATIONS.values():
        word = name.removeprefix("① ").partition(":")[0]
        assert word in drawn or word in ("admission", "prepare for storage"), word


# -- the form -------------------------------------------------------------------------------------------------------


class Form:
    """The controls of a form, by name."""

    def __init__(self, question: Question) -> None:
        self.box = prediction_widget.widget(question)
        title, self.outcome, self.field, self.rule, self.button, self.answer = self.box.children
        self.title: str = title.value

    def read(self) -> str:
        return " ".join(read(self.answer.value).whole().split())


def test_the_form_asks_nothing_before_its_button_is_pressed_and_then_scores() -> None:
    asked: list[Prediction] = []

    def answer(said: Prediction) -> Score:
        asked.append(said)
        return QUESTION.answer(said)

    form = Form(Question("Colis", "essai-d", "strict", QUESTION.choices, answer))
    form.outcome.value, form.field.value, form.rule.value = "refused", "spec.worker", RULE
    assert (asked, form.answer.value) == ([], "")
    form.button.click()
    assert asked == [Prediction(("refused",), "spec.worker", RULE)]
    assert "your prediction is right" in form.read()
    form.outcome.value = "completed"
    form.button.click()
    assert "your prediction is partly right" in form.read()


def test_field_and_rule_may_be_left_open_and_the_outcome_may_not() -> None:
    form = Form(QUESTION)
    assert (form.outcome.value, form.field.value, form.rule.value) == (None, "", "")
    form.button.click()
    assert form.read() == "Choose an outcome first; field and rule may be left open."
    form.outcome.value = "refused"
    form.button.click()
    assert "your prediction is right" in form.read()


def test_a_field_that_nobody_suggested_can_be_typed() -> None:
    form = Form(QUESTION)
    form.outcome.value, form.field.value = "refused", "worker"
    form.button.click()
    assert "write the whole path, from the top" in form.read()


def test_a_cluster_that_is_gone_is_said_in_the_form() -> None:
    def gone(_: Prediction) -> Score:
        raise ClusterGone("the cluster is gone", evidence=f"it died {EVIL}", next_act="lab = labkit.begin(…)")

    form = Form(Question("Colis", "a", "strict", Choices(), gone))
    form.outcome.value = "refused"
    form.button.click()
    assert form.read() == f"No answer: the cluster is gone it died {EVIL} lab = labkit.begin(…)"


def test_every_control_is_a_native_one_with_its_name_in_text() -> None:
    form = Form(QUESTION)
    kinds = [widgets.HTML, widgets.RadioButtons, widgets.Combobox, widgets.Combobox, widgets.Button, widgets.HTML]
    assert [type(child) for child in form.box.children] == kinds
    names = [control.description for control in (form.outcome, form.field, form.rule, form.button)]
    assert names == ["outcome", "field", "rule", "ask the server"]
    assert not any(control.description_allow_html for control in (form.outcome, form.field, form.rule))
    assert tuple(value for _, value in form.outcome.options) == get_args(Outcome)


def test_the_score_is_announced_to_screen_readers() -> None:
    form = Form(QUESTION)
    form.button.click()
    assert 'role="status"' in form.answer.value


def test_nothing_in_the_form_is_taken_for_html() -> None:
    form = Form(QUESTION)
    form.outcome.value, form.field.value = "refused", EVIL
    form.button.click()
    for html in (form.title, form.answer.value):
        assert "script" not in read(html).tags
        assert EVIL in read(html).whole()


def test_the_form_adds_a_widget_to_its_text_and_its_html() -> None:
    bundle: dict[str, Any] = ipython.widget_view(prediction_widget.widget(QUESTION))
    assert list(bundle) == [ipython.WIDGET_VIEW]
    assert bundle[ipython.WIDGET_VIEW]["model_id"]
