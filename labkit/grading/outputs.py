"""What a student's program printed, in a form that is safe to keep and to look at, and the same from run to run.

An executed notebook is opened by people and made into pages: HTML and scripts of a student would act there, escape
codes would in a terminal. So of each output the text is kept, and pictures; all that labkit shows has a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.course import sanitize
from labkit.exercises.report import printable

__all__ = ["line", "safe", "text"]

_KEPT = 100_000
"""Characters of one output that are kept."""

_LINE = 300
_TRACEBACK = 50
_PICTURES = ("image/png", "image/jpeg")
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def text(given: object) -> str:
    """*given* as text that does nothing on a terminal, sanitized, and cut."""
    return sanitize.text(printable(_TERMINAL.sub("", str(given)[: 2 * _KEPT])))[:_KEPT]


def line(given: object) -> str:
    """The same in one short line."""
    return " ".join(text(given).split())[:_LINE]


def safe(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output in nbformat's form with nothing in it that acts when it is looked at."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": text(output.get("text", ""))}
    if kind == "error":
        traceback = [text(line) for line in list(output.get("traceback") or ())[:_TRACEBACK]]
        names = {key: line(output.get(key, "")) for key in ("ename", "evalue")}
        return {"output_type": "error", **names, "traceback": traceback}
    data = output.get("data")
    kept: dict[str, str] = {}
    for mime, value in data.items() if isinstance(data, dict) else ():
        if mime == "text/plain":
            kept[mime] = text(value)
        elif mime in _PICTURES and isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", value):
            kept[mime] = value
    return {"output_type": "display_data", "data": kept, "metadata": {}}
