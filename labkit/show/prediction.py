"""A prediction, before (the question) and after (the score): what was right, and at which station the server decided.

Stations have the names they have in the figure of the path and in the notebook about it.
"""

from __future__ import annotations

from labkit.languages import translate, worded
from labkit.observe.fieldpaths import Nearness
from labkit.observe.prediction import Finding, Judged, Question, Score, Why, why
from labkit.observe.reasons import Station
from labkit.observe.verdict import GRAVEST_FIRST, Checking, Outcome, Verdict
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table

__all__ = ["MEANINGS", "STATIONS", "asked", "document", "question_document", "verdict_document"]

STATIONS: dict[Station, str] = {
    "request": worded("request"),
    "decoding": worded("decode"),
    "pruning": worded("prune"),
    "defaulting": worded("① fill defaults"),
    "admission": worded("admission"),
    "preparing": worded("prepare for storage"),
    "validation": worded("validate: schema"),
    "cel": worded("validate: CEL rules"),
    "ratcheting": worded("validate: old mistakes"),
}

MEANINGS: dict[Outcome, str] = {
    "accepted as is": worded("stored as it was sent"),
    "completed": worded("stored, with fields that were not sent"),
    "pruned": worded("stored, without a field that was sent"),
    "refused": worded("not stored"),
}
"""What each outcome means, for who chooses; where an object is pruned and completed, "pruned" is the one to choose."""

CHECKED: dict[Checking, str] = {
    "strict": worded("as kubectl apply sends it"),
    "warn": worded("as kubectl apply --validate=warn sends it"),
    "ignore": worded("as kubectl apply --validate=false sends it"),
}

SAYS: dict[Finding, str] = {
    "no such type or place": "{message}",
    "unknown field refused": worded(
        "{fields}: the schema has no such field, and kubectl asks for strict decoding: the path "
        "of this object ends here, and no later station judged it"
    ),
    "not decoded": "{message}",
    "denied": "{at}{message}",
    "schema": "{at}{message}",
    "rule": "{at}{message}",
    "defaults came first": worded("{fields}: left out in the manifest; its default is in place before a rule looks"),
    "rules not run": worded("not reached: mistakes that the schema found come first, and the rules were not run"),
    "pruned": worded("{fields}: the schema has no such field, so it is taken away; strict decoding was switched off"),
    "null dropped": worded("{fields}: a null where the schema allows none counts as left out"),
    "status dropped": worded("{fields}: status has a URL of its own, and what is sent to the other one is not taken"),
    "defaulted": worded("{fields}: left out in the manifest, so the schema's default was put in"),
    "changed": worded("{fields}: another value than the one sent, which only mutating admission brings about"),
    "nothing to do": worded("no unknown field, nothing left out that has a default, and every rule holds"),
    "forgiven": worded(
        "{at}{message}. A new object would be refused for this; an update is not, if it changes nothing there"
    ),
    "would be pruned": worded(
        "{fields}: not reached; only with --validate=false does an object come here with such a field, and loses it"
    ),
    "would be refused": worded(
        "{fields}: noted, and let through; strict decoding, kubectl's default, would refuse it here"
    ),
}

ASPECTS = {"outcome": worded("outcome"), "field": worded("field"), "rule": worded("rule")}
MARK_WORDS = {"right": worded("right"), "partly": worded("partly right"), "wrong": worded("wrong")}
MARKS: dict[str, Mark] = {"right": "good", "partly": "changed", "wrong": "bad"}

NEAR: dict[Nearness, str] = {
    "same": "",
    "case": worded("small and capital letters differ"),
    "tail": worded("write the whole path, from the top"),
    "above": worded("near: it is a field inside this one"),
    "below": worded("near: it is the field that holds this one"),
    "far": "",
}


def document(value: Score) -> Document:
    """What was said beside what the server says, then the server's reasons."""
    rows = tuple(_judged(one) for one in value.judged)
    table = Table(("", translate("you said"), translate("the server says"), "", ""), rows)
    title = translate("{about}: {result}", about=_about(value.verdict), result=_result(value))
    return Document(title, (table, _why(value.why)))


def verdict_document(value: Verdict) -> Document:
    """The server's answer alone."""
    outcomes = translate(" and ").join(value.outcomes)
    return Document(translate("{about}: {result}", about=_about(value), result=outcomes), (_why(why(value)),))


def question_document(value: Question) -> Document:
    """The question as text, with what to write to answer it in code."""
    outcomes = Facts(tuple((f'"{name}"', Cell(translate(MEANINGS[name]))) for name in reversed(GRAVEST_FIRST)))
    say = translate(
        'Say it before you look: lab.predict(…, outcome="…", field="…", rule="…"); field and rule may be left out.'
    )
    return Document(asked(value), (outcomes, Note(say)))


def asked(value: Question | Verdict) -> str:
    """The question in one sentence, which a verdict tells as well."""
    told = {"kind": value.kind, "name": value.name, "checked": translate(CHECKED[value.checking])}
    return translate("What will the server do with {kind} {name}, {checked}?", **told)


def _about(verdict: Verdict) -> str:
    checked = translate(CHECKED[verdict.checking])
    told = {"kind": verdict.kind, "name": verdict.name, "namespace": verdict.namespace, "checked": checked}
    if verdict.namespace:
        return translate("{kind} {name} in {namespace}, {checked}", **told)
    return translate("{kind} {name}, {checked}", **told)


def _result(value: Score) -> str:
    if value.right:
        return translate("your prediction is right")
    if value.points > 0:
        return translate("your prediction is partly right")
    return translate("your prediction is wrong")


def _judged(one: Judged) -> tuple[Cell, ...]:
    joint = translate(" and ") if one.aspect == "outcome" else ", "
    actual = joint.join(one.actual) if one.actual else translate("none")
    code = one.aspect != "outcome"
    return (
        Cell(translate(ASPECTS[one.aspect])),
        Cell(one.said, code=code),
        Cell(actual, code=code and bool(one.actual)),
        Cell(translate(MARK_WORDS[one.mark]), MARKS[one.mark]),
        Cell(_hint(one)),
    )


def _hint(one: Judged) -> str:
    if one.aspect == "field":
        return translate(NEAR[one.nearness])
    if one.mark != "partly":
        return ""
    return translate("which rule?") if one.aspect == "rule" else translate("it is more than that")


def _why(found: tuple[Why, ...]) -> Table:
    """A line for each thing done; the rules have a column of their own where there are any."""
    spoke = any(_rules(one) for one in found)
    ends = (translate("station"), translate("what happened there"))
    columns = (ends[0], translate("rule"), ends[1]) if spoke else ends
    rows = []
    for one in found:
        fields = ", ".join(one.fields)
        at = translate("{fields}: ", fields=fields) if fields else ""
        text = translate(SAYS[one.finding], fields=fields, at=at, message=one.message)
        rule = (Cell(_rules(one), code=bool(_rules(one))),) if spoke else ()
        rows.append((Cell(translate(STATIONS[one.station])), *rule, Cell(text)))
    return Table(columns, tuple(rows))


def _rules(one: Why) -> str:
    return translate(" or ").join(one.rules) if one.finding in ("schema", "rule", "forgiven") else ""
