"""What an inventory says, held against what is on the cluster, by its meaning.

A report is right in any order of columns, with any spaces, lines or bars between them, in French or in English. So the
table is read by its titles, each cell becomes what it means (versions with or without a mark, a number, "to migrate"
or not), and that is compared with the facts, which come from the API server itself at this moment.

This file works the exercise out, so students do not have it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from labkit.cluster import Api
from labkit.cluster.api import Resource
from labkit.cluster.claim import DEFINITIONS
from labkit.exercises.probes import Step
from labkit.exercises.report import Finding
from labkit.exercises.sandbox import Run
from labkit.languages import plural, translate

Versions = dict[str, bool]
"""Name of a version → whether it is deprecated, or marked so."""

_TITLES: tuple[tuple[str, str], ...] = (
    ("persisted", r"(?:in |dans )?etcd|stored ?versions|versions? stockees|persist\w*"),
    ("stored", r"stored(?: version)?|stockee?|storage|stockage|version stockee"),
    ("served", r"served(?: versions?)?|servies?|versions? servies?"),
    ("objects", r"objects?|objets?|count|nombre(?: d.objets)?"),
    ("name", r"definitions?|names?|noms?|crds?"),
    ("state", r"states?|etats?|status|statut|migration|to migrate|a migrer|migrate|migrer|action"),
)
"""Columns by their titles, without accents and in small letters; the first that fits."""

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d+)?")
_BARS = re.compile(r"[|│┃║;\t]")
_RULES = re.compile(r"[-+=_|│┃║─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬\s]*")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONGEST_LINE = 1_000
MOST_LINES = 2_000
"""More of a report is not read: what a script prints has no end, and some patterns take the square of a line."""

_MOST_NUMBERS = 4
_NO = re.compile(r"\b(no|not|none|nothing|non|rien|aucune?|pas|sans|0)\b")


# -- the facts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fact:
    """One definition as it is."""

    name: str
    stored: str
    served: Versions
    persisted: frozenset[str]
    objects: int | None

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(sorted(self.persisted - {self.stored}))


def facts(api: Api, *, counted: bool) -> dict[str, Fact]:
    """All definitions of the cluster by name; with *counted* their objects too (None where nothing is served)."""
    found = {}
    for one in api.list(DEFINITIONS):
        versions = one["spec"]["versions"]
        served = {version["name"]: bool(version.get("deprecated")) for version in versions if version["served"]}
        name = one["metadata"]["name"]
        found[name] = Fact(
            name=name,
            stored=next(version["name"] for version in versions if version["storage"]),
            served=served,
            persisted=frozenset(one["status"].get("storedVersions") or ()),
            objects=_number_of_objects(api, one["spec"], served) if counted else None,
        )
    return found


def _number_of_objects(api: Api, spec: dict[str, Any], served: Versions) -> int | None:
    if not served:
        return None
    names = spec["names"]
    kind = Resource(spec["group"], next(iter(served)), names["plural"], names["kind"], spec["scope"] == "Namespaced")
    return len(api.list(kind.path()))


# -- the report -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What a script printed: *rows* by definition, each with the texts of its columns; *titles* of the columns."""

    titles: tuple[str, ...] = ()
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    last: str = ""


def read(text: str) -> Report:
    """Find the line of titles, and cut every later line that has the name of a definition by it."""
    lines = [_ESCAPES.sub("", line[:LONGEST_LINE]).rstrip() for line in text.splitlines()]
    lines = [line for line in lines if line and not _RULES.fullmatch(line)]
    last = lines[-1] if lines else ""
    del lines[MOST_LINES:]
    for number, line in enumerate(lines):
        header = _header(line)
        if len({name for name, _ in header}) >= 3:
            rows = {}
            for below in lines[number + 1 :]:
                cells = _cells(line, header, below)
                name = cells.get("name", "").strip("`'\" ")
                if "." in name:
                    rows[name] = cells
            return Report(tuple(name for name, _ in header), rows, last)
    return Report(last=last)


def _plain(text: str) -> str:
    """Small letters without accents; as many as there were."""
    letters = (unicodedata.normalize("NFD", letter)[0] for letter in text)
    return "".join(letters).lower()


def _header(line: str) -> list[tuple[str, int]]:
    """The columns that a line of titles names, from left to right, with where each title begins."""
    if _BARS.search(line):
        return [(_column(part.strip()), number) for number, part in enumerate(_split(line))]
    parts = re.split(r"\s{2,}", line.strip())
    if len(parts) >= 3:
        starts, at = [], 0
        for part in parts:
            at = line.index(part, at)
            starts.append((_column(part), at))
            at += len(part)
        return starts
    return _words(line)


def _words(line: str) -> list[tuple[str, int]]:
    """Titles with one space between them: the longest known title at each place."""
    plain, found, at = _plain(line), [], 0
    for word in re.finditer(r"\S+", plain):
        if word.start() < at:
            continue
        best = max(
            (
                (match.end(), name)
                for name, pattern in _TITLES
                if (match := re.compile(rf"(?:{pattern})(?=\s|$)").match(plain, word.start()))
            ),
            default=None,
        )
        found.append((best[1] if best else "", word.start()))
        at = best[0] if best else word.end()
    return found


def _column(title: str) -> str:
    plain = _plain(title).strip(" *`:")
    return next((name for name, pattern in _TITLES if re.fullmatch(pattern, plain)), "")


def _split(line: str) -> list[str]:
    return [part.strip() for part in _BARS.split(line.strip().strip("|│┃║"))]


def _cells(title_line: str, header: list[tuple[str, int]], line: str) -> dict[str, str]:
    names = [name for name, _ in header]
    if _BARS.search(title_line):
        return dict(zip(names, _split(line), strict=False))
    close = re.sub(r"\s*,\s*", ",", re.sub(r"\s*\((?:depr\w*|dépr\w*)\.?\)", "*", line.strip()))
    parts = re.split(r"\s{2,}", close)
    if len(parts) == len(names):
        return dict(zip(names, parts, strict=True))
    starts = [at for _, at in header]
    if all(at == 0 or at >= len(line) or line[at - 1] == " " for at in starts):
        ends = [*starts[1:], None]
        return {name: line[at:end].strip() for name, at, end in zip(names, starts, ends, strict=True)}
    return dict(zip(names, close.split(None, len(names) - 1), strict=False))


def versions_in(cell: str) -> Versions:
    """The versions in a cell, each with whether it is marked as deprecated."""
    found: Versions = {}
    matches = list(_VERSION.finditer(cell))
    for number, match in enumerate(matches):
        end = matches[number + 1].start() if number + 1 < len(matches) else len(cell)
        after = re.split(r"[,;\s]+(?=$|[^(\[*d])", _plain(cell[match.end() : end]), maxsplit=1)[0]
        found[match[0]] = bool(re.search(r"\*|depr|obsol|!|†", after)) or cell[: match.start()].endswith("*")
    return found


def numbers_in(line: str) -> set[int]:
    """The numbers of a line that says few; of one that says many, or a number without end, none."""
    found = re.findall(r"(?<![\w.])\d+(?![\w.]*\d)", line)
    return {int(one) for one in found if len(one) < 10} if len(found) <= _MOST_NUMBERS else set()


def to_migrate(cell: str) -> bool:
    """Whether a cell says that there is something to migrate."""
    plain = _plain(cell).strip()
    if plain in ("yes", "oui", "true", "vrai", "x", "1"):
        return True
    return ("migr" in plain or "->" in plain or "→" in plain) and not _NO.search(plain)


# -- judging ----------------------------------------------------------------------------------------------------------


def finds(run: Run, api: Api, step: Step, hidden: bool) -> Iterator[Finding]:
    """The definitions that the report calls to be migrated, and its last line."""
    known = facts(api, counted=False)
    report = read(run.stdout)
    late = {name for name, fact in known.items() if fact.old}
    told = {name for name, cells in report.rows.items() if to_migrate(cells.get("state", ""))}
    if "--tout" not in step.argv:
        told = set(report.rows)
    say = _Say(step, hidden)
    if late and not report.titles:
        yield say(
            translate("a table with a line for {names}", names=_listed(late)),
            _nothing(run),
            translate("Is the first line the one with the titles?"),
        )
        return
    for name in sorted(late - told)[:3]:
        old = ", ".join(known[name].old)
        yield say(
            translate("{name} to be reported", name=name),
            translate("the report does not say that it needs a migration"),
            translate(
                "It stores {stored}, and objects may still lie in etcd in {old}.", stored=known[name].stored, old=old
            ),
        )
    for name in sorted(told - late)[:3]:
        why = translate("There is no definition of that name on the cluster.")
        if name in known:
            why = translate("What is in etcd is {stored}, and that is what it stores.", stored=known[name].stored)
        yield say(translate("{name} not to be reported", name=name), translate("the report has it"), why)
    if not {len(known), len(late)} <= numbers_in(report.last):
        yield say(
            translate("a last line with {all} and {late}", all=len(known), late=len(late)),
            translate('its last line is "{line}"', line=report.last[:120]),
            translate("It says how many definitions there are, and how many of them need a migration."),
        )


def versions(run: Run, api: Api, step: Step, hidden: bool) -> Iterator[Finding]:
    """The three columns of versions, of the definitions that the report has and must have."""
    known = facts(api, counted=False)
    report = read(run.stdout)
    say = _Say(step, hidden)
    missing = [name for name in ("stored", "served", "persisted") if name not in report.titles]
    if missing:
        titles = {"stored": "STORED", "served": "SERVED", "persisted": "IN ETCD"}
        wanted = translate(" and ").join(titles[name] for name in missing)
        advice = translate("The table is read by its titles: they are in the task.")
        yield say(translate("a column {titles}", titles=wanted), _nothing(run), advice)
        return
    wanted_rows = [fact for name, fact in sorted(known.items()) if fact.old or "--tout" in step.argv]
    for fact in wanted_rows:
        cells = report.rows.get(fact.name)
        if cells is None:
            yield say(
                translate("a line for {name}", name=fact.name),
                translate("the table has none"),
                translate("Without a line nothing can be said of its versions."),
            )
            return
        wrong = _wrong_versions(fact, cells)
        if wrong is not None:
            yield say(*wrong)
            return


def _wrong_versions(fact: Fact, cells: dict[str, str]) -> tuple[str, str, str] | None:
    stored, served, persisted = (cells.get(name, "") for name in ("stored", "served", "persisted"))
    if set(versions_in(stored)) != {fact.stored}:
        return (
            translate("{name} to store {version}", name=fact.name, version=fact.stored),
            _says(stored),
            translate("It is the one version with storage: true."),
        )
    if set(versions_in(served)) != set(fact.served):
        told = ",".join(fact.served) or translate("no version")
        return (
            translate("{name} to serve {versions}", name=fact.name, versions=told),
            _says(served),
            translate("They are the versions with served: true."),
        )
    if versions_in(served) != fact.served:
        marked = [name for name, deprecated in fact.served.items() if deprecated]
        which = translate(" and ").join(marked) or translate("nothing")
        return (
            translate("of {name} {versions} to be marked as deprecated", name=fact.name, versions=which),
            _says(served),
            translate("A version says of itself that it is deprecated; most say nothing."),
        )
    if set(versions_in(persisted)) != set(fact.persisted):
        told = ",".join(sorted(fact.persisted))
        return (
            translate("{name} to have {versions} in etcd", name=fact.name, versions=told),
            _says(persisted),
            translate("The status of the definition keeps that record."),
        )
    return None


def _says(cell: str) -> str:
    return translate('the report says "{cell}"', cell=cell)


def objects(run: Run, api: Api, step: Step, hidden: bool) -> Iterator[Finding]:
    """The column of numbers."""
    known = facts(api, counted=True)
    report = read(run.stdout)
    say = _Say(step, hidden)
    if "objects" not in report.titles:
        column = translate("a column {titles}", titles="OBJECTS")
        yield say(column, _nothing(run), translate("The option --objets adds it."))
        return
    for name, fact in sorted(known.items()):
        if not fact.old and "--tout" not in step.argv:
            continue
        cell = report.rows.get(name, {}).get("objects", "")
        number = re.search(r"\d{1,9}", cell)
        if fact.objects is None:
            if name not in report.rows or (number and int(number[0]) > 0):
                yield say(
                    translate("{name} without a number", name=name),
                    _says(cell),
                    translate("No version of it is served, so nobody can count."),
                )
                return
        elif number is None or int(number[0]) != fact.objects:
            yield say(
                plural("{name} to have {n} object", "{name} to have {n} objects", fact.objects, name=name),
                _says(cell),
                translate("Count in all namespaces, and no line of titles."),
            )
            return


def everything(run: Run, api: Api, step: Step, hidden: bool) -> Iterator[Finding]:
    """Every definition has a line, and it says whether there is something to do."""
    known = facts(api, counted=False)
    report = read(run.stdout)
    say = _Say(step, hidden)
    missing = sorted(known.keys() - report.rows.keys())
    if missing:
        yield say(
            translate("a line for each of the {n} definitions", n=len(known)),
            plural("{n} is missing: {name}", "{n} are missing, {name} among them", len(missing), name=missing[0]),
            translate("With --tout those that are in order are shown, too."),
        )
        return
    if "state" not in report.titles:
        column = translate("a column {titles}", titles="STATE")
        advice = translate("With all definitions shown, it is the state that tells them apart.")
        yield say(column, _nothing(run), advice)
        return
    for name, fact in sorted(known.items()):
        cell = report.rows[name].get("state", "")
        if to_migrate(cell) != bool(fact.old):
            order = translate("{name}: that it is in order", name=name)
            wanted = translate("{name}: that it needs a migration", name=name) if fact.old else order
            yield say(
                wanted,
                translate('its state is "{cell}"', cell=cell),
                translate("Compare what is in etcd with what is stored, one by one."),
            )
            return


class _Say:
    """Makes findings of one step."""

    def __init__(self, step: Step, hidden: bool) -> None:
        self._step = step
        self._hidden = hidden

    def __call__(self, expected: str, got: str, advice: str) -> Finding:
        return Finding(
            expected, got, next_act=f"{self._step.otherwise} {advice}", probe=self._step.name, hidden=self._hidden
        )


def _nothing(run: Run) -> str:
    """What the script printed where no table was found; what it died of says more."""
    text = run.stdout.strip()
    said = translate("the script printed nothing")
    if text:
        said = translate('the script printed "{line}" first', line=text.splitlines()[0][:120])
    return (
        translate("{said}, and complained: {complaint}", said=said, complaint=run.complaint) if run.complaint else said
    )


def _listed(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
