"""Answers of the control plane as frozen values, and back.

An answer that is taken on trust fails far from its cause: a key that another version of the program spells otherwise
is a KeyError in a view. Here the dataclasses themselves say what an answer holds, and one that holds anything else is
refused with the place and the remedy. ``schema_path`` is ``schemaPath`` in JSON; a field whose metadata has "json" is
spelled so. A field with a default may be absent, and null stands for the empty list.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import types
import typing
from typing import Any, Final, Literal, TypeVar

from labkit.errors import TraceError
from labkit.languages import translate

__all__ = ["LEFT_OUT", "decode", "encode", "named"]

T = TypeVar("T")


class LeftOut(enum.Enum):
    """The type of ``LEFT_OUT``: what a field holds that is not in the JSON, where null would mean something."""

    LEFT_OUT = "left out"


LEFT_OUT: Final = LeftOut.LEFT_OUT


def named(json_name: str) -> Any:
    """A dataclass field that JSON spells *json_name*."""
    return dataclasses.field(metadata={"json": json_name})


def decode(kind: type[T], raw: object, where: str) -> T:
    """*raw*, as ``json.loads`` gives it, as a value of the dataclass *kind*. Raises TraceError that names *where*."""
    if not isinstance(raw, dict):
        raise _unfit(where, "an object is wanted", raw)
    given = dict(raw)
    found: dict[str, Any] = {}
    for name, json_name, wanted, optional in _fields(typing.cast(Any, kind)):
        if json_name in given:
            found[name] = _value(wanted, given.pop(json_name), f"{where}.{json_name}")
        elif not optional:
            raise _unfit(where, f"no {json_name}", raw)
    if given:
        raise _unfit(where, f"{', '.join(sorted(given))} is not known", raw)
    return kind(**found)


def encode(value: Any) -> Any:
    """The JSON form of a value of ours; fields that hold ``LEFT_OUT`` are not in it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((json_name, getattr(value, name)) for name, json_name, _, _ in _fields(type(value)))
        return {json_name: encode(one) for json_name, one in pairs if one is not LEFT_OUT}
    return [encode(one) for one in value] if isinstance(value, tuple) else value


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, Any, bool], ...]:
    """Name, name in JSON, type and whether it may be absent, of each field."""
    hints = typing.get_type_hints(kind)
    return tuple(
        (
            field.name,
            field.metadata.get("json") or re.sub(r"_(\w)", lambda match: match[1].upper(), field.name),
            hints[field.name],
            field.default is not dataclasses.MISSING,
        )
        for field in dataclasses.fields(kind)
        if field.init
    )


def _value(wanted: Any, raw: object, where: str) -> Any:
    if wanted is Any:
        return raw
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is types.UnionType:  # X | None
        return None if raw is None else _value(arguments[0], raw, where)
    if origin is Literal:
        if raw not in arguments:
            raise _unfit(where, f"one of {', '.join(map(str, arguments))} is wanted", raw)
        return raw
    if origin is tuple:
        if not isinstance(raw, list | None):
            raise _unfit(where, "a list is wanted", raw)
        return tuple(_value(arguments[0], one, f"{where}[{index}]") for index, one in enumerate(raw or ()))
    if dataclasses.is_dataclass(wanted):
        return decode(typing.cast(type[Any], wanted), raw, where)
    origin = origin or wanted  # dict[str, Any]
    if not isinstance(raw, origin) or (isinstance(raw, bool) and origin is not bool):
        raise _unfit(where, f"{origin.__name__} is wanted", raw)
    return raw


def _unfit(where: str, what: str, raw: object) -> TraceError:
    return TraceError(
        translate("the control plane's answer is not of the form this labkit knows"),
        evidence=f"{where}: {what}: {str(raw)[:120]}",
        next_act=translate("make setup builds the control plane that fits"),
    )
