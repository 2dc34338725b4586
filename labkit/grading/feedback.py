"""What a student gets back: a page that says what held and what did not, and the notebook as it ran.

A page must help without giving away what it was graded by. Of a hidden probe's finding it says that there is one, and
nothing that could tell it: not what was tried, expected or seen, nor where, by which rule, or what to do. Explanations
of the solution come only where the instructor wants them. Everything else in it was written by the student, by the
server or by a program of the student's: it is shown as text, cut where it is endless.

The notebook is put together of those of the exercises. Of what was printed only plain text is kept: a program of the
student's may have made any output, and HTML or scripts would run in the browser of whoever opens it. What labkit prints
itself has its text beside its HTML, so nothing of it is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from labkit.course.catalogues import catalogue
from labkit.course.record import KERNELSPEC, LANGUAGE
from labkit.exercises.model import Exercise
from labkit.exercises.notebook import NAME
from labkit.exercises.report import Finding, TaskResult, printable
from labkit.exercises.texts import catalogue_name
from labkit.grading.gradebook import Entry
from labkit.grading.values import NOT_JUDGED, UNREADABLE, CellRun, ExerciseResult
from labkit.grading.values import Note as Remark
from labkit.languages import language, numeral, plural, translate, worded
from labkit.show.document import Cell, Code, Document, Facts, Fold, Line, Mark, Markdown, Note, Part, Section, Table

__all__ = ["document", "executed"]

LONGEST_LINES = 400
LONGEST_LINE = 2_000
LONGEST_TEXT = 4_000
"""Characters of one part of a finding; a judge may quote what a script printed."""

_WENT = {
    "passed": worded("it went well"),
    "failed": worded("failed"),
    "died": worded("its kernel died"),
    "hung": worded("it did not end"),
    "too-much-output": worded("it printed too much"),
    "not-run": worded("it was not run"),
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def document(entry: Entry, *, with_solutions: bool = False) -> Document:
    """One student's page, in the language that is spoken. *with_solutions* adds each exercise's ``solution.md``."""
    parts: list[Part] = [Note(_judged(entry)), _marks(entry)]
    if entry.adjustments:
        parts.append(_adjustments(entry))
    if entry.result is not None:
        parts += _remarks(entry.result.notes)
    parts += [_exercise(entry, one, with_solutions=with_solutions) for one in entry.exercises]
    told = {"name": entry.name, "points": numeral(entry.score, "g"), "most": entry.most}
    return Document(translate("{name}: {points} of {most} points", **told), tuple(parts))


def executed(entry: Entry) -> str | None:
    """The notebook as it ran, in nbformat 4.5, the same bytes for the same result; None where nothing was handed in."""
    if entry.result is None:
        return None
    head = translate("This is how your answers ran. Of what was printed only plain text is kept.")
    cells = [_prose("feedback", head)]
    seen: set[str] = set()
    for exercise in entry.exercises:
        graded = entry.graded(exercise)
        points = _of(entry.points(exercise), exercise.points)
        cells.append(_prose(f"{exercise.id}-feedback", f"# {exercise.title}\n\n{translate('Points: {of}', of=points)}"))
        if graded is None or graded.notebook is None:
            cells.append(_prose(f"{exercise.id}-not-run", translate("Nothing was run.")))
            continue
        cells += _cells(graded.notebook, exercise, seen)
    metadata = {"kernelspec": KERNELSPEC, "language_info": LANGUAGE}
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


# -- the page -------------------------------------------------------------------------------------------------------


def _judged(entry: Entry) -> str:
    if entry.result is None:
        return translate("There is no submission that counts, so there are no points but those given by hand.")
    return translate(
        "Points come from the text of your answers alone. It was judged on a cluster of its own: objects were sent to "
        "the server, and what the server did counts."
    )


def _of(points: float, most: float) -> str:
    return translate("{points} of {most}", points=numeral(points, "g"), most=numeral(most, "g"))


def _marks(entry: Entry) -> Table:
    rows = []
    for exercise in entry.exercises:
        tasks = entry.tasks(exercise)
        graded = entry.graded(exercise)
        passed = sum(one.passed for one in tasks)
        if graded is None or _is_none(graded):
            state = Cell(translate("no answer"))
        elif graded.report is None:
            state = Cell(translate("not judged"))
        elif passed == len(tasks):
            state = Cell(translate("passed"), "good")
        else:
            told = {"passed": passed, "all": len(tasks)}
            mark: Mark = "changed" if passed else "bad"
            state = Cell(translate("tasks passed: {passed} of {all}", **told), mark)
        rows.append((Cell(exercise.title), state, Cell(_of(entry.points(exercise), exercise.points))))
    rows.append((Cell(translate("all together")), Cell(""), Cell(_of(entry.score, entry.most))))
    return Table((translate("exercise"), translate("state"), translate("points")), tuple(rows), named=True)


def _adjustments(entry: Entry) -> Section:
    titles = {one.id: one.title for one in entry.exercises}
    rows = tuple(
        (Cell(titles[one.exercise]), Cell(numeral(one.points, "+g")), Cell(_short(one.comment)))
        for one in entry.adjustments
    )
    columns = (translate("exercise"), translate("points"), translate("comment"))
    return Section(translate("Points given or taken by hand"), (Table(columns, rows, named=True),))


def _remarks(notes: Iterable[Remark]) -> list[Part]:
    told = tuple(Note(_short(one.text)) for one in notes if one.code != NOT_JUDGED)
    return [Fold(translate("Notes"), told, opened=True)] if told else []


def _exercise(entry: Entry, exercise: Exercise, *, with_solutions: bool) -> Section:
    graded = entry.graded(exercise)
    parts: list[Part] = []
    if graded is None or _is_none(graded):
        parts.append(Note(translate("There is no answer to this exercise, or it is the text that was there at first.")))
    else:
        parts += _judgement(graded)
        parts += _answer(graded)
        parts += _run(graded.cells)
    if graded is not None:
        parts += _remarks(graded.notes)
    if with_solutions:
        parts.append(Section(translate("Why it is so"), (_why(exercise),)))
    told = {"title": exercise.title, "points": numeral(entry.points(exercise), "g"), "most": exercise.points}
    return Section(translate("{title}: {points} of {most} points", **told), tuple(parts))


def _is_none(graded: ExerciseResult) -> bool:
    """Whether there is no answer, which is not the same as one that cannot be read."""
    return graded.empty and all(one.code != UNREADABLE for one in graded.notes)


def _judgement(graded: ExerciseResult) -> Iterator[Part]:
    if graded.report is None:
        if any(note.code == NOT_JUDGED for note in graded.notes):
            yield Note(translate("Your answer could not be judged. Whoever teaches you knows, and gives the points."))
        else:
            yield Note(translate("There is no text that could be judged; the notes say why."))
        return
    yield _tasks(graded.report.tasks)
    missing: dict[tuple[Finding, ...], list[TaskResult]] = {}
    for one in graded.report.tasks:
        if not one.passed:
            missing.setdefault(one.findings, []).append(one)
    yield from (_missing(findings, together) for findings, together in missing.items())
    yield from (Note(_short(note)) for note in graded.report.notes)


def _tasks(tasks: Iterable[TaskResult]) -> Table:
    rows = tuple(
        (
            Cell(one.title),
            Cell(translate("passed"), "good") if one.passed else Cell(translate("not yet"), "bad"),
            Cell(_of(one.points, one.max_points)),
        )
        for one in tasks
    )
    return Table((translate("task"), translate("state"), translate("points")), rows, named=True)


def _missing(findings: tuple[Finding, ...], tasks: Iterable[TaskResult]) -> Section:
    """What of the tasks, which miss the same, did not hold. Hidden findings end here: nothing below sees one."""
    shown = [one for one in findings if not one.hidden]
    parts: list[Part] = [_finding(one) for one in shown]
    if len(shown) < len(findings):
        parts.append(Note(translate("A further check, which is not shown, did not hold.")))
    if not findings:
        parts.append(Note(translate("This task could not be judged.")))
    return Section(translate("not yet: {task}", task="; ".join(one.title for one in tasks)), tuple(parts))


def _finding(one: Finding) -> Facts:
    facts = (
        (translate("tried"), Cell(one.probe)),
        (translate("expected"), Cell(one.expected)),
        (translate("what happened"), Cell(one.got)),
        (translate("at field"), Cell(one.field, code=True)),
        (translate("by rule"), Cell(one.rule, code=True)),
        (translate("next"), Cell(one.next_act)),
    )
    return Facts(tuple((name, Cell(_short(cell.text), code=cell.code)) for name, cell in facts if cell.text))


def _answer(graded: ExerciseResult) -> Iterator[Part]:
    if graded.answer is None:
        return
    lines = graded.answer.rstrip("\n").split("\n")
    shown = tuple(Line(_cut(printable(line), LONGEST_LINE)) for line in lines[:LONGEST_LINES])
    parts: list[Part] = [Code(shown, signs=False)]
    if len(lines) > len(shown):
        parts.append(
            Note(plural("{n} more line is not shown.", "{n} more lines are not shown.", len(lines) - len(shown)))
        )
    yield Fold(translate("Your answer, as it was judged"), tuple(parts))


def _run(cells: Iterable[CellRun]) -> Iterator[Part]:
    """How the notebook ran, where something is to be said of it.

    A check's cell that did not go well only printed another report than the solution's, which the page has above.
    """
    rows = tuple(
        (
            Cell(one.grade_id, code=True),
            Cell(translate(_WENT.get(one.status, one.status))),
            Cell(_short(": ".join(filter(None, (translate(one.words) if one.words else "", one.said))))),
        )
        for one in cells
        if one.status != "passed" and not (one.status == "failed" and one.grade_id.endswith("-check"))
    )
    if rows:
        said = translate("How your notebook ran: it changes no points, and what it printed is in {file}", file=NAME)
        yield Fold(
            said, (Table((translate("cell"), translate("how it went"), translate("what happened")), rows, named=True),)
        )


def _why(exercise: Exercise) -> Part:
    path = exercise.folder / "solution.md"
    if not path.is_file():
        return Note(translate("There is no explanation of this exercise."))
    told = catalogue(exercise.root, language(), catalogue_name(exercise))
    return Markdown(told.text("solution", path.read_text(encoding="utf-8")))


def _short(text: str) -> str:
    return _cut(printable(text), LONGEST_TEXT)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


# -- the notebook ---------------------------------------------------------------------------------------------------


def _prose(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _id(name), "metadata": {}, "source": printable(text).splitlines(True)}


def _id(name: str) -> str:
    """What nbformat allows as a cell's id."""
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)[:64] or "cell"


def _cells(notebook: Mapping[str, Any], exercise: Exercise, seen: set[str]) -> Iterator[dict[str, Any]]:
    """The cells of an exercise's run. All runs begin with the same cell, which is left out where it gave the same."""
    for index, cell in enumerate(notebook.get("cells", ())):
        name = str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") or cell.get("id") or index)
        kept = _kept(cell, f"{exercise.id}-{index}-{name}")
        same = json.dumps({**kept, "id": name, "execution_count": None}, sort_keys=True)
        if same in seen:
            continue
        seen.add(same)
        yield kept


def _kept(cell: Mapping[str, Any], name: str) -> dict[str, Any]:
    source = printable(_joined(cell.get("source", ""))).splitlines(keepends=True)
    kept: dict[str, Any] = {"id": _id(name), "metadata": {}, "source": source}
    if cell.get("cell_type") != "code":
        return {**kept, "cell_type": "markdown"}
    count = cell.get("execution_count")
    outputs = [_output(one) for one in cell.get("outputs", ())]
    return {
        **kept,
        "cell_type": "code",
        "execution_count": count if isinstance(count, int) else None,
        "outputs": outputs,
    }


def _output(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output made anew of its texts, so that nothing comes along under a key that is not known here."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(output.get("text", ""))}
    if kind == "error":
        traceback = output.get("traceback", ())
        lines = [_text(line) for line in traceback] if isinstance(traceback, list | tuple) else [_text(traceback)]
        name, value = _text(output.get("ename", "")), _text(output.get("evalue", ""))
        return {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}
    data = output.get("data")
    data = data if isinstance(data, Mapping) else {}
    plain = _text(data["text/plain"]) if "text/plain" in data else f"({_text(', '.join(sorted(map(str, data))))})"
    return {"output_type": "display_data", "data": {"text/plain": plain}, "metadata": {}}


def _text(value: Any) -> str:
    return printable(_COLOURS.sub("", _joined(value)))


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
