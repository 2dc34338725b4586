"""What each stage of a trace did, in a few words and row by row: what every view of a path is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TypeAlias

from labkit.languages import numeral
from labkit.observe.changes import ABSENT, Absent, Json, compact, differences, dotted
from labkit.show.document import Mark
from labkit.show.trace_words import WORDS, say, say_of
from labkit.trace.values import (
    Admission,
    Cel,
    Conversion,
    Decoding,
    Defaulting,
    FieldError,
    Preparing,
    Pruning,
    Ratcheting,
    RuleResult,
    Stage,
    Storing,
    Trace,
    Validation,
)

__all__ = ["Row", "Station", "stations", "title_of"]

RULE_MARKS: dict[str, Mark] = {"passed": "good", "failed": "bad", "error": "bad", "skipped": "quiet"}


@dataclass(frozen=True)
class Row:
    """One thing a stage did, or found."""

    field: str
    what: str
    detail: str = ""
    mark: Mark = ""


@dataclass(frozen=True)
class Station:
    """One stage as it is shown: what it did in a few words, row by row, and the object before and after."""

    number: int
    stage: Stage
    summary: str
    rows: tuple[Row, ...]
    before: Json | Absent
    after: Json
    mark: Mark

    @property
    def happened(self) -> bool:
        """Whether there is more to it than that the object came through."""
        return bool(self.rows) or self.before != self.after


def stations(value: Trace) -> tuple[Station, ...]:
    """The stages of a trace in the order reached."""
    found = []
    for number, (stage, before, after) in enumerate(value.steps, start=1):
        summary, rows = told(stage)
        rows = _with_values(rows, before, after)
        mark: Mark = "bad" if any(row.mark == "bad" for row in rows) else ""
        found.append(Station(number, stage, summary, rows, ABSENT if before is None else before, after, mark))
    if value.verdict == "refused" and found and not any(one.mark for one in found):
        found[-1] = replace(found[-1], mark="bad")
    return tuple(found)


# -- what each stage did ---------------------------------------------------------------------------------------------

Told: TypeAlias = tuple[str, tuple[Row, ...]]


@singledispatch
def told(stage: Stage) -> Told:
    """What a stage did in a few words, and row by row. A stage nobody knows here tells its title."""
    return title_of(stage), ()


def title_of(stage: Stage) -> str:
    """What it is for, in the language that is spoken."""
    known = f"stage.{stage.name}"
    return say(known) if WORDS.get(known) == stage.title else stage.title


@told.register
def _(stage: Decoding) -> Told:
    found = [(path, say("decoding.twice")) for path in stage.duplicated]
    found += [(path, say("decoding.unknown")) for path in stage.unknown]
    rows = [Row(path, what, _line_about(path, stage.errors), "changed") for path, what in found]
    told_of = {row.detail for row in rows}
    rest = (line for line in map(_on_one_line, stage.errors) if line not in told_of)
    rows += [Row("", say("decoding.unreadable"), line, "bad") for line in rest]
    return _count(rows, "decoding", "complaints"), tuple(rows)


@told.register
def _(stage: Pruning) -> Told:
    rows = [Row(path, say("pruning.pruned"), "", "removed") for path in stage.paths]
    rows += [Row(path, say("pruning.null"), "null", "removed") for path in stage.nulls]
    return _count(rows, "pruning"), tuple(rows)


@told.register
def _(stage: Defaulting) -> Told:
    rows = [Row(one.path, say("defaulting.defaulted"), compact(one.value), "added") for one in stage.added]
    return _count(rows, "defaulting"), tuple(rows)


@told.register
def _(stage: Admission) -> Told:
    return say_of("admission", stage.text), ()


@told.register
def _(stage: Preparing) -> Told:
    rows = [Row(path, say("preparing.dropped"), "", "removed") for path in stage.dropped]
    rows += [Row(path, say("preparing.kept"), "", "quiet") for path in stage.kept]
    return say("preparing.generation", n=stage.generation), tuple(rows)


@told.register
def _(stage: Validation) -> Told:
    rows = tuple(_complaint(error) for error in stage.errors)
    return _count(rows, "validation", "complaints"), rows


def _complaint(error: FieldError) -> Row:
    rest = error.line.removeprefix(f"{error.field}: ")
    if error.forgiven:
        return Row(error.field, say("forgiven"), rest, "quiet")
    return Row(error.field, say("validation.refused"), rest, "bad")


@told.register
def _(stage: Cel) -> Told:
    if not stage.rules:
        return say("cel.none"), ()
    rows = tuple(_rule(one) for one in stage.rules)
    results = [one.result for one in stage.rules]
    names = [name for name in ("passed", "failed", "error", "skipped") if name in results]
    counts = ", ".join(say(f"cel.{name}", n=results.count(name)) for name in names)
    return say("cel.all", counts=counts, cost=numeral(stage.cost), budget=numeral(stage.budget)), rows


def _rule(one: RuleResult) -> Row:
    if one.result == "skipped":
        return Row(one.path, say("rule.skipped", why=say_of("skipped", one.skipped)), one.rule, "quiet")
    forgiven = ".forgiven" if one.forgiven else ""
    what = say(f"rule.{one.result}{forgiven}", cost=numeral(one.cost))
    mark: Mark = "quiet" if one.forgiven else RULE_MARKS[one.result]
    said = one.line.removeprefix(f"{one.path}: ") or one.message
    return Row(one.path, what, f"{one.rule}  →  {said}" if one.result != "passed" and said else one.rule, mark)


@told.register
def _(stage: Ratcheting) -> Told:
    rows = [Row("", say("forgiven"), line, "quiet") for line in stage.forgiven]
    rows += [Row("", say("ratcheting.warning"), line, "changed") for line in stage.warnings]
    return _count(rows, "ratcheting"), tuple(rows)


@told.register
def _(stage: Conversion) -> Told:
    rows = tuple(Row(path, say("pruning.pruned"), "", "removed") for path in stage.pruned)
    if stage.from_version == stage.to_version:
        return say("conversion.none", version=stage.from_version), rows
    return say("conversion.done", before=stage.from_version, after=stage.to_version), rows


@told.register
def _(stage: Storing) -> Told:
    return stage.key, ()


def _line_about(path: str, lines: tuple[str, ...]) -> str:
    """The decoder's own words about a field."""
    return next((_on_one_line(line) for line in lines if f'"{path}"' in line), "")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _count(rows: list[Row] | tuple[Row, ...], none: str, some: str = "") -> str:
    """The words ``none.none`` where there is no row, else ``some.one`` or ``some.many``; *some* defaults to *none*."""
    if not rows:
        return say(f"{none}.none")
    return say(f"{some or none}.{'one' if len(rows) == 1 else 'many'}", n=len(rows))


def _with_values(rows: tuple[Row, ...], before: Json, after: Json) -> tuple[Row, ...]:
    """The rows; those of something taken away with the value it had."""
    if not any(_wants_value(row) for row in rows):
        return rows
    had: dict[str, Json | Absent] = {}
    for one in differences(before, after):
        had.setdefault(dotted(one.path), one.before)
    return tuple(replace(row, detail=compact(had.get(row.field, ABSENT))) if _wants_value(row) else row for row in rows)


def _wants_value(row: Row) -> bool:
    return row.mark == "removed" and not row.detail
