"""Who is who: a class list, and points given or taken by hand, as instructors keep them in spreadsheets.

A folder's name on a learning platform is no student number, and a mark that lands on the wrong person is worse than
none. So names are compared exactly (but for the two ways to write an accent), what fits nobody and what fits twice is
listed, and a table that is not clear is refused with file and line. Spreadsheets disagree about the comma, the
encoding and the order of columns: those are taken as they come.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from labkit.grading.errors import GradingError
from labkit.grading.values import Note, Submission

__all__ = ["Adjustment", "Matched", "Person", "Roster", "expect_known", "read_adjustments", "read_roster"]

_ROSTER = ("id", "last_name", "first_name", "email", "folder")
_ADJUSTMENTS = ("student", "exercise", "points", "comment")
_SAME = {"submission": "folder"}
_POINTS = re.compile(r"[+-]?[0-9]{1,9}([.][0-9]{1,9})?")


@dataclass(frozen=True)
class Person:
    """One of a class. *folder* is the key of what they hand in; where a roster does not tell it, it is the *id*."""

    id: str
    last_name: str
    first_name: str
    email: str
    folder: str


@dataclass(frozen=True)
class Matched:
    """Who handed in what, each part in the roster's order. *people* have exactly one submission, *doubles* several, of
    which none is taken, *missing* none; *unknown* are submissions of nobody on the roster, by key.
    """

    people: tuple[tuple[Person, Submission], ...]
    unknown: tuple[Submission, ...] = ()
    doubles: tuple[tuple[Person, tuple[Submission, ...]], ...] = ()
    missing: tuple[Person, ...] = ()

    @property
    def problems(self) -> tuple[Note, ...]:
        """What is not taken because it is not clear which is meant."""
        return tuple(
            Note("double", f"{one.id}: several submissions: {', '.join(each.source for each in found)}; none is taken")
            for one, found in self.doubles
        )


@dataclass(frozen=True)
class Roster:
    """The lines of a class list. A person may have several, one for each folder."""

    people: tuple[Person, ...]

    def match(self, submissions: Iterable[Submission]) -> Matched:
        """Give each submission to the person whose folder it is."""
        whose = {_plain(one.folder): one for one in self.people}
        by_id: dict[str, list[Person]] = {one.id: [] for one in self.people}
        found: dict[str, list[Submission]] = defaultdict(list)
        unknown = []
        for one in sorted(submissions, key=lambda submission: submission.key):
            person = whose.get(_plain(one.key))
            if person is None:
                unknown.append(one)
            else:
                found[person.id].append(one)
                by_id[person.id].append(person)
        first = {one.id: one for one in reversed(self.people)}
        return Matched(
            people=tuple((by_id[name][0], found[name][0]) for name in by_id if len(found[name]) == 1),
            unknown=tuple(unknown),
            doubles=tuple((first[name], tuple(found[name])) for name in by_id if len(found[name]) > 1),
            missing=tuple(first[name] for name in by_id if not found[name]),
        )


@dataclass(frozen=True)
class Adjustment:
    """Points given to a student (an id) for an exercise, or taken where they are negative, and why."""

    student: str
    exercise: str
    points: float
    comment: str
    line: int = field(default=0, compare=False)


def read_roster(path: Path) -> Roster:
    """The class list in a CSV file: the column id, and where there are any last_name, first_name, email and folder
    (or submission). Raises GradingError with file and line.
    """
    lines: list[Person] = []
    people: dict[str, tuple[int, Person]] = {}
    folders: dict[str, int] = {}
    for number, row in _rows(path, _ROSTER, needed=("id",)):
        _expect(path, number, row, ("id",))
        one = Person(**{**row, "folder": row["folder"] or row["id"]})
        line, known = people.setdefault(one.id, (number, one))
        if known != replace(one, folder=known.folder):
            raise GradingError(f"{path}: line {number}: id {one.id!r} is another person's", evidence=f"line {line}")
        if _plain(one.folder) in folders:
            raise GradingError(
                f"{path}: line {number}: folder {one.folder!r} is there twice",
                evidence=f"line {folders[_plain(one.folder)]}",
            )
        folders[_plain(one.folder)] = number
        lines.append(one)
    return Roster(tuple(lines))


def read_adjustments(path: Path) -> tuple[Adjustment, ...]:
    """Points by hand, in a CSV file with the columns student, exercise, points and, where there is one, comment.

    Points are whole or decimal numbers; in a file that is parted by semicolons they may have a decimal comma. Raises
    GradingError with file and line.
    """
    found: dict[tuple[str, str], Adjustment] = {}
    for number, row in _rows(path, _ADJUSTMENTS, needed=_ADJUSTMENTS[:3], numbers=("points",)):
        _expect(path, number, row, _ADJUSTMENTS[:3])
        if not _POINTS.fullmatch(row["points"]):
            raise GradingError(
                f"{path}: line {number}: points: {row['points']!r} is no number", next_act='as in "-1.5"'
            )
        one = Adjustment(row["student"], row["exercise"], float(row["points"]), row["comment"], number)
        if (before := found.setdefault((one.student, one.exercise), one)) is not one:
            raise GradingError(
                f"{path}: line {number}: {one.student!r} has points for {one.exercise!r} already",
                evidence=f"line {before.line}",
            )
    return tuple(found.values())


def expect_known(path: Path, adjustments: Iterable[Adjustment], exercises: Collection[str]) -> None:
    """Raises GradingError for the first adjustment in *path* for what is no exercise. Students are another matter: who
    has handed in nothing yet may have points, and who is nobody is listed.
    """
    for one in adjustments:
        if one.exercise not in exercises:
            near = f"there are {', '.join(sorted(exercises))}" if exercises else "there is none"
            raise GradingError(f"{path}: line {one.line}: no exercise {one.exercise!r}", evidence=near)


# -- tables ---------------------------------------------------------------------------------------------------------


def _rows(
    path: Path, columns: Sequence[str], needed: Sequence[str], numbers: Sequence[str] = ()
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Line number and values of each row. A column that is not there is empty, others than *columns* are left out; a
    decimal comma in *numbers* is a point, where commas do not part the columns."""
    text = _text(path)
    head = text.split("\n", 1)[0]
    delimiter = max(",;", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    try:
        for values in reader:
            number = reader.line_num
            if not any(one.strip() for one in values):
                continue
            if not names:
                names = _header(path, number, values, columns, needed)
            elif len(values) != len(names):
                raise GradingError(
                    f"{path}: line {number}: {len(values)} values, but the header has {len(names)} columns"
                )
            else:
                row = dict(zip(names, map(_plain, values), strict=True))
                if delimiter == ";":
                    row |= {one: row[one].replace(",", ".") for one in numbers}
                yield number, {one: row.get(one, "") for one in columns}
    except csv.Error as error:
        raise GradingError(f"{path}: line {reader.line_num}: not CSV", evidence=str(error)) from error
    if not names:
        raise GradingError(f"{path}: it is empty", next_act=f"a first line with {','.join(columns)}")


def _header(path: Path, number: int, values: Iterable[str], columns: Sequence[str], needed: Sequence[str]) -> list[str]:
    names = ["_".join(_plain(one).lower().split()) for one in values]
    names = [_SAME.get(one, one) if _SAME.get(one) in columns else one for one in names]
    for one in columns:
        if names.count(one) > 1:
            raise GradingError(f"{path}: line {number}: column {one} is there twice")
    lacking = [one for one in needed if one not in names]
    if lacking:
        raise GradingError(
            f"{path}: line {number}: no column {' and no column '.join(lacking)}",
            evidence=f"there are {', '.join(names)}",
            next_act=f"a first line with {','.join(columns)}",
        )
    return names


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GradingError(f"{path}: cannot be read", evidence=error.strerror or str(error)) from error
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise GradingError(f"{path}: neither UTF-8 nor Windows-1252", next_act="save it as CSV UTF-8")


def _expect(path: Path, number: int, row: Mapping[str, str], needed: Sequence[str]) -> None:
    for name in needed:
        if not row[name]:
            raise GradingError(f"{path}: line {number}: {name} is empty")
    for name, value in row.items():
        if not value.isprintable():
            raise GradingError(f"{path}: line {number}: {name}: a character that cannot be shown", evidence=repr(value))


def _plain(text: str) -> str:
    """One form of accents, and no space around."""
    return unicodedata.normalize("NFC", text).strip()
