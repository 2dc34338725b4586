"""What the rules of a definition cost: the costliest first, then what would make them cheaper."""

from __future__ import annotations

from labkit.show.document import Cell, Document, Facts, Mark, Note, Part, Table
from labkit.show.trace_words import say
from labkit.show.units import grouped
from labkit.trace.celcost import Costs, Expression, SchemaTotal

__all__ = ["document"]

NEAR = 0.1
"""The part of a limit from which a cost is marked."""

AS_FACTOR = 10
"""The share from which it is told as a factor: percents beyond are hard to read."""

SMALLEST_SHARE = 0.001


def document(value: Costs) -> Document:
    """Costs, totals, where each expression lies, advice, and what the server says; numbered, the costliest first."""
    ordered = sorted(value.expressions, key=lambda one: -(one.estimated_cost or 0))
    verdict = say("costs.refused") if value.refused else say("costs.accepted")
    parts: list[Part] = []
    if ordered:
        parts.append(_costs(ordered, several=len(value.schemas) > 1))
        parts.append(Facts(tuple((say("costs.all", version=total.version), _total(total)) for total in value.schemas)))
        parts.append(_numbered(say("costs.path"), [(one, one.path) for one in ordered], ordered))
    else:
        parts.append(Note(say("costs.none")))
    parts.append(
        _numbered(say("costs.advice"), [(one, advice.text) for one in ordered for advice in one.advice], ordered)
    )
    said = [(one, line) for one in ordered for line in one.error.splitlines()]
    parts.append(_numbered(say("costs.said"), said, ordered, "bad", value.other_lines))
    kept = tuple(part for part in parts if not isinstance(part, Table) or part.rows)
    title = say("costs.title", source=value.source, verdict=verdict)
    return Document(title, kept)


def _numbered(
    head: str,
    said: list[tuple[Expression, str]],
    ordered: list[Expression],
    mark: Mark = "",
    others: tuple[str, ...] = (),
) -> Table:
    """Texts under the numbers of their expressions, then texts about none."""
    numbers = {id(one): str(number) for number, one in enumerate(ordered, 1)}
    rows = [(Cell(numbers[id(one)]), Cell(text, mark)) for one, text in said]
    rows += [(Cell(""), Cell(text, mark)) for text in others]
    return Table(("#", head), tuple(rows))


def _costs(ordered: list[Expression], *, several: bool) -> Table:
    first = ordered[0]
    limits = tuple(say("costs.of", n=grouped(limit)) for limit in (first.expression_limit, first.schema_limit))
    told = (say("costs.places"), say("costs.kind"), say("costs.expression"))
    heads = ("#", *((say("costs.version"),) if several else ()), say("costs.cost"), *limits, *told)
    rows = []
    for number, one in enumerate(ordered, 1):
        mark = _mark(one)
        places = say("costs.unbounded") if one.cardinality is None else grouped(one.cardinality)
        said = (_cost(one), _share(one.share.expression, one), _share(one.share.schema, one))
        version = (Cell(one.version),) if several else ()
        numbers = tuple(Cell(text, mark) for text in said)
        rows.append(
            (Cell(str(number)), *version, *numbers, Cell(places), Cell(one.kind), Cell(one.expression, code=True))
        )
    return Table(heads, tuple(rows))


def _cost(one: Expression) -> str:
    if one.estimated_cost is None:
        return say("costs.uncompiled") if one.error else say("costs.unestimated")
    return grouped(one.estimated_cost)


def _mark(one: Expression) -> Mark:
    if one.error or one.over:
        return "bad"
    return "changed" if one.share.expression >= NEAR or one.share.schema >= NEAR else ""


def _share(share: float, one: Expression) -> str:
    return "" if one.estimated_cost is None else _part(share)


def _part(share: float) -> str:
    if share >= AS_FACTOR:
        return say("costs.times", n=grouped(round(share)))
    return f"{share:.1%}" if share >= SMALLEST_SHARE or share == 0 else f"< {SMALLEST_SHARE:.1%}"


def _total(total: SchemaTotal) -> Cell:
    share = total.total / total.limit
    mark: Mark = "bad" if share > 1 else "changed" if share >= NEAR else ""
    told = {"total": grouped(total.total), "limit": grouped(total.limit), "share": _part(share)}
    return Cell(say("costs.total", **told), mark)
