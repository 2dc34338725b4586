"""Another answer, told as the few lines in which it differs from the solution.

An answer that is a whole definition has 130 lines, and what is wrong with a wrong one is in two of them. Thirty copies
would hide those two from whoever reads them, and grow old with the solution. So a file ``NAME.edits.yaml`` in
``right/`` or ``wrong/`` holds comments, which head the answer that comes out, and a list of edits of the solution:

- ``replace: TEXT, with: TEXT``: a text, or a block of lines at whatever indentation;
- ``drop: TEXT``: the line that has the text;
- ``after: TEXT, add: LINES`` and ``before: TEXT, add: LINES``: lines beside that line, indented as it is.

A text of an edit must be in the solution once, at its turn: an edit that no longer fits is an error, not an answer.
"""

from __future__ import annotations

import textwrap
from typing import Any

import yaml

from labkit.errors import ManifestError

__all__ = ["SUFFIX", "edited"]

SUFFIX = ".edits.yaml"
_FORMS = ({"replace", "with"}, {"drop"}, {"after", "add"}, {"before", "add"})
_DEEPEST = 80


def edited(solution: str, edits: str, where: str) -> str:
    """The answer that *edits*, the text of a file, make of *solution*. Raises ManifestError with *where* and edit."""
    try:
        steps = yaml.safe_load(edits)
    except yaml.YAMLError as error:
        raise ManifestError(f"{where}: not YAML", evidence=str(error)) from error
    if not isinstance(steps, list) or not steps:
        raise ManifestError(f"{where}: a list of edits is wanted")
    text = solution
    for number, step in enumerate(steps, 1):
        text = _step(text, step, f"{where}: edit {number}")
    head = [line for line in edits.splitlines() if line.startswith("#")]
    return "\n".join([*head, text])


def _step(text: str, step: Any, where: str) -> str:
    if not isinstance(step, dict) or set(step) not in _FORMS or not all(isinstance(one, str) for one in step.values()):
        raise ManifestError(f"{where}: not an edit", next_act="replace and with; drop; after or before, and add")
    if "replace" in step:
        old, new = step["replace"], step["with"]
        return _block(text, old, new, where) if "\n" in old else _once(text, old, where).replace(old, new)
    if "drop" in step:
        return _beside(text, step["drop"], "", "drop", where)
    place = "after" if "after" in step else "before"
    return _beside(text, step[place], step["add"], place, where)


def _once(text: str, part: str, where: str) -> str:
    if text.count(part) != 1:
        raise ManifestError(f"{where}: {part!r} must be there once", evidence=f"it is there {text.count(part)} times")
    return text


def _beside(text: str, part: str, added: str, place: str, where: str) -> str:
    """*added* beside the line that has *part*, or that line taken away."""
    _once(text, part, where)
    lines = text.split("\n")
    at = next(number for number, line in enumerate(lines) if part in line)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    new = [] if place == "drop" else textwrap.indent(added.rstrip("\n"), indent).split("\n")
    lines[at : at + 1] = {"drop": [], "after": [lines[at], *new], "before": [*new, lines[at]]}[place]
    return "\n".join(lines)


def _block(text: str, old: str, new: str, where: str) -> str:
    """YAML has taken the common indentation off a block: find where the lines stand as a block at one depth."""
    for depth in range(_DEEPEST):
        block = textwrap.indent(textwrap.dedent(old).rstrip("\n"), " " * depth)
        if f"\n{text}".count(f"\n{block}\n") == 1:
            return text.replace(block, textwrap.indent(textwrap.dedent(new).rstrip("\n"), " " * depth), 1)
    raise ManifestError(f"{where}: these lines must be there once", evidence=old.splitlines()[0])
