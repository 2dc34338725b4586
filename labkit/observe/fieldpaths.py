"""Paths of fields as people and the API server write them, made comparable.

The server prints ``spec.worker.max``, ``spec.ports[0].name`` and, for a key of a map, ``spec.selector[a.b]``; a rule's
``fieldPath`` says ``.worker['max']``; people put a dot in front, or write a JSON pointer. All of them become one tuple
of steps. Indices become text as well: whether ``0`` is an index or a key does not matter to a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

__all__ = ["Nearness", "Steps", "compare", "is_path", "parse", "steps_of"]

Steps: TypeAlias = tuple[str, ...]

Nearness: TypeAlias = Literal["same", "case", "tail", "above", "below", "far"]

_STEP = re.compile(r"""\[\s*(?:'([^']*)'|"([^"]*)"|([^\]]*))\s*\]|([^.\[\]]+)""")


_INDEX = r"""\.?\[\s*(?:'[^']+'|"[^"]+"|[^\[\]'"\s][^\[\]'"]*)\s*\]"""
_PATH = re.compile(rf"\$?\.?|\$?(?:\.?[^.\[\]$][^.\[\]]*|{_INDEX})(?:\.[^.\[\]]+|{_INDEX})*[.:]?")
"""The whole object; or names behind dots and keys in brackets, with perhaps what stood behind them in a message."""


def is_path(text: str) -> bool:
    """Whether *text* can be a path: no name is missing between two dots, nor a key or an end in a bracket."""
    bare = _bare(text)
    return bare.startswith("/") or _PATH.fullmatch(bare) is not None


def _bare(text: str) -> str:
    return text.strip().strip("`'\"").strip()


def parse(text: str) -> Steps:
    """The steps of a path; () for the whole object ("", ".", "$")."""
    bare = _bare(text)
    if bare.startswith("/"):
        return tuple(part.replace("~1", "/").replace("~0", "~") for part in bare[1:].split("/") if part)
    bare = bare.removeprefix("$").strip().rstrip(".:")
    found = (next((group for group in match.groups() if group is not None), "") for match in _STEP.finditer(bare))
    return tuple(step.strip() for step in found if step.strip())


def steps_of(path: Iterable[str | int]) -> Steps:
    """The steps of a path that is no text but keys and indices."""
    return tuple(str(step) for step in path)


def compare(said: Steps, meant: Steps) -> Nearness:
    """How the path somebody *said* stands to the one *meant*.

    "same"; "case" (only small and capital letters differ); "tail" (its end: ``worker.max`` for ``spec.worker.max``);
    "above" and "below" (the field that holds the one meant, or one directly inside it); else "far".
    """
    if said == meant:
        return "same"
    if [step.lower() for step in said] == [step.lower() for step in meant]:
        return "case"
    if said and said == meant[-len(said) :]:
        return "tail"
    if said and said == meant[:-1]:
        return "above"
    if meant and said[:-1] == meant:
        return "below"
    return "far"
