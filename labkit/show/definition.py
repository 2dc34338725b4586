"""How a definition stands: its conditions, names and versions."""

from __future__ import annotations

from labkit.observe.definition import AcceptedNames, Condition, DefinedVersion, Definition
from labkit.show.document import Cell, Document, Facts, Mark, Note, Table

__all__ = ["conditions_table", "document"]

GOOD_WHEN_FALSE = ("Failed", "Running", "StorageMigrating", "Terminating", "NonStructuralSchema")
"""Conditions that say something is wrong, or not over, while they are True."""


def document(value: Definition) -> Document:
    parts: list[Table | Facts | Note] = [conditions_table(value.conditions)]
    names = value.accepted_names
    facts = [
        ("accepted names", Cell(_names(names)) if names.plural else Cell("none yet", "bad")),
        ("versions", Cell(", ".join(_version(version) for version in value.versions))),
        ("stored versions", Cell(", ".join(value.stored_versions) or "none")),
    ]
    if value.finalizers:
        facts.append(("finalizers", Cell(", ".join(value.finalizers))))
    parts.append(Facts(tuple(facts)))
    return Document(f"definition {value.name}", tuple(parts))


def conditions_table(conditions: tuple[Condition, ...]) -> Table:
    """Conditions in the order given, coloured by whether that status is what one hopes for."""
    rows = tuple((Cell(c.type), Cell(c.status, _mark(c)), Cell(c.reason), Cell(c.message)) for c in conditions)
    return Table(("condition", "status", "reason", "message"), rows, empty="no condition yet")


def _mark(condition: Condition) -> Mark:
    hoped = "False" if condition.type in GOOD_WHEN_FALSE else "True"
    if condition.status == "Unknown":
        return "changed"
    return "good" if condition.status == hoped else "bad"


def _names(names: AcceptedNames) -> str:
    said = [
        f"kind {names.kind}",
        f"list kind {names.list_kind}",
        f"plural {names.plural}",
        f"singular {names.singular}",
    ]
    said += [f"short {', '.join(names.short_names)}"] if names.short_names else []
    said += [f"in {', '.join(names.categories)}"] if names.categories else []
    return "; ".join(said)


def _version(version: DefinedVersion) -> str:
    says = [
        "served" if version.served else "not served",
        *(["stored"] if version.storage else []),
        *(["deprecated"] if version.deprecated else []),
    ]
    return f"{version.name} ({', '.join(says)})"
