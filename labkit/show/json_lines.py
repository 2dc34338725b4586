"""Two JSON values as the lines of one, with what went marked, and what came.

A line diff of two JSON texts marks a comma that moved as a change, and may pair the lines of one object with those of
another that look like them. So the two values are walked together, key by key, and printed on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from labkit.observe.changes import ABSENT, Absent, Json
from labkit.show.document import Line, Mark
from labkit.show.trace_words import say

__all__ = ["WHOLE", "marked"]

WHOLE = 160
"""An object of so many lines is shown whole."""

CONTEXT = 3
"""Lines kept on both sides of a change where the rest is left out."""


def marked(before: Json | Absent, after: Json, *, whole_up_to: int = WHOLE) -> tuple[Line, ...]:
    """*after* indented by two, keys sorted, with the lines of *before* that are gone; ABSENT before marks nothing.

    Of more lines than *whole_up_to* only the changes are kept, with some lines around; "…" stands for the others.
    Where nothing is marked, its first lines are.
    """
    lines = tuple(_walk(after if before is ABSENT else before, after, "", "", ""))
    return lines if len(lines) <= whole_up_to else tuple(_around_changes(lines, whole_up_to))


def _walk(old: Json | Absent, new: Json | Absent, indent: str, head: str, tail: str) -> Iterator[Line]:
    if isinstance(old, dict) and isinstance(new, dict) and (old or new):
        yield Line(f"{indent}{head}{{")
        keys = sorted(old.keys() | new.keys())
        last = max(new, default="")
        for key in keys:
            comma = "," if key < last else ""
            name = f"{_json(key)}: "
            yield from _walk(old.get(key, ABSENT), new.get(key, ABSENT), f"{indent}  ", name, comma)
        yield Line(f"{indent}}}{tail}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) > 0:
        yield Line(f"{indent}{head}[")
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _walk(one, other, f"{indent}  ", "", "," if index < len(new) - 1 else "")
        yield Line(f"{indent}]{tail}")
    elif old == new and isinstance(old, bool) is isinstance(new, bool):
        yield from _all(new, indent, head, tail, "")
    else:
        if old is not ABSENT:
            yield from _all(old, indent, head, tail, "removed")
        if new is not ABSENT:
            yield from _all(new, indent, head, tail, "added")


def _all(value: Json, indent: str, head: str, tail: str, mark: Mark) -> Iterator[Line]:
    first, *rest = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True).split("\n")
    lines = [f"{head}{first}", *rest]
    lines[-1] += tail
    return (Line(f"{indent}{line}", mark) for line in lines)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _around_changes(lines: tuple[Line, ...], limit: int) -> Iterator[Line]:
    near = {at for at, line in enumerate(lines) if line.mark}
    near = {at + step for at in near for step in range(-CONTEXT, CONTEXT + 1)} or set(range(max(limit, WHOLE)))
    left_out = 0
    for at, line in enumerate(lines):
        if at not in near:
            left_out += 1
            continue
        if left_out:
            yield Line(say("lines.left out", n=left_out))
        left_out = 0
        yield line
    if left_out:
        yield Line(say("lines.left out", n=left_out))
