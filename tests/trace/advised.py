"""Definitions that get advice of every kind on what their rules cost, in all the words there are for it.

No two expressions of one cost the same: the server names the costliest, and chooses between equal ones by chance.
"""

from __future__ import annotations

from .definitions import PAIR, Json, array, definition, fields, many, message, rule, text

__all__ = ["ADVISED"]

_LONG = text(100_000)
_UNSIZED = "string(self.n).contains(string(self.m))"

ADVISED: dict[str, Json] = {
    "a bound, of which one more is too many": definition(array(text(), **rule("self.all(x, self.exists(y, x == y))"))),
    "a lower bound": definition(array({**PAIR, **rule("self.min <= self.max")}, 5_000_000)),
    "bounds together": definition(array(array(array(text(8, **rule("self == 'a'")), 3000), 3000), 3000)),
    "a bound that leaves room": definition(array({**PAIR, **rule("self.min <= self.max")}, 1_200_000)),
    "no room": definition(array({**PAIR, **rule("self.min <= self.max")}, 1_200_000, minItems=1_200_000)),
    "a bound for the total": definition(
        array(
            {**PAIR, "x-kubernetes-validations": [{"rule": f"self.min + {n} <= self.max"} for n in range(15)]},
            1_200_000,
        )
    ),
    "bounds for the total": definition(many(23_000_000, 12)),
    "many bounds for the total": definition(
        fields({f"l{n}": array(text(20 + n), **rule("self.all(x, self.exists(y, x == y))")) for n in range(30)})
    ),
    "no total": definition(
        fields(
            {
                f"l{n}": array(PAIR, 2_000_000 - n, minItems=2_000_000 - n, **rule("self.all(x, true)"))
                for n in range(20)
            }
        )
    ),
    "bounds that a default forbids": definition(
        fields({"l": array(_LONG, **rule("self.all(x, self.all(y, x != y || x == y))"))}, default={"l": ["a"] * 20})
    ),
    "nothing to bound, and format": definition(fields({"n": {"type": "integer"}}, **message("'n ' + string(self.n)"))),
    "bounds that are not enough": definition(
        fields({"l": array({"type": "integer"}, 3)}, **message("self.l.map(x, 'x' + string(x)).join(',')"))
    ),
    "two parts of any length, without end": definition(
        array(array(fields({"n": {"type": "integer"}, "m": {"type": "integer"}}, **rule(_UNSIZED))))
    ),
}
