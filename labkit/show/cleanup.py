"""What cleaning up deleted and what is left."""

from __future__ import annotations

from labkit.observe.cleanup import PREFIX, CleanUp
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table
from labkit.show.units import seconds

__all__ = ["document"]


def document(value: CleanUp) -> Document:
    rows: list[tuple[Cell, ...]] = [(Cell(name, code=True), Cell("deleted", "good")) for name in value.deleted]
    rows += [(Cell(name, code=True), Cell("was not there", "quiet")) for name in value.absent]
    rows += [(Cell(name, code=True), Cell("still there", "bad")) for name in value.left]
    if not rows:
        return Document(
            "cleaning up", (Note("nothing on this cluster is claimed by the course, so nothing was deleted"),)
        )
    facts = [(f"keys left under {PREFIX}", _keys(value)), ("took", Cell(seconds(value.seconds)))]
    table = Table(("name", ""), tuple(rows))
    return Document("cleaned up" if value.clean else "not everything is gone", (table, Facts(tuple(facts))))


def _keys(value: CleanUp) -> Cell:
    if value.keys_left is None or value.keys_before is None:
        return Cell("not shown, because this cluster's etcd cannot be read", "quiet")
    mark: Mark = "bad" if value.keys_left else "good"
    return Cell(f"{value.keys_left} (of {value.keys_before} before)", mark)
