"""A group as discovery tells it: versions, the preferred one, types and verbs."""

from __future__ import annotations

from labkit.languages import translate
from labkit.observe.discovery import Group, GroupVersion, ServedType
from labkit.show.document import Cell, Document, Note, Table

__all__ = ["document"]


def document(value: Group) -> Document:
    title = translate("group {name}", name=value.name)
    if not value.served:
        return Document(title, (Note(translate("not served: no definition of this group is established")),))
    return Document(title, tuple(_version(version, value.preferred) for version in value.versions))


def _version(version: GroupVersion, preferred: str | None) -> Table:
    rows = [row for served in version.types for row in _rows(served)]
    marked = translate("{version} (preferred)", version=version.version)
    caption = marked if version.version == preferred else version.version
    names = (translate("type"), translate("kind"), translate("short"), translate("categories"))
    columns = (*names, translate("scope"), translate("verbs"))
    return Table(columns, tuple(rows), caption=caption, empty=translate("no types"))


def _rows(served: ServedType) -> list[tuple[Cell, ...]]:
    scope = translate("namespaced") if served.namespaced else translate("cluster")
    short, categories = ", ".join(served.short_names) or "–", ", ".join(served.categories) or "–"
    first = (served.plural, served.kind, short, categories, scope, " ".join(served.verbs))
    below = [(f"{served.plural}/{sub.name}", sub.kind, "", "", "", " ".join(sub.verbs)) for sub in served.subresources]
    return [tuple(Cell(text) for text in row) for row in (first, *below)]
