"""How a definition stands: its conditions, names and versions."""

from __future__ import annotations

from labkit.languages import translate
from labkit.observe.definition import AcceptedNames, Condition, DefinedVersion, Definition
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table

__all__ = ["conditions_table", "document"]

GOOD_WHEN_FALSE = ("Failed", "Running", "StorageMigrating", "Terminating", "NonStructuralSchema")
"""Conditions that say something is wrong, or not over, while they are True."""


def document(value: Definition) -> Document:
    parts: list[Table | Facts | Note] = [conditions_table(value.conditions)]
    names = value.accepted_names
    facts = [
        (translate("accepted names"), Cell(_names(names)) if names.plural else Cell(translate("none yet"), "bad")),
        (translate("versions"), Cell(", ".join(_version(version) for version in value.versions))),
        (translate("stored versions"), Cell(", ".join(value.stored_versions) or translate("none"))),
    ]
    if value.finalizers:
        facts.append((translate("finalizers"), Cell(", ".join(value.finalizers))))
    parts.append(Facts(tuple(facts)))
    return Document(translate("definition {name}", name=value.name), tuple(parts))


def conditions_table(conditions: tuple[Condition, ...]) -> Table:
    """Conditions in the order given, coloured by whether that status is what one hopes for."""
    rows = tuple((Cell(c.type), Cell(c.status, _mark(c)), Cell(c.reason), Cell(c.message)) for c in conditions)
    columns = (translate("condition"), translate("status"), translate("reason"), translate("message"))
    return Table(columns, rows, empty=translate("no condition yet"))


def _mark(condition: Condition) -> Mark:
    hoped = "False" if condition.type in GOOD_WHEN_FALSE else "True"
    if condition.status == "Unknown":
        return "changed"
    return "good" if condition.status == hoped else "bad"


def _names(names: AcceptedNames) -> str:
    said = [
        translate("kind {name}", name=names.kind),
        translate("list kind {name}", name=names.list_kind),
        translate("plural {name}", name=names.plural),
        translate("singular {name}", name=names.singular),
    ]
    said += [translate("short {names}", names=", ".join(names.short_names))] if names.short_names else []
    said += [translate("in {categories}", categories=", ".join(names.categories))] if names.categories else []
    return "; ".join(said)


def _version(version: DefinedVersion) -> str:
    says = [
        translate("served") if version.served else translate("not served"),
        *([translate("stored")] if version.storage else []),
        *([translate("deprecated")] if version.deprecated else []),
    ]
    return f"{version.name} ({', '.join(says)})"
