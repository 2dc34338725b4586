"""What keeps a translated edition from being made: texts without a translation, and translations that changed code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.languages import forms
from labkit.translating import typography
from labkit.translating.catalogues import load
from labkit.translating.sources import Entry, sources

__all__ = ["Wrong", "wrongs"]

_FIELD = re.compile(r"\{\w*\}")
_LINK = re.compile(r"\]\(([^)\s]*)\)|<(https?:[^>]*)>")
_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f ]\d+)*")
_HEADING = re.compile(r"(?m)^#+(?= )")


@dataclass(frozen=True)
class Wrong:
    """One entry that is not as it must be, and *why*."""

    path: Path
    context: str
    text: str
    why: str

    @property
    def line(self) -> str:
        """One line for people."""
        shown = " ".join(self.text.split())[:60]
        return f"{self.path.name}: {f'{self.context}: ' if self.context else ''}{self.why}: {shown}"


def wrongs(root: Path, lang: str) -> Iterator[Wrong]:
    """Everything that is wrong with the catalogues in *lang* of the course at *root*, and labkit's own.

    Raises CourseError for a catalogue that cannot be read.
    """
    for source in sources(root, lang):
        there = load(source.path)
        for entry in source.entries:
            found = there.pop((entry.context, entry.text), None)
            if found is None or not all(forms(found.string)):
                yield Wrong(source.path, entry.context, entry.text, "not translated")
            elif found.fuzzy:
                yield Wrong(source.path, entry.context, entry.text, "fuzzy, its English changed")
            else:
                for why in dict.fromkeys(
                    why for form in forms(found.string) for why in _differences(lang, entry, form)
                ):
                    yield Wrong(source.path, entry.context, entry.text, why)
        for context, text in there:
            yield Wrong(source.path, context, text, "no text of the course any more")


def _differences(lang: str, entry: Entry, said: str) -> Iterator[str]:
    """What is no language and must be the same in both."""
    for what, look in _KEPT:
        english, other = look(entry.many or entry.text), look(said)
        if english != other:
            differ = ", ".join(sorted(map(str, english ^ other)))
            yield f"{what} differ ({differ[:80]})"
    if entry.text.endswith("\n") != said.endswith("\n"):
        yield "one ends with a line break and the other does not"
    if typography.typeset(lang, said) != said:
        yield "blanks are not as the language sets them (labkit languages update)"


def _code(text: str) -> set[str]:
    return {" ".join(found[0].split()) for found in typography.CODE.finditer(text)}


def _numbers(text: str) -> set[str]:
    """Numbers in prose, however their digits are grouped."""
    return {re.sub(r"\D", "", one) for one in _NUMBER.findall(typography.NO_PROSE.sub(" ", text))}


def _headings(text: str) -> set[str]:
    """Levels of headings, each with how many there are."""
    found = _HEADING.findall(typography.CODE.sub("", text))
    return {f"{found.count(one)} {one}" for one in found}


_KEPT = (
    ("fields", lambda text: set(_FIELD.findall(typography.CODE.sub("", text)))),
    ("code", _code),
    ("links", lambda text: {"".join(found) for found in _LINK.findall(text)}),
    ("numbers", _numbers),
    ("headings", _headings),
)
