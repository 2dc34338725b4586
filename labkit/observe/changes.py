"""What differs between two JSON values, path by path.

Showing two objects side by side leaves the finding to the reader's eye. The observations say it instead: this path went
away, that one came, this one has another value. A difference is told at its highest path: when a whole object came, it
is one difference, not one for each field in it. Lists are compared index by index when they are equally long, and as a
whole otherwise: the API server prunes and fills inside items, it never moves them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

__all__ = [
    "ABSENT",
    "Absent",
    "Change",
    "Difference",
    "Json",
    "Kind",
    "Path",
    "compact",
    "differences",
    "dotted",
    "leaves",
]

Json: TypeAlias = Any
"""A value as ``json.loads`` gives it. Observations hold such values as they came and never change them."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the root of an object: ``("spec", "ports", 0, "name")``."""


class Absent(Enum):
    """The type of ``ABSENT``, which is not null: a field may be there and hold null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT

Kind: TypeAlias = Literal["pruned", "defaulted", "converted", "dropped", "changed"]


@dataclass(frozen=True)
class Difference:
    """At *path*, *before* became *after*; one of them may be ``ABSENT``, never both."""

    path: Path
    before: Json | Absent
    after: Json | Absent


@dataclass(frozen=True)
class Change:
    """A difference, and what the API server did there.

    *kind* is one of: "pruned" (a field its schema does not know was taken away), "defaulted" (the schema's default
    was put in), "converted" (rewritten for another version of the API), "dropped" (taken away although the schema
    knows it: a null, or the status of an object whose status has a URL of its own), "changed" (anything else).
    """

    path: Path
    kind: Kind
    before: Json | Absent
    after: Json | Absent

    @property
    def dotted(self) -> str:
        return dotted(self.path)


def dotted(path: Path) -> str:
    """The path as the API server prints it: ``spec.ports[0].name``; "" for the root."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def compact(value: Json | Absent) -> str:
    """JSON on one line without spaces, as ``jq -c`` prints it, except that ABSENT is an en dash."""
    if value is ABSENT:
        return "–"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def differences(before: Json, after: Json, at: Path = ()) -> Iterator[Difference]:
    """Each difference at its highest path, in the order of the paths.

    ``1`` and ``1.0`` are the same number in JSON, so they do not differ; ``True`` and ``1`` do.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in after:
                yield Difference((*at, key), before[key], ABSENT)
            elif key not in before:
                yield Difference((*at, key), ABSENT, after[key])
            else:
                yield from differences(before[key], after[key], (*at, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, (*at, index))
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield Difference(at, before, after)


def leaves(value: Json, at: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Each path that holds no further object, with its value; a list without objects is one leaf."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from leaves(value[key], (*at, key))
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            yield from leaves(item, (*at, index))
    else:
        yield at, value
