"""Texts that cannot steer whoever shows them.

A name, a field or a server's message is whatever somebody wrote, and a terminal obeys what is printed on it: escape
sequences recolour, retitle and overwrite, and marks of writing direction make a line read as something it is not. So
what can steer is spelled out, as Go and JSON spell it. Line breaks and tabs are left as they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["plain", "plain_json"]

_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """*text* with control characters and marks of direction spelled out: ``\\x1b``, ``\\u202e``."""
    return _STEERS.sub(lambda found: f"\\x{ord(found[0]):02x}" if found[0] < " " else f"\\u{ord(found[0]):04x}", text)


def plain_json(value: Any, **options: Any) -> str:
    """*value* as JSON that a terminal can show: ``json.dumps`` with *options*, and what it leaves raw escaped."""
    return plain(json.dumps(value, ensure_ascii=False, **options))
