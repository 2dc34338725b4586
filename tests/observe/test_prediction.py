"""Predictions scored: what counts as right, what as near, and which station is named for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from labkit.errors import LabkitError
from labkit.observe.changes import ABSENT, Change
from labkit.observe.prediction import Prediction, PredictionError, Score, score
from labkit.observe.reasons import Reason
from labkit.observe.verdict import Outcome, Verdict

DEFAULTS = "spec.worker.max"
RULE = "self.min <= self.max"


def verdict(*outcomes: Outcome, **parts: Any) -> Verdict:
    return Verdict("cours.example.com/v1", "Colis", "ch54", "x", "strict", "new", outcomes, **parts)


UNKNOWN = verdict("refused", reasons=(Reason("spec.api.cpu", "decoding", ("unknown field",), "unknown field …"),))
BY_RULE = verdict(
    "refused",
    reasons=(Reason("spec.worker", "cel", (RULE,), "Invalid value: min (6) dépasse max (5)"),),
    defaults=(DEFAULTS,),
)
BY_SCHEMA = verdict(
    "refused",
    reasons=(
        Reason("spec.api.replicas", "validation", ("minimum",), "Invalid value: 0: … greater than or equal to 1"),
        Reason("spec.worker.max", "validation", ("maximum",), "Invalid value: 50: … less than or equal to 20"),
    ),
    unchecked=True,
)
BOTH = verdict(
    "pruned",
    "completed",
    changes=(
        Change(("spec", "api", "cpu"), "pruned", "200m", ABSENT),
        Change(("spec", "worker"), "defaulted", ABSENT, {"min": 0, "max": 5}),
    ),
)
AS_IS = verdict("accepted as is")


def scored(seen: Verdict, outcome: str | Sequence[str], field: str = "", rule: str = "") -> Score:
    return score(Prediction.of(outcome, field, rule), seen)


def findings(one: Score) -> list[tuple[str, str]]:
    return [(why.station, why.finding) for why in one.why]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("refused", "refused"),
        (" Refused ", "refused"),
        ("rejected", "refused"),
        ("accepted", "accepted as is"),
        ("accepted_as_is", "accepted as is"),
        ("as-is", "accepted as is"),
        ("defaulted", "completed"),
    ],
)
def test_an_outcome_is_understood_however_it_is_spelled(said: str, meant: str) -> None:
    assert Prediction.of(said).outcomes == (meant,)


@pytest.mark.parametrize("said", ["", "maybe", [], ["refused", "pruned"], ["accepted", "completed"], 3])
def test_what_nobody_could_score_is_an_error_that_says_what_can_be_said(said: Any) -> None:
    with pytest.raises(PredictionError) as raised:
        Prediction.of([said] if isinstance(said, int) else said)
    assert isinstance(raised.value, LabkitError)
    assert '"pruned"' in raised.value.next_act


@pytest.mark.parametrize("field", ["spec..[", "spec..worker", "spec.ports[]"])
def test_a_field_that_cannot_be_one_is_refused_and_not_scored(field: str) -> None:
    with pytest.raises(PredictionError, match="is no path of a field") as raised:
        Prediction.of("refused", field)
    assert "spec.ports[0].name" in raised.value.next_act


def test_two_outcomes_that_go_together_are_put_in_order() -> None:
    assert Prediction.of(["completed", "pruned"]) == Prediction(("pruned", "completed"))


@pytest.mark.parametrize(
    ("seen", "said", "mark"),
    [
        (UNKNOWN, "refused", "right"),
        (UNKNOWN, "pruned", "wrong"),
        (BOTH, "pruned", "right"),  # the graver of the two stands for both
        (BOTH, "completed", "partly"),
        (BOTH, ("completed", "pruned"), "right"),
        (BOTH, "refused", "wrong"),
        (BOTH, "accepted as is", "wrong"),
        (AS_IS, "accepted as is", "right"),
        (AS_IS, "completed", "wrong"),
        (verdict("completed"), ("completed", "pruned"), "partly"),
    ],
)
def test_the_outcome_is_right_partly_right_or_wrong(seen: Verdict, said: str | Sequence[str], mark: str) -> None:
    assert scored(seen, said).mark("outcome") == mark


@pytest.mark.parametrize(
    ("seen", "outcome", "field", "mark", "nearness"),
    [
        (BY_RULE, "refused", "spec.worker", "right", "same"),
        (BY_RULE, "refused", ".spec.worker", "right", "same"),
        (BY_RULE, "refused", "/spec/worker", "right", "same"),
        (BY_RULE, "refused", "spec.Worker", "partly", "case"),
        (BY_RULE, "refused", "worker", "partly", "tail"),
        (BY_RULE, "refused", "spec", "partly", "above"),
        (BY_RULE, "refused", "spec.worker.max", "partly", "below"),
        (BY_RULE, "refused", "spec.worker.max.x", "wrong", "far"),
        (BY_RULE, "refused", "spec.api", "wrong", "far"),
        (BY_SCHEMA, "refused", "spec.worker.max", "right", "same"),  # one of several is enough
        (BY_SCHEMA, "refused", "spec.worker", "partly", "above"),
        (UNKNOWN, "pruned", "spec.api.cpu", "right", "same"),  # the field, though not the outcome
        (BOTH, "pruned", "spec.api.cpu", "right", "same"),
        (BOTH, "pruned", "spec.worker", "wrong", "far"),  # which is completed, not pruned
        (BOTH, "completed", "spec.worker", "right", "same"),
        (BOTH, "completed", "spec.worker.max", "right", "same"),  # it came along with spec.worker
        (BOTH, "completed", "spec", "partly", "above"),
        (BOTH, "refused", "spec.api.cpu", "right", "same"),
        (AS_IS, "refused", "spec.worker", "wrong", "far"),
    ],
)
def test_a_field_is_right_only_when_it_is_the_one(
    seen: Verdict, outcome: str, field: str, mark: str, nearness: str
) -> None:
    one = scored(seen, outcome, field).judged[1]
    assert (one.aspect, one.mark, one.nearness) == ("field", mark, nearness)


@pytest.mark.parametrize(
    ("seen", "field", "rule", "mark"),
    [
        (BY_RULE, "", RULE, "right"),
        (BY_RULE, "", "self.min<=self.max", "right"),
        (BY_RULE, "", "`self.min <= self.max`", "right"),
        (BY_RULE, "", "min (6) dépasse max (5)", "right"),  # what the server said
        (BY_RULE, "", "max (5)", "wrong"),  # a scrap of it
        (BY_RULE, "", "CEL", "partly"),
        (BY_RULE, "", "maximum", "wrong"),
        (BY_SCHEMA, "", "maximum", "right"),
        (BY_SCHEMA, "", "maximum: 20", "right"),
        (BY_SCHEMA, "", "Maximum 20", "right"),
        (BY_SCHEMA, "", "schema", "partly"),
        (BY_SCHEMA, "spec.worker.max", "maximum", "right"),
        (BY_SCHEMA, "spec.worker.max", "minimum", "partly"),  # a rule that refused, but another field
        (UNKNOWN, "", "unknown field", "right"),
        (UNKNOWN, "", "strict", "partly"),
        (AS_IS, "", "maximum", "wrong"),
    ],
)
def test_a_rule_is_known_by_its_text_its_keyword_or_its_message(
    seen: Verdict, field: str, rule: str, mark: str
) -> None:
    assert scored(seen, "refused", field, rule).mark("rule") == mark


def test_only_what_was_said_is_judged() -> None:
    one = scored(BY_RULE, "refused")
    assert [judged.aspect for judged in one.judged] == ["outcome"]
    assert (one.mark("field"), one.mark("rule")) == (None, None)
    assert (one.right, one.points) == (True, 1.0)


def test_points_are_the_mean_of_what_was_said() -> None:
    one = scored(BY_RULE, "refused", "spec.worker.max", "maximum")
    assert [judged.mark for judged in one.judged] == ["right", "partly", "wrong"]
    assert (one.right, one.points) == (False, 0.5)


@pytest.mark.parametrize(
    ("seen", "said", "found"),
    [
        (UNKNOWN, "refused", [("decoding", "unknown field refused")]),
        (UNKNOWN, "pruned", [("decoding", "unknown field refused"), ("pruning", "would be pruned")]),
        (BY_RULE, "refused", [("defaulting", "defaults came first"), ("cel", "rule")]),
        (BY_SCHEMA, "refused", [("validation", "schema"), ("validation", "schema"), ("cel", "rules not run")]),
        (BOTH, "pruned", [("pruning", "pruned"), ("defaulting", "defaulted")]),
        (BOTH, "refused", [("decoding", "would be refused"), ("pruning", "pruned"), ("defaulting", "defaulted")]),
        (AS_IS, "refused", [("validation", "nothing to do")]),
        (
            verdict("completed", changes=(Change(("spec", "a"), "changed", 9, 5),)),
            "completed",
            [("admission", "changed")],
        ),
        (
            verdict("pruned", changes=(Change(("status",), "dropped", {"a": 1}, ABSENT),)),
            "pruned",
            [("preparing", "status dropped")],
        ),
        (
            verdict("pruned", changes=(Change(("spec", "a"), "dropped", None, ABSENT),)),
            "pruned",
            [("pruning", "null dropped")],
        ),
        (
            verdict("accepted as is", forgiven=(Reason("spec.a", "validation", ("type",), "…"),)),
            "refused",
            [("validation", "nothing to do"), ("ratcheting", "forgiven")],
        ),
        (
            verdict("refused", reasons=(Reason("", "request", (), "namespaces …"),)),
            "refused",
            [("request", "no such type or place")],
        ),
        (verdict("refused", reasons=(Reason("", "admission", (), "denied"),)), "refused", [("admission", "denied")]),
        (
            verdict("refused", reasons=(Reason("metadata.labels", "decoding", ("type",), "…"),)),
            "refused",
            [("decoding", "not decoded")],
        ),
    ],
)
def test_the_stations_are_named_in_the_order_of_the_path(
    seen: Verdict, said: str, found: list[tuple[str, str]]
) -> None:
    assert findings(scored(seen, said)) == found


def test_a_score_is_a_value() -> None:
    assert scored(BY_RULE, "refused", "spec.worker") == scored(BY_RULE, "refused", "spec.worker")
