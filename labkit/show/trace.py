"""The path of one object, stage by stage.

The same stages are told three ways. As text they are one table, a line for each thing done, so that a terminal shows
the whole path at once. As HTML each stage is a fold with the object as it was after it, what changed marked; those
where something happened are open. The widget (``trace_widget``) shows one such stage at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from labkit.cluster.kubectl import LAST_APPLIED
from labkit.observe.changes import ABSENT, Absent, Json, compact
from labkit.show.document import Cell, Code, Document, Facts, Fold, Line, Note, Part, Table
from labkit.show.json_lines import WHOLE, marked
from labkit.show.trace_stages import Station, stations, title_of
from labkit.show.trace_words import say, say_of
from labkit.trace.values import Cel, Conversion, Trace

__all__ = ["document", "full_document", "pages", "title"]


def _heads() -> tuple[str, ...]:
    return tuple(say(f"column.{name}") for name in ("stage", "field", "what", "detail"))


def document(value: Trace) -> Document:
    """One table of all stages, the server's answer, and what is stored and read."""
    found = stations(value)
    rows = tuple(row for one in found for row in _grid_rows(one))
    return Document(title(value), (Table(_heads(), rows), *_outcome(value)))


def full_document(value: Trace) -> Document:
    """Each stage as a fold with the object after it, then the server's answer, and what is stored and read."""
    found = stations(value)
    folds = tuple(Fold(heading(one), station_parts(one, only_changes=True), one.mark, bool(one.rows)) for one in found)
    return Document(title(value), (Note(say("folds")), *folds, *_outcome(value)))


def pages(value: Trace) -> tuple[tuple[str, Document], ...]:
    """Each stage by itself under its name, and the outcome last, for a view that goes from one to the next.

    The names do not tell what happened: whoever goes on may guess first.
    """
    found = stations(value)
    stages = [
        (
            f"{one.number} {say_of('name', one.stage.name)}",
            Document(say("pages.stage", n=one.number, all=len(found), told=_told(one)), station_parts(one)),
        )
        for one in found
    ]
    outcome = say("title.judged", what=say("pages.outcome"), verdict=say(f"verdict.{value.verdict}"))
    return (*stages, (say("pages.outcome"), Document(outcome, _outcome(value))))


def heading(one: Station) -> str:
    return f"{one.number} {_told(one)}"


def _told(one: Station) -> str:
    return say("pages.told", name=say_of("name", one.stage.name), summary=one.summary)


def title(value: Trace, *, judged: bool = True) -> str:
    """What was traced, and, where it is *judged*, the verdict."""
    first = next((stage.object for stage in value.stages if isinstance(stage.object, dict)), {})
    metadata = first.get("metadata") or {}
    named = " ".join(str(word) for word in (first.get("kind"), metadata.get("name")) if word) or say("title.nameless")
    if metadata.get("namespace"):
        named = say("title.in", name=named, namespace=metadata["namespace"])
    version = str(first.get("apiVersion", "")).rpartition("/")[2]
    told = ", ".join(word for word in (named, version, say(f"done.{value.operation}")) if word)
    if not judged or (value.operation == "read" and value.verdict == "accepted"):  # nothing is judged on the way out
        return told
    told = say("title.judged", what=told, verdict=say(f"verdict.{value.verdict}"))
    if not value.reason:
        return told
    return say("title.but" if value.verdict == "accepted" else "title.because", what=told, reason=value.reason)


def station_parts(one: Station, *, only_changes: bool = False) -> tuple[Part, ...]:
    """What it did, then the object after it: whole, or *only_changes* of it with some lines around."""
    parts: list[Part] = [Note(title_of(one.stage))]
    if one.rows:
        rows = tuple((Cell(r.field, code=True), Cell(r.what, r.mark), Cell(r.detail, code=True)) for r in one.rows)
        parts.append(Table(_heads()[1:], rows))
    if one.before is ABSENT or one.before != one.after:
        parts.append(Code(_object_lines(one.before, one.after, only_changes), caption=say("object.after")))
    else:
        parts.append(
            Note(say("object.unchanged"))
            if only_changes
            else Code(_object_lines(ABSENT, one.after, False), caption=say("object.same"))
        )
    parts.append(Facts(((say("object.by"), Cell(one.stage.source, "quiet", code=True)),)))
    return tuple(parts)


def _grid_rows(one: Station) -> Iterator[tuple[Cell, ...]]:
    name = f"{one.number} {say_of('name', one.stage.name)}"
    if not one.rows or isinstance(one.stage, Cel | Conversion):
        yield (Cell(name), Cell(""), Cell(""), Cell(one.summary))
        name = ""
    for row in one.rows:
        yield (Cell(name), Cell(row.field, code=True), Cell(row.what, row.mark), Cell(row.detail, code=True))
        name = ""


def _outcome(value: Trace) -> tuple[Part, ...]:
    parts: list[Part] = [Note(say("outcome.warning", text=warning)) for warning in value.warnings]
    if value.verdict == "refused":
        status = value.status or {}
        answer = f"{status.get('code', '')} {status.get('reason', '')}".strip()
        parts.append(Code(tuple(Line(line) for line in value.lines), caption=say("outcome.answer", status=answer)))
    pairs = [(say("outcome.stored"), value.stored)] if value.stored is not None else []
    pairs += [(say("outcome.read"), value.read)] if value.read is not None else []
    if len(pairs) == 2 and value.read == value.stored:
        return (*parts, Facts(((say("outcome.both"), Cell(compact(_shown(value.stored)), code=True)),)))
    facts = tuple((name, Cell(compact(_shown(held)), code=True)) for name, held in pairs)
    return (*parts, Facts(facts)) if facts else tuple(parts)


def _object_lines(before: Json | Absent, after: Json, only_changes: bool) -> tuple[Line, ...]:
    if before is ABSENT:
        return marked(ABSENT, _shown(after))
    return marked(_shown(before), _shown(after), whole_up_to=0 if only_changes else WHOLE)


def _shown(held: Json) -> Json:
    """Without what is long and no part of what is traced: the fields' managers, and kubectl's copy of a manifest."""
    metadata = held.get("metadata") if isinstance(held, dict) else None
    if not isinstance(metadata, dict):
        return held
    kept = {key: one for key, one in metadata.items() if key != "managedFields"}
    if isinstance(kept.get("annotations"), dict) and LAST_APPLIED in kept["annotations"]:
        kept["annotations"] = {**kept["annotations"], LAST_APPLIED: "…"}
    return {**held, "metadata": kept}
