"""What a person expects of an object, put beside what the API server really says: the score, and the reasons.

"Guess, then look" teaches only when the guess is written down first and when a wrong guess is answered by more than
"wrong": which part was right (the outcome, the field, the rule), how near the rest was, and at which station of the
object's path the server did what it did. All of that is values here, so that a notebook, an exercise's check and a page
can score the same prediction alike; sentences are a matter of views.

A field counts as right when it is the path the server prints, however it is spelled (a dot in front, a JSON pointer,
indices as names). Its parent, its child or its last part alone is near, and said to be, but not right.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from labkit.cluster import Cluster
from labkit.errors import CourseError
from labkit.languages import translate
from labkit.observe import fieldpaths
from labkit.observe.changes import Change, Kind
from labkit.observe.fieldpaths import Nearness, Steps
from labkit.observe.reasons import KEYWORDS, UNKNOWN_FIELD, Reason, Station
from labkit.observe.verdict import GRAVEST_FIRST, Checking, Choices, Outcome, Verdict, ask, choices

__all__ = [
    "Aspect",
    "Finding",
    "Judged",
    "Mark",
    "Prediction",
    "PredictionError",
    "Question",
    "Score",
    "Why",
    "question",
    "score",
    "why",
]

Mark: TypeAlias = Literal["right", "partly", "wrong"]
Aspect: TypeAlias = Literal["outcome", "field", "rule"]

_POINTS: Mapping[Mark, float] = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
_ALSO_SAID: Mapping[str, Outcome] = {
    "accepted": "accepted as is",
    "as is": "accepted as is",
    "defaulted": "completed",
    "filled": "completed",
    "rejected": "refused",
    "invalid": "refused",
}
_BETTER: tuple[Nearness, ...] = ("same", "case", "tail", "above", "below", "far")
_BY_NEARNESS: Mapping[Nearness, Mark] = {"same": "right", "far": "wrong"}
"""Everything between is partly right."""


class PredictionError(CourseError, ValueError):
    """A prediction that says nothing one could score."""


@dataclass(frozen=True)
class Prediction:
    """What somebody expects: one outcome or several, perhaps at which *field* and by which *rule* ("" where unsaid).

    For something accepted *field* is one that is pruned or filled in.
    """

    outcomes: tuple[Outcome, ...]
    field: str = ""
    rule: str = ""

    @classmethod
    def of(cls, outcome: str | Sequence[str], field: str | None = None, rule: str | None = None) -> Prediction:
        """From what a person writes; small and capital letters and blanks do not matter. Raises PredictionError."""
        words = [outcome] if isinstance(outcome, str) else list(outcome)
        said = {_outcome(word) for word in words}
        if not said:
            raise _unknown_outcome("[]")
        if len(said) > 1 and said != {"completed", "pruned"}:
            raise PredictionError(
                translate("these outcomes exclude each other"),
                evidence=translate(" and ").join(sorted(said)),
                next_act=translate('name one; only "pruned" and "completed" can happen together'),
            )
        if field and not fieldpaths.is_path(field):
            raise PredictionError(
                translate("field {field} is no path of a field", field=repr(field)),
                next_act=translate('write it as the server does, "spec.ports[0].name"'),
            )
        return cls(tuple(one for one in GRAVEST_FIRST if one in said), (field or "").strip(), (rule or "").strip())


def _outcome(word: str) -> Outcome:
    plain = " ".join(str(word).lower().replace("_", " ").replace("-", " ").split())
    found = _ALSO_SAID.get(plain, plain)
    if found not in get_args(Outcome):
        raise _unknown_outcome(repr(word))
    return cast("Outcome", found)


def _unknown_outcome(said: str) -> PredictionError:
    known = ", ".join(f'"{one}"' for one in reversed(GRAVEST_FIRST))
    return PredictionError(
        translate("outcome {outcome} is not known", outcome=said), next_act=translate("one of {known}", known=known)
    )


@dataclass(frozen=True)
class Judged:
    """One part of a prediction: what was *said*, what is the case (*actual*, each of several), and the mark.

    *nearness* says how a field missed: "case", "tail", "above", "below" or "far"; "same" for what is right, and "far"
    for what else is wrong.
    """

    aspect: Aspect
    said: str
    actual: tuple[str, ...]
    mark: Mark
    nearness: Nearness


Finding: TypeAlias = Literal[
    "no such type or place",
    "unknown field refused",
    "not decoded",
    "denied",
    "schema",
    "rule",
    "defaults came first",
    "rules not run",
    "pruned",
    "null dropped",
    "status dropped",
    "defaulted",
    "changed",
    "nothing to do",
    "forgiven",
    "would be pruned",
    "would be refused",
]


@dataclass(frozen=True)
class Why:
    """One thing the server did, at one *station* of the path: to which *fields*, by which *rules*, in what words."""

    station: Station
    finding: Finding
    fields: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Score:
    """A prediction judged: *judged* has its parts, outcome first; *why* what the server did, in the path's order."""

    prediction: Prediction
    verdict: Verdict
    judged: tuple[Judged, ...]
    why: tuple[Why, ...]

    @property
    def right(self) -> bool:
        """Whether everything that was said is right."""
        return all(one.mark == "right" for one in self.judged)

    @property
    def points(self) -> float:
        """From 0 to 1: the mean of the parts, of which one partly right counts a half."""
        return sum(_POINTS[one.mark] for one in self.judged) / len(self.judged)

    def mark(self, aspect: Aspect) -> Mark | None:
        """The mark of one part; None where the prediction said nothing of it."""
        return next((one.mark for one in self.judged if one.aspect == aspect), None)


@dataclass(frozen=True)
class Question:
    """The question before the answer: which object is asked about, what can be chosen, and who knows the answer.

    *answer* asks the server and scores; nothing has been asked about the object before it is called.
    """

    kind: str
    name: str
    checking: Checking
    choices: Choices
    answer: Callable[[Prediction], Score] = field(repr=False, compare=False)


def question(
    cluster: Cluster, manifest: Mapping[str, Any], *, checking: Checking = "strict", namespace: str = "ch54"
) -> Question:
    """The question about *manifest*. Raises as ``verdict.choices``; its answer raises as ``verdict.ask``."""
    sent = copy.deepcopy(dict(manifest))
    found = choices(cluster, sent, namespace=namespace)

    def answer(prediction: Prediction) -> Score:
        return score(prediction, ask(cluster, sent, checking=checking, namespace=namespace))

    return Question(str(sent["kind"]), str(sent["metadata"]["name"]), checking, found, answer)


def score(prediction: Prediction, verdict: Verdict) -> Score:
    """Put *prediction* beside the server's *verdict*. Pure: the same two give the same score."""
    judged = [_outcomes(prediction, verdict)]
    if prediction.field:
        judged.append(_field(prediction, verdict))
    if prediction.rule:
        judged.append(_rule(prediction, verdict))
    return Score(prediction, verdict, tuple(judged), why(verdict, prediction))


# -- outcome, field, rule -------------------------------------------------------------------------------------------


def _outcomes(prediction: Prediction, verdict: Verdict) -> Judged:
    """Who names one thing where two happened is right with the graver, and partly right with the other."""
    said, actual = prediction.outcomes, verdict.outcomes
    mark: Mark = "wrong"
    if said in (actual, actual[:1]):
        mark = "right"
    elif set(said) & set(actual):
        mark = "partly"
    return Judged("outcome", " and ".join(said), actual, mark, "same" if mark == "right" else "far")


def _field(prediction: Prediction, verdict: Verdict) -> Judged:
    said = fieldpaths.parse(prediction.field)
    told = dict.fromkeys(_fields(prediction, verdict))
    near: Nearness = min((fieldpaths.compare(said, meant) for meant in told), key=_BETTER.index, default="far")
    if verdict.outcome == "refused":
        shown = tuple(dict.fromkeys(reason.field for reason in verdict.reasons if reason.field))
    else:
        shown = tuple(change.dotted for change in _spoken_of(prediction, verdict))
    return Judged("field", prediction.field, shown, _BY_NEARNESS.get(near, "partly"), near)


def _fields(prediction: Prediction, verdict: Verdict) -> Iterator[Steps]:
    if verdict.outcome == "refused":
        yield from (reason.steps for reason in verdict.reasons)
    for change in _spoken_of(prediction, verdict):
        steps = fieldpaths.steps_of(change.path)
        yield steps
        for value in (change.before, change.after):
            yield from ((*steps, *inside) for inside in _inside(value))


def _spoken_of(prediction: Prediction, verdict: Verdict) -> tuple[Change, ...]:
    """The changes that the predicted outcome is about; all of them where it did not happen."""
    kinds: Mapping[Outcome, tuple[str, ...]] = {"pruned": ("pruned", "dropped"), "completed": ("defaulted", "changed")}
    wanted = [kind for outcome in prediction.outcomes for kind in kinds.get(outcome, ())]
    return tuple(change for change in verdict.changes if change.kind in wanted) or verdict.changes


def _inside(value: Any) -> Iterator[Steps]:
    """The paths of everything within a value that came or went as a whole."""
    items: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, below in items:
        yield (str(key),)
        yield from ((str(key), *inside) for inside in _inside(below))


def _rule(prediction: Prediction, verdict: Verdict) -> Judged:
    """Right by the rule's text, by the message it gave, or by the schema's keyword, with or without its value.

    Where the field said is one that was refused, the rule must be the one that refused it; another's is partly right.
    """
    actual = tuple(dict.fromkeys(rule for reason in verdict.reasons for rule in reason.rules))
    said, at = _plain(prediction.rule), fieldpaths.parse(prediction.field)
    there = [reason for reason in verdict.reasons if prediction.field and reason.steps == at] or verdict.reasons
    mark: Mark = "wrong"
    if any(_names(said, reason) for reason in there):
        mark = "right"
    elif any(_names(said, reason) or said in _SOME_RULE.get(reason.station, ()) for reason in verdict.reasons):
        mark = "partly"
    return Judged("rule", prediction.rule, actual, mark, "same" if mark == "right" else "far")


_SOME_RULE: Mapping[Station, tuple[str, ...]] = {
    "cel": ("cel", "rule", "validation", "x-kubernetes-validations"),
    "validation": ("schema", "validation", "openapi"),
    "decoding": ("strict", "validate", "decoding"),
}
"""Right kinds of rules, which do not say which one."""


_KEYWORD = re.compile(r"[a-z-]+")
_COPIED = 12
"""Letters of a message, at least, that somebody copied and did not guess."""


def _names(said: str, reason: Reason) -> bool:
    keyword = _KEYWORD.match(said)
    for rule in reason.rules:
        if said == _plain(rule) or (rule in KEYWORDS and keyword is not None and keyword[0] == _plain(rule)):
            return True
    message = _plain(reason.message)  # whole, or without "Invalid value: …"
    return said == message or (len(said) >= _COPIED and message.endswith(said))


def _plain(text: str) -> str:
    return "".join(text.lower().strip("`").split())


# -- why ------------------------------------------------------------------------------------------------------------


def why(verdict: Verdict, expected: Prediction | None = None) -> tuple[Why, ...]:
    """What the server did to the object, station by station; of what was *expected* instead, what became of that."""
    outcomes = expected.outcomes if expected is not None else ()
    found = _why_refused(verdict, outcomes) if verdict.outcome == "refused" else _why_accepted(verdict, outcomes)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: _ORDER.index(one.station)))


_ORDER: tuple[Station, ...] = get_args(Station)


def _why_accepted(verdict: Verdict, expected: tuple[Outcome, ...]) -> Iterator[Why]:
    did: dict[tuple[Station, Finding], list[str]] = {}
    for change in verdict.changes:
        did.setdefault(_did(change), []).append(change.dotted)
    for (station, finding), fields in did.items():
        yield Why(station, finding, tuple(fields))
        if finding == "pruned" and "refused" in expected:
            yield Why("decoding", "would be refused", tuple(fields))
    if not verdict.changes:
        yield Why("validation", "nothing to do")
    for reason in verdict.forgiven:
        yield Why("ratcheting", "forgiven", (reason.field,), reason.rules, reason.message)


def _did(change: Change) -> tuple[Station, Finding]:
    """Where on the path a change was made."""
    if change.kind == "dropped":
        return ("preparing", "status dropped") if change.path[0] == "status" else ("pruning", "null dropped")
    places: Mapping[Kind, tuple[Station, Finding]] = {
        "pruned": ("pruning", "pruned"),
        "defaulted": ("defaulting", "defaulted"),
    }
    return places.get(change.kind, ("admission", "changed"))


def _why_refused(verdict: Verdict, expected: tuple[Outcome, ...]) -> Iterator[Why]:
    for reason in verdict.reasons:
        fields = (reason.field,) if reason.field else ()
        yield Why(reason.station, _finding(reason), fields, reason.rules, reason.message)
        filled = tuple(path for path in verdict.defaults if _under(path, reason.steps))
        if reason.station == "cel" and filled:
            yield Why("defaulting", "defaults came first", filled, reason.rules)
    if verdict.unchecked:
        yield Why("cel", "rules not run")
    unknown = tuple(reason.field for reason in verdict.reasons if reason.rules == (UNKNOWN_FIELD,))
    if unknown and set(expected) & {"pruned", "completed", "accepted as is"}:
        yield Why("pruning", "would be pruned", unknown)


def _under(path: str, steps: Steps) -> bool:
    return fieldpaths.parse(path)[: len(steps)] == steps


def _finding(reason: Reason) -> Finding:
    if reason.station == "decoding" and reason.rules == (UNKNOWN_FIELD,):
        return "unknown field refused"
    return _FOUND.get(reason.station, "not decoded")


_FOUND: Mapping[Station, Finding] = {
    "request": "no such type or place",
    "admission": "denied",
    "validation": "schema",
    "cel": "rule",
}
