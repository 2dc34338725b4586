"""``lab.predict``: asked with an outcome it scores, asked without one it is a question with a form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course.kernel import CourseKernel
from labkit.course.outputs import text
from labkit.errors import ManifestError
from labkit.lab import Lab
from labkit.observe.prediction import Prediction, PredictionError, Question, Score

from .course.building import REPOSITORY, opening, write
from .observe.conftest import Stage


@pytest.fixture(scope="module")
def lab(cluster: EmbeddedCluster) -> Iterator[Lab]:
    with Api(cluster) as api:
        stage = Stage(cluster, api)
        stage.clear()
        stage.apply("04-colis-complet.yaml")
    yield Lab(cluster, cluster.info(), REPOSITORY)


def test_an_outcome_is_scored_against_the_server(lab: Lab) -> None:
    score = lab.predict("crd/objects/invalide.yaml", outcome="refused", field="spec.worker.max", rule="maximum")
    assert isinstance(score, Score)
    assert score.right
    assert score.verdict.unchecked


def test_validate_is_kubectls(lab: Lab) -> None:
    wrong = lab.load("crd/objects/mini.yaml")
    wrong["spec"]["wroker"] = {}
    marks = {
        validate: lab.predict(wrong, "refused", validate=validate).mark("outcome")  # type: ignore[union-attr]
        for validate in ("strict", True, "warn", False)
    }
    assert marks == {"strict": "right", True: "right", "warn": "wrong", False: "wrong"}
    with pytest.raises(ManifestError, match="validate='soft' is not known"):
        lab.predict(wrong, "refused", validate="soft")


def test_without_an_outcome_it_is_a_question_about_the_object_as_it_was_then(lab: Lab) -> None:
    obj = lab.load("crd/objects/mini.yaml")
    question = lab.predict(obj)
    assert isinstance(question, Question)
    assert (question.kind, question.name, question.checking) == ("Colis", "mini", "strict")
    assert "spec.worker.max" in question.choices.fields
    obj["spec"]["version"] = 3
    assert question.answer(Prediction.of("completed", "spec.worker")).right


def test_what_cannot_be_scored_is_said_before_anything_is_asked(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "cluster", None)
    with pytest.raises(PredictionError, match="outcome 'perhaps' is not known"):
        lab.predict("crd/objects/mini.yaml", "perhaps")
    with pytest.raises(PredictionError, match="is no path of a field"):
        lab.predict("crd/objects/mini.yaml", "refused", field="spec..[")
    with pytest.raises(ManifestError, match="cannot be read"):
        lab.predict("crd/objects/none.yaml", "refused")


FORM = """
from labkit.show import prediction_widget
_, outcome, field, rule, button, answer = prediction_widget.widget(question).children
outcome.value, field.value, rule.value = "refused", "spec.worker", "self.min <= self.max"
button.click()
"your prediction is right" in answer.value, 'role="status"' in answer.value
"""


def test_in_a_kernel_a_question_is_a_form_with_html_and_a_text_twin(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    place = write(tmp_path / "course", "cel", opening("cel"), begin={"definition": "crd/04-colis-complet.yaml"}).parent
    environ = {"PYTHONPATH": str(REPOSITORY), "LABKIT_CLUSTER": f"embedded:{cluster.state_dir}"}
    kernel = CourseKernel(cwd=place, environ=environ)
    try:
        kernel.run('import labkit\nlab = labkit.begin("cel")')
        kernel.run('obj = lab.load("crd/objects/mini.yaml")\nobj["spec"]["worker"] = {"min": 6}')
        (shown,) = kernel.run("question = lab.predict(obj)\nquestion").outputs
        assert sorted(shown["data"]) == ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"]
        assert shown["data"]["text/plain"].startswith(
            "What will the server do with Colis mini, as kubectl apply sends it?"
        )
        assert text(kernel.run(FORM).outputs) == "(True, True)"
        refused = text(kernel.run('lab.predict(obj, "rejected", "spec.worker.max")').outputs)
        assert refused.startswith("Colis mini in ch54, as kubectl apply sends it: your prediction is partly right\n")
        wrong = text(kernel.run('lab.predict(obj, "perhaps")').outputs)
        assert wrong.startswith("PredictionError: outcome 'perhaps' is not known") and "Traceback" not in wrong
    finally:
        kernel.stop()
