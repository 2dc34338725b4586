"""The short way to build an object whose scalars are as they should be: a function written out for each set of keys.

Most documents are right. For those the checks of plain scalars are comparisons, and calling a function for each costs
more than the comparison.

It decides nothing of its own: where a key is not known or a required one is missing there is none, and at the first
scalar that is not plainly right it gives up before it has built anything; then the general way
(labkit.resources.building) is taken from the start. Only when all scalars are right are the other fields built, each
once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from labkit.resources.containers import Map
from labkit.resources.errors import Refusal
from labkit.resources.state import Shapes, compiled, state_within

__all__ = ["Builders"]


class Builders(Shapes[Any]):
    """Keys of a document, in order → the function from it to an instance, or to None for the general way."""

    @staticmethod
    def general(_: dict[str, Any]) -> None:
        """There is no short way."""

    def _plain(self, keys: tuple[str, ...]) -> bool:
        """Whether all keys are known, all required ones are there, and both of apiVersion and kind, or none."""
        fields, prelude = self.state.fields, self.state.prelude
        known = all(key in fields or key in prelude for key in keys)
        whole = len(prelude.keys() & keys) in (0, len(prelude))
        return known and whole and not self.state.lenient and all(key in keys for key in self.state.required)

    def written(self, keys: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
        if not self._plain(keys):
            return self.general
        prelude = self.state.prelude
        names: dict[str, Any] = {"new": partial(object.__new__, self.state.cls), "Refusal": Refusal}
        looks: list[str] = []
        builds: list[str] = []
        for number, key in enumerate(keys):
            one = f"v{number}"
            if key in prelude:
                looks.append(f" if {one} != {prelude[key]!r}: return None")
                continue
            field = self.state.fields[key]
            wrong = field.plainly_wrong(one, number, names)
            inner = state_within(field)
            if wrong is not None:  # then it is a scalar or a plain map
                looks.append(f" if {wrong}: return None")
                if isinstance(field, Map):
                    builds.append(f" {one} = {one}.copy()")
                continue
            names[f"c{number}"] = field.coerce
            built = f"c{number}({one})"
            if inner is not None:  # an object or a struct: its short way, without a call to look for it
                names[f"b{number}"] = inner.builders
                looks.append(f" if type({one}) is not dict: return None")
                built = f"b{number}[tuple({one})]({one}) or {built}"
            else:
                looks.append(f" if {one} is None: return None")
            builds.append(f" try: {one} = {built}")
            builds.append(f" except Refusal as refusal: problems += refusal.under({key!r})")
        if builds:
            builds.insert(0, " problems = []")
            builds.append(" if problems: raise Refusal(problems, inflated=True)")
        values = [f"{key!r}: {value!r}" for key, value in prelude.items() if key not in keys]
        values += [
            f"{key!r}: {repr(prelude[key]) if key in prelude else f'v{number}'}" for number, key in enumerate(keys)
        ]
        end = [" made = new()", f" made._values = {{{', '.join(values)}}}", " return made"]
        return compiled(keys, [*looks, *builds, *end], names)  # type: ignore[no-any-return]
