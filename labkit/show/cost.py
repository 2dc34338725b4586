"""What definitions cost, before beside after, and how noisy the memory is."""

from __future__ import annotations

from collections.abc import Callable

from labkit.observe.cost import DefinitionsCost, Round
from labkit.observe.reading import Reading
from labkit.show.document import Cell, Document, Note, Table
from labkit.show.units import mebibytes, seconds

__all__ = ["document", "noise_rows", "rows"]

READINGS: tuple[tuple[str, Callable[[Reading], int], str], ...] = (
    ("definitions", lambda r: r.definitions, ""),
    ("types (api-resources)", lambda r: r.types, ""),
    ("groups", lambda r: r.groups, ""),
    ("/apis", lambda r: r.discovery_bytes, "bytes"),
    ("/apis, aggregated", lambda r: r.aggregated_bytes, "bytes"),
    ("OpenAPI v3 group-versions", lambda r: r.group_versions, ""),
    ("OpenAPI v3 of the group", lambda r: r.openapi_bytes, "bytes"),
)


def rows(value: DefinitionsCost) -> list[tuple[str, str, str, str]]:
    """Measure, before, after, change: of the first round, units in the text."""
    before, after = value.first.before, value.first.after
    found = [
        (name, _with(get(before), unit), _with(get(after), unit), _with(get(after) - get(before), unit, sign=True))
        for name, get, unit in READINGS
    ]
    found.append(
        (
            "server memory",
            mebibytes(before.memory_bytes),
            mebibytes(after.memory_bytes),
            mebibytes(value.first.memory_change_bytes, sign=True),
        )
    )
    return found


def noise_rows(value: DefinitionsCost) -> list[tuple[str, str, str, str, str, str]]:
    """Round, memory before, with the definitions, change, once removed, seconds to Established: one row a round."""
    return [(str(index), *_round(one)) for index, one in enumerate(value.rounds, start=1)]


def document(value: DefinitionsCost) -> Document:
    through = "the API" if value.through == "api" else "one kubectl apply"
    title = (
        f"{value.count} definitions, sent through {through}: "
        f"established in {seconds(value.first.established_s)}, published in {seconds(value.first.published_s)}"
    )
    measured = tuple(tuple(Cell(text) for text in row) for row in rows(value))
    parts: list[Table | Note] = [Table(("measure", "before", "after", "change"), measured, numbers=True)]
    if len(value.rounds) > 1:
        noise = tuple(tuple(Cell(text) for text in row) for row in noise_rows(value))
        columns = ("round", "memory before", "with them", "change", "removed again", "established in")
        parts.append(Table(columns, noise, caption="server memory, the same measurement repeated", numbers=True))
    parts.append(Note("The definitions are removed again. Memory is that of the process that serves the API."))
    return Document(title, tuple(parts))


def _round(one: Round) -> tuple[str, str, str, str, str]:
    return (
        mebibytes(one.before.memory_bytes),
        mebibytes(one.after.memory_bytes),
        mebibytes(one.memory_change_bytes, sign=True),
        mebibytes(one.memory_gone_bytes),
        seconds(one.established_s),
    )


def _with(value: int, unit: str, *, sign: bool = False) -> str:
    text = f"{value:+d}" if sign else str(value)
    return f"{text} {unit}" if unit else text
