"""The short way to build an object whose scalars are as they should be: a function written out for its class.

Most documents are right. For those the checks of plain scalars are comparisons, and calling a function for each costs
more than the comparison; so, as ``dataclasses`` does, the function is written as text and compiled, once a class.

It decides nothing of its own: at the first scalar that is not plainly right, and for every key it does not know, it
gives up before it has built anything, and the general way (labkit.resources.building) is taken from the start. Only
when all scalars are right are the other fields built, each once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.resources.errors import Problem, Refusal
from labkit.resources.scalars import Bool, Int, Str
from labkit.resources.state import ClassState

__all__ = ["quick_builder"]

_MISSING = object()
_WITH_PRELUDE = " if 'kind' in document or 'apiVersion' in document else {**prelude, **document}"


def quick_builder(cls: Any, state: ClassState) -> Callable[[dict[str, Any]], Any] | None:
    """The function from a dict to an instance, or to None if the general way must be taken; None if there is none."""
    if state.lenient or not state.fields:
        return None
    names: dict[str, Any] = {
        "__name__": __name__,
        "prelude": state.prelude,
        "MISSING": _MISSING,
        "new": object.__new__,
        "cls": cls,
        "Refusal": Refusal,
        "refused": _refused,
    }
    scalars, others = _written(state, names)
    lines = [
        "def quick(document):",
        " values = document.copy()" + (_WITH_PRELUDE if state.prelude else ""),
        " known = 0",
        *scalars,
        " if known != len(values): return None",
        " problems = []",
        *others,
        " if problems: raise refused(document, problems)",
        " made = new(cls)",
        " made._values = values",
        " return made",
    ]
    exec("\n".join(lines), names)  # noqa: S102  (the text is made here, of keys written by repr)
    quick: Callable[[dict[str, Any]], Any] = names["quick"]
    return quick


def _written(state: ClassState, names: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The lines that look at every field, and those that build the ones that are no plain scalars."""
    looks = [f" if values.get({key!r}) != {value!r}: return None" for key, value in state.prelude.items()]
    looks.append(f" known += {len(state.prelude)}")
    builds: list[str] = []
    for number, (key, field) in enumerate(state.fields.items()):
        one = f"v{number}"
        wrong = field.plainly_wrong(one, number, names) if isinstance(field, (Bool, Int, Str)) else None
        looks.append(f" {one} = values.get({key!r}, MISSING)")
        looks.append(f" if {one} is not MISSING:")
        looks.append(f"  if {wrong or f'{one} is None'}: return None")
        looks.append("  known += 1")
        if field.enforced:
            looks.append(" else: return None")
        if wrong is None:
            names[f"c{number}"] = field.coerce
            builds.append(f" if {one} is not MISSING:")
            builds.append(f"  try: values[{key!r}] = c{number}({one})")
            builds.append(f"  except Refusal as refusal: problems += refusal.under({key!r})")
    return looks, builds


def _refused(document: dict[str, Any], problems: list[Problem]) -> Refusal:
    """All problems, in the order of the document."""
    places = {key: place for place, key in enumerate(document)}
    return Refusal(sorted(problems, key=lambda problem: places[str(problem.path[0])]), inflated=True)
