"""What a change of a definition does to the objects that exist.

Rows of ten thousand objects are not read. One table counts what befalls them, the worst first, and under it each fate
is told in full by the example of one object; every object by itself is in the JSON only, which is written while the
objects come, since all of them at once may be too many to hold.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any, Self

from labkit.observe.changes import compact
from labkit.show.document import Cell, Code, Document, Facts, Fold, Line, Mark, Note, Part, Table
from labkit.show.plain import plain_json
from labkit.trace.forecast import Complaint, Forecast, NextRead, Written
from labkit.trace.preview import Fate, Preview, Retirement
from labkit.trace.values import Added

__all__ = ["JsonObjects", "document"]

FATES = 20
"""So many are shown as text; the JSON has all."""

READ, WRITE, ANEW = "next read", "next write", "created anew"


def document(value: Preview) -> Document:
    """The definition's verdict, the fates of the objects, each by an example, and which versions can be given up."""
    shown = value.fates[:FATES]
    parts: list[Part] = [*_definition(value)]
    if value.unseen:
        parts.append(Note(value.unseen))
    if value.version:
        parts.append(_fates(value, shown))
    if any(fate.forecast.next_read.verdict == "refused" for fate in value.fates):
        parts.append(Note("while one object cannot be read, no list of them works, nor a deletion of the definition"))
    rest = value.fates[FATES:]
    if rest:
        count = sum(fate.count for fate in rest)
        parts.append(Note(f"and {len(rest):,} more, of {_objects(count)}: -o json has every object"))
    parts += [_fold(number, fate) for number, fate in enumerate(shown, 1) if tuple(_rows(fate.forecast))]
    parts.append(_versions(value))
    return Document(title(value), tuple(parts))


def title(value: Preview) -> str:
    """What was looked at, and how bad it is."""
    if not value.version:
        return f"preview of {value.definition.name}: the definition is refused"
    counted = (
        (value.refused, "refused"),
        (value.lose, "losing something"),
        (value.forgiven, "forgiven"),
        (value.not_restored, "not to be created anew"),
        (value.unknown, "unknown"),
    )
    found = ", ".join(f"{count:,} {word}" for count, word in counted if count) or "nothing is lost or refused"
    return f"preview of {value.definition.name}: {_objects(value.total)}; {found}"


def _objects(count: int) -> str:
    return f"{count:,} object{'' if count == 1 else 's'}"


def _definition(value: Preview) -> Iterator[Part]:
    taken = value.definition.verdict == "accepted"
    verdict = f"{value.definition.verdict} {'in place of the old one' if value.replaces else 'as a new one'}"
    yield Facts((("the new definition", Cell(verdict, "good" if taken else "bad")),))
    if not taken:
        yield Code(tuple(Line(line) for line in value.definition.lines), caption="the server's answer")
        told = "what follows is what it would do if it were taken" if value.version else "so no object can be looked at"
        yield Note(told)
    for warning in value.definition.warnings:
        yield Note(f"Warning: {warning}")


# -- the fates -------------------------------------------------------------------------------------------------------


def _fates(value: Preview, shown: tuple[Fate, ...]) -> Table:
    heads = ("#", "objects", "stored in", READ, WRITE, ANEW, "for example")
    rows = tuple(
        (
            Cell(str(number)),
            Cell(f"{fate.count:,}"),
            Cell(fate.forecast.stored_version or "not visible"),
            _seen(fate.forecast.next_read),
            _met(fate.forecast.next_write),
            _met(fate.forecast.created_anew),
            Cell(", ".join(fate.examples) + (", …" if fate.count > len(fate.examples) else "")),
        )
        for number, fate in enumerate(shown, 1)
    )
    return Table(heads, rows, caption=f"read and written in {value.version}:", empty="no objects")


def _seen(read: NextRead) -> Cell:
    if read.verdict == "refused":
        return Cell("cannot be read", "bad")
    if read.verdict == "unknown":
        return Cell("unknown", "changed")
    lost = len(read.pruned)
    counted = ((lost, "lost"), (len(read.nulls), "null dropped"), (len(read.defaulted), "filled in"))
    said = ", ".join(f"{count} {word}" for count, word in counted if count)
    return Cell(said or "as stored", "removed" if lost else "added" if read.defaulted else "")


def _met(one: Written) -> Cell:
    if one.verdict == "refused":
        return Cell("refused", "bad")
    if one.verdict == "unknown":
        return Cell("unknown", "changed")
    counted = ((len(one.pruned), "lost"), (len(one.defaulted), "filled in"))
    said = ", ".join((one.verdict, *(f"{count} {word}" for count, word in counted if count)))
    return Cell(said, "removed" if one.pruned else "changed" if one.verdict == "forgiven" else "good")


def _fold(number: int, fate: Fate) -> Fold:
    rows = tuple(_rows(fate.forecast))
    summary = f"{number}: {_objects(fate.count)} like {fate.forecast.called}"
    mark: Mark = "bad" if fate.forecast.refused or fate.forecast.loses else ""
    return Fold(summary, (Table(("when", "field", "what", "detail"), rows),), mark, opened=bool(mark))


def _rows(one: Forecast) -> Iterator[tuple[Cell, ...]]:
    found = [
        *_read_rows(one.next_read),
        *((WRITE, *row) for row in _write_rows(one.next_write)),
        *((ANEW, *row) for row in _write_rows(one.created_anew)),
    ]
    before = ""
    for when, field, what, detail in found:
        yield (Cell(when if when != before else ""), Cell(field, code=True), what, Cell(detail, code=True))
        before = when


def _read_rows(read: NextRead) -> Iterator[tuple[str, str, Cell, str]]:
    for line in read.lines:
        yield READ, "", Cell("cannot be read", "bad"), line
    if read.verdict == "unknown":
        yield READ, "", Cell("unknown", "changed"), read.reason
    for path in read.pruned:
        yield READ, path, Cell("lost", "removed"), "stored now, not shown any more"
    for path in read.nulls:
        yield READ, path, Cell("null dropped", "removed"), "may not be null"
    for added in read.defaulted:
        yield (READ, *_filled(added))


def _write_rows(one: Written) -> Iterator[tuple[str, Cell, str]]:
    if one.verdict == "unknown":
        yield "", Cell("unknown", "changed"), one.reason
    told = {complaint.line for complaint in one.complaints}
    for complaint in one.complaints:
        yield _complaint(complaint)
    for line in one.lines:
        if line not in told:
            yield "", Cell("refused", "bad"), line
    for path in one.pruned:
        yield path, Cell("lost", "removed"), "shown now, not stored any more"
    for added in one.defaulted if one.verdict != "refused" else ():
        yield _filled(added)


def _filled(added: Added) -> tuple[str, Cell, str]:
    return added.path, Cell("filled in", "added"), compact(added.value)


def _complaint(one: Complaint) -> tuple[str, Cell, str]:
    what = Cell("forgiven", "quiet") if one.forgiven else Cell("refused", "bad")
    said = one.line.removeprefix(f"{one.field}: ")
    return one.field, what, f"{one.rule} → {said}" if one.rule else said


# -- the versions ----------------------------------------------------------------------------------------------------


def _versions(value: Preview) -> Table:
    rows = tuple(_version(one) for one in value.versions)
    heads = ("version", "in the new definition", "objects stored in it", "status.storedVersions", "can it be removed?")
    return Table(heads, rows)


def _version(one: Retirement) -> tuple[Cell, ...]:
    words = (*(("served",) if one.served else ()), *(("stored",) if one.storage else ()))
    defined = (", ".join(words) or "neither served nor stored") if one.defined else "not in it"
    listed = {True: "yes", False: "no", None: "not known"}[one.listed]
    count = "not visible" if one.objects is None else f"{one.objects:,}"
    return (Cell(one.version), Cell(defined), Cell(count), Cell(listed), _removal(one))


def _removal(one: Retirement) -> Cell:
    if one.obstacles:
        if not one.defined:
            return Cell(f"it is, too early: {'; '.join(one.obstacles)}", "bad")
        return Cell(f"no: {'; '.join(one.obstacles)}")
    still = "; it is still served, and who uses it would get 404" if one.served else ""
    if one.possible is None:
        unknown = [
            word for word, known in (("what is stored", one.objects), ("storedVersions", one.listed)) if known is None
        ]
        return Cell(f"nothing known stands in its way, but {' and '.join(unknown)} could not be seen{still}")
    return Cell(f"yes{still}" if one.defined else "it is", "good")


# -- every object ----------------------------------------------------------------------------------------------------


class JsonObjects:
    """The JSON of a preview with every object, written when all of it is known: until then they wait in a file."""

    def __init__(self) -> None:
        self._waiting: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed at the exit)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def add(self, one: Forecast) -> None:
        comma = ",\n" if self._waiting.tell() else ""
        self._waiting.write(f"{comma}    {_compact(one.to_json())}")

    def write(self, value: Preview, stream: IO[str]) -> None:
        """All that ``Preview.to_json`` has, a member a line or more, and the objects, one a line."""
        whole = plain_json(value.to_json(), indent=2)
        head = whole.removesuffix("\n}")
        stream.write(f'{head},\n  "objects": [\n')
        self._waiting.seek(0)
        shutil.copyfileobj(self._waiting, stream)
        stream.write("\n  ]\n}\n")


def _compact(value: Any) -> str:
    return plain_json(value, separators=(",", ":"))
