"""JSON text straight from objects, without the wire dicts in between.

Each declared key is encoded once, when its class is first written; what the standard encoder would do for a value of
its type is called directly. Whatever is not as the field left it (a list that was appended to by hand, a raw value from
a server) raises KeyError or TypeError here, and is then written by the general way, through ``to_dict``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from labkit.resources.containers import List, Map, Object, Struct
from labkit.resources.field import Field
from labkit.resources.node import Node

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
    if isinstance(field, (Object, Struct)):
        # Every value there is an object of that class, so its own function can be called at once.
        return _node if field.lenient or isinstance(field.target, str) else field.target._text
    if isinstance(field, List):
        return _list(field.item)
    if isinstance(field, Map):
        return _map(field.item)
    return _any if field.lenient else _BY_KIND.get(field.kind, _any)


class Writers(dict[str, tuple[str, Callable[[Any], str]]]):
    """Key → (its text with the colon, the writer of its value); undeclared keys are made on demand and not kept."""

    def __init__(self, table: dict[str, Field[Any, Any]]) -> None:
        super().__init__({key: (f"{_encode(key)}:", writer_of(field)) for key, field in table.items()})

    def __missing__(self, key: str) -> tuple[str, Callable[[Any], str]]:
        return f"{_encode(key)}:", _any
