"""The text that is judged for each exercise, found in files and cells that a student may have changed in any way.

A notebook comes back with cells doubled, deleted, renamed or turned into prose, in an old format or none at all. What
counts is told by few rules: the file in ``answers/`` is what was handed in; where there is none it is what the answer's
cell would have written there, read as IPython reads the cell. Everything else that is not as it was handed out is
noted, because an instructor wants to know, and changes no mark.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from labkit.exercises import model, notebook
from labkit.exercises.model import Exercise
from labkit.exercises.progress import is_empty, kept, plain
from labkit.exercises.texts import exercise_in
from labkit.grading.archives import LIMITS, size
from labkit.grading.reading import some_of
from labkit.grading.values import UNREADABLE, Answer, Note, Submission
from labkit.languages import LANGUAGES, numeral, plural, translate

__all__ = ["MISNAMED", "answers_of"]

MISNAMED = "misnamed-answer"
"""The code of a note on files in ``answers/`` of which one is named nearly as an answer that is not there."""

_FORMAT = 4
_CELLS = 1_000
_NBVAL = re.compile(r"\A(?:[ \t]*(?:#[ \t]*NBVAL_\w+[ \t]*)?\r?\n)+")
"""Lines above an answer that only nbval reads; they are taken out before a cell is run."""


_COURSE = re.compile(r"\s*(?:(?:import labkit|lab ?= ?labkit\.begin\([^()]*\)|lab\.\w+\([^()]*\))(?:\s+|\Z))*")


class _Unreadable(Exception):
    """It is no text that could be judged; says why."""


@dataclass(frozen=True, eq=False)
class _Cell:
    """A cell of a notebook. Its metadata may be anything, as deep as JSON goes."""

    kind: str
    source: str
    metadata: Mapping[str, Any]

    @property
    def nbgrader(self) -> Mapping[str, Any]:
        found = self.metadata.get("nbgrader")
        return found if isinstance(found, dict) else {}

    @property
    def grade_id(self) -> str | None:
        name = self.nbgrader.get("grade_id")
        return name if isinstance(name, str) else None

    @property
    def tags(self) -> list[str]:
        tags = self.metadata.get("tags")
        return [one for one in tags if isinstance(one, str)] if isinstance(tags, list) else []

    @cached_property
    def answer(self) -> tuple[str, str] | None:
        """The exercise and the text, where the cell is an answer: what ``%%answer`` is called with, and writes."""
        return _called(self.source[: 2 * LIMITS.answer]) if "%%answer" in self.source else None


@dataclass(frozen=True)
class _HandedOut:
    """What students were given, in each language: exercises by id, and cells by grade_id."""

    exercises: Mapping[str, Sequence[Exercise]]
    cells: Mapping[str, Sequence[_Cell]]


def answers_of(submission: Submission, exercises: Sequence[Exercise]) -> tuple[tuple[Answer, ...], tuple[Note, ...]]:
    """An answer for each of *exercises*, in their order, and notes on the notebook as a whole. Never raises for what
    the submission holds; raises ExerciseError and CourseError for the exercises' own folders.
    """
    given = _handed_out(tuple(one.folder for one in exercises))
    notes: list[Note] = []
    cells = None if submission.notebook is None else _cells(submission.notebook, notes)
    files = dict(submission.answers)
    answers = tuple(_answer(one, cells, files.get(one.answer_name), given) for one in exercises)
    if cells is not None:
        notes += _compared("exercises-head", cells, given)
        notes += _own(cells)
    unknown = sorted(files.keys() - {one.answer_name for one in exercises})
    if unknown:
        lacking = {asked.id for asked, answer in zip(exercises, answers, strict=True) if answer.empty}
        meant = any(name.partition(".")[0].lower() in lacking for name in unknown)  # Rule.yml, rule.yaml.txt
        notes.append(
            Note(
                MISNAMED if meant else "unknown-answer",
                translate("in answers/, but of no exercise that is graded: {names}", names=some_of(unknown)),
            )
        )
    return answers, tuple(notes)


def _answer(exercise: Exercise, cells: Sequence[_Cell] | None, file: bytes | None, given: _HandedOut) -> Answer:
    name = exercise.id
    notes: list[Note] = []
    cell = _find(name, cells, notes) if cells is not None else None
    text = in_file = in_cell = None
    source = cell.source if cell is not None else None
    if cell is not None and cell.answer is not None and cell.answer[0] == name:
        try:
            in_cell = text = _sound(cell.answer[1])
        except _Unreadable as why:
            notes.append(Note(UNREADABLE, translate("the cell of {name}: {why}", name=name, why=why)))
    if file is not None:
        try:
            in_file = text = _decoded(file)
        except _Unreadable as why:
            notes.append(Note(UNREADABLE, translate("answers/{file}: {why}", file=exercise.answer_name, why=why)))
    if in_file is not None and in_cell is not None and plain(in_file) != plain(in_cell):
        notes.append(
            Note(
                "file-counts",
                translate(
                    "answers/{file} differs from the cell of {name}; the file counts",
                    file=exercise.answer_name,
                    name=name,
                ),
            )
        )
    if cells is not None:
        for one in (f"{name}-prompt", name, f"{name}-check"):
            notes += _compared(one, cells, given)
    if source is not None and not _can_be_written(source):
        source = None
    empty = any(is_empty(one, text) for one in (exercise, *given.exercises[name]))
    return Answer(name, text, source, empty, tuple(notes))


def _find(name: str, cells: Sequence[_Cell], notes: list[Note]) -> _Cell | None:
    """The cell of the exercise *name*: that of this name, unless only another answers it."""
    named = [one for one in cells if one.grade_id == name]
    answering = [one for one in cells if one.answer is not None and one.answer[0] == name]
    if not named and not answering:
        notes.append(Note("deleted-cell", translate("the cell of {name} is not there", name=name)))
        return None
    found = named[0] if named and (named[0] in answering or not answering) else answering[0]
    if found not in answering:
        notes.append(
            Note(
                "no-answer-line",
                translate("the cell of {name} does not begin with %%answer {name}: nothing is kept", name=name),
            )
        )
    if found not in named:
        notes.append(
            Note("renamed-cell", translate("the answer to {name} is in a cell that is not named {name}", name=name))
        )
    same = len({*named, *answering})
    if same > 1:
        notes.append(
            Note("duplicate-cell", translate("{n} cells are the answer to {name}; the first counts", n=same, name=name))
        )
    return found


def _own(cells: Sequence[_Cell]) -> Iterator[Note]:
    """That cells are not run which are none of the course's, nor an answer. To call ``lab`` is no work of one's own."""
    own = [
        one
        for one in cells
        if one.kind == "code" and one.grade_id is None and one.answer is None and not _COURSE.fullmatch(one.source)
    ]
    if own:
        n = len(own)
        told = plural("{n} cell of your own was not run", "{n} cells of your own were not run", n)
        yield Note("own-cells", told)


def _compared(name: str, cells: Sequence[_Cell], given: _HandedOut) -> Iterator[Note]:
    """What was changed in the cell *name*. The executed notebook has it as it was handed out."""
    ours = given.cells[name]
    found = [one for one in cells if one.grade_id == name]
    is_answer = name in given.exercises
    if not found:
        if not is_answer:
            yield Note("deleted-cell", translate("the cell {name} is not there; ours is taken", name=name))
        return
    theirs = found[0]
    if len(found) > 1 and not is_answer:
        yield Note("duplicate-cell", translate("{n} cells are named {name}; ours is taken", n=len(found), name=name))
    if not is_answer and plain(theirs.source) not in {plain(one.source) for one in ours}:
        yield Note("changed-cell", translate("the cell {name} is not as it was handed out; ours is taken", name=name))
    if theirs.kind != ours[0].kind:
        yield Note(
            "changed-type",
            translate("the cell {name} is {kind}, not {ours}", name=name, kind=theirs.kind, ours=ours[0].kind),
        )
    changed = sorted(key for key, value in ours[0].nbgrader.items() if theirs.nbgrader.get(key) != value)
    if changed:
        yield Note(
            "changed-metadata",
            translate("the cell {name} has another {names}; ours is taken", name=name, names=", ".join(changed)),
        )
    more = sorted(set(theirs.tags) - set(ours[0].tags))
    if more:
        yield Note(
            "changed-metadata",
            translate("the cell {name} has tags, which are dropped: {names}", name=name, names=some_of(more)),
        )


@lru_cache(maxsize=8)
def _handed_out(folders: tuple[Path, ...]) -> _HandedOut:
    """By folder, because every submission of a class is compared with the same."""
    english = [model.load(one) for one in folders]
    cells: dict[str, list[_Cell]] = {}
    for lang in LANGUAGES:
        for one in _raw_cells(json.loads(notebook.text(english, lang=lang))["cells"], []):
            if one.grade_id is not None:
                cells.setdefault(one.grade_id, []).append(one)
    return _HandedOut({one.id: [exercise_in(lang, one) for lang in LANGUAGES] for one in english}, cells)


# -- notebooks ------------------------------------------------------------------------------------------------------


def _cells(data: bytes, notes: list[Note]) -> list[_Cell] | None:
    """The cells of a notebook of any format up to 4; None, and a note, where it is none."""
    if not data.strip():
        why = translate("the file is empty")
        notes.append(Note("broken-notebook", translate("not a notebook that can be read: {why}", why=why)))
        return None
    try:
        raw = json.loads(data)
        version = raw["nbformat"]
        if version > _FORMAT:
            notes.append(
                Note("newer-notebook", translate("its format is newer than {format}: it is not read", format=_FORMAT))
            )
            return None
        if version < _FORMAT:
            raw = _upgraded(raw)
            notes.append(
                Note(
                    "older-notebook",
                    translate("its format is {version}; it is read as {format}", version=version, format=_FORMAT),
                )
            )
        cells = list(raw["cells"])
        if len(cells) <= _CELLS:
            return _raw_cells(cells, notes)
        why = translate("more than {n} cells", n=numeral(_CELLS))
    except Exception as error:  # whatever a student's JSON makes three libraries raise, it is no notebook
        why = type(error).__name__
    notes.append(Note("broken-notebook", translate("not a notebook that can be read: {why}", why=why)))
    return None


def _upgraded(raw: Any) -> Any:
    import nbformat

    library: Any = nbformat
    return library.convert(library.reader.reads(json.dumps(raw)), _FORMAT)


def _raw_cells(raw: Sequence[Any], notes: list[Note]) -> list[_Cell]:
    cells = []
    for one in raw:
        try:
            kind, source, metadata = one["cell_type"], one["source"], one.get("metadata")
            text = "".join(source if isinstance(source, list) else [source])
            cells.append(_Cell(kind[:10], text, metadata if isinstance(metadata, dict) else {}))
        except (TypeError, KeyError, AttributeError):
            continue
    if len(cells) < len(raw):
        notes.append(Note("broken-cell", translate("{n} cells have no text, or are none", n=len(raw) - len(cells))))
    return cells


def _called(source: str) -> tuple[str, str] | None:
    """What IPython calls ``%%answer`` with for a cell: the exercise and the text; None where it does not."""
    from IPython.core.inputtransformer2 import TransformerManager

    manager: Any = TransformerManager
    lines = kept(_NBVAL.sub("", source)).splitlines(keepends=True)
    if "%%" not in next((one for one in lines if one.strip()), ""):  # whatever IPython takes away before it
        return None
    for transform in manager().cleanup_transforms:
        lines = transform(lines)
    if not lines or not lines[0].startswith("%%"):
        return None
    magic, _, line = lines[0][2:].rstrip().partition(" ")
    try:
        argv = shlex.split(line)
    except ValueError:
        return None
    return (argv[0], "".join(lines[1:])) if magic == "answer" and len(argv) == 1 else None


# -- texts ----------------------------------------------------------------------------------------------------------


def _decoded(data: bytes) -> str:
    """A file's text, as ``Answers.read`` has it, and without the mark that some editors put in front."""
    try:
        return _sound(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _Unreadable(translate("not UTF-8 at byte {n}", n=error.start)) from error


def _sound(text: str) -> str:
    """*text* with the line ends that a file is read with. Raises _Unreadable where no file could hold it."""
    if "\0" in text:
        raise _Unreadable(translate("it holds a NUL"))
    if not _can_be_written(text):
        raise _Unreadable(translate("it holds half a character"))
    if len(text.encode()) > LIMITS.answer:
        raise _Unreadable(translate("larger than {size}", size=size(LIMITS.answer)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _can_be_written(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
