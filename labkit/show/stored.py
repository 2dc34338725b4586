"""One object, stored and read, side by side."""

from __future__ import annotations

from labkit.languages import translate
from labkit.observe.stored import StoredAndRead
from labkit.show.changes import grid
from labkit.show.document import Document, Note, Table

__all__ = ["document"]


def document(value: StoredAndRead) -> Document:
    """Etcd first, then each served version; what a read changed is marked in its column."""
    kind = value.stored.content.get("kind", value.definition)
    parts: list[Table | Note] = [
        Note(translate("etcd: {key}, mod revision {number}", key=value.stored.key, number=value.stored.mod_revision)),
        grid(
            (translate("in etcd"), _told(value.stored.content)),
            [
                (translate("read in {version}", version=read.version), _told(read.content), read.changes)
                for read in value.reads
            ],
        ),
    ]
    parts += [
        Note(translate("Warning in {version}: {warning}", version=read.version, warning=warning))
        for read in value.reads
        for warning in read.warnings
    ]
    told = {"kind": kind, "name": value.name, "namespace": value.namespace}
    title = translate("{kind} {name}: stored beside read", **told)
    if value.namespace:
        title = translate("{kind} {name} in {namespace}: stored beside read", **told)
    return Document(title, tuple(parts))


def _told(content: dict[str, object]) -> dict[str, object]:
    """The kind is the same everywhere and stands in the title."""
    return {key: value for key, value in content.items() if key != "kind"}
