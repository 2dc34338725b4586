"""What the rules of a definition cost before any object exists, and what would make them cheaper.

The API server estimates each rule for the worst object that the schema allows, and refuses the definition when the
estimate is too high. It says only by how much, not what the rule costs, nor which bound would be enough. The control
plane's program has the server's own estimates, and looks for bounds by estimating again; here they are frozen values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from labkit.trace.codec import decode, encode

__all__ = ["Advice", "Bound", "Costs", "Expression", "SchemaTotal", "Share"]

EXACT_IN_JSON = 2**53
"""Readers of JSON may round greater numbers, so those are written as strings."""

_NUMBERS = ("estimatedCost", "cardinality", "total", "least")


@dataclass(frozen=True)
class Bound:
    """A keyword to set: *keyword* (maxLength, maxItems, maxProperties) at the schema *path*, to at most *value*.

    *field* is where the schema's values lie in an object (``spec.hosts[].labels[*]``); *present* is the value
    that the keyword has now, None if it has none.
    """

    path: str
    field: str
    keyword: str
    value: int
    present: int | None


@dataclass(frozen=True)
class Advice:
    """One way to a lower cost: all of *bounds* set, or *expression* written instead; or that there is none, and why.

    *kind* is what the bounds do: they bring an expression that is refused under its limit (``bounds``), one that is
    accepted to a tenth of it (``room``), or the schema under its own, to *total* (``total``). No bounds do that
    (``noBounds``, ``noRoom``, ``noTotal``), or none that leave the default values valid (``defaults``).
    *one_more* is "any" if one more of any of the bounds would be too many, "each" if one more of each, all at once.
    *estimated_cost* is the expression's with the advice followed, estimated anew; None if there is nothing to follow.
    *least* is what the expression costs even with the least bounds, None if it depends on none; *unsized* are parts of
    it whose greatest length is assumed; *tried* is for how many expressions bounds were looked for.
    """

    kind: Literal["bounds", "room", "total", "noBounds", "noRoom", "noTotal", "defaults"]
    bounds: tuple[Bound, ...]
    estimated_cost: int | None
    one_more: Literal["", "any", "each"] = ""
    total: int | None = None
    expression: str = ""
    least: int | None = None
    unsized: tuple[str, ...] = ()
    tried: int = 0


@dataclass(frozen=True)
class Share:
    """The cost as a part of the limit of an expression, and of a schema; 1 is all of it."""

    expression: float
    schema: float


@dataclass(frozen=True)
class Expression:
    """One rule or messageExpression of one version; *path* is that of the server's errors.

    *estimated_cost* is the number that the server compares with *expression_limit*; None if the expression does not
    compile. *cardinality* is how often its place can occur in one object, None if nothing bounds that; a rule's cost is
    for all of them, a messageExpression's for one. *error* is what the server says of it, "" if nothing.
    """

    version: str
    path: str
    kind: Literal["rule", "messageExpression"]
    expression: str
    estimated_cost: int | None
    cardinality: int | None
    expression_limit: int
    schema_limit: int
    advice: tuple[Advice, ...]
    error: str
    share: Share = field(repr=False)

    @property
    def over(self) -> bool:
        """Whether it costs more than an expression may."""
        return self.estimated_cost is not None and self.estimated_cost > self.expression_limit


@dataclass(frozen=True)
class SchemaTotal:
    """What all expressions of one version's schema cost together."""

    version: str
    path: str
    total: int
    limit: int


@dataclass(frozen=True)
class Costs:
    """All of one definition, called *source*. *lines* are the server's complaints about it, of whatever kind."""

    source: str
    expressions: tuple[Expression, ...]
    schemas: tuple[SchemaTotal, ...]
    lines: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """Whether the server would refuse the definition."""
        return bool(self.lines)

    @property
    def other_lines(self) -> tuple[str, ...]:
        """The complaints that are about no expression."""
        places = tuple(f"{one.path}: " for one in self.expressions)
        return tuple(line for line in self.lines if not line.startswith(places))

    @classmethod
    def from_answer(cls, result: Mapping[str, Any], source: str) -> Costs:
        """From the *result* of an answer. Raises TraceError when it is not of the form described here."""
        return decode(cls, {"source": source, **_exact(result)}, "result")

    def to_json(self) -> list[dict[str, Any]]:
        """The expressions; a cost above 2^53 is a string."""
        found = [encode(one) for one in self.expressions]
        for one in found:
            del one["share"]
            one["estimatedCost"] = _written(one["estimatedCost"])
            one["cardinality"] = _written(one["cardinality"])
            for advice in one["advice"]:
                advice["estimatedCost"] = _written(advice["estimatedCost"])
                advice["least"] = _written(advice["least"])
        return found


def _exact(raw: Any, key: str = "") -> Any:
    """*raw* with integers where JSON had strings of digits, and floats where JSON had "0"."""
    if isinstance(raw, Mapping):
        return {name: float(one) if key == "share" else _exact(one, name) for name, one in raw.items()}
    if isinstance(raw, list):
        return [_exact(one) for one in raw]
    return int(raw) if key in _NUMBERS and isinstance(raw, str) else raw


def _written(number: int | None) -> int | str | None:
    return str(number) if number is not None and number > EXACT_IN_JSON else number
