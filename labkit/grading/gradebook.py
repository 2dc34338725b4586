"""The grade book: everybody of a class with their marks, as the tables that other programs read.

Marks leave this program in three forms. ``grades.csv`` has nbgrader's columns in nbgrader's order, so that what reads
its export reads ours, and a column for each exercise after them. ``grades.json`` has everything: tasks, findings,
adjustments, notes. ``junit.xml`` has a suite for each student and a case for each task. All three are the instructor's
and tell what hidden probes found; students get the pages of ``feedback``.

Nothing in them depends on when, where or how fast a submission was graded: the same class gives the same bytes. Names
and comments are somebody else's words, so in the CSV they never begin as a formula does.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from labkit.exercises.model import Exercise
from labkit.exercises.notebook import ASSIGNMENT
from labkit.exercises.report import Finding, TaskResult, printable
from labkit.grading.errors import GradingError
from labkit.grading.keeping import folder_name
from labkit.grading.reading import some_of
from labkit.grading.roster import Adjustment, Matched, Person
from labkit.grading.values import ExerciseResult, Note, Result

__all__ = ["COLUMNS", "Entry", "Gradebook", "grades_csv", "grades_json", "junit_xml", "make", "people_of"]

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)
"""Those of nbgrader 0.9's ``nbgrader export``, in its order; a test compares them with the installed one's."""

_FORMULA = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""What a spreadsheet takes for the beginning of a formula, in the wide forms too."""


@dataclass(frozen=True)
class Entry:
    """One person with what they handed in, None where nothing counts, and what was given or taken by hand.

    *folder* is the name of the one in the output that holds what the person may see.
    """

    person: Person
    folder: str
    result: Result | None
    adjustments: tuple[Adjustment, ...]
    exercises: tuple[Exercise, ...]

    @property
    def name(self) -> str:
        """For people: "Ada Lovelace", or the id where there is no name."""
        whole = f"{self.person.first_name} {self.person.last_name}".strip()
        return whole or self.person.id

    def graded(self, exercise: Exercise) -> ExerciseResult | None:
        if self.result is None:
            return None
        return next((one for one in self.result.exercises if one.exercise_id == exercise.id), None)

    def tasks(self, exercise: Exercise) -> tuple[TaskResult, ...]:
        """All of the exercise's, also where nothing was judged: there with no points and no findings."""
        graded = self.graded(exercise)
        if graded is not None and graded.report is not None:
            return graded.report.tasks
        return tuple(TaskResult(one.id, one.title, 0, one.points, passed=False) for one in exercise.tasks)

    def adjusted(self, exercise: Exercise) -> tuple[Adjustment, ...]:
        return tuple(one for one in self.adjustments if one.exercise == exercise.id)

    def points(self, exercise: Exercise) -> float:
        """What the answer got, and what was given or taken by hand: below 0 or above the most where that leads."""
        graded = self.graded(exercise)
        return (graded.points if graded is not None else 0) + sum(one.points for one in self.adjusted(exercise))

    @property
    def raw(self) -> float:
        """The sum of the exercises'. As nbgrader adds extra credit, it may be below 0 or above the most."""
        return sum(self.points(one) for one in self.exercises)

    @property
    def score(self) -> float:
        """The mark: never below 0, as in nbgrader's export."""
        return max(0.0, self.raw)

    @property
    def most(self) -> int:
        return sum(one.points for one in self.exercises)


@dataclass(frozen=True)
class Gradebook:
    """A class. *entries* are in nbgrader's order, by last and first name; *strangers* are what was handed in by nobody
    on the roster: graded and told, but in no row of the CSV. *problems* are for the instructor.
    """

    exercises: tuple[Exercise, ...]
    entries: tuple[Entry, ...]
    strangers: tuple[Entry, ...] = ()
    problems: tuple[Note, ...] = ()

    @property
    def everybody(self) -> tuple[Entry, ...]:
        return (*self.entries, *self.strangers)

    @property
    def submitted(self) -> tuple[Entry, ...]:
        """Those who handed something in."""
        return tuple(one for one in self.everybody if one.result is not None)


def people_of(matched: Matched) -> tuple[Person, ...]:
    """Everybody on the roster, each with the key of the submission that counts as *folder*, "" where none does."""
    with_one = (replace(person, folder=submission.key) for person, submission in matched.people)
    without = (replace(one, folder="") for one in (*(person for person, _ in matched.doubles), *matched.missing))
    return (*with_one, *without)


def make(
    people: Sequence[Person],
    results: Iterable[Result],
    adjustments: Iterable[Adjustment],
    problems: Iterable[Note],
    exercises: Sequence[Exercise],
) -> Gradebook:
    """Put together who handed in what: a person's submission is the one whose key is their *folder*.

    Without *people* (no roster) each submission's key is its person's id. Whoever has no submission has an entry
    without a result; that, a submission of nobody, and an adjustment of nobody or of no exercise, are in the problems.
    Raises GradingError for two results, or two people, of one name: whose mark is whose would be a guess.
    """
    by_key = _only_once(((one.key, one) for one in results), "submissions are called")
    _only_once(((one.id, one) for one in people), "people on the roster have the id")
    taken = _only_once(((one.folder, one) for one in people if one.folder), "people on the roster have the folder")
    handled: dict[str, list[Adjustment]] = defaultdict(list)
    for one in adjustments:
        handled[one.student].append(one)
    graded = {one.id for one in exercises}
    folders = {folder_name(key) for key in by_key}

    def entry(person: Person) -> Entry:
        result = by_key.get(person.folder)
        folder = folder_name(result.key if result is not None else person.id)
        if result is None and folder in folders:
            folder = folder_name(f"{person.id}\0")
        mine = sorted(handled.pop(person.id, ()), key=lambda one: (one.exercise, one.points, one.comment))
        told.extend(_uncounted(one, "exercise", one.exercise, graded) for one in mine if one.exercise not in graded)
        return Entry(person, folder, result, tuple(one for one in mine if one.exercise in graded), tuple(exercises))

    told = list(problems)
    strangers = [Person(key, "", "", "", key) for key in sorted(by_key) if people and key not in taken]
    known = people or [Person(key, "", "", "", key) for key in by_key]
    entries = [entry(one) for one in sorted(known, key=lambda one: (one.last_name, one.first_name, one.id))]
    others = [entry(one) for one in strangers]
    missing = [each for each in entries if each.result is None]
    told += [Note("missing", f"{each.name} ({each.person.id}): no submission that counts") for each in missing]
    told += [Note("unknown", f"{each.person.id}: nobody on the roster has this folder") for each in others]
    ids = [each.person.id for each in (*entries, *others)]
    told += [_uncounted(one, "student", name, ids) for name in sorted(handled) for one in handled[name]]
    unique = {(note.code, note.text): note for note in told}
    return Gradebook(tuple(exercises), tuple(entries), tuple(others), tuple(unique.values()))


def _uncounted(one: Adjustment, kind: str, name: str, known: Iterable[str]) -> Note:
    """Points by hand that are in nobody's marks, because no such *kind* is graded here."""
    there = some_of(sorted(known))
    return Note("adjustment", f"{one.student}, {one.exercise}: no {kind} {name!r} is graded here; there are {there}")


def grades_csv(book: Gradebook) -> str:
    """A line for each person on the roster: nbgrader's columns, in its number format, then the exercises' points."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *(one.id for one in book.exercises)))
    for one in book.entries:
        person = (one.person.id, one.person.last_name, one.person.first_name, one.person.email)
        marks = (one.raw, 0.0, one.score, one.most, *(one.points(exercise) for exercise in book.exercises))
        writer.writerow((ASSIGNMENT, "", "", *map(harmless, person), *(str(float(mark)) for mark in marks)))
    return out.getvalue()


def harmless(text: str) -> str:
    """One line that no spreadsheet takes for a formula: such a beginning gets an apostrophe before it."""
    line = _line(text)
    return f"'{line}" if _FORMULA.match(line) else line


def grades_json(book: Gradebook) -> str:
    """Everything about everybody, but programs' outputs and seconds: keys in a fixed order, two blanks deep."""
    told = {
        "assignment": ASSIGNMENT,
        "max_score": sum(one.points for one in book.exercises),
        "exercises": [
            {"id": one.id, "title": one.title, "points": one.points, "tasks": [asdict(task) for task in one.tasks]}
            for one in book.exercises
        ],
        "students": [_entry_json(one) for one in book.entries],
        "unknown": [_entry_json(one) for one in book.strangers],
        "problems": [asdict(one) for one in book.problems],
    }
    return json.dumps(_clean(told), indent=2, ensure_ascii=False) + "\n"


def junit_xml(book: Gradebook) -> str:
    """A suite for each student, a case for each task; what failed says what was expected and what the server did.

    It is the instructor's, so it has hidden findings too, and says that they are.
    """
    root = ET.Element("testsuites", {"name": ASSIGNMENT})
    total: Counter[str] = Counter()
    for one in book.everybody:
        suite = ET.SubElement(root, "testsuite", {"name": _line(one.person.id)})
        properties = ET.SubElement(suite, "properties")
        for name, value in (("name", one.name), ("score", f"{one.score:g}"), ("max_score", f"{one.most:g}")):
            ET.SubElement(properties, "property", {"name": name, "value": _line(value)})
        counted = Counter(
            _case(suite, one, exercise, task) for exercise in book.exercises for task in one.tasks(exercise)
        )
        total += counted
        _count(suite, counted)
    _count(root, total)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


# -- the parts ------------------------------------------------------------------------------------------------------


def _only_once(named: Iterable[tuple[str, Any]], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in named:
        if name in found:
            raise GradingError(f"two {what} {name!r}", next_act="give each a name of its own")
        found[name] = one
    return found


def _entry_json(one: Entry) -> dict[str, Any]:
    result = one.result
    return {
        "id": one.person.id,
        "last_name": one.person.last_name,
        "first_name": one.person.first_name,
        "email": one.person.email,
        "submission": {"key": result.key, "source": result.source, "sha256": result.sha256} if result else None,
        "raw_score": one.raw,
        "score": one.score,
        "max_score": one.most,
        "exercises": [_exercise_json(one, exercise) for exercise in one.exercises],
        "notes": [asdict(note) for note in result.notes] if result else [],
    }


def _exercise_json(one: Entry, exercise: Exercise) -> dict[str, Any]:
    graded = one.graded(exercise)
    return {
        "id": exercise.id,
        "points": one.points(exercise),
        "max_points": exercise.points,
        "empty": graded is None or graded.empty,
        "tasks": [asdict(task) for task in one.tasks(exercise)],
        "adjustments": [{"points": each.points, "comment": each.comment} for each in one.adjusted(exercise)],
        "cells": [asdict(cell) for cell in graded.cells] if graded else [],
        "remarks": list(graded.report.notes) if graded and graded.report else [],
        "notes": [asdict(note) for note in graded.notes] if graded else [],
    }


def _clean(value: Any) -> Any:
    """The same with every text as it can be kept: no half characters, nothing that steers a terminal."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: _clean(one) for key, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list | tuple) else value


def _case(suite: ET.Element, one: Entry, exercise: Exercise, task: TaskResult) -> str:
    """Add the case; what it counts as."""
    case = ET.SubElement(suite, "testcase", {"classname": exercise.id, "name": f"{task.task}: {task.title}"})
    if task.passed:
        return "passed"
    graded = one.graded(exercise)
    lines = list(_told(task.findings))
    if not lines:
        no_answer = "there is no answer" if one.result else "nothing was handed in"
        lines = [no_answer if graded is None or graded.empty else "it was not judged: see the notes of the exercise"]
    failure = ET.SubElement(case, "failure", {"type": "not yet", "message": _line(lines[0])})
    failure.text = "\n".join(printable(line) for line in lines)
    return "failures"


def _told(findings: Iterable[Finding]) -> Iterator[str]:
    for one in findings:
        facts = {"at field": one.field, "by rule": one.rule, "next": one.next_act}
        after = "".join(f"; {name}: {text}" for name, text in facts.items() if text)
        yield f"{'(hidden) ' if one.hidden else ''}{one.probe}: expected {one.expected}; {one.got}{after}"


def _line(text: str) -> str:
    return printable(" ".join(text.split()))


def _count(element: ET.Element, counted: Counter[str]) -> None:
    numbers = {"tests": counted.total(), "failures": counted["failures"], "errors": 0, "skipped": 0}
    for name, number in numbers.items():
        element.set(name, str(number))
