"""Catalogues written: what is there is kept, what is new is empty, what changed is fuzzy, what is gone is taken out.

An entry is found again by its place and text; else by its text, for a paragraph that was moved; else by the closest
text that is left over, for one that was reworded: its translation is kept, marked fuzzy.
A file has one normal form, without dates and line numbers, so that its history shows translations only.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from labkit.errors import CourseError
from labkit.languages import forms
from labkit.translating import typography
from labkit.translating.sources import Entry, Source, sources

__all__ = ["Updated", "load", "update"]

_HEAD = """msgid ""
msgstr ""
"Language: {lang}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

"""
_CLOSE = 0.6
"""Texts at least this much alike are one text, reworded."""


@dataclass(frozen=True)
class Updated:
    """What became of a catalogue: numbers of entries, and whether the file changed."""

    path: Path
    entries: int
    missing: int
    fuzzy: int
    removed: int
    changed: bool

    @property
    def text(self) -> str:
        """One line for people."""
        told = f"{self.entries} entries, {self.missing} missing, {self.fuzzy} fuzzy, {self.removed} taken out"
        return f"{self.path.name}: {told}{'' if self.changed else ', as it was'}"


def update(root: Path, lang: str) -> Iterator[Updated]:
    """Bring every catalogue in *lang* up to date with the English texts. Raises CourseError."""
    for source in sources(root, lang):
        yield _update(source, lang)


def load(path: Path) -> dict[tuple[str, str], Message]:
    """The entries of a catalogue as they are, by context and English text. Raises CourseError."""
    try:
        found = read_po(io.BytesIO(path.read_bytes()), abort_invalid=True)
    except FileNotFoundError:
        return {}
    except (PoFileError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: no catalogue", evidence=str(error)) from error
    return {(one.context or "", forms(one.id)[0]): one for one in found if one.id}


def _update(source: Source, lang: str) -> Updated:
    old = load(source.path)
    before = source.path.read_text(encoding="utf-8") if source.path.is_file() else ""
    left = {key: one for key, one in old.items() if any(forms(one.string))}
    kept = [left.pop((entry.context, entry.text), None) for entry in source.entries]
    head = _HEAD.format(lang=lang)
    made = read_po(io.BytesIO(head.encode()))
    for entry, same in zip(source.entries, kept, strict=True):
        found, fuzzy = (same, same.fuzzy) if same is not None else _found_again(entry, left)
        _add(made, entry, found, lang, fuzzy=fuzzy)
    out = io.BytesIO()
    write_po(out, made, width=0, omit_header=True, include_lineno=False)
    after = head + out.getvalue().decode().replace("#, python-brace-format\n", "").strip() + "\n"
    if after != before:
        source.path.parent.mkdir(parents=True, exist_ok=True)
        source.path.write_text(after, encoding="utf-8")
    missing = sum(not all(forms(one.string)) for one in made if one.id)
    fuzzy_ones = sum(one.fuzzy for one in made if one.id)
    return Updated(source.path, len(source.entries), missing, fuzzy_ones, len(left), changed=after != before)


def _found_again(entry: Entry, left: dict[tuple[str, str], Message]) -> tuple[Message | None, bool]:
    """The entry of a text that was moved, or of the closest one left over, which makes it fuzzy."""
    moved = next((key for key in left if key[1] == entry.text), None)
    if moved is not None:
        one = left.pop(moved)
        return one, one.fuzzy
    best, likeness = None, _CLOSE
    matcher = SequenceMatcher(None, b=entry.text, autojunk=False)
    for key in left:
        matcher.set_seq1(key[1])
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness and matcher.ratio() > likeness:
            best, likeness = key, matcher.ratio()
    return (left.pop(best), True) if best is not None else (None, False)


def _add(made: Catalog, entry: Entry, found: Message | None, lang: str, *, fuzzy: bool) -> None:
    said = tuple(typography.typeset(lang, one) for one in forms(found.string if found is not None else ""))
    made.add(
        (entry.text, entry.many) if entry.many else entry.text,
        string=(said[0], said[-1]) if entry.many else said[0],
        locations=[(where, 0) for where in entry.where.split(" ")],
        context=entry.context or None,
        flags={"fuzzy"} if fuzzy and any(said) else (),
        user_comments=found.user_comments if found is not None else (),
    )
