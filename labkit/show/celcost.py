"""What the rules of a definition cost: the costliest first, then what would make them cheaper."""

from __future__ import annotations

from labkit.languages import numeral
from labkit.show.document import Cell, Document, Facts, Mark, Note, Part, Table
from labkit.show.trace_words import say
from labkit.trace.celcost import Advice, Bound, Costs, Expression, SchemaTotal

__all__ = ["document"]

NEAR = 0.1
"""The part of a limit from which a cost is marked."""

AS_FACTOR = 10
"""The share from which it is told as a factor: percents beyond are hard to read."""

SMALLEST_SHARE = 0.001

SATURATED = 2**64 - 1
"""The server counts no further."""

MOST_BOUNDS = 8
"""Of more bounds together the first few are told, and how many others there are."""
FEW_BOUNDS = 4


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
    totals = {schema.version: schema.total for schema in value.schemas}
    advised = [(one, _advised(advice, totals[one.version])) for one in ordered for advice in one.advice]
    parts.append(_numbered(say("costs.advice"), advised, ordered))
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
    limits = tuple(say("costs.of", n=numeral(limit)) for limit in (first.expression_limit, first.schema_limit))
    told = (say("costs.places"), say("costs.kind"), say("costs.expression"))
    heads = ("#", *((say("costs.version"),) if several else ()), say("costs.cost"), *limits, *told)
    rows = []
    for number, one in enumerate(ordered, 1):
        mark = _mark(one)
        places = say("costs.unbounded") if one.cardinality is None else numeral(one.cardinality)
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
    return numeral(one.estimated_cost)


def _mark(one: Expression) -> Mark:
    if one.error or one.over:
        return "bad"
    return "changed" if one.share.expression >= NEAR or one.share.schema >= NEAR else ""


def _share(share: float, one: Expression) -> str:
    return "" if one.estimated_cost is None else _part(share)


def _part(share: float) -> str:
    if share >= AS_FACTOR:
        return say("costs.times", n=numeral(round(share)))
    return _percent(share) if share >= SMALLEST_SHARE or share == 0 else f"< {_percent(SMALLEST_SHARE)}"


def _percent(share: float) -> str:
    return say("costs.percent", n=numeral(share * 100, ".1f"))


def _total(total: SchemaTotal) -> Cell:
    share = total.total / total.limit
    mark: Mark = "bad" if share > 1 else "changed" if share >= NEAR else ""
    told = {"total": numeral(total.total), "limit": numeral(total.limit), "share": _part(share)}
    return Cell(say("costs.total", **told), mark)


def _advised(advice: Advice, total: int) -> str:
    """One advice on an expression of a schema that costs *total*, as a sentence."""
    if not advice.bounds:
        return _hopeless(advice)
    bounds, number = _bounds(advice.bounds), "one" if len(advice.bounds) == 1 else "many"
    if advice.kind == "total":
        told = say(f"advice.total.{number}", bounds=bounds, before=_spent(total), after=_spent(advice.total))
    else:
        told = say(f"advice.bounds.{number}", bounds=bounds, cost=_spent(advice.estimated_cost))
    if advice.kind == "room":
        told = say("advice.room", told=told)
    if not advice.one_more:
        return told
    return say(f"advice.more.{'one' if number == 'one' else advice.one_more}", told=told)


def _hopeless(advice: Advice) -> str:
    """That no bounds help, and why; for some something else does."""
    if advice.kind != "noBounds":
        return say(f"advice.{advice.kind}", n=numeral(advice.tried))
    told = say("advice.noBounds") if advice.least is None else say("advice.least", cost=_spent(advice.least))
    if advice.unsized:
        told = say("advice.unsized", told=told, parts=say("advice.or").join(advice.unsized))
    if advice.expression:
        cost = _spent(advice.estimated_cost)
        told = say("advice.format", told=told, expression=advice.expression, cost=cost)
    return told


def _bounds(bounds: tuple[Bound, ...]) -> str:
    said = [_bound(one) for one in (bounds if len(bounds) <= MOST_BOUNDS else bounds[:FEW_BOUNDS])]
    if len(said) < len(bounds):
        said.append(say("advice.others", n=numeral(len(bounds) - len(said))))
    return say("advice.and").join(said)


def _bound(bound: Bound) -> str:
    """A bound as an author writes it: its numbers are those of the manifest."""
    line = f"{bound.keyword}: {bound.value}"
    if bound.present is None:
        return say("advice.bound", bound=line, field=bound.field)
    return say("advice.bound.instead", bound=line, present=bound.present, field=bound.field)


def _spent(cost: int | None) -> str:
    return say("advice.saturated", n=numeral(SATURATED)) if cost == SATURATED else numeral(cost or 0)
