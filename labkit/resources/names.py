"""From JSON keys to attribute names, and from written names to classes.

A key such as ``$ref``, ``x-kubernetes-list-type`` or ``from`` is no Python name; it gets one by a fixed rule, so that a
reader can tell the attribute from the key. A class may be named by text: itself, a class of its module that comes
later, or a registered short name such as ``meta/v1/ObjectMeta``.
"""

from __future__ import annotations

import keyword
import re
import sys
import weakref
from collections.abc import Callable
from typing import Any

from labkit.resources.errors import DeclarationError
from labkit.resources.node import Node

__all__ = ["add_source", "attribute_of", "inner_name", "note", "register", "resolve"]

_NOT_A_WORD = re.compile(r"[^A-Za-z0-9_]")

_registered: dict[str, type[Node]] = {}
_sources: list[Callable[[str], type[Node] | None]] = []
_by_place: weakref.WeakValueDictionary[tuple[str, str], type[Any]] = weakref.WeakValueDictionary()


def attribute_of(key: str) -> str:
    """The attribute for a JSON key: ``$ref`` → ``_ref``, ``x-a`` → ``x_a``, ``from`` → ``from_``, ``3d`` → ``_3d``."""
    name = _NOT_A_WORD.sub("_", key)
    if not name or name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def inner_name(key: str) -> str:
    """The name of the class made for an inline struct: ``spec`` → ``_Spec``."""
    name = _NOT_A_WORD.sub("_", key).lstrip("_") or "Struct"
    return f"_{name[0].upper()}{name[1:]}"


def register(name: str, cls: type[Node]) -> None:
    """Make *cls* known under a short name: the group's first word, the version, the kind (``meta/v1/ObjectMeta``)."""
    _registered[name] = cls


def add_source(source: Callable[[str], type[Node] | None]) -> None:
    """Ask *source* for short names nobody registered; it answers None for those it does not know either."""
    _sources.append(source)


def note(cls: type[Any]) -> None:
    """Remember where a class was written, for forward references between classes of one function."""
    _by_place[cls.__module__, cls.__qualname__] = cls


def resolve(name: str, referring: type[Any], field: str) -> type[Node]:
    """The class that *name* means for a field of *referring*.

    Looked up in this order: *referring* itself and its bases, registered short names, classes written beside or around
    it, its module. Raises DeclarationError naming the name, the field and the class.
    """
    found: Any = next((base for base in referring.__mro__ if base.__name__ == name), None)
    found = found or _registered.get(name) or _beside(name, referring)
    found = found or getattr(sys.modules.get(referring.__module__), name, None)
    if found is None:
        found = next((cls for source in _sources if (cls := source(name)) is not None), None)
    if isinstance(found, type) and issubclass(found, Node):
        return found
    raise DeclarationError(
        f"the type '{name}' of field '{field}' of {referring.__qualname__} names no resource class",
        class_name=referring.__qualname__,
        field=field,
    )


def _beside(name: str, referring: type[Any]) -> type[Any] | None:
    scope = referring.__qualname__
    while "." in scope:
        scope = scope.rpartition(".")[0]
        if found := _by_place.get((referring.__module__, f"{scope}.{name}")):
            return found
    return _by_place.get((referring.__module__, name))
