"""What JSON is, and how a value is named in a message.

Free values (Opaque fields, unknown fields) are not typed, but they must still be JSON, or the object could not be
written later, far from the mistake. The check walks without recursion, meets every container once, and so ends on
deep, shared and cyclic input alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from labkit.resources.errors import Refusal, Step, printable, shorten
from labkit.resources.node import Node

__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "check_json",
    "check_key",
    "copied",
    "described",
    "in_quotes",
    "text_of",
    "unpaired",
]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_DOUBLE_BITS = 1024  # an integer with more bits is beyond the greatest IEEE double, in which servers hold it
_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", tuple: "list", dict: "dict"}


def text_of(value: Any) -> str:
    """A short text for any value; never fails, whatever its ``repr`` does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(int(value)) if value.bit_length() <= _DOUBLE_BITS else f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        return printable(shorten(value))
    if isinstance(value, float):
        return repr(float(value))
    return _NAMES.get(type(value), type(value).__name__)


def in_quotes(value: Any) -> str:
    return f'"{text_of(value)}"'


def described(value: Any) -> str:
    """``the string 'x'``, ``a list``, ``null``: what came instead of what was expected."""
    if value is None:
        return "null"
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            text = text_of(value)
            return f"the {_NAMES[kind]} '{text}'" if kind is str else f"the {_NAMES[kind]} {text}"
    name = next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "")
    article = "a" if name else "an object of class"
    return f"{article} {name or type(value).__name__}"


def unpaired(text: str) -> bool:
    """Whether *text* has half of a surrogate pair: Python can hold it, UTF-8 and so the wire cannot."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def copied(value: Any) -> Any:
    """*value*; a container is copied one level, a resource becomes its wire form."""
    kind = type(value)
    if kind is dict:
        return value.copy()
    if kind is list:
        return value.copy()
    if isinstance(value, Node):
        return value._dump()
    if isinstance(value, tuple):
        return list(value)
    return value


def check_json(value: Any) -> Any:
    """*value*, copied one level, if it is JSON throughout; else a Refusal with the path of the first bad place."""
    value = copied(value)
    if not isinstance(value, (dict, list)):
        _check_leaf(value)
        return value
    trail: list[Step] = []
    try:
        _check_container(value, trail)
    except Refusal as refusal:
        raise Refusal([problem._replace(path=tuple(trail)) for problem in refusal.problems]) from None
    return value


def _check_container(top: Any, trail: list[Step]) -> None:
    done: set[int] = set()
    open_ids = {id(top)}
    stack: list[tuple[Any, Iterator[tuple[Step, Any]]]] = [(top, _children(top))]
    while stack:
        container, rest = stack[-1]
        for step, child in rest:
            trail.append(step)
            if isinstance(child, (dict, list, tuple)):
                if id(child) in open_ids:
                    raise Refusal.of("contains itself")
                if id(child) not in done:
                    open_ids.add(id(child))
                    stack.append((child, _children(child)))
                    break
            else:
                _check_leaf(child)
            trail.pop()
        else:
            stack.pop()
            open_ids.discard(id(container))
            done.add(id(container))
            if trail:
                trail.pop()


def _children(container: Any) -> Iterator[tuple[Step, Any]]:
    if not isinstance(container, dict):
        return iter(enumerate(container))
    for key in container:
        check_key(key)
    return iter(container.items())


def check_key(key: Any) -> None:
    """Raise Refusal if *key* cannot be one of a JSON object."""
    if not isinstance(key, str):
        raise Refusal.of(f"has the key {described(key)}; keys of JSON are strings")
    if unpaired(key):
        raise Refusal.of(f"has a key with half of a surrogate pair: {in_quotes(key)}")


def _check_leaf(value: Any) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if unpaired(value):
            raise Refusal.of(f"has half of a surrogate pair: {in_quotes(value)}", text_of(value))
    elif isinstance(value, int):
        if value.bit_length() > _DOUBLE_BITS:
            raise Refusal.of(f"is {text_of(value)}, which no server can hold")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise Refusal.of(f"is {value!r}, which JSON cannot write", text_of(value))
    else:
        raise Refusal.of(f"is {described(value)}, which is not JSON")
