"""What a step brought, put beside what it should: a finding in plain words, or nothing.

A refusal is expected by field and rule, never by "an error happened": an object that is refused for another reason than
the one the task is about has not met the rule asked for. Whatever the server did in the way asked for is right, by
whatever spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.exercises.acting import Did
from labkit.exercises.probes import Step
from labkit.exercises.report import Finding
from labkit.observe import fieldpaths
from labkit.observe.prediction import PredictionError, Score
from labkit.observe.reasons import Reason

__all__ = ["cannot_predict", "judge", "judge_score", "value_at"]

_DOES = {
    "answer": "the answer is applied",
    "apply": "applied",
    "create": "created",
    "replace": "replaced",
    "patch": "patched",
    "scale": "scaled",
    "delete": "deleted",
    "read": "read",
}
_STATIONS = {
    "cel": "a rule in CEL",
    "schema": "the schema",
    "decoding": "strict decoding",
    "rbac": "the rights (RBAC)",
    "admission": "an admission policy",
}
_ABSENT = object()
_LONGEST = 400
_RULE_AGAIN = re.compile(r'\{"Rule":".*?"OptionalOldSelf":(?:null|true|false)\}: ', re.DOTALL)
"""A rule as the server quotes it in a refusal, all its fields: so long that what is wrong with it would be cut off."""


def judge(step: Step, did: Did, *, hidden: bool = False) -> Finding | None:
    """The finding on a step that was done; None when it holds."""
    spoke = _spoke(step, did)
    wrong = _outcome(step, did) or (_refusal(step, did, spoke) if step.expect == "refused" else _shown(step, did))
    if wrong is None:
        return None
    expected, got = wrong
    return _finding(step, expected, got, spoke, hidden=hidden, next_act=_mend(step, did))


def _mend(step: Step, did: Did) -> str:
    """What to do about an answer that did not even come to the probes."""
    if step.do != "answer":
        return ""
    if did.run is not None:
        return "run it by itself until it ends without an error, and prints the objects as YAML"
    if did.tool and "YAML" in did.words:
        return "look at the line that is named: blanks at the beginning of a line, colons and quotes matter"
    if did.tool:
        return "correct this in the answer's cell and run the cell, then check again"
    return "kubectl apply of your answer says the same: correct what it names, then check again"


def judge_score(step: Step, score: Score, *, hidden: bool = False) -> Finding | None:
    """The finding on a prediction; None when everything that is asked for is said and right."""
    said = {one.aspect: one for one in score.judged}
    for aspect in step.asks:
        if aspect not in said and not _unasked(aspect, score):
            return _finding(step, f"the {aspect} too", f"the prediction names no {aspect}", None, hidden=hidden)
    wrong = [one for one in score.judged if one.mark != "right" and one.aspect in step.asks]
    if not wrong:
        return None
    first = wrong[0]
    return _finding(
        step,
        "a prediction that the server agrees with",
        f'the {first.aspect} you predicted, "{first.said}", is {_MARKS[first.mark]}',
        None,
        hidden=hidden,
    )


_MARKS = {"partly": "only partly right", "wrong": "not what the server does"}


def cannot_predict(step: Step, error: PredictionError | None, *, hidden: bool = False) -> Finding:
    """The finding where there is no prediction to score."""
    got = f"{error.state}" if error is not None else f"there is no prediction for {step.key!r}"
    known = error.next_act if error is not None else f"write {step.key}: with an outcome"
    return _finding(step, "a prediction", got, None, hidden=hidden, next_act=known)


def _unasked(aspect: str, score: Score) -> bool:
    """Whether the server has nothing to say of this aspect: an object taken as it is has no field and no rule."""
    if aspect == "rule":
        return not any(reason.rules for reason in score.verdict.reasons)
    return aspect == "field" and not (score.verdict.reasons or score.verdict.changes)


def value_at(value: Any, path: str) -> Any:
    """What is at a dotted path (indices count from 0); a mark of absence when nothing is."""
    for step in fieldpaths.parse(path):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value


# -- the parts ------------------------------------------------------------------------------------------------------


def _outcome(step: Step, did: Did) -> tuple[str, str] | None:
    expected, got = step.expect, did.outcome
    if expected == "any" and got.startswith("exit"):
        return None
    if step.do == "ask" and (expected in did.outcomes or (expected == "accepted" and got != "refused")):
        return None
    if expected == got and not (did.tool and expected == "refused"):
        return None
    return _expected(step), _got(did)


def _refusal(step: Step, did: Did, spoke: Reason | None) -> tuple[str, str] | None:
    """The refusal is there: is it the one the task is about?"""
    if step.fields is None and not step.by and not step.message:
        return None
    if spoke is None or not (_at(step, spoke) and _by(step, spoke, did)):
        return f"{_expected(step)}{_where(step)}", _got(did)
    if step.message and not re.search(step.message, spoke.message or did.message):
        return "refused, with a message as the task asks for it", _got(did)
    return None


def _shown(step: Step, did: Did) -> tuple[str, str] | None:
    for path, wanted in step.shows.items():
        found = value_at(did.value, path)
        if wanted is None and found in (_ABSENT, None):
            continue
        if found is _ABSENT or found != wanted:
            said = f"{path} is {_said(found)}"
            return f"{path} to be {_said(_ABSENT if wanted is None else wanted)}", said
    for path, pattern in step.matches.items():
        found = value_at(did.value, path)
        if found is _ABSENT or not re.search(pattern, str(found)):
            return f"{path} as the task asks for it", f"{path} is {_said(found)}"
    for pattern in step.prints:
        if did.run is None or not re.search(pattern, did.run.stdout):
            printed = did.run.stdout.strip()[:_LONGEST] if did.run is not None else ""
            return "an output as the task asks for it", f"the script printed {printed or 'nothing'}"
    return None


def _said(value: Any) -> str:
    return "absent" if value is _ABSENT else repr(value) if isinstance(value, str) else str(value)


def _spoke(step: Step, did: Did) -> Reason | None:
    """The reason that the step is about: of several the one that fits best."""
    if not did.reasons:
        return None
    return max(
        did.reasons, key=lambda one: (_at(step, one) and _by(step, one, did), _at(step, one), _by(step, one, did))
    )


def _at(step: Step, reason: Reason) -> bool:
    return step.fields is None or reason.steps in [fieldpaths.parse(field) for field in step.fields]


def _by(step: Step, reason: Reason, did: Did) -> bool:
    if not step.by:
        return True
    if step.by == "rbac":
        return reason.station == "admission" and "is forbidden" in did.message
    if step.by == "schema":
        return reason.station == "validation"
    return step.by == reason.station or step.by in reason.rules


def _expected(step: Step) -> str:
    words = {
        "exit0": "exit code 0",
        "exit1": "exit code 1",
        "any": "an end by itself",
        "yes": f"{step.user.rpartition(':')[2]} may do this",
        "no": f"{step.user.rpartition(':')[2]} may not do this",
    }
    return words.get(step.expect, step.expect)


def _where(step: Step) -> str:
    at = " or ".join(field or "the whole object" for field in step.fields or ())
    by = _STATIONS.get(step.by, step.by)
    return f"{f' at {at}' if at else ''}{f' by {by}' if by else ''}"


def _got(did: Did) -> str:
    message = " ".join(_RULE_AGAIN.sub("", did.message).split())[:_LONGEST]
    who = did.words if did.run is not None or did.tool else f"the server {did.words}"
    return f"{who}: {message}" if message else who


def _finding(  # noqa: PLR0913  (a finding has these parts)
    step: Step, expected: str, got: str, spoke: Reason | None, *, hidden: bool, next_act: str = ""
) -> Finding:
    field = spoke.field if spoke is not None else ""
    rule = " or ".join(spoke.rules) if spoke is not None else ""
    said = re.sub(
        r"\{(got|field|rule)\}",
        lambda name: {"got": got, "field": field or "the whole object", "rule": rule or "no rule"}[name[1]],
        step.otherwise,
    )
    return Finding(expected, got, field, rule, said or next_act, step.name or _DOES.get(step.do, step.do), hidden)
