"""What a dry run made of a manifest."""

from __future__ import annotations

from labkit.observe.fields import PrunedAndDefaulted, Refusal
from labkit.show.changes import changes_table
from labkit.show.document import Cell, Document, Note, Table

__all__ = ["document", "refusal_document"]

SENT = {
    "new": "sent as a new object, as a dry run: nothing was stored",
    "update": "sent in place of the object that is there, as a dry run: nothing was stored",
}


def document(value: PrunedAndDefaulted) -> Document:
    where = f" in {value.namespace}" if value.namespace else ""
    parts: list[Table | Note] = [Note(SENT[value.sent_as])]
    if value.refusal is None:
        parts.append(changes_table(value.changes, "in the manifest", "would be stored"))
    else:
        parts += _refused(value.refusal)
    parts += [Note(f"Warning: {warning}") for warning in value.warnings]
    return Document(f"{value.kind} {value.name}{where} ({value.api_version})", tuple(parts))


def refusal_document(value: Refusal) -> Document:
    return Document("", tuple(_refused(value)))


def _refused(refusal: Refusal) -> list[Table | Note]:
    if not refusal.causes:
        return [Note(f"refused ({refusal.code}): {refusal.message}")]
    rows = tuple((Cell(c.field, "bad", code=True), Cell(c.message)) for c in refusal.causes)
    return [Table(("field", "reason"), rows, caption=f"refused ({refusal.code})")]
