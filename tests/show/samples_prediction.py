"""A question, its score and a verdict, for views that must not need a cluster. One of everything a form must escape."""

from __future__ import annotations

from labkit.observe.prediction import Prediction, Question, Score, score
from labkit.observe.reasons import Reason
from labkit.observe.verdict import Choices, Verdict

EVIL = "<script>alert('x')</script>"
RULE = "self.min <= self.max"

VERDICT = Verdict(
    api_version="cours.example.com/v1",
    kind="Colis",
    namespace="ch54",
    name="essai-d",
    checking="strict",
    sent_as="new",
    outcomes=("refused",),
    reasons=(
        Reason("spec.worker", "cel", (RULE,), f"Invalid value: min (6) dépasse max (5) {EVIL}"),
        Reason("spec.version", "validation", ("pattern",), "Invalid value: …"),
    ),
    unchecked=False,
    defaults=("spec.worker.max",),
    code=422,
    message="…",
)

SCORE = score(Prediction.of("refused", "spec.worker.max", "self.min<=self.max"), VERDICT)


def _answer(prediction: Prediction) -> Score:
    return score(prediction, VERDICT)


QUESTION = Question(
    "Colis", f"essai-d{EVIL}", "strict", Choices(("spec.worker", f"spec.{EVIL}"), ("type", RULE)), _answer
)
