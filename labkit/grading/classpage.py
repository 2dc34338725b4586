"""The class on one page, for the instructor: marks, exercises, what went wrong most often, who is missing, what held.

After grading a class the questions are: whom must I look at, was an exercise too hard, and which mistake do I speak
about next week? So what needs a person comes first, then the numbers with their figures, then what went wrong, counted
once a submission. It is the instructor's page: it has what hidden probes found, and says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from labkit.exercises.model import Exercise
from labkit.exercises.notebook import ASSIGNMENT
from labkit.grading.gradebook import Entry, Gradebook
from labkit.languages import numeral, plural, translate
from labkit.show import bars
from labkit.show.document import Cell, Document, Facts, Figure, Note, Part, Section, Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Wrong", "document", "frequent"]

BINS = 10
MOST_FREQUENT = 5
LONGEST = 400


@dataclass(frozen=True)
class Wrong:
    """The same thing found wrong in *count* submissions, of each of *tasks*."""

    tasks: tuple[str, ...]
    probe: str
    got: str
    hidden: bool
    count: int


def document(book: Gradebook, *, page: str = "feedback.html") -> Document:
    """The page, in the language that is spoken; names lead to *page*, the file in each student's folder."""
    parts: list[Part] = [_problems(book)]
    if book.submitted:
        parts += [_marks(book), _exercises(book)]
    parts.append(_students(book, page))
    if book.submitted:
        parts += [_time(book), _walls(book)]
    said = plural("{assignment}: {n} student", "{assignment}: {n} students", len(book.entries), assignment=ASSIGNMENT)
    return Document(said, tuple(parts))


def frequent(book: Gradebook, exercise: Exercise) -> tuple[Wrong, ...]:
    """What was found wrong in an exercise, the most frequent first, then as a check comes to it.

    The same tasks, probe and answer of the server are the same mistake; one submission counts once for it, also where
    it is found of all tasks, because the answer could not be applied. What is found later in a check is often a
    consequence of what was found before.
    """
    counted: Counter[tuple[tuple[str, ...], str, str, bool]] = Counter()
    first: dict[tuple[tuple[str, ...], str, str, bool], int] = {}
    for entry in book.submitted:
        found: dict[tuple[str, str, bool], dict[str, None]] = {}
        for task in entry.tasks(exercise):
            for one in task.findings:
                found.setdefault((one.probe, one.got, one.hidden), {})[task.task] = None
        keys = [(tuple(tasks), *what) for what, tasks in found.items()]
        counted.update(keys)
        for place, key in enumerate(keys):
            first[key] = min(place, first.get(key, place))
    ranked = sorted(counted, key=lambda key: (-counted[key], first[key], key))
    return tuple(Wrong(*key, counted[key]) for key in ranked)


# -- the sections ---------------------------------------------------------------------------------------------------


def _problems(book: Gradebook) -> Section:
    told = tuple((one.code, Cell(_short(one.text))) for one in book.problems)
    nothing = Note(translate("Nothing: every submission was read, and belongs to somebody."))
    return Section(translate("For you to look at"), (Facts(told) if told else nothing,))


def _marks(book: Gradebook) -> Section:
    import pandas as pd

    most = sum(one.points for one in book.exercises)
    marks = pd.Series([float(one.score) for one in book.submitted])
    told = {"median": numeral(marks.median(), "g"), "mean": numeral(marks.mean(), ".1f"), "most": most}
    said = translate(
        "Half of those who handed something in have {median} points or more; the mean is {mean} of {most}.", **told
    )
    shown = _distribution(
        marks,
        most,
        max(1.0, _round(most / BINS)),
        (translate("points"), translate("students")),
        translate("Bars: how many students have how many points. The numbers are in the table."),
    )
    return Section(translate("Marks"), (Note(said), *shown))


def _round(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, … (or 0.5, 0.2, …) that is not below *value*."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(power * one for one in (1, 2, 5, 10) if power * one >= value)


def _distribution(
    values: pd.Series[float], most: float, step: float, names: tuple[str, str], words: str
) -> tuple[Part, ...]:
    """How many of *values* (0 or more) lie in each step up to the one with *most*, to which what is above is counted: a
    figure and its table.
    """
    edges = [step * number for number in range(int(most // step) + 2)]
    counted = Counter((values.clip(upper=most) // step).astype(int).tolist())
    counts = [counted[place] for place in range(len(edges) - 1)]
    labels = [f"{numeral(low, 'g')} – {numeral(high, 'g')}" for low, high in pairwise(edges)]
    labels[-1] = translate("{low} or more", low=numeral(edges[-2], "g"))
    rows = tuple((Cell(label), Cell(str(count))) for label, count in zip(labels, counts, strict=True))
    figure = Figure(bars.upright(edges, counts, below=names[0], beside=names[1]), words)
    columns = (translate("{what}, from – to below", what=names[0]), names[1])
    return figure, Table(columns, rows, numbers=True, named=True)


def _exercises(book: Gradebook) -> Section:
    import pandas as pd

    found = pd.DataFrame(_records(book)).groupby("exercise", sort=False)
    sums, means = found[["answered", "passed"]].sum(), found["points"].mean()
    rows = tuple(
        (
            Cell(one.title),
            Cell(_share(book, int(sums["answered"][one.id]))),
            Cell(_share(book, int(sums["passed"][one.id]))),
            Cell(_of(round(float(means[one.id]), 1), one.points)),
        )
        for one in book.exercises
    )
    columns = (translate("exercise"), translate("answered"), translate("passed"), translate("mean points"))
    whole = 100 / len(book.submitted)
    series = {
        translate("answered"): [float(count) * whole for count in sums["answered"]],
        translate("passed"): [float(count) * whole for count in sums["passed"]],
    }
    drawn = bars.across([one.title for one in book.exercises], series, below=translate("% of what was handed in"))
    words = translate(
        "Bars: for each exercise, how many of those who handed something in answered it, and how many passed all of "
        "it. The numbers are in the table."
    )
    each = tuple(Section(one.title, tuple(_one(book, one))) for one in book.exercises)
    table = Table(columns, rows, numbers=True, named=True)
    return Section(translate("Exercises"), (Figure(drawn, words), table, *each))


def _records(book: Gradebook) -> Iterator[dict[str, Any]]:
    """A row for each submission and exercise."""
    for entry in book.submitted:
        for exercise in book.exercises:
            graded = entry.graded(exercise)
            yield {
                "exercise": exercise.id,
                "answered": graded is not None and not graded.empty,
                "passed": all(one.passed for one in entry.tasks(exercise)),
                "points": float(entry.points(exercise)),
            }


def _share(book: Gradebook, count: int) -> str:
    return f"{count} ({count * 100 / len(book.submitted):.0f} %)"


def _one(book: Gradebook, exercise: Exercise) -> Iterator[Part]:
    """An exercise's tasks, and its most frequent findings."""
    passed = Counter(task.task for entry in book.submitted for task in entry.tasks(exercise) if task.passed)
    tasks = tuple((Cell(one.title), Cell(_share(book, passed[one.id]))) for one in exercise.tasks)
    yield Table((translate("task"), translate("passed")), tasks, numbers=True, named=True)
    titles = {task.id: task.title for task in exercise.tasks}
    rows = tuple(
        (
            Cell(_short(one.probe), word=translate("hidden") if one.hidden else ""),
            Cell(_short(one.got)),
            Cell("; ".join(titles[task] for task in one.tasks)),
            Cell(_share(book, one.count)),
        )
        for one in frequent(book, exercise)[:MOST_FREQUENT]
    )
    columns = (translate("tried"), translate("what happened"), translate("task"), translate("submissions"))
    if rows:
        yield Table(
            columns,
            rows,
            caption=translate("What was found most often; it may follow from what was found before it"),
            named=True,
        )


def _students(book: Gradebook, page: str) -> Section:
    rows = tuple(_student(one, page, known=True) for one in book.entries)
    rows += tuple(_student(one, page, known=False) for one in book.strangers)
    columns = (translate("student"), "id", translate("handed in as"), translate("points"))
    return Section(translate("Students"), (Table(columns, rows, named=True),))


def _student(one: Entry, page: str, *, known: bool) -> tuple[Cell, ...]:
    if one.result is None:
        state = Cell(translate("nothing"), "bad")
    else:
        state = Cell(_short(one.result.key), word="" if known else translate("nobody on the roster"))
    name = Cell(_short(one.name), link=f"{one.folder}/{page}")
    return (name, Cell(_short(one.person.id)), state, Cell(_of(one.score, one.most)))


def _time(book: Gradebook) -> Section:
    import pandas as pd

    taken = pd.Series([one.result.seconds for one in book.submitted if one.result is not None])
    longest = book.submitted[int(taken.argmax())]
    told = {
        "sum": numeral(taken.sum(), ".0f"),
        "median": numeral(taken.median(), ".1f"),
        "most": numeral(taken.max(), ".1f"),
    }
    said = translate(
        "All together {sum} s; half of the submissions took {median} s or less, the longest {most} s ({who}).",
        who=_short(longest.name),
        **told,
    )
    shown = _distribution(
        taken,
        float(taken.max()),
        _round(float(taken.max()) / BINS),
        (translate("seconds"), translate("submissions")),
        translate("Bars: how many submissions took how many seconds to grade. The numbers are in the table."),
    )
    return Section(translate("Time"), (Note(said), *shown))


def _walls(book: Gradebook) -> Section:
    counted = Counter(wall for one in book.submitted if one.result is not None for wall in one.result.walls)
    rows = tuple((Cell(_short(wall)), Cell(str(count))) for wall, count in sorted(counted.items()))
    table = Table((translate("wall"), translate("submissions")), rows, empty=translate("nothing was run"))
    return Section(translate("What held the students' programs"), (table,))


def _of(points: float, most: float) -> str:
    return translate("{points} of {most}", points=numeral(points, "g"), most=numeral(most, "g"))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
