"""A migration that ended."""

from __future__ import annotations

from labkit.observe.migration import KeyMoved, Migration
from labkit.show.definition import conditions_table
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table
from labkit.show.units import seconds

__all__ = ["document"]


def document(value: Migration) -> Document:
    outcome = "succeeded" if value.failure is None else f"failed: {value.failure.message or value.failure.reason}"
    parts: list[Table | Facts | Note] = [conditions_table(value.conditions)]
    if value.keys is None:
        parts.append(Note("not shown, because this cluster's etcd cannot be read: the version of each key"))
    else:
        rows = tuple(_row(moved, value.storage_version) for moved in value.keys)
        parts.append(Table(("key in etcd", "before", "after", ""), rows, empty="no object of this type in etcd"))
    mark: Mark = "good" if value.stored_versions == (value.storage_version,) and not value.behind else "bad"
    parts.append(
        Facts(
            (
                ("stored versions", Cell(", ".join(value.stored_versions), mark)),
                ("watched for", Cell(seconds(value.seconds))),
            )
        )
    )
    forgotten = sorted({moved.after for moved in value.behind} - set(value.stored_versions))
    if forgotten:
        parts.append(
            Note(
                f"Careful: the stored versions no longer name {', '.join(forgotten)}, but etcd still holds "
                f"{len(value.behind)} of the objects so. Drop no version before another migration has succeeded."
            )
        )
    return Document(f"migration {value.name} of {value.definition} to {value.storage_version} {outcome}", tuple(parts))


def _row(moved: KeyMoved, storage_version: str) -> tuple[Cell, ...]:
    after: Mark = "" if moved.before == moved.after else "added"
    what = "rewritten" if moved.rewritten else "untouched"
    if not moved.before:
        what = "created meanwhile"
    if not moved.after:
        what = "deleted meanwhile"
    return (
        Cell(moved.key, code=True),
        Cell(moved.before or "–", "" if moved.before == storage_version else "changed"),
        Cell(moved.after or "–", after),
        Cell(what),
    )
