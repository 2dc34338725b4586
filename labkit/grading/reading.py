"""What a class handed in, found in whatever form it was collected.

A folder of nbgrader's, zips that ``labkit submit`` made, notebooks in a heap, the zip of zips of a learning platform:
they all are files below a name for each person. So there is one rule for all. What lies at the top, a folder, a zip or
a notebook, is a person, under its name without extension; what a person handed in is one *place*: a notebook, or
``answers/``, or both side by side, however deep in folders and zips. More than one place for a person is told and not
chosen from, unless all of them hold the same: nothing here guesses whose or which work it is. One person's broken file
never costs another's.
"""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from labkit.course.handout import COURSE_FOLDERS
from labkit.course.notebook import SECTIONS
from labkit.grading import archives
from labkit.grading.archives import LIMITS, Budget, Limits, Member, Refused
from labkit.grading.errors import GradingError
from labkit.grading.values import Note, Submission
from labkit.languages import numeral, translate

__all__ = ["Handed", "read", "some_of"]

_JUNK = {"__macosx", ".ds_store", ".ipynb_checkpoints", "thumbs.db", "desktop.ini", "timestamp.txt"}
"""What systems, Jupyter and nbgrader leave beside a work."""

_RECORD = ("progress.json", "progress.unreadable.json")
"""What lies in ``answers/`` and is no answer: no mark is read from it."""

_SHOWN = 5
"""So many names are told where there are many."""


@dataclass(frozen=True)
class Handed:
    """Submissions sorted by key, and what is none, or is not taken because it is not clear which is meant.

    A problem's code is "double" (more than one work of one person), "no-submission", or "refused".
    """

    submissions: tuple[Submission, ...]
    problems: tuple[Note, ...]


@dataclass
class _Place:
    """A notebook and answers that lie side by side."""

    notebooks: list[Member] = field(default_factory=list)
    answers: list[Member] = field(default_factory=list)
    refused: str = ""


def read(path: Path, *, limits: Limits = LIMITS) -> Handed:
    """Everything that was handed in at *path*: a folder, a zip, or one notebook.

    Nothing is written or unpacked. A file that is larger than its limit is not read. Raises GradingError where *path*
    is not there or cannot be read at all.
    """
    with _opened(path) as found:
        top, problems = _by_person([one for one in found if not _is_junk(one)], path)
        submissions = []
        for key, members in sorted(top.items()):
            one = _submission(key, path.name, members, limits)
            if isinstance(one, Submission):
                submissions.append(one)
            else:
                problems.append(one)
    return Handed(tuple(submissions), tuple(sorted(problems, key=lambda note: (note.text, note.code))))


@contextmanager
def _opened(path: Path) -> Iterator[list[Member]]:
    try:
        if path.is_dir():
            yield list(archives.in_folder(path))
        elif path.suffix.lower() == ".ipynb" and path.is_file():
            yield [archives.on_disk(path, (path.name,))]
        else:
            with zipfile.ZipFile(path) as archive:
                yield list(archives.in_zip(archive))
    except FileNotFoundError as error:
        raise GradingError(f"{path} is not there", next_act="name the folder or zip of what was handed in") from error
    except archives.BROKEN as error:
        raise GradingError(
            f"{path}: neither a folder nor a zip that can be read", evidence=archives.words(error)
        ) from error


# -- who ------------------------------------------------------------------------------------------------------------


def _by_person(members: list[Member], path: Path) -> tuple[dict[str, list[Member]], list[Note]]:
    stem = PurePosixPath(path.resolve().name).stem
    members = _unwrapped(members, stem)
    if any(one.parts[0] == "answers" and len(one.parts) > 1 for one in members):
        return {stem: members}, []
    people: dict[str, list[Member]] = defaultdict(list)
    problems = []
    for one in members:
        if one.refused and not one.is_file and len(one.parts) == 1:
            problems.append(_problem(one.name, one.refused))
        elif len(one.parts) > 1 or not one.is_file:
            people[one.parts[0]].append(one)
        elif one.suffix in (".zip", ".ipynb"):
            people[PurePosixPath(one.name).stem].append(one)
        else:
            problems.append(_problem(one.name, one.refused))
    return people, problems


def _unwrapped(members: list[Member], stem: str) -> list[Member]:
    """What lies in nbgrader's ``submitted``, or in the one folder that a zip was made of, if there is one."""
    tops = {one.parts[0] for one in members}
    for name in ("submitted", *({stem, "submissions"} & tops if len(tops) == 1 else ())):
        inner = [one for one in members if one.parts[0] == name and len(one.parts) > 1]
        if inner:
            return [replace(one, parts=one.parts[1:]) for one in inner]
    return members


def _is_junk(member: Member) -> bool:
    return any(word.lower() in _JUNK or word.startswith("._") for word in member.parts)


# -- what -----------------------------------------------------------------------------------------------------------


def _submission(key: str, where: str, members: Sequence[Member], limits: Limits) -> Submission | Note:
    """The one work in *members*, or what is wrong with them."""
    budget = Budget(limits)
    notes: list[Note] = []
    places: dict[tuple[str, ...], _Place] = defaultdict(_Place)
    others: list[Member] = []
    if len(members) > limits.members:
        return Note("refused", f"{key}: {translate('more than {n} files', n=numeral(limits.members))}")
    for one in _with_zips(members, budget):
        kind = _kind(one)
        if kind == "notebook":
            places[one.parts[:-1]].notebooks.append(one)
        elif kind == "answer":
            places[one.parts[:-2]].answers.append(one)
        elif kind == "zip":
            places[one.parts].refused = one.refused
        elif one.refused:
            notes.append(Note("refused", f"{_inside(one)}: {one.refused}"))
        elif not _is_ours(one):
            others.append(one)
    if budget.crowded:
        return Note("refused", f"{key}: {translate('more than {n} files', n=numeral(limits.members))}")
    if len(places) > 1:
        places = _same(places, limits)
    if len(places) != 1:
        return _several(key, places) if places else _problem(key, "; ".join(note.text for note in notes), others)
    ((parts, place),) = places.items()
    twice = _twice(place)
    if twice:
        return Note("double", translate("{name}: {why}; none is taken", name=key, why=twice))
    if others:
        notes.append(Note("other-files", translate("not looked at: {names}", names=some_of(map(_inside, others)))))
    source = "/".join((where, *parts)) if parts else f"{where}/{members[0].parts[0]}"
    return _taken(Submission(key, source), place, notes, budget)


def _same(places: dict[tuple[str, ...], _Place], limits: Limits) -> dict[tuple[str, ...], _Place]:
    """One of *places* where all have the same bytes, as an unpacked zip and the zip beside it do; else all of them.

    A place without a notebook is the same as one with it that has the same answers: the one with more is taken.
    """
    budget = Budget(limits)  # of its own: what is compared here is read once more by whoever takes it
    answers, notebooks = set(), set()
    for place in places.values():
        if place.refused or _twice(place):
            return places
        try:
            answers.add(frozenset((one.parts[-1], budget.read(one, limits.answer)) for one in place.answers))
            notebooks |= {budget.read(one, limits.notebook) for one in place.notebooks}
        except Refused:
            return places
    if len(answers) > 1 or len(notebooks) > 1:
        return places
    return dict([min(places.items(), key=lambda item: (not item[1].notebooks, len(item[0]), item[0]))])


def _taken(empty: Submission, place: _Place, notes: list[Note], budget: Budget) -> Submission:
    notebook: bytes | None = None
    answers = []
    if place.refused:
        notes.append(Note("refused", place.refused))
    for one in (*place.notebooks, *place.answers):
        is_notebook = one.suffix == ".ipynb"
        try:
            content = budget.read(one, budget.limits.notebook if is_notebook else budget.limits.answer)
        except Refused as refused:
            notes.append(Note("refused", f"{_inside(one)}: {refused}"))
            continue
        if is_notebook:
            notebook = content
        else:
            answers.append((one.parts[-1], content))
    if budget.spent:
        notebook, answers = None, []
        notes.append(Note("refused", translate("nothing of it is taken: {why}", why=budget.spent)))
    return replace(empty, notebook=notebook, answers=tuple(answers), notes=tuple(notes))


def _with_zips(members: Iterable[Member], budget: Budget) -> Iterator[Member]:
    """*members* by name, each zip among them replaced by what it holds, or by itself, refused."""
    for one in sorted(members, key=lambda member: member.parts):
        if one.suffix != ".zip":
            yield one
            continue
        try:
            inner = budget.list_zip(one)
        except Refused as refused:
            yield replace(one, refused=f"{_inside(one)}: {refused}")
            continue
        yield from _with_zips((more.below(*one.parts) for more in inner if not _is_junk(more)), budget)


def _kind(member: Member) -> str:
    """ "notebook", "answer" or "zip"; "" for what is no work."""
    if not member.is_file:
        return ""
    if member.suffix == ".ipynb":
        return "" if member.parts[-1] in SECTIONS.values() else "notebook"
    if member.parts[-2:-1] == ("answers",) and member.parts[-1] not in _RECORD:
        return "answer"
    return "zip" if member.suffix == ".zip" else ""


def _is_ours(member: Member) -> bool:
    """Whether students have it from us: the course's files, and the record of progress."""
    return not member.is_file or member.parts[-1] in _RECORD or bool(set(member.parts[:-1]) & set(COURSE_FOLDERS))


# -- words ----------------------------------------------------------------------------------------------------------


def _inside(member: Member) -> str:
    """Its name within the work, without the person's: the same work is the same, whoever's it is."""
    first, *more = member.parts
    if first == "answers" and more:
        return member.name
    return "/".join(more) or f"*{member.suffix}"


def _twice(place: _Place) -> str:
    if place.refused and (place.notebooks or place.answers):
        return translate("two zips of one name")
    if len(place.notebooks) > 1:
        return translate("several notebooks: {names}", names=some_of(one.name for one in place.notebooks))
    names = [one.name for one in place.answers]
    twice = sorted({name for name in names if names.count(name) > 1})
    return translate("the same name more than once: {names}", names=some_of(twice)) if twice else ""


def _several(key: str, places: dict[tuple[str, ...], _Place]) -> Note:
    found = (("/".join(parts) or place.notebooks[0].name) for parts, place in sorted(places.items()))
    why = translate("several works (attempts, or assignments): {names}", names=some_of(found))
    return Note("double", translate("{name}: {why}; none is taken", name=key, why=why))


def _problem(name: str, refused: str = "", others: Sequence[Member] = ()) -> Note:
    if refused:
        return Note("refused", f"{name}: {refused}")
    why = translate("neither a notebook of the exercises nor answers/")
    if others:
        names = some_of(one.name for one in others)
        why = translate("neither a notebook of the exercises nor answers/, but {names}", names=names)
    return Note("no-submission", f"{name}: {why}")


def some_of(names: Iterable[str]) -> str:
    """Some of *names*, and how many more there are."""
    all_names = list(names)
    more = len(all_names) - _SHOWN
    shown = ", ".join(all_names[:_SHOWN])
    return translate("{names} and {n} more", names=shown, n=more) if more > 0 else shown
