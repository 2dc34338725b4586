"""JSON text straight from objects, without the wire dicts in between.

What the standard encoder would do for a value of its type is called directly. Whatever is not as the field left it (a
list that was appended to by hand, a raw value from a server) raises KeyError or TypeError here, and is then written by
the general way, through ``to_dict``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from labkit.resources.containers import Holder, List, Map
from labkit.resources.field import Field
from labkit.resources.node import Node
from labkit.resources.state import ClassState, Shapes, compiled, state_within

__all__ = ["ENCODER", "Writers"]

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

_encode: Callable[[Any], str] = getattr(json.encoder, "c_encode_basestring", None) or encode_basestring

_INFINITE = {"inf", "-inf", "nan"}


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text in _INFINITE:
        raise TypeError("not JSON")
    return text


_BY_TYPE: dict[type, Callable[[Any], str]] = {
    str: _encode,
    int: int.__repr__,
    bool: lambda value: "true" if value else "false",
    float: _float,
    type(None): lambda _: "null",
    dict: ENCODER.encode,
    list: ENCODER.encode,
}


# What the scalar types keep is of exactly this type; a Str that keeps a number makes _encode raise TypeError.
_BY_KIND: dict[str, Callable[[Any], str]] = {
    "Str": _encode,
    "Quantity": _encode,
    "Time": _encode,
    "Int": int.__repr__,
    "Bool": {True: "true", False: "false"}.__getitem__,
}


def _any(value: Any) -> str:
    return _BY_TYPE[type(value)](value)


def _list(item: Field[Any, Any]) -> Callable[[Any], str]:
    if item.kind == "Str":
        return lambda value: "[" + ",".join(map(_encode, _plain(value))) + "]"
    inner = state_within(item)
    if inner is not None and not item.lenient and not item.nullable:
        cls, writers = inner.cls, inner.writers

        def objects(value: Any) -> str:
            elements = [
                writers[tuple(inner := element._values)](inner) if type(element) is cls else element._text()
                for element in _plain(value)
            ]
            return "[" + ",".join(elements) + "]"

        return objects
    one = writer_of(item)
    return lambda value: "[" + ",".join([one(element) for element in _plain(value)]) + "]"


def _plain(value: Any) -> Any:
    if value.__class__ is not list:
        raise TypeError("not as the field left it")
    return value


def _map(item: Field[Any, Any]) -> Callable[[Any], str]:
    one = _encode if item.kind == "Str" else writer_of(item)
    return lambda value: "{" + ",".join([f"{_encode(key)}:{one(element)}" for key, element in value.items()]) + "}"


def _node(value: Any) -> str:
    if isinstance(value, Node):
        return value._text()
    raise TypeError("not as the field left it")


def writer_of(field: Field[Any, Any]) -> Callable[[Any], str]:
    """The function from a kept value to its JSON text."""
    if isinstance(field, Holder):
        # Every value there is an object of that class, so its own function can be called at once.
        return _node if field.lenient or isinstance(field.target, str) else field.target._text
    if isinstance(field, List):
        return _list(field.item)
    if isinstance(field, Map):
        return _map(field.item)
    return _any if field.lenient else _BY_KIND.get(field.kind, _any)


class Writers(Shapes[str]):
    """Keys of an object, in order → the function from its values to its text."""

    def __init__(self, state: ClassState) -> None:
        super().__init__(state)
        self.known: dict[str, Callable[[Any], str]] = {}

    def clear(self) -> None:
        """Forget what was written out, when the class has changed."""
        super().clear()
        self.known.clear()

    def _writer(self, key: str, field: Field[Any, Any] | None) -> Callable[[Any], str]:
        if field is None:
            return _any
        one = self.known.get(key)
        if one is None:
            one = self.known[key] = writer_of(field)
        return one

    def written(self, keys: tuple[str, ...]) -> Callable[[dict[str, Any]], str]:
        names: dict[str, Any] = {"null": "null"}
        parts: list[str] = []
        for number, key in enumerate(keys):
            field = self.state.table.get(key)
            names[f"w{number}"] = self._writer(key, field)
            text = f"w{number}(v{number})"
            inner = state_within(field)
            if inner is not None and field is not None and not field.lenient:
                # an object, or a struct: its own function, without a call to look for it
                names[f"k{number}"], names[f"s{number}"] = inner.cls, inner.writers
                own = f"s{number}[tuple(inner := v{number}._values)](inner)"
                text = f"{own} if type(v{number}) is k{number} else {text}"
            if field is not None and field.nullable:
                text = f"null if v{number} is None else {text}"
            shown = _encode(key).replace("{", "{{").replace("}", "}}")
            parts.append(f"{shown}:{{{text}}}")
        line = f" return f{'{{' + ','.join(parts) + '}}'!r}"
        return compiled(keys, [line], names)  # type: ignore[no-any-return]

    def general(self, values: dict[str, Any]) -> str:
        """The text, put together key by key."""
        find = self.state.table.get
        parts: list[str] = []
        for key, value in values.items():
            parts.append(f"{_encode(key)}:{'null' if value is None else self._writer(key, find(key))(value)}")
        return "{" + ",".join(parts) + "}"
