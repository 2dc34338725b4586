"""A group as discovery tells it: versions, the preferred one, types and verbs."""

from __future__ import annotations

from labkit.observe.discovery import Group, GroupVersion, ServedType
from labkit.show.document import Cell, Document, Note, Table

__all__ = ["document"]

COLUMNS = ("type", "kind", "short", "categories", "scope", "verbs")


def document(value: Group) -> Document:
    if not value.served:
        return Document(f"group {value.name}", (Note("not served: no definition of this group is established"),))
    return Document(f"group {value.name}", tuple(_version(version, value.preferred) for version in value.versions))


def _version(version: GroupVersion, preferred: str | None) -> Table:
    rows = [row for served in version.types for row in _rows(served)]
    caption = f"{version.version} (preferred)" if version.version == preferred else version.version
    return Table(COLUMNS, tuple(rows), caption=caption, empty="no types")


def _rows(served: ServedType) -> list[tuple[Cell, ...]]:
    scope = "namespaced" if served.namespaced else "cluster"
    short, categories = ", ".join(served.short_names) or "–", ", ".join(served.categories) or "–"
    first = (served.plural, served.kind, short, categories, scope, " ".join(served.verbs))
    below = [(f"{served.plural}/{sub.name}", sub.kind, "", "", "", " ".join(sub.verbs)) for sub in served.subresources]
    return [tuple(Cell(text) for text in row) for row in (first, *below)]
