"""Manifests on pages: which of them a cell shows, and the link that opens one in the playground.

A reader of a page has no cluster, so every manifest that a page shows can be opened where it can be changed and judged:
an object together with the definition that is in force at that place of the chapter, a definition together with an
object of a version it serves. Which definition that is follows from the notebook alone: its beginning, and then each
definition that a cell applies and the server accepts. A cell may load a manifest and change it before it is sent; then
the changed one is opened, and the link says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from labkit.languages import translate
from labkit.site import playground

__all__ = ["PLAYGROUND", "Changes", "InForce", "Manifest", "Manifests", "anchor", "line", "link", "mentioned"]

PLAYGROUND = "playground/index.html"
"""The page that judges, as seen from the pages."""

EXAMPLE = "objects/principal.yaml"
"""The object that stands beside a definition."""

_NAMED = re.compile(r"[\w/.-]+\.yaml")
_APPLIED = re.compile(r"\bapply\b(?!.*--dry-run).*?([\w/.-]+\.yaml)")
_TEXT = re.compile(r'Path\("crd/([\w/.-]+\.yaml)"\)')


def link(definition: str, object_: str = "", *, old: str = "", page: str = PLAYGROUND) -> str:
    """The address of the playground with these texts in its fields; *page* is where it lies, seen from the page."""
    return page + playground.link(playground.Texts(definition, object_, old))


def anchor(address: str, word: str, label: str) -> str:
    """The link that opens the playground: *word* is seen, *label* (which begins with it) is read aloud."""
    return f'<a class="labkit-try" href="{escape(address)}" aria-label="{escape(label)}">{escape(word)}</a>'


@dataclass(frozen=True)
class Manifest:
    """One file of ``crd/``: *name* is relative to that folder."""

    name: str
    text: str

    @cached_property
    def documents(self) -> tuple[dict[str, Any], ...]:
        """What it holds, one for each document."""
        return tuple(one for one in yaml.safe_load_all(self.text) if isinstance(one, dict))

    @cached_property
    def definition(self) -> dict[str, Any] | None:
        """The CustomResourceDefinition in it, if there is one."""
        return next((one for one in self.documents if one.get("kind") == "CustomResourceDefinition"), None)

    @cached_property
    def parts(self) -> tuple[tuple[dict[str, Any], str], ...]:
        """Each document with its text."""
        texts = [one for one in re.split(r"(?m)^---\s*$", self.text) if yaml.safe_load(one)]
        return tuple(zip(self.documents, texts, strict=True))


class Manifests:
    """The files of ``crd/``, by name."""

    def __init__(self, root: Path) -> None:
        folder = root / "crd"
        self.by_name: Mapping[str, Manifest] = {
            name: Manifest(name, path.read_text(encoding="utf-8"))
            for path in sorted(folder.rglob("*.yaml"))
            for name in [path.relative_to(folder).as_posix()]
        }

    def find(self, name: str) -> Manifest | None:
        """The one a cell calls *name*, with or without ``crd/``."""
        return self.by_name.get(name.removeprefix("crd/"))

    def address(self, manifest: Manifest, in_force: str = "") -> str | None:
        """Where *manifest* is opened: an object with the definition *in_force* (its text), a definition with an
        example. None for what the playground cannot judge: roles, policies, an object of a built-in kind.
        """
        definition = next((text for one, text in manifest.parts if one is manifest.definition), None)
        own = next((text for one, text in manifest.parts if _is_of(one, definition or in_force)), None)
        if definition is None:
            return link(in_force, own) if own is not None else None
        return link(definition, own if own is not None else self.example(definition))

    def example(self, definition: str) -> str:
        """The chapter's first object, in a version that *definition* serves; "" where it is of another type."""
        one = self.by_name.get(EXAMPLE)
        crd = _parsed(definition)
        if one is None or not _is_of(one.documents[0], definition):
            return ""
        served = [version["name"] for version in crd["spec"]["versions"] if version.get("served")]
        group, _, version = one.documents[0]["apiVersion"].partition("/")
        if version in served or not served:
            return one.text
        return one.text.replace(f"apiVersion: {group}/{version}", f"apiVersion: {group}/{served[-1]}")


@cache
def _parsed(definition: str) -> Any:
    """A handful of texts, each asked about at every manifest of a page."""
    return yaml.safe_load(definition)


def _is_of(document: Mapping[str, Any], definition: str) -> bool:
    """Whether *document* is of the group and kind that *definition* (a text) defines."""
    crd = _parsed(definition)
    if not isinstance(crd, dict) or crd is document or document.get("kind") == "CustomResourceDefinition":
        return False
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return bool(crd["spec"]["group"] == group and crd["spec"]["names"]["kind"] == document.get("kind"))


def mentioned(source: str, manifests: Manifests) -> Iterator[Manifest]:
    """The manifests that a cell names, each once, in their order."""
    seen = set()
    for name in _NAMED.findall(source):
        found = manifests.find(name)
        if found is not None and found.name not in seen:
            seen.add(found.name)
            yield found


class Changes:
    """What the cells of a page make of the manifests that they load, from cell to cell.

    Run are the assignments that speak of nothing but loaded manifests; of the rest, what is sent is read.
    """

    def __init__(self, manifests: Manifests) -> None:
        self._manifests = manifests
        self._loaded: list[str] = []
        self._variables: dict[str, Any] = {}
        self._names: dict[str, str] = {}  # variable → the manifest that it was loaded from

    def load(self, path: str) -> Any:
        """In the place of ``lab.load``."""
        found = self._manifests.by_name[path.removeprefix("crd/")]
        self._loaded.append(found.name)
        return yaml.safe_load(found.parts[0][1])

    def after(self, source: str) -> tuple[dict[str, str], str]:
        """What a cell has changed: the names of the manifests that it loads → their texts as they are now, if they
        differ; and the text of the definition that it sends as one of its variables, "" for none.
        """
        if source.startswith("%%"):
            return {}, ""
        lines = ("pass" if line.startswith(("%", "!")) else line for line in source.splitlines())
        loaded, sent = [], ""
        for statement in ast.parse("\n".join(lines)).body:
            if isinstance(statement, ast.Assign | ast.AugAssign) and self._concerns(statement):
                loaded += self._run(statement)
            for keyword in (one for one in ast.walk(statement) if isinstance(one, ast.keyword) and one.arg == "stdin"):
                value = self._variables.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else None
                if isinstance(value, dict) and value.get("kind") == "CustomResourceDefinition":
                    sent = _dumped(value)
        now = {self._names[one]: self._variables[one] for one in loaded}
        return {name: _dumped(one) for name, one in now.items() if one != self._first(name)}, sent

    def _first(self, name: str) -> Any:
        return yaml.safe_load(self._manifests.by_name[name].parts[0][1])

    def _concerns(self, statement: ast.stmt) -> bool:
        """Whether it loads a manifest, or speaks of variables that come from one, and of nothing else."""
        used = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        asked = {
            one.attr
            for one in ast.walk(statement)
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "lab"
        }
        return bool(used) and used <= {"lab", *self._variables} and asked <= {"load"}

    def _run(self, statement: ast.Assign | ast.AugAssign) -> list[str]:
        """Run it; the variable that it has loaded a manifest into, if it has."""
        self._loaded.clear()
        code = compile(ast.Module([statement], []), "a cell that loads a manifest", "exec")
        given = {"lab": self, "__builtins__": {}}
        exec(code, given, self._variables)  # noqa: S102  (the course's own cell, as a kernel does)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if not isinstance(target, ast.Name) or len(self._loaded) != 1:
            return []
        self._names[target.id] = self._loaded[0]
        return [target.id]


def _dumped(document: Any) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000)


class InForce:
    """The text of the definition in force, from cell to cell."""

    def __init__(self, manifests: Manifests, begin: str | None) -> None:
        self._manifests = manifests
        found = manifests.find(begin) if begin else None
        first = next((one for one in manifests.by_name.values() if one.definition), None)
        self.manifest = found or first
        self._sent = ""

    @property
    def text(self) -> str:
        """The definition's own text."""
        if self._sent:
            return self._sent
        if self.manifest is None:
            return ""
        return next(text for one, text in self.manifest.parts if one is self.manifest.definition)

    def after(self, source: str, expect: str, sent: str = "") -> None:
        """A cell has run: what it applies, or has *sent* as a text, is in force, if the server accepts it."""
        if expect != "accepted":
            return
        self._sent = sent or self._sent
        for command in source.splitlines():
            for name in _APPLIED.findall(command):
                found = self._manifests.find(name)
                if found is not None and found.definition is not None:
                    self.manifest, self._sent = found, ""


def line(
    manifests: list[Manifest], known: Manifests, in_force: str, changed: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A line of HTML under a cell: each manifest to try, where it can be tried, and to download. "" for none.

    *changed* has the texts of those that the cell has changed, by name: these are tried as they are now.
    """
    items = []
    for one in manifests:
        name = escape(one.name.rpartition("/")[2])
        now = changed.get(one.name)
        address = known.address(one if now is None else Manifest(one.name, now), in_force)
        told = [f'<a href="crd/{escape(one.name)}" download>{escape(translate("download"))}</a>']
        if address is not None and now is None:
            label = translate("try it: {name}, in the playground", name=one.name)
            told.insert(0, anchor(address, translate("try it"), label))
        elif address is not None:
            label = translate("try it as changed here: {name}, in the playground", name=one.name)
            told.insert(0, anchor(address, translate("try it as changed here"), label))
        items.append(f"<span><code>{name}</code> {' '.join(told)}</span>")
    return f'<p class="labkit-manifests">{" ".join(items)}</p>' if items else ""
