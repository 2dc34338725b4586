"""Files looked through: each as it stands, in every reading, and in everything that is packed into it.

``FILE!MEMBER!MEMBER:LINE`` says where: ``!`` leads into a container, as in ``site.zip!en/page.html!base64:12``. In what
has no lines an offset in bytes takes their place; where escapes come before it, it is a little too small.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from labkit.scan.answers import Answers
from labkit.scan.containers import Budget, Limits, OverBudget, Unreadable, kind, members, size
from labkit.scan.folding import Folded, readings
from labkit.scan.search import Searcher

__all__ = ["Finding", "Scan", "Unexamined", "scan"]

LIMITS = Limits()

SLICE = 8 << 20
"""Bytes that are read in all readings at once; a larger file is taken slice by slice."""
OVERLAP = 16 << 10

PIECE = 64 << 10
"""Decoded base64 of at least this length is looked at alone, smaller pieces together."""

_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE64_LINES = re.compile(  # possessive, and only from the beginning of a run: a picture is one line of a megabyte
    rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{40,}+"
    rb"(?:(?:\\r)?(?:\\n|\r?\n)[ \t\r\n\"',]{0,40}[A-Za-z0-9+/_-]{4,}+)+={0,2}"
)
_NO_BASE64 = re.compile(rb"\\[rn]|[^A-Za-z0-9+/]")
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class Finding:
    """An answer of *exercise* in *where* (file and members), first at *line*, or *offset* where there are no lines.

    *sources*: what was found there, by place in the exercise's folder: "secret 1", "solution.yaml:14".
    """

    where: str
    exercise: str
    sources: tuple[str, ...]
    line: int | None = None
    offset: int | None = None

    @property
    def text(self) -> str:
        """One line for people. It does not repeat the answer, which may be read by others in a log."""
        place = (
            f":{self.line}" if self.line is not None else f": offset {self.offset}" if self.offset is not None else ""
        )
        more = f" and {len(self.sources) - 3} more" if len(self.sources) > 3 else ""
        return f"{self.where}{place}: the answer of {self.exercise!r} ({', '.join(self.sources[:3])}{more})"


@dataclass(frozen=True)
class Unexamined:
    """Something that was not looked into, and why: it may hold an answer."""

    where: str
    reason: str

    @property
    def text(self) -> str:
        return f"{self.where}: not looked into: {self.reason}"


@dataclass(frozen=True)
class Scan:
    """What was found in *files* files of *size* bytes, in the order of the files."""

    findings: tuple[Finding, ...]
    unexamined: tuple[Unexamined, ...]
    files: int
    size: int

    @property
    def clean(self) -> bool:
        """No answer, and nothing left unexamined."""
        return not self.findings and not self.unexamined

    def told(self, folder: Path, most: int = 20) -> tuple[int, str]:
        """How many places an error about *folder* names, and its evidence: the first of them, a line each."""
        lines = [line.replace(f"{folder.as_posix()}/", "") for line in self._lines()]
        return len(lines), "\n  ".join(["", *lines[:most]])

    @property
    def text(self) -> str:
        """Lines for people, the last one the sum."""
        lines = self._lines()
        counted = f"{self.files} files ({size(self.size)}) looked through"
        if self.clean:
            verdict = "no answer in them"
        else:
            verdict = f"answers in {len({one.where for one in self.findings})} places"
            verdict += f", {len(self.unexamined)} not looked into" if self.unexamined else ""
        return "\n".join([*lines, f"{counted}: {verdict}"])

    def _lines(self) -> list[str]:
        return [*(one.text for one in self.findings), *(one.text for one in self.unexamined)]


def scan(answers: Answers, paths: Iterable[Path], limits: Limits = LIMITS) -> Scan:
    """Look for the answers in files and folders, links to files included. A path that is not there is an OSError."""
    looking = _Looking(answers, limits)
    for path in paths:
        path.stat()
        for file in _files(path, looking):
            looking.file(file)
    return Scan(tuple(looking.found.values()), tuple(looking.unexamined), looking.files, looking.size)


def _files(path: Path, looking: _Looking) -> Iterator[Path]:
    """*path*, or all files below it in order. Folders that are links are not followed, but told."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=looking.lost):
        folders.sort()
        for name in folders:
            if (one := Path(folder, name)).is_symlink():
                looking.missed(one.as_posix(), "a link to a folder")
        yield from (Path(folder, name) for name in sorted(names))


@dataclass
class _Looking:
    answers: Answers
    limits: Limits
    files: int = 0
    size: int = 0
    found: dict[tuple[str, str], Finding] = field(default_factory=dict)
    unexamined: list[Unexamined] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.searcher = Searcher(self.answers.needles)

    def missed(self, where: str, reason: str) -> None:
        self.unexamined.append(Unexamined(where, reason))

    def lost(self, error: OSError) -> None:
        self.missed(str(error.filename), error.strerror or str(error))

    def hit(self, where: str, exercise: str, source: str, line: int | None = None, offset: int | None = None) -> None:
        """One finding for each place and exercise; later sources join the first."""
        one = self.found.get((where, exercise))
        if one is None:
            self.found[where, exercise] = Finding(where, exercise, (source,), line, offset)
        elif source not in one.sources:
            self.found[where, exercise] = Finding(where, exercise, (*one.sources, source), one.line, one.offset)

    def file(self, path: Path) -> None:
        where = path.as_posix()
        try:
            if not path.is_file():
                self.missed(where, "neither a file nor a folder, or a broken link")
                return
            length = path.stat().st_size
            self.files += 1
            self.size += length
            self.named(where)
            if length > self.limits.file:
                self.missed(where, f"larger than {size(self.limits.file)}")
            else:
                self.look(path.read_bytes(), _Place(where, 0, Budget(self.limits)))
        except OSError as error:
            self.missed(where, error.strerror or str(error))

    def named(self, where: str) -> None:
        exercise = self.answers.named(where)
        if exercise:
            self.hit(where, exercise, "a file of the instructors, by its name")

    def look(self, data: bytes, place: _Place) -> None:
        """Look at *data*, then into it."""
        what = kind(data)
        if what and place.depth >= self.limits.depth:
            self.missed(place.where, f"more than {self.limits.depth} containers in each other")
        elif what:
            self.inside(what, data, place)
        begins_otherwise = what == "inventory" or (what == "zip" and not data.startswith(b"PK"))
        if not what or begins_otherwise or not place.sure:
            self.leaf(data, place)

    def inside(self, what: str, data: bytes, place: _Place) -> None:
        try:
            for member in members(what, data, place.budget):
                one = place.within(member.name or what)
                self.named(one.where)
                if member.problem:
                    self.missed(one.where, member.problem)
                self.look(member.data, one)
        except OverBudget as error:
            self.missed(place.where, str(error))
        except Unreadable as error:
            if place.sure:
                self.missed(place.where, str(error))

    def leaf(self, data: bytes, place: _Place) -> None:
        """Look at *data* in all readings, and at the base64 in it."""
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            data = data.decode("utf-16", "replace").encode("utf-8", "replace")
        text = b"\0" not in data[:SLICE]
        program = not text and len(data) > SLICE  # its strings have no escapes, and there are 100 MB of it
        lines = 0
        for start in range(0, max(len(data), 1), SLICE):
            part = data[start : start + SLICE + OVERLAP]
            for number, reading in enumerate([part] if program else readings(part)):
                folded = Folded(reading)
                for index, needle in sorted(self.searcher.find(folded.text), key=lambda hit: hit[0]):
                    line = lines + folded.lines_before(index) + 1 if text else None
                    offset = None if text else start + folded.offset(index)
                    self.hit(place.where, needle.exercise, needle.source, line, offset)
                if number == 1:  # escapes are undone: "\/" and "%2B" in base64
                    self.encoded(reading, place, lines if text else None)
            lines += data.count(b"\n", start, start + SLICE)
        self.encoded(data, place, 0 if text else None)

    def encoded(self, data: bytes, place: _Place, lines: int | None) -> None:
        """Decode all base64 in *data*, before which there are *lines* (None: it is no text), and look at that.

        Small pieces are looked at together, each on the line where it stands.
        """
        pieces: list[bytes] = []
        at, line = 0, lines or 0
        for start, piece in _decoded(data):
            place.budget.total -= len(piece)
            if place.budget.total < 0:
                self.missed(place.where, f"base64 of more than {size(self.limits.total)} in one file")
                return
            breaks = data.count(b"\n", at, start)
            at, line = start, line + breaks
            pieces.append(b"\n" * breaks)
            if len(piece) < PIECE and not kind(piece):
                pieces.append(piece.replace(b"\n", b" ") + b"  ")
            elif place.budget.first(piece):
                self.look(piece, place.decoded(None if lines is None else line + 1))
        together = b"".join(pieces)
        if not together.strip() or not place.budget.first(together):
            return
        if place.depth >= self.limits.depth:
            self.missed(place.where, f"base64 in more than {self.limits.depth} containers in each other")
        else:
            self.leaf(b"\n" * (lines or 0) + together, place.decoded(None))


@dataclass(frozen=True)
class _Place:
    """*where* data comes from, how many containers deep, of what is unpacked so far; not *sure*: it was decoded from
    what may not have been base64 at all, so a broken container there is none."""

    where: str
    depth: int
    budget: Budget
    sure: bool = True

    def within(self, name: str) -> _Place:
        return replace(self, where=f"{self.where}!{name}", depth=self.depth + 1, sure=True)

    def decoded(self, line: int | None) -> _Place:
        where = self.where if line is None else f"{self.where}:{line}"
        return replace(self, where=f"{where}!base64", depth=self.depth + 1, sure=False)


def _decoded(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Offset and content of each run that may be base64. A run may begin with letters that are none of it, so a short
    one is decoded from each of four places; and lines that follow each other are decoded together as well."""
    runs = [(run.start(), run[0], run.end() - run.start() <= PIECE) for run in _BASE64_RUN.finditer(data)]
    runs += [(run.start(), run[0], False) for run in _BASE64_LINES.finditer(data)]
    for start, run, everywhere in sorted(runs, key=lambda one: one[0]):
        plain = _NO_BASE64.sub(b"", run.translate(_TO_STANDARD))
        for skipped in range(4 if everywhere else 1):
            part = plain[skipped:]
            part = part[: len(part) - 1] if len(part) % 4 == 1 else part
            yield start, base64.b64decode(part + b"=" * (-len(part) % 4))
