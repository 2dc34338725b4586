"""A prediction, before (the question) and after (the score): what was right, and at which station the server decided.

Stations have the names they have in the figure of the path and in the notebook about it.
"""

from __future__ import annotations

from labkit.observe.fieldpaths import Nearness
from labkit.observe.prediction import Finding, Judged, Question, Score, Why, why
from labkit.observe.reasons import Station
from labkit.observe.verdict import GRAVEST_FIRST, Checking, Outcome, Verdict
from labkit.show.document import Cell, Document, Facts, Mark, Note, Part, Table

__all__ = ["MEANINGS", "STATIONS", "asked", "document", "question_document", "verdict_document"]

STATIONS: dict[Station, str] = {
    "request": "request",
    "decoding": "decode",
    "pruning": "prune",
    "defaulting": "① fill defaults",
    "admission": "admission",
    "preparing": "prepare for storage",
    "validation": "validate: schema",
    "cel": "validate: CEL rules",
    "ratcheting": "validate: old mistakes",
}

MEANINGS: dict[Outcome, str] = {
    "accepted as is": "stored as it was sent",
    "completed": "stored, with fields that were not sent",
    "pruned": "stored, without a field that was sent",
    "refused": "not stored",
}
"""What each outcome means, for who chooses; where an object is pruned and completed, "pruned" is the one to choose."""

CHECKED: dict[Checking, str] = {
    "strict": "as kubectl apply sends it",
    "warn": "as kubectl apply --validate=warn sends it",
    "ignore": "as kubectl apply --validate=false sends it",
}

SAYS: dict[Finding, str] = {
    "no such type or place": "{message}",
    "unknown field refused": "{fields}: the schema has no such field, and kubectl asks for strict decoding: the path "
    "of this object ends here, and no later station judged it",
    "not decoded": "{message}",
    "denied": "{at}{message}",
    "schema": "{at}{message}",
    "rule": "{at}{message}",
    "defaults came first": "{fields}: left out in the manifest; its default is in place before a rule looks",
    "rules not run": "not reached: mistakes that the schema found come first, and the rules were not run",
    "pruned": "{fields}: the schema has no such field, so it is taken away; strict decoding was switched off",
    "null dropped": "{fields}: a null where the schema allows none counts as left out",
    "status dropped": "{fields}: status has a URL of its own, and what is sent to the other one is not taken",
    "defaulted": "{fields}: left out in the manifest, so the schema's default was put in",
    "changed": "{fields}: another value than the one sent, which only mutating admission brings about",
    "nothing to do": "no unknown field, nothing left out that has a default, and every rule holds",
    "forgiven": "{at}{message}. A new object would be refused for this; an update is not, if it changes nothing there",
    "would be pruned": "{fields}: not reached; only with --validate=false does an object come here with such a field, "
    "and loses it",
    "would be refused": "{fields}: noted, and let through; strict decoding, kubectl's default, would refuse it here",
}

MARKS: dict[str, Mark] = {"right": "good", "partly": "changed", "wrong": "bad"}

NEAR: dict[Nearness, str] = {
    "same": "",
    "case": "small and capital letters differ",
    "tail": "write the whole path, from the top",
    "above": "near: it is a field inside this one",
    "below": "near: it is the field that holds this one",
    "far": "",
}


def document(value: Score) -> Document:
    """What was said beside what the server says, then the server's reasons."""
    rows = tuple(_judged(one) for one in value.judged)
    table = Table(("", "you said", "the server says", "", ""), rows)
    return Document(f"{_about(value.verdict)}: {_result(value)}", (table, _why(value.why)))


def verdict_document(value: Verdict) -> Document:
    """The server's answer alone."""
    return Document(f"{_about(value)}: {' and '.join(value.outcomes)}", (_why(why(value)),))


def question_document(value: Question) -> Document:
    """The question as text, with what to write to answer it in code."""
    outcomes = Facts(tuple((f'"{name}"', Cell(MEANINGS[name])) for name in reversed(GRAVEST_FIRST)))
    parts: list[Part] = [
        outcomes,
        Note(
            'Say it before you look: lab.predict(…, outcome="…", field="…", rule="…"); field and rule may be left out.'
        ),
    ]
    return Document(asked(value), tuple(parts))


def asked(value: Question) -> str:
    return f"What will the server do with {value.kind} {value.name}, {CHECKED[value.checking]}?"


def _about(verdict: Verdict) -> str:
    where = f" in {verdict.namespace}" if verdict.namespace else ""
    return f"{verdict.kind} {verdict.name}{where}, {CHECKED[verdict.checking]}"


def _result(value: Score) -> str:
    if value.right:
        return "your prediction is right"
    return "your prediction is partly right" if value.points > 0 else "your prediction is wrong"


def _judged(one: Judged) -> tuple[Cell, ...]:
    joint = " and " if one.aspect == "outcome" else ", "
    actual = joint.join(one.actual) if one.actual else "none"
    code = one.aspect != "outcome"
    return (
        Cell(one.aspect),
        Cell(one.said, code=code),
        Cell(actual, code=code and bool(one.actual)),
        Cell("partly right" if one.mark == "partly" else one.mark, MARKS[one.mark]),
        Cell(_hint(one)),
    )


def _hint(one: Judged) -> str:
    if one.aspect == "field":
        return NEAR[one.nearness]
    if one.mark != "partly":
        return ""
    return "which rule?" if one.aspect == "rule" else "it is more than that"


def _why(found: tuple[Why, ...]) -> Table:
    """A line for each thing done; the rules have a column of their own where there are any."""
    spoke = any(_rules(one) for one in found)
    columns = ("station", "rule", "what happened there") if spoke else ("station", "what happened there")
    rows = []
    for one in found:
        fields = ", ".join(one.fields)
        text = SAYS[one.finding].format(fields=fields, at=f"{fields}: " if fields else "", message=one.message)
        rule = (Cell(_rules(one), code=bool(_rules(one))),) if spoke else ()
        rows.append((Cell(STATIONS[one.station]), *rule, Cell(text)))
    return Table(columns, tuple(rows))


def _rules(one: Why) -> str:
    return " or ".join(one.rules) if one.finding in ("schema", "rule", "forgiven") else ""
