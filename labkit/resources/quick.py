"""The short way to build an object whose scalars are as they should be: a function written out for each set of keys.

Most documents are right, and have one of a few sets of keys. For those the checks of plain scalars are comparisons, and
calling a function for each costs more than the comparison; so, as ``dataclasses`` does, the function is written as text
and compiled, when the keys are first met.

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
from labkit.resources.state import ClassState

__all__ = ["Builders"]

Builder = Callable[[dict[str, Any]], Any]

_MOST_SHAPES, _MOST_KEYS = 64, 200


def _never(_: dict[str, Any]) -> None:
    """Where there is no short way."""


class Builders(dict[tuple[str, ...], Builder]):
    """Keys of a document, in order → the function from it to an instance, or to None for the general way."""

    def __init__(self, cls: Any, state: ClassState) -> None:
        super().__init__()
        self.cls, self.state = cls, state

    def __missing__(self, keys: tuple[str, ...]) -> Builder:
        if len(self) >= _MOST_SHAPES or len(keys) > _MOST_KEYS:
            return _never
        self[keys] = builder = self._written(keys) if self._plain(keys) else _never
        return builder

    def _plain(self, keys: tuple[str, ...]) -> bool:
        """Whether all keys are known, all required ones are there, and both of apiVersion and kind, or none."""
        fields, prelude = self.state.fields, self.state.prelude
        known = all(key in fields or key in prelude for key in keys)
        whole = len(prelude.keys() & keys) in (0, len(prelude))
        return known and whole and not self.state.lenient and all(key in keys for key in self.state.required)

    def _written(self, keys: tuple[str, ...]) -> Builder:
        prelude = self.state.prelude
        names: dict[str, Any] = {"__name__": __name__, "new": partial(object.__new__, self.cls), "Refusal": Refusal}
        looks: list[str] = []
        builds: list[str] = []
        for number, key in enumerate(keys):
            one = f"v{number}"
            if key in prelude:
                looks.append(f" if {one} != {prelude[key]!r}: return None")
                continue
            field = self.state.fields[key]
            wrong = field.plainly_wrong(one, number, names)
            inner = getattr(field.target, "__labkit__", None)
            if wrong is not None:  # then it is a scalar or a plain map
                looks.append(f" if {wrong}: return None")
                if isinstance(field, Map):
                    builds.append(f" {one} = {one}.copy()")
                continue
            names[f"c{number}"] = field.coerce
            built = f"c{number}({one})"
            if isinstance(inner, ClassState):  # an object or a struct: its short way, without a call to look for it
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
        lines = [
            "def quick(document):",
            *(f" v{number} = document[{key!r}]" for number, key in enumerate(keys)),
            *looks,
            *builds,
            " made = new()",
            f" made._values = {{{', '.join(values)}}}",
            " return made",
        ]
        exec("\n".join(lines), names)  # noqa: S102  (the text is made here, of keys written by repr)
        quick: Builder = names["quick"]
        return quick
