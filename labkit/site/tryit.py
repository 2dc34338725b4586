"""Manifests on pages: which of them a cell shows, and the link that opens one in the playground.

A reader of a page has no cluster, so every manifest that a page shows can be opened where it can be changed and judged:
an object together with the definition that is in force at that place of the chapter, a definition together with an
object of a version it serves. Which definition that is follows from the notebook alone: its beginning, and then each
definition that a cell applies and the server accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import Any

import yaml

from labkit.languages import translate
from labkit.site import playground

__all__ = ["PLAYGROUND", "InForce", "Manifest", "Manifests", "anchor", "line", "link", "mentioned"]

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


class InForce:
    """The text of the definition in force, from cell to cell."""

    def __init__(self, manifests: Manifests, begin: str | None) -> None:
        self._manifests = manifests
        found = manifests.find(begin) if begin else None
        first = next((one for one in manifests.by_name.values() if one.definition), None)
        self.manifest = found or first

    @property
    def text(self) -> str:
        """The definition's own text."""
        if self.manifest is None:
            return ""
        return next(text for one, text in self.manifest.parts if one is self.manifest.definition)

    def after(self, source: str, expect: str) -> None:
        """A cell has run: what it applies is in force, if the server accepts it."""
        if expect != "accepted":
            return
        for command in source.splitlines():
            for name in _APPLIED.findall(command):
                found = self._manifests.find(name)
                if found is not None and found.definition is not None:
                    self.manifest = found


def line(manifests: list[Manifest], known: Manifests, in_force: str) -> str:
    """A line of HTML under a cell: each manifest to try, where it can be tried, and to download. "" for none."""
    items = []
    for one in manifests:
        name = escape(one.name.rpartition("/")[2])
        address = known.address(one, in_force)
        told = [f'<a href="crd/{escape(one.name)}" download>{escape(translate("download"))}</a>']
        if address is not None:
            label = translate("try it: {name}, in the playground", name=one.name)
            told.insert(0, anchor(address, translate("try it"), label))
        items.append(f"<span><code>{name}</code> {' '.join(told)}</span>")
    return f'<p class="labkit-manifests">{" ".join(items)}</p>' if items else ""
