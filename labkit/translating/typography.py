"""French typography: blanks that do not break before ``: ; ! ?`` and inside « », in prose and not in code.

Such blanks cannot be seen while one writes, and a forgotten one puts a lonely colon at the beginning of a line. So they
are set by rule when catalogues are updated, and a text in which the rule would change something is not in order.
"""

from __future__ import annotations

import re

__all__ = ["CODE", "NO_PROSE", "typeset"]

CODE = re.compile(r"```[\s\S]*?```|(?m:^(?: {4}|\t).*$)|(`+)(?!`)[\s\S]+?(?<!`)\1(?!`)")
"""Fenced, indented and inline code of Markdown."""

NO_PROSE = re.compile(rf"{CODE.pattern}|\]\([^)\s]*\)|<https?:[^>]*>|\{{\w*\}}")
"""Code, targets of links, and fields of a template."""

_THIN, _WIDE, _HELD = "\u202f", "\u00a0", "\x00"
_END = r"(?=[\s*_)\]»|]|$)"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?:(?<=[\w)\]»%*…”{_HELD}])|[ {_THIN}{_WIDE}]+)([;!?]+){_END}"), rf"{_THIN}\1"),
    (re.compile(rf"(?:(?<=[\w)\]»%*…”{_HELD}])|[ {_THIN}{_WIDE}]+):{_END}"), f"{_WIDE}:"),
    (re.compile(rf"«[ {_THIN}{_WIDE}]*"), f"«{_WIDE}"),
    (re.compile(rf"[ {_THIN}{_WIDE}]*»"), f"{_WIDE}»"),
)


def typeset(lang: str, text: str) -> str:
    """*text* with the blanks that the language asks for; typeset text comes back as it is."""
    if lang != "fr":
        return text
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"{_HELD}{len(held)}{_HELD}"

    prose = NO_PROSE.sub(hold, text)
    for pattern, replacement in _RULES:
        prose = pattern.sub(replacement, prose)
    for number, code in enumerate(held, 1):
        prose = prose.replace(f"{_HELD}{number}{_HELD}", code, 1)
    return prose
