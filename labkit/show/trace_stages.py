"""What each stage of a trace did, in a few words and row by row: what every view of a path is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TypeAlias

from labkit.observe.changes import ABSENT, Absent, Json, compact, differences, dotted
from labkit.show.document import Mark
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

__all__ = ["Row", "Station", "stations"]

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
    return stage.title, ()


@told.register
def _(stage: Decoding) -> Told:
    found = [(path, "given twice") for path in stage.duplicated] + [(path, "unknown") for path in stage.unknown]
    rows = [Row(path, what, _line_about(path, stage.errors), "changed") for path, what in found]
    told_of = {row.detail for row in rows}
    rest = (line for line in map(_on_one_line, stage.errors) if line not in told_of)
    rows += [Row("", "cannot be read", line, "bad") for line in rest]
    return _count(rows, "no field is unknown, none is given twice", "{} to complain of"), tuple(rows)


@told.register
def _(stage: Pruning) -> Told:
    rows = [Row(path, "pruned", "", "removed") for path in stage.paths]
    rows += [Row(path, "pruned: may not be null", "null", "removed") for path in stage.nulls]
    return _count(rows, "nothing to prune", "{} pruned"), tuple(rows)


@told.register
def _(stage: Defaulting) -> Told:
    rows = [Row(one.path, "defaulted", compact(one.value), "added") for one in stage.added]
    return _count(rows, "nothing is missing that has a default", "{} filled in"), tuple(rows)


@told.register
def _(stage: Admission) -> Told:
    return stage.text, ()


@told.register
def _(stage: Preparing) -> Told:
    rows = [Row(path, "dropped", "", "removed") for path in stage.dropped]
    rows += [Row(path, "kept as it was", "", "quiet") for path in stage.kept]
    return f"generation {stage.generation}", tuple(rows)


@told.register
def _(stage: Validation) -> Told:
    rows = tuple(_complaint(error) for error in stage.errors)
    return _count(rows, "nothing to complain of", "{} to complain of"), rows


def _complaint(error: FieldError) -> Row:
    rest = error.line.removeprefix(f"{error.field}: ")
    if error.forgiven:
        return Row(error.field, "forgiven", rest, "quiet")
    return Row(error.field, "refused", rest, "bad")


@told.register
def _(stage: Cel) -> Told:
    if not stage.rules:
        return "the schema has no rules", ()
    rows = tuple(_rule(one) for one in stage.rules)
    results = [one.result for one in stage.rules]
    counts = [f"{results.count(name)} {name}" for name in ("passed", "failed", "error", "skipped") if name in results]
    return f"{', '.join(counts)}; cost {stage.cost:,} of {stage.budget:,}", rows


def _rule(one: RuleResult) -> Row:
    if one.result == "skipped":
        return Row(one.path, f"skipped: {one.skipped}", one.rule, "quiet")
    what, mark = f"{one.result}, cost {one.cost:,}", RULE_MARKS[one.result]
    if one.forgiven:
        what, mark = f"{one.result}, forgiven, cost {one.cost:,}", "quiet"
    said = one.line.removeprefix(f"{one.path}: ") or one.message
    return Row(one.path, what, f"{one.rule}  →  {said}" if one.result != "passed" and said else one.rule, mark)


@told.register
def _(stage: Ratcheting) -> Told:
    rows = [Row("", "forgiven", line, "quiet") for line in stage.forgiven]
    rows += [Row("", "warning", line, "changed") for line in stage.warnings]
    return _count(rows, "nothing had to be forgiven", "{} because nothing changed there"), tuple(rows)


@told.register
def _(stage: Conversion) -> Told:
    rows = tuple(Row(path, "pruned", "", "removed") for path in stage.pruned)
    if stage.from_version == stage.to_version:
        return f"not needed: it is {stage.from_version} already", rows
    return f"from {stage.from_version} to {stage.to_version}", rows


@told.register
def _(stage: Storing) -> Told:
    return stage.key, ()


def _line_about(path: str, lines: tuple[str, ...]) -> str:
    """The decoder's own words about a field."""
    return next((_on_one_line(line) for line in lines if f'"{path}"' in line), "")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _count(rows: list[Row] | tuple[Row, ...], none: str, some: str) -> str:
    return some.format(f"{len(rows)} field{'s' if len(rows) > 1 else ''}") if rows else none


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
