"""What cleaning up deleted and what is left."""

from __future__ import annotations

from labkit.languages import translate
from labkit.observe.cleanup import PREFIX, CleanUp
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table
from labkit.show.units import seconds

__all__ = ["document"]


def document(value: CleanUp) -> Document:
    rows: list[tuple[Cell, ...]] = [
        (Cell(name, code=True), Cell(translate("deleted"), "good")) for name in value.deleted
    ]
    rows += [(Cell(name, code=True), Cell(translate("was not there"), "quiet")) for name in value.absent]
    rows += [(Cell(name, code=True), Cell(translate("still there"), "bad")) for name in value.left]
    if not rows:
        nothing = translate("nothing on this cluster is claimed by the course, so nothing was deleted")
        return Document(translate("cleaning up"), (Note(nothing),))
    left = translate("keys left under {prefix}", prefix=PREFIX)
    facts = [(left, _keys(value)), (translate("took"), Cell(seconds(value.seconds)))]
    table = Table((translate("name"), ""), tuple(rows))
    title = translate("cleaned up") if value.clean else translate("not everything is gone")
    return Document(title, (table, Facts(tuple(facts))))


def _keys(value: CleanUp) -> Cell:
    if value.keys_left is None or value.keys_before is None:
        return Cell(translate("not shown, because this cluster's etcd cannot be read"), "quiet")
    mark: Mark = "bad" if value.keys_left else "good"
    return Cell(translate("{left} (of {before} before)", left=value.keys_left, before=value.keys_before), mark)
