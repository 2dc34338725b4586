"""A migration that ended."""

from __future__ import annotations

from labkit.languages import translate
from labkit.observe.migration import KeyMoved, Migration
from labkit.show.definition import conditions_table
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table
from labkit.show.units import seconds

__all__ = ["document"]


def document(value: Migration) -> Document:
    parts: list[Table | Facts | Note] = [conditions_table(value.conditions)]
    if value.keys is None:
        parts.append(Note(translate("not shown, because this cluster's etcd cannot be read: the version of each key")))
    else:
        rows = tuple(_row(moved, value.storage_version) for moved in value.keys)
        columns = (translate("key in etcd"), translate("before"), translate("after"), "")
        parts.append(Table(columns, rows, empty=translate("no object of this type in etcd")))
    mark: Mark = "good" if value.stored_versions == (value.storage_version,) and not value.behind else "bad"
    parts.append(
        Facts(
            (
                (translate("stored versions"), Cell(", ".join(value.stored_versions), mark)),
                (translate("watched for"), Cell(seconds(value.seconds))),
            )
        )
    )
    forgotten = sorted({moved.after for moved in value.behind} - set(value.stored_versions))
    if forgotten:
        careful = translate(
            "Careful: the stored versions no longer name {versions}, but etcd still holds {n} of the objects so. "
            "Drop no version before another migration has succeeded.",
            versions=", ".join(forgotten),
            n=len(value.behind),
        )
        parts.append(Note(careful))
    return Document(_title(value), tuple(parts))


def _title(value: Migration) -> str:
    told = {"name": value.name, "definition": value.definition, "version": value.storage_version}
    if value.failure is None:
        return translate("migration {name} of {definition} to {version} succeeded", **told)
    why = value.failure.message or value.failure.reason
    return translate("migration {name} of {definition} to {version} failed: {why}", **told, why=why)


def _row(moved: KeyMoved, storage_version: str) -> tuple[Cell, ...]:
    after: Mark = "" if moved.before == moved.after else "added"
    what = translate("rewritten") if moved.rewritten else translate("untouched")
    if not moved.before:
        what = translate("created meanwhile")
    if not moved.after:
        what = translate("deleted meanwhile")
    return (
        Cell(moved.key, code=True),
        Cell(moved.before or "–", "" if moved.before == storage_version else "changed"),
        Cell(moved.after or "–", after),
        Cell(what),
    )
