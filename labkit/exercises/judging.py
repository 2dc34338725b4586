"""What a step brought, put beside what it should: a finding in plain words, or nothing.

A refusal is expected by field and rule, never by "an error happened": an object that is refused for another reason than
the one the task is about has not met the rule asked for. Whatever the server did in the way asked for is right, by
whatever spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labkit.exercises.acting import Did
from labkit.exercises.probes import Step
from labkit.exercises.report import Finding
from labkit.languages import translate, worded
from labkit.observe import fieldpaths
from labkit.observe.prediction import PredictionError, Score
from labkit.observe.reasons import Reason

__all__ = ["cannot_predict", "cannot_try", "died", "judge", "judge_score", "value_at"]

_DOES = {
    "answer": worded("the answer is applied"),
    "apply": worded("applied"),
    "create": worded("created"),
    "replace": worded("replaced"),
    "patch": worded("patched"),
    "scale": worded("scaled"),
    "delete": worded("deleted"),
    "read": worded("read"),
}
_STATIONS = {
    "cel": worded("a rule in CEL"),
    "schema": worded("the schema"),
    "decoding": worded("strict decoding"),
    "rbac": worded("the rights (RBAC)"),
    "admission": worded("an admission policy"),
}
_ABSENT = object()
_LONGEST = 400
_COSTLY = re.compile(r"exceeds budget|exceeding cost limit")
_QUOTED = re.compile(
    r'\{"Rule":".*?"OptionalOldSelf":(?:null|true|false)\}: |'
    r'Invalid value: "\{.*": (?=strict decoding error)|'
    r" revision=\d+",
    re.DOTALL,
)
"""A rule with all its fields, or a patched object whole, as the server quotes them in a refusal: so long that what is
wrong would be cut off. An object says when it was made, too, and so does a revision: the same answer has another."""


def judge(step: Step, did: Did, *, hidden: bool = False) -> Finding | None:
    """The finding on a step that was done; None when it holds."""
    spoke = _spoke(step, did)
    wrong = _outcome(step, did, spoke) or (
        _refusal(step, did, spoke) if step.expect == "refused" else _shown(step, did)
    )
    if wrong is None:
        return None
    expected, got = wrong
    if did.run is not None and did.run.died and not _outcome(step, did):
        return died(step, did, hidden=hidden)
    return _finding(step, expected, got, spoke, hidden=hidden, next_act=_mend(step, did))


def died(step: Step, did: Did, *, hidden: bool = False) -> Finding:
    """The finding on a script that died of an error, and whose exit code is the one expected all the same."""
    return _finding(step, translate(_EXPECTED["any"]), _got(did), None, hidden=hidden)


def cannot_try(found: Finding, refused: str) -> Finding:
    """*found*, of a step that something *refused* before it should have made possible: no cause but that is known."""
    return replace(found, got=translate("could not be tried: {name} was refused above", name=refused), next_act="")


def _mend(step: Step, did: Did) -> str:
    """What to do about an answer that did not even come to the probes."""
    if step.do != "answer":
        return ""
    if did.run is not None:
        return translate("run it by itself until it ends without an error, and prints the objects as YAML")
    if did.tool and "YAML" in did.words:
        return translate("look at the line that is named: blanks at the beginning of a line, colons and quotes matter")
    if did.tool:
        return translate("correct this in the answer's cell and run the cell, then check again")
    if _COSTLY.search(did.message):
        return translate(
            "`labkit cel-cost FILE` says of your answer's file what each rule costs, and what would lower it"
        )
    return translate("kubectl apply of your answer says the same: correct what it names, then check again")


def judge_score(step: Step, score: Score, *, hidden: bool = False) -> Finding | None:
    """The finding on a prediction; None when everything that is asked for is said and right."""
    said = {one.aspect: one for one in score.judged}
    wrong = [one for one in score.judged if one.mark != "right" and one.aspect in step.asks]
    missing = [aspect for aspect in step.asks if aspect not in said and not _unasked(aspect, score)]
    if missing and not wrong:
        expected, got = _NOT_SAID[missing[0]]
        return _finding(step, translate(expected), translate(got), None, hidden=hidden)
    if not wrong:
        return None
    first = wrong[0]
    got = translate(_MARKS[first.aspect, first.mark], said=first.said)
    return _finding(step, translate("a prediction that the server agrees with"), got, None, hidden=hidden)


_NOT_SAID = {
    "outcome": (worded("the outcome too"), worded("the prediction names no outcome")),
    "field": (worded("the field too"), worded("the prediction names no field")),
    "rule": (worded("the rule too"), worded("the prediction names no rule")),
}
_MARKS = {
    ("outcome", "partly"): worded('the outcome you predicted, "{said}", is only partly right'),
    ("outcome", "wrong"): worded('the outcome you predicted, "{said}", is not what the server does'),
    ("field", "partly"): worded('the field you predicted, "{said}", is only partly right'),
    ("field", "wrong"): worded('the field you predicted, "{said}", is not what the server does'),
    ("rule", "partly"): worded('the rule you predicted, "{said}", is only partly right'),
    ("rule", "wrong"): worded('the rule you predicted, "{said}", is not what the server does'),
}


def cannot_predict(step: Step, error: PredictionError | None, *, hidden: bool = False) -> Finding:
    """The finding where there is no prediction to score."""
    got = error.state if error is not None else translate("there is no prediction for {key}", key=repr(step.key))
    known = error.next_act if error is not None else translate("write {key}: with an outcome", key=step.key)
    return _finding(step, translate("a prediction"), got, None, hidden=hidden, next_act=known)


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


def _outcome(step: Step, did: Did, spoke: Reason | None = None) -> tuple[str, str] | None:
    expected, got = step.expect, did.outcome
    if expected == "any" and got.startswith("exit"):
        return None
    if step.do == "ask" and (expected in did.outcomes or (expected == "accepted" and got != "refused")):
        return None
    if expected == got and not (did.tool and expected == "refused"):
        return None
    return _expected(step), _got(did, spoke)


def _refusal(step: Step, did: Did, spoke: Reason | None) -> tuple[str, str] | None:
    """The refusal is there: is it the one the task is about?"""
    if step.fields is None and not step.by and not step.message:
        return None
    if spoke is None or not (_at(step, spoke) and _by(step, spoke, did)):
        return _where(step), _got(did, spoke)
    if step.message and not re.search(step.message, spoke.message or did.message):
        return translate("refused, with a message as the task asks for it"), _got(did, spoke)
    return None


def _shown(step: Step, did: Did) -> tuple[str, str] | None:
    for path, wanted in step.shows.items():
        found = value_at(did.value, path)
        if wanted is None and found in (_ABSENT, None):
            continue
        if found is _ABSENT or found != wanted:
            return _to_be(path, _ABSENT if wanted is None else wanted), _is(path, found)
    for path, pattern in step.matches.items():
        found = value_at(did.value, path)
        if found is _ABSENT or not re.search(pattern, str(found)):
            return translate("{path} as the task asks for it", path=path), _is(path, found)
    for pattern in step.prints:
        if did.run is None or not re.search(pattern, did.run.stdout):
            printed = did.run.stdout.strip()[:_LONGEST] if did.run is not None else ""
            nothing = translate("the script printed nothing")
            said = translate("the script printed {text}", text=printed) if printed else nothing
            return translate("an output as the task asks for it"), _with_complaint(said, did)
    return None


def _with_complaint(said: str, did: Did) -> str:
    complaint = did.run.complaint if did.run is not None else ""
    return translate("{said}, and complained: {complaint}", said=said, complaint=complaint) if complaint else said


def _to_be(path: str, value: Any) -> str:
    if value is _ABSENT:
        return translate("{path} to be absent", path=path)
    return translate("{path} to be {value}", path=path, value=_said(value))


def _is(path: str, value: Any) -> str:
    if value is _ABSENT:
        return translate("{path} is absent", path=path)
    return translate("{path} is {value}", path=path, value=_said(value))


def _said(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _spoke(step: Step, did: Did) -> Reason | None:
    """The reason that the step is about: of several the one that fits best."""
    if not did.reasons:
        return None
    costly = step.do == "answer" and _COSTLY.search(did.message)

    def fits(one: Reason) -> tuple[bool, bool, bool, int]:
        """How well. What costs too much is said of the whole schema first, and then of the rule that does."""
        at, by = _at(step, one), _by(step, one, did)
        return at and by, at, by, len(one.steps) if costly else 0

    return max(did.reasons, key=fits)


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
    if step.expect in ("yes", "no"):
        user = step.user.rpartition(":")[2]
        yes, no = translate("{user} may do this", user=user), translate("{user} may not do this", user=user)
        return yes if step.expect == "yes" else no
    return translate(_EXPECTED[step.expect])


_EXPECTED = {
    "accepted": worded("accepted"),
    "refused": worded("refused"),
    "completed": worded("completed"),
    "pruned": worded("pruned"),
    "accepted as is": worded("accepted as is"),
    "exit0": worded("exit code 0"),
    "exit1": worded("exit code 1"),
    "any": worded("an end by itself"),
}


def _where(step: Step) -> str:
    """A refusal that is expected, with where and by what."""
    whole = translate("the whole object")
    told = {
        "field": translate(" or ").join(field or whole for field in step.fields or ()),
        "by": translate(_STATIONS[step.by]) if step.by in _STATIONS else step.by,
    }
    if not told["field"]:
        return translate("refused by {by}", **told) if told["by"] else _expected(step)
    return translate("refused at {field} by {by}", **told) if told["by"] else translate("refused at {field}", **told)


def _got(did: Did, spoke: Reason | None = None) -> str:
    """What it did and said. Of a long message, whose end is cut off, what the step is about comes first."""
    message = " ".join(_QUOTED.sub("", did.message).split())
    if len(message) > _LONGEST and spoke is not None and spoke.field:
        told = [spoke, *(one for one in did.reasons if one is not spoke)]
        message = " ".join("; ".join(f"{one.field}: {_QUOTED.sub('', one.message)}" for one in told).split())
    message = _cut(message)
    who = did.words if did.run is not None or did.tool else translate("the server {did_it}", did_it=did.words)
    return translate("{who}: {message}", who=who, message=message) if message else who


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _finding(  # noqa: PLR0913  (a finding has these parts)
    step: Step, expected: str, got: str, spoke: Reason | None, *, hidden: bool, next_act: str = ""
) -> Finding:
    field = spoke.field if spoke is not None else ""
    rule = translate(" or ").join(spoke.rules) if spoke is not None else ""
    filled = {"got": got, "field": field or translate("the whole object"), "rule": rule or translate("no rule")}
    said = re.sub(r"\{(got|field|rule)\}", lambda name: filled[name[1]], step.otherwise)
    probe = step.name or translate(_DOES.get(step.do, step.do))
    return Finding(expected, got, field, rule, said or next_act, probe, hidden)
