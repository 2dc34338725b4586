"""One object, stored and read, side by side."""

from __future__ import annotations

from labkit.observe.stored import StoredAndRead
from labkit.show.changes import grid
from labkit.show.document import Document, Note, Table

__all__ = ["document"]


def document(value: StoredAndRead) -> Document:
    """Etcd first, then each served version; what a read changed is marked in its column."""
    where = f" in {value.namespace}" if value.namespace else ""
    kind = value.stored.content.get("kind", value.definition)
    parts: list[Table | Note] = [
        Note(f"etcd: {value.stored.key}, mod revision {value.stored.mod_revision}"),
        grid(
            ("in etcd", _told(value.stored.content)),
            [(f"read in {read.version}", _told(read.content), read.changes) for read in value.reads],
        ),
    ]
    parts += [Note(f"Warning in {read.version}: {warning}") for read in value.reads for warning in read.warnings]
    return Document(f"{kind} {value.name}{where}: stored beside read", tuple(parts))


def _told(content: dict[str, object]) -> dict[str, object]:
    """The kind is the same everywhere and stands in the title."""
    return {key: value for key, value in content.items() if key != "kind"}
