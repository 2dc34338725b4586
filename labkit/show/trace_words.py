"""The words of a trace and of the costs of rules: said by the views here, and by the script of the page that has both.

A notebook and a page must call the same thing by the same name, in every language. So the words stand here under ids,
the views look them up, and the page is built with the whole table in its language (``table``).

What the control plane's program says in English, the server's words apart, is in the table too, by what it is about:
``stage.pruning`` is the title of a stage, ``skipped.no old value`` the reason for which a rule was not run.
"""

from __future__ import annotations

from collections.abc import Mapping

from labkit.languages import language, translate, worded

__all__ = ["WORDS", "say", "say_of", "table"]

WORDS: Mapping[str, str] = {
    # the columns of a path
    "column.stage": worded("stage"),
    "column.field": worded("field"),
    "column.what": worded("what"),
    "column.detail": worded("detail"),
    # what a stage is called, and what it is, as the program says it
    "name.decoding": worded("decoding"),
    "name.pruning": worded("pruning"),
    "name.defaulting": worded("defaulting"),
    "name.admission": worded("admission"),
    "name.preparing": worded("preparing"),
    "name.validation": worded("validation"),
    "name.cel": worded("cel"),
    "name.ratcheting": worded("ratcheting"),
    "name.conversion": worded("conversion"),
    "name.storing": worded("storing"),
    "name.reading": worded("reading"),
    "name.read-pruning": worded("read-pruning"),
    "name.read-defaulting": worded("read-defaulting"),
    "name.read-conversion": worded("read-conversion"),
    "stage.decoding": worded("The body becomes an object"),
    "stage.pruning": worded("Fields that the schema does not know are dropped"),
    "stage.defaulting": worded("Absent fields get the schema's defaults"),
    "stage.admission": worded("Webhooks and policies may change the object"),
    "stage.preparing": worded("Fields that belong to the server are set"),
    "stage.validation": worded("Values are compared with the schema"),
    "stage.cel": worded("CEL rules are run"),
    "stage.ratcheting": worded("Errors in what did not change are forgiven"),
    "stage.conversion": worded("The object is converted to the storage version"),
    "stage.storing": worded("The object is written to etcd"),
    "stage.reading": worded("The object is read from etcd"),
    "stage.read-pruning": worded("Fields that the stored version's schema does not know are dropped"),
    "stage.read-defaulting": worded("Absent fields get the defaults of the stored version"),
    "stage.read-conversion": worded("The object is converted to the version that was asked for"),
    # what a stage did
    "decoding.none": worded("no field is unknown, none is given twice"),
    "complaints.one": worded("{n} field to complain of"),
    "complaints.many": worded("{n} fields to complain of"),
    "decoding.twice": worded("given twice"),
    "decoding.unknown": worded("unknown"),
    "decoding.unreadable": worded("cannot be read"),
    "pruning.none": worded("nothing to prune"),
    "pruning.one": worded("{n} field pruned"),
    "pruning.many": worded("{n} fields pruned"),
    "pruning.pruned": worded("pruned"),
    "pruning.null": worded("pruned: may not be null"),
    "defaulting.none": worded("nothing is missing that has a default"),
    "defaulting.one": worded("{n} field filled in"),
    "defaulting.many": worded("{n} fields filled in"),
    "defaulting.defaulted": worded("defaulted"),
    "admission.none configured": worded("none configured"),
    "preparing.generation": worded("generation {n}"),
    "preparing.dropped": worded("dropped"),
    "preparing.kept": worded("kept as it was"),
    "validation.none": worded("nothing to complain of"),
    "validation.refused": worded("refused"),
    "forgiven": worded("forgiven"),
    "cel.none": worded("the schema has no rules"),
    "cel.passed": worded("{n} passed"),
    "cel.failed": worded("{n} failed"),
    "cel.error": worded("{n} error"),
    "cel.skipped": worded("{n} skipped"),
    "cel.all": worded("{counts}; cost {cost} of {budget}"),
    "rule.passed": worded("passed, cost {cost}"),
    "rule.failed": worded("failed, cost {cost}"),
    "rule.error": worded("error, cost {cost}"),
    "rule.passed.forgiven": worded("passed, forgiven, cost {cost}"),
    "rule.failed.forgiven": worded("failed, forgiven, cost {cost}"),
    "rule.error.forgiven": worded("error, forgiven, cost {cost}"),
    "rule.skipped": worded("skipped: {why}"),
    "skipped.no old value": worded("no old value"),
    "skipped.null value": worded("null value"),
    "skipped.schema errors block": worded("schema errors block"),
    "skipped.budget exhausted": worded("budget exhausted"),
    "ratcheting.none": worded("nothing had to be forgiven"),
    "ratcheting.one": worded("{n} field because nothing changed there"),
    "ratcheting.many": worded("{n} fields because nothing changed there"),
    "ratcheting.warning": worded("warning"),
    "conversion.none": worded("not needed: it is {version} already"),
    "conversion.done": worded("from {before} to {after}"),
    # the whole path
    "done.create": worded("sent as new"),
    "done.update": worded("sent in place of what is stored"),
    "done.read": worded("read from etcd"),
    "verdict.accepted": worded("accepted"),
    "verdict.refused": worded("refused"),
    "verdict.unknown": worded("unknown"),
    "title.nameless": worded("an object"),
    "title.in": worded("{name} in {namespace}"),
    "title.judged": worded("{what}: {verdict}"),
    "title.but": worded("{what}, but {reason}"),
    "title.because": worded("{what}, because {reason}"),
    "pages.stage": worded("stage {n} of {all}, {told}"),
    "pages.outcome": worded("outcome"),
    "pages.told": worded("{name}: {summary}"),
    "folds": worded("stage by stage, the object after each:"),
    "object.after": worded("the object after it"),
    "object.unchanged": worded("the object is as it was"),
    "object.same": worded("the object, as it was"),
    "object.by": worded("done by"),
    "outcome.warning": worded("Warning: {text}"),
    "outcome.answer": worded("the server's answer: {status}"),
    "outcome.stored": worded("in etcd"),
    "outcome.read": worded("read"),
    "outcome.both": worded("in etcd, and read"),
    "lines.left out": worded("… {n} lines"),
    # what rules cost
    "costs.title": worded("cost of the rules of {source}: {verdict}"),
    "costs.refused": worded("refused by the server"),
    "costs.accepted": worded("accepted by the server"),
    "costs.none": worded("no rules, so nothing to spend"),
    "costs.all": worded("all of {version}"),
    "costs.path": worded("path"),
    "costs.advice": worded("advice"),
    "costs.said": worded("what the server says"),
    "costs.version": worded("version"),
    "costs.cost": worded("cost"),
    "costs.of": worded("of {n}"),
    "costs.places": worded("places"),
    "costs.kind": worded("kind"),
    "costs.expression": worded("expression"),
    "costs.unbounded": worded("unbounded"),
    "costs.uncompiled": worded("does not compile"),
    "costs.unestimated": worded("not estimated"),
    "costs.times": worded("{n} times"),
    "costs.total": worded("{total} of {limit} ({share})"),
    "costs.percent": worded("{n}%"),
    # what would make them cheaper
    "advice.bound": worded("{bound} on {field}"),
    "advice.bound.instead": worded("{bound} instead of {present} on {field}"),
    "advice.and": worded(" and "),
    "advice.or": worded(" or "),
    "advice.others": worded("{n} other bounds of the like"),
    "advice.bounds.one": worded("{bounds} makes it cost {cost}"),
    "advice.bounds.many": worded("{bounds} together make it cost {cost}"),
    "advice.total.one": worded("for the schema's total: {bounds} brings it from {before} to {after}"),
    "advice.total.many": worded("for the schema's total: {bounds} together bring it from {before} to {after}"),
    "advice.room": worded("accepted, and leaves little room for other rules: {told}, at most a tenth of the limit"),
    "advice.more.one": worded("{told} (one more would be too many)"),
    "advice.more.any": worded("{told} (one more of any would be too many)"),
    "advice.more.each": worded("{told} (one more of each would be too many)"),
    "advice.noBounds": worded("no bound helps: what it costs depends on no maxLength, maxItems or maxProperties"),
    "advice.least": worded("no bound helps: with the least ones it still costs {cost}"),
    "advice.unsized": worded("{told}; nothing tells how long {parts} can be, so the greatest length is assumed"),
    "advice.format": worded("{told}; format() helps: {expression} costs {cost}"),
    "advice.noRoom": worded(
        "accepted, and leaves little room for other rules: no bound brings it to a tenth of the limit"
    ),
    "advice.noTotal": worded(
        "the schema's total is over its limit, and bounds for its costliest expressions ({n}) are not enough"
    ),
    "advice.defaults": worded("bounds that would be enough do not go with the schema's default values"),
    "advice.saturated": worded("{n} or more"),
}


def say(key: str, /, **named: object) -> str:
    """The words of *key* in the language that is spoken; their fields (``{n}``) are filled in."""
    return translate(WORDS[key], **named)


def say_of(about: str, text: str) -> str:
    """What the program says in English, *text*, in the language that is spoken, where the table has it."""
    return translate(WORDS.get(f"{about}.{text}", text))


def table() -> dict[str, str]:
    """All words in the language that is spoken, with their fields (``{n}``), by id; and whose numbers go with them, as
    ``number.language``.
    """
    return {key: translate(text) for key, text in WORDS.items()} | {"number.language": language()}
