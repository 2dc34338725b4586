"""Changes of an object: the words and colours for pruned, defaulted, converted, and the grid of leaves they go in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labkit.languages import translate, worded
from labkit.observe.changes import ABSENT, Absent, Change, Json, Kind, Path, compact, dotted, leaves
from labkit.show.document import Cell, Mark, Table

__all__ = ["changes_table", "grid"]

MARKS: dict[Kind, Mark] = {
    "pruned": "removed",
    "dropped": "removed",
    "defaulted": "added",
    "converted": "changed",
    "changed": "changed",
}

WORDS: dict[Kind, str] = {
    "pruned": worded("pruned"),
    "dropped": worded("dropped"),
    "defaulted": worded("defaulted"),
    "converted": worded("converted"),
    "changed": worded("changed"),
}


def changes_table(changes: Iterable[Change], before: str, after: str) -> Table:
    """One row a change; *before* and *after* head the columns of the two values."""
    rows = tuple(
        (
            Cell(change.dotted, code=True),
            Cell(translate(WORDS[change.kind]), MARKS[change.kind]),
            Cell(compact(change.before), code=True),
            Cell(compact(change.after), code=True),
        )
        for change in changes
    )
    empty = translate("nothing was pruned and nothing filled in")
    return Table((translate("field"), translate("what"), before, after), rows, empty=empty)


def grid(base: tuple[str, Json], others: Sequence[tuple[str, Json, tuple[Change, ...]]]) -> Table:
    """Objects side by side, a row for each path that holds a value in any of them.

    *base* is a heading and an object; each of *others* has the changes that lead to it from the base, whose words and
    colours mark its cells.
    """
    columns = [dict(leaves(value)) for value in (base[1], *(other[1] for other in others))]
    paths = sorted({path for column in columns for path in column}, key=_order)
    rows = []
    for path in paths:
        cells = [Cell(dotted(path), code=True), _plain(columns[0].get(path, ABSENT))]
        for column, (_, _, changes) in zip(columns[1:], others, strict=True):
            cells.append(_marked(path, column.get(path, ABSENT), changes))
        rows.append(tuple(cells))
    heads = (translate("field"), base[0], *(other[0] for other in others))
    return Table(heads, tuple(rows), empty=translate("empty objects"))


def _order(path: Path) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, step, "") if isinstance(step, int) else (1, 0, step) for step in path)


def _plain(value: Json | Absent) -> Cell:
    return Cell(compact(value), "quiet" if value is ABSENT else "", code=True)


def _marked(path: Path, value: Json | Absent, changes: tuple[Change, ...]) -> Cell:
    """The change that covers this path is the one at it or above it."""
    for change in changes:
        if path[: len(change.path)] == change.path:
            return Cell(compact(value), MARKS[change.kind], translate(WORDS[change.kind]), code=True)
    return _plain(value)
