"""What the typed places of a document have in common: resources and unions.

The modules below them (coercion, paths) need to tell a typed value from plain data without knowing the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Node"]


class Node:
    """A typed value inside a document: built from plain data, and written as plain data again."""

    __slots__ = ()

    @classmethod
    def _build(cls, value: Any) -> Any:
        """An instance, checked as anything a person writes; raises Refusal."""
        raise NotImplementedError

    @classmethod
    def _builder(cls) -> Callable[[Any], Any]:
        """The function that fields of this class check their values with."""
        return cls._build

    @classmethod
    def _read(cls, value: Any) -> Any:
        """An instance of what a server sent, taken as it is; *value* itself if it has not even the right shape."""
        raise NotImplementedError

    def _text(self) -> str:
        """The wire form as JSON text; raises KeyError or TypeError where only the general way can tell."""
        raise NotImplementedError

    def _dump(self) -> Any:
        """The wire form, plain JSON."""
        raise NotImplementedError
