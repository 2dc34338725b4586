"""What a dry run made of a manifest."""

from __future__ import annotations

from labkit.languages import translate, worded
from labkit.observe.fields import PrunedAndDefaulted, Refusal
from labkit.show.changes import changes_table
from labkit.show.document import Cell, Document, Note, Table

__all__ = ["document", "refusal_document"]

SENT = {
    "new": worded("sent as a new object, as a dry run: nothing was stored"),
    "update": worded("sent in place of the object that is there, as a dry run: nothing was stored"),
}


def document(value: PrunedAndDefaulted) -> Document:
    parts: list[Table | Note] = [Note(translate(SENT[value.sent_as]))]
    if value.refusal is None:
        parts.append(changes_table(value.changes, translate("in the manifest"), translate("would be stored")))
    else:
        parts += _refused(value.refusal)
    parts += [Note(translate("Warning: {warning}", warning=warning)) for warning in value.warnings]
    told = {"kind": value.kind, "name": value.name, "namespace": value.namespace, "version": value.api_version}
    title = translate("{kind} {name} ({version})", **told)
    if value.namespace:
        title = translate("{kind} {name} in {namespace} ({version})", **told)
    return Document(title, tuple(parts))


def refusal_document(value: Refusal) -> Document:
    return Document("", tuple(_refused(value)))


def _refused(refusal: Refusal) -> list[Table | Note]:
    if not refusal.causes:
        return [Note(translate("refused ({code}): {message}", code=refusal.code, message=refusal.message))]
    rows = tuple((Cell(c.field, "bad", code=True), Cell(c.message)) for c in refusal.causes)
    caption = translate("refused ({code})", code=refusal.code)
    return [Table((translate("field"), translate("reason")), rows, caption=caption)]
