"""A notebook read as the steps of a section.

Prose, real commands and their recorded outputs live in one place, the ``.ipynb`` files; player, recorder, parity and
pages all need the same reading of them. This module turns a file into frozen values and refuses, with the file and
the cell, whatever would make a step nameless, ambiguous or silently ignored: an unknown key, a repeated id, an id of
another section, a need nobody can answer. It needs only ``json``, because every kernel loads it on ``begin``.

Metadata (``docs/authors`` shows an example): the notebook's ``metadata.labkit`` has ``section`` and ``begin``, a code
cell's ``metadata.labkit`` has ``step`` and, where they apply, ``needs``, ``surprise`` and ``expect``. A translated
notebook says its language in ``lang``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import NotebookError
from labkit.languages import translate

__all__ = [
    "EXERCISES",
    "SECTIONS",
    "Begin",
    "BeginObject",
    "CourseNotebook",
    "Step",
    "begin_of",
    "find",
    "find_root",
    "language_of",
    "load",
    "load_all",
    "select",
]

SECTIONS = {
    "a-new-type": "01-a-new-type.ipynb",
    "schema": "02-schema.ipynb",
    "path": "03-path.ipynb",
    "cel": "04-cel.ipynb",
    "display": "05-display-and-subresources.ipynb",
    "versions": "06-versions.ipynb",
    "rbac": "07-rbac.ipynb",
    "cost": "08-cost.ipynb",
    "typed-resources": "09-typed-resources.ipynb",
}
"""Section (and prefix of its steps) → file name, in the course's order."""

EXERCISES = {"exercises": "10-exercises.ipynb"}
"""The notebook that is generated from the exercises' folders: a kernel begins it, but it has no steps to be played."""

_BEGUN = SECTIONS | EXERCISES

EXPECTATIONS = ("shown", "accepted", "refused")
"""What the chapter says becomes of a step: the server's answer is looked at, its yes, or its no."""

_STEP_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*")
_NEED = re.compile(
    r"etcd|nodes|controllers:[a-z-]+"  # what a cluster has or has not
    r"|([a-z0-9-]+(\.[a-z0-9-]+)*/)?v[0-9]+((alpha|beta)[0-9]+)?(/[a-z]+)?"  # an API, or one type of it
)
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*")


@dataclass(frozen=True)
class BeginObject:
    """An object that exists when a section begins: as ``kubectl apply -f FILE`` made it, then changed.

    *version* replaces the version in the file's apiVersion; *merges* are merge patches made one after another (each
    that changes the spec raises the generation by one); *status* is merged through ``/status``.
    """

    file: str
    version: str | None = None
    merges: tuple[Mapping[str, Any], ...] = ()
    status: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Begin:
    """What a cluster holds of the course's names when a section begins; all else of them is gone.

    *definition* and *also* are manifest paths relative to the folder that holds ``crd/``. With *namespace* false,
    ch54 need not exist (it is emptied when it does).
    """

    definition: str | None = None
    namespace: bool = True
    objects: tuple[BeginObject, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One code cell. *outputs* are the recorded nbformat outputs as dicts; *index* is its place among all cells."""

    id: str
    title: str
    source: str
    outputs: tuple[Mapping[str, Any], ...]
    needs: tuple[str, ...]
    surprise: bool
    expect: str
    index: int


@dataclass(frozen=True)
class CourseNotebook:
    section: str
    path: Path
    begin: Begin
    steps: tuple[Step, ...]


def load(path: Path) -> CourseNotebook:
    """Read one notebook. Raises NotebookError with the file and, where it applies, the cell."""
    data = _read(path)
    section, begin = _head(path, data)
    return CourseNotebook(section, path, begin, _steps(path, section, data["cells"]))


def load_all(folder: Path) -> tuple[CourseNotebook, ...]:
    """Every notebook of *folder* that is played, in file order.

    Raises NotebookError when there is none, or two are one section.
    """
    found: dict[str, CourseNotebook] = {}
    for path in sorted(folder.glob("[0-9][0-9]*.ipynb")):
        if path.name in EXERCISES.values():
            continue
        one = load(path)
        if one.section in found:
            raise NotebookError(
                f"{path}: section {one.section!r} is taken",
                evidence=f"by {found[one.section].path.name}",
                next_act="give one of them another section",
            )
        found[one.section] = one
    if not found:
        raise NotebookError(
            translate("no notebook of the course"), evidence=translate("{folder} has none", folder=folder)
        )
    return tuple(found.values())


def select(notebooks: Sequence[CourseNotebook], sections: Collection[str]) -> tuple[CourseNotebook, ...]:
    """Those of *sections*, in the notebooks' order; all for none. Raises NotebookError for one that is not there."""
    there = [one.section for one in notebooks]
    missing = [section for section in sections if section not in there]
    if missing:
        raise NotebookError(
            translate("no section {names}", names=", ".join(missing)),
            next_act=translate("there are {names}", names=", ".join(there)),
        )
    return tuple(one for one in notebooks if not sections or one.section in sections)


def find(section: str, folders: Iterable[Path]) -> tuple[Path, Begin]:
    """The notebook of *section* in the first folder that has one, and its beginning, without reading its steps.

    A kernel's ``begin`` asks this; a notebook half-edited elsewhere must not stop it. Raises NotebookError.
    """
    if section not in _BEGUN:
        raise NotebookError(
            translate("no section {section}", section=repr(section)),
            next_act=translate("the course's sections are {names}", names=", ".join(_BEGUN)),
        )
    looked = []
    for folder in folders:
        named = folder / _BEGUN[section]
        for path in [named, *sorted(folder.glob("[0-9][0-9]*.ipynb"))]:
            if not path.is_file():
                continue
            try:
                found, begin = _head(path, _read(path))
            except NotebookError:
                if path == named:
                    raise
                continue
            if found == section:
                return path, begin
        looked.append(str(folder))
    raise NotebookError(
        translate("no notebook for section {section}", section=repr(section)),
        evidence=translate("looked in {names}", names=", ".join(looked)),
        next_act=translate("run this in the folder that holds the course's notebooks and crd/"),
    )


def language_of(folders: Iterable[Path]) -> str:
    """The language of the notebooks in the first folder that has any ("en" where they say none): one an edition."""
    for folder in folders:
        for path in sorted(folder.glob("[0-9][0-9]*.ipynb")):
            try:
                return str(_read(path)["metadata"]["labkit"].get("lang", "en"))
            except (NotebookError, KeyError, TypeError, AttributeError):
                continue
    return "en"


def find_root(start: Path) -> Path:
    """The nearest folder from *start* upwards that holds ``crd/``. Raises NotebookError."""
    for folder in [start, *start.parents]:
        if (folder / "crd").is_dir():
            return folder
    raise NotebookError(
        translate("no course here"),
        evidence=translate("neither {start} nor a folder above it holds crd/", start=start),
        next_act=translate("start the notebook from the course's folder"),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotebookError(
            translate("{path}: cannot be read", path=path), evidence=error.strerror or str(error)
        ) from error
    except ValueError as error:
        raise NotebookError(
            translate("{path}: not a notebook", path=path),
            evidence=translate("not JSON in UTF-8: {error}", error=error),
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list) or "metadata" not in data:
        raise NotebookError(
            translate("{path}: not a notebook", path=path),
            evidence=translate('no "cells" or "metadata" at its top (nbformat 4)'),
        )
    return data


def _head(path: Path, data: Mapping[str, Any]) -> tuple[str, Begin]:
    where = f"{path}: metadata.labkit"
    raw = data["metadata"].get("labkit")
    if not isinstance(raw, dict):
        raise NotebookError(
            f"{path}: no section", evidence="metadata.labkit is missing", next_act='add {"section": …, "begin": {…}}'
        )
    _only(where, raw, {"section": str, "begin": dict, "lang": str})
    section = raw.get("section")
    if section not in _BEGUN:
        raise NotebookError(
            f"{where}.section: no section {section!r}", next_act=f"the course's sections are {', '.join(_BEGUN)}"
        )
    if "begin" not in raw:
        raise NotebookError(f"{where}: no begin", next_act='add "begin": {"definition": …, "objects": […]}')
    return section, begin_of(f"{where}.begin", raw["begin"])


def begin_of(where: str, raw: Mapping[str, Any]) -> Begin:
    """A beginning as a notebook's metadata or an exercise has it; *where* goes into errors. Raises NotebookError."""
    _only(where, raw, {"definition": (str, type(None)), "namespace": bool, "objects": list, "also": list})
    objects = tuple(_begin_object(f"{where}.objects[{i}]", o) for i, o in enumerate(raw.get("objects", [])))
    also = tuple(raw.get("also", []))
    if not all(isinstance(entry, str) for entry in also):
        raise NotebookError(f"{where}.also: a list of paths is wanted", evidence=repr(list(also)))
    begin = Begin(raw.get("definition"), raw.get("namespace", True), objects, also)
    if begin.objects and (begin.definition is None or not begin.namespace):
        raise NotebookError(f"{where}: objects need a definition and the namespace")
    return begin


def _begin_object(where: str, raw: Any) -> BeginObject:
    if not isinstance(raw, dict):
        raise NotebookError(f'{where}: {{"file": …}} is wanted', evidence=repr(raw))
    _only(where, raw, {"file": str, "merge": (dict, list), "status": dict, "version": (str, type(None))})
    if "file" not in raw:
        raise NotebookError(f"{where}: no file")
    merge = raw.get("merge", [])
    merges = tuple(merge) if isinstance(merge, list) else (merge,)
    if not all(isinstance(one, dict) for one in merges):
        raise NotebookError(f"{where}.merge: a merge patch, or a list of them, is wanted", evidence=repr(merge))
    return BeginObject(raw["file"], raw.get("version"), merges, raw.get("status"))


def _steps(path: Path, section: str, cells: list[Any]) -> tuple[Step, ...]:
    steps: list[Step] = []
    title = ""
    for index, cell in enumerate(cells):
        where = f"{path}: cell {index + 1}"
        source = _text(cell.get("source", ""))
        if cell.get("cell_type") == "markdown":
            title = _heading(source) or title
        if cell.get("cell_type") != "code":
            if "labkit" in cell.get("metadata", {}):
                raise NotebookError(f"{where}: metadata.labkit belongs to code cells", evidence=source[:60])
            continue
        step = _step(where, section, title, cell, index, first=not steps)
        if any(step.id == other.id for other in steps):
            raise NotebookError(f"{where}: step id {step.id!r} is taken", next_act="every step has an id of its own")
        steps.append(step)
    if not steps:
        raise NotebookError(f"{path}: no step", evidence="it has no code cell")
    return tuple(steps)


def _step(where: str, section: str, title: str, cell: Mapping[str, Any], index: int, *, first: bool) -> Step:  # noqa: PLR0913  (one cell in its place)
    source = _text(cell.get("source", ""))
    raw = cell.get("metadata", {}).get("labkit", {})
    _only(f"{where}: metadata.labkit", raw, {"step": str, "needs": list, "surprise": bool, "expect": str})
    if first and f'labkit.begin("{section}")' not in source:
        raise NotebookError(
            f"{where}: the first code cell must begin the section", next_act=f'lab = labkit.begin("{section}")'
        )
    step_id = raw.get("step", f"{section}/begin" if first else None)
    if step_id is None or not _STEP_ID.fullmatch(step_id) or not step_id.startswith(f"{section}/"):
        raise NotebookError(
            f"{where}: {'no step id' if step_id is None else f'step id {step_id!r} does not fit'}",
            evidence=source[:60],
            next_act=f'metadata.labkit.step is "{section}/" and words in lower case joined by "-"',
        )
    if not title:
        raise NotebookError(f"{where}: step {step_id!r} has no title", next_act="put a Markdown heading above it")
    needs = tuple(raw.get("needs", []))
    for need in needs:
        if not isinstance(need, str) or not _NEED.fullmatch(need):
            raise NotebookError(
                f"{where}: need {need!r} is not known",
                next_act="a need is etcd, nodes, controllers:NAME, GROUP/VERSION or GROUP/VERSION/PLURAL",
            )
    expect = raw.get("expect", "shown")
    if expect not in EXPECTATIONS:
        raise NotebookError(f"{where}: expect {expect!r} is not known", next_act=f"one of {', '.join(EXPECTATIONS)}")
    outputs = tuple(cell.get("outputs", []))
    return Step(step_id, title, source, outputs, needs, raw.get("surprise", False), expect, index)


def _only(where: str, raw: Mapping[str, Any], known: Mapping[str, type | tuple[type, ...]]) -> None:
    for key, value in raw.items():
        if key not in known:
            raise NotebookError(f"{where}: key {key!r} is not known", next_act=f"known are {', '.join(known)}")
        if not isinstance(value, known[key]):
            raise NotebookError(f"{where}.{key}: of the wrong type", evidence=json.dumps(value)[:80])


def _heading(source: str) -> str:
    """The last heading of a Markdown cell, outside fenced code; empty when it has none."""
    heading, fenced = "", False
    for line in source.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (match := _HEADING.fullmatch(line)):
            heading = match[1]
    return heading


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
