"""From the Python values a scalar field takes to the value its object keeps.

Each function gives the kept value, or raises Refusal with a sentence that says what was expected and what came.
"""

from __future__ import annotations

import math
import operator
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from labkit.resources.errors import Refusal
from labkit.resources.values import INT64_MAX, INT64_MIN, copied, described, in_quotes, text_of, unpaired

__all__ = [
    "PLAIN_TIME",
    "QUANTITY",
    "as_sent",
    "as_text",
    "boolean",
    "integer",
    "integer_or_text",
    "number",
    "quantity",
    "text",
    "time",
]

# The pattern that controller-gen writes for resource.Quantity (controller-tools, known_types.go).
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_QUANTITY = re.compile(QUANTITY[1:-1])
_CLOCK = r"[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"
_TIME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])" + _CLOCK, re.ASCII)
PLAIN_TIME = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])" + _CLOCK, re.ASCII)
"""A time on a day that every month has: one look tells that it exists."""
_TRUE, _FALSE = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0", "")


def _wrong(expected: str, value: Any) -> Refusal:
    return Refusal.of(f"expected {expected}, got {described(value)}", text_of(value))


def _checked_text(value: str) -> str:
    if unpaired(value):
        raise Refusal.of(f"Value {in_quotes(value)} has half of a surrogate pair", text_of(value))
    return value


def text(value: Any) -> Any:
    if type(value) is str:
        return value if value.isascii() else _checked_text(value)
    if isinstance(value, str):
        return _checked_text(str.__str__(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong("a string", value)
    return number(value)


class _SentInt(int):
    """A number that a server holds where the class says text: written as it came, so that nothing is changed by it."""


class _SentFloat(float):
    """The same, with a fraction."""


def as_sent(value: Any) -> Any:
    """What a Str or Quantity keeps of a server's value."""
    kind = type(value)
    return (
        value
        if kind is str
        else _SentInt(value)
        if kind is int
        else _SentFloat(value)
        if kind is float
        else copied(value)
    )


def as_text(value: Any) -> Any:
    """The wire form of what a Str or Quantity keeps."""
    if type(value) is str or value is None:
        return value
    if isinstance(value, (_SentInt, _SentFloat)):
        return int(value) if isinstance(value, int) else float(value)
    return text_of(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else copied(value)


def integer(value: Any) -> int:
    if type(value) is int:
        if INT64_MIN <= value <= INT64_MAX:
            return value
        raise Refusal.of(f"Value {in_quotes(value)} does not fit in 64 bits", text_of(value))
    if isinstance(value, bool):
        raise _wrong("an integer", value)
    if isinstance(value, float):
        if value.is_integer():
            return integer(int(value))
        raise _wrong("an integer", value)
    try:
        return integer(int(operator.index(value)))
    except TypeError:
        raise _wrong("an integer", value) from None


def number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong("a number", value)
    try:
        if math.isfinite(value):
            return value if type(value) in (int, float) else float(value) if isinstance(value, float) else int(value)
    except OverflowError:
        pass
    raise Refusal.of(f"Value {in_quotes(value)} is not a finite number", text_of(value))


def boolean(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    if isinstance(value, str):
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
    elif isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise _wrong("a boolean", value)


def integer_or_text(value: Any) -> int | str:
    if isinstance(value, str):
        return str(text(value))
    if (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer()):
        return integer(value)
    raise _wrong("an integer or a string", value)


def quantity(value: Any) -> Any:
    kept = text(value)
    if not _QUANTITY.fullmatch(as_text(kept)):
        raise Refusal.of(f"Value {in_quotes(kept)} is not a quantity such as 500m, 2Gi or 1.5", text_of(kept))
    return kept


def time(value: Any) -> str:
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is None:
            raise Refusal.of(f"Value {in_quotes(value.isoformat())} is a time without a zone", value.isoformat())
        if offset % timedelta(minutes=1):  # RFC 3339 has no seconds there
            value = value.astimezone(UTC)
        text = value.isoformat()
        return f"{text[:-6]}Z" if text.endswith("+00:00") else text
    if not isinstance(value, str):
        raise _wrong("a time", value)
    match = _TIME.fullmatch(value)
    if match and match[3] > "28":  # not every month has it
        try:
            date(int(match[1]) or 2000, int(match[2]), int(match[3]))  # the year 0 has the days of 2000
        except ValueError:
            match = None
    if not match:
        raise Refusal.of(f"Value {in_quotes(value)} is not a time such as 2024-01-15T10:30:45Z", text_of(value))
    return str.__str__(value)
