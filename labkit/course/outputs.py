"""A cell's outputs, as they are recorded and as they are compared.

nbval decides whether a run equals its record; the player, the recorder and the parity report must decide the same.
So the rules here are nbval's (0.11): the texts of one stream are merged whatever stood between them, every MIME type
and every field is a list of its own, and what cannot be stable is left out (pictures, widget views, tracebacks).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.course import sanitize

__all__ = ["Output", "comparable", "merged", "text"]

Output = Mapping[str, Any]

_LEFT_OUT = frozenset(
    {
        "output_type",
        "metadata",
        "traceback",
        "name",
        "execution_count",
        "transient",
        "application/vnd.jupyter.widget-view+json",
        "image/png",
        "image/jpeg",
    }
)
_OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)


def merged(outputs: Iterable[Output]) -> tuple[dict[str, Any], ...]:
    """The outputs with each stream's texts in one, at the place of its first; lists of lines become text."""
    streams: dict[str, dict[str, Any]] = {}
    kept: list[dict[str, Any]] = []
    for output in outputs:
        one = _joined(output)
        if one["output_type"] != "stream":
            kept.append(one)
        elif one["name"] in streams:
            streams[one["name"]]["text"] += one["text"]
        else:
            streams[one["name"]] = one
            kept.append(one)
    for stream in streams.values():
        stream["text"] = _OVERWRITTEN.sub("", stream["text"])
    return tuple(kept)


def comparable(outputs: Iterable[Output]) -> dict[str, tuple[Any, ...]]:
    """Field (``stdout``, ``text/html``, ``ename`` …) → its sanitized values in order: equal when nbval says equal."""
    found: dict[str, list[Any]] = {}
    for output in merged(outputs):
        if output["output_type"] == "stream":
            found.setdefault(output["name"], []).append(sanitize.text(output["text"]))
            continue
        fields = {**output, **output.get("data", {})}
        for key in fields.keys() - _LEFT_OUT - {"data"}:
            value = fields[key]
            found.setdefault(key, []).append(sanitize.text(value) if isinstance(value, str) else value)
    return {key: tuple(values) for key, values in found.items()}


def text(outputs: Iterable[Output]) -> str:
    """What a person reads in a terminal: streams, the text form of values, the last line of an error."""
    parts = []
    for output in merged(outputs):
        if output["output_type"] == "stream":
            parts.append(output["text"])
        elif output["output_type"] == "error":
            parts.append(f"{output['ename']}: {output['evalue']}")
        else:
            parts.append(output["data"].get("text/plain", f"({', '.join(sorted(output['data']))})"))
    return "\n".join(part.rstrip("\n") for part in parts)


def _joined(output: Output) -> dict[str, Any]:
    one = dict(output)
    if isinstance(one.get("text"), list):
        one["text"] = "".join(one["text"])
    if "data" in one:
        one["data"] = {
            mime: "".join(value) if isinstance(value, list) and not mime.endswith("json") else value
            for mime, value in one["data"].items()
        }
    return one
