"""What a resource class knows about itself, apart from its attributes.

One object beside the class, under a name no field can have, so that a document may use any key. The merged tables of a
class are made on first use and dropped when the class or one of its bases gets another field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from labkit.resources.errors import Refusal, class_name
from labkit.resources.field import Field
from labkit.resources.strictness import is_strict, undeclared
from labkit.resources.values import check_json, check_key, copied

__all__ = ["ClassState", "Shapes", "compiled", "state_of", "state_within"]

R = TypeVar("R")

_MOST_SHAPES, _MOST_KEYS = 64, 200


class _Dumps(dict[str, Callable[[Any], Any] | None]):
    """Key → wire function; None for a value that is its own wire form; undeclared keys are copied one level."""

    def __missing__(self, key: str) -> Callable[[Any], Any]:
        return copied


class _Coerces(dict[str, Callable[[Any], Any]]):
    """Key → what checks its value; an undeclared key is handed to *undeclared* with its value."""

    def __init__(self, table: dict[str, Field[Any, Any]], undeclared: Callable[[str, Any], Any]) -> None:
        super().__init__({key: field.coerce for key, field in table.items()})
        self.undeclared = undeclared

    def __missing__(self, key: str) -> Callable[[Any], Any]:
        return partial(self.undeclared, key)


class Shapes(dict[tuple[str, ...], Callable[[dict[str, Any]], R]]):
    """Keys, in order → the function for a dict of these keys, written out as text and compiled when first met.

    Most documents of a class have one of a few sets of keys, and a function that knows them needs no loop and no
    look-up. After the first sets, and so for objects used as free maps, *general* is the function.
    """

    general: Callable[[dict[str, Any]], R]
    written: Callable[[tuple[str, ...]], Callable[[dict[str, Any]], R]]

    def __init__(self, state: ClassState) -> None:
        super().__init__()
        self.state = state

    def __missing__(self, keys: tuple[str, ...]) -> Callable[[dict[str, Any]], R]:
        if len(self) >= _MOST_SHAPES or len(keys) > _MOST_KEYS:
            return self.general
        self[keys] = function = self.written(keys)
        return function


def compiled(keys: tuple[str, ...], lines: Iterable[str], names: dict[str, Any]) -> Any:
    """A function of one dict; *lines* find the values of *keys* as ``v0``, ``v1`` …"""
    values = (f" v{number} = values[{key!r}]" for number, key in enumerate(keys))
    names["__name__"] = __name__
    exec("\n".join(["def shape(values):", *values, *lines]), names)  # noqa: S102  (written here; keys by repr)
    return names["shape"]


class ClassState:
    """The declared fields of one class (*own*), and the merged tables that building and writing use.

    *facts*: what the class statement said beside the fields (rules, description …). *lenient*: read from a server's
    definition, so that a document is taken as it is. *prelude*: values every object begins with (apiVersion and kind).
    *envelope*: fields that hold them, which are no fields of the registry. *wire*: see labkit.resources.schemas.
    """

    def __init__(self, cls: type[Any], facts: dict[str, Any], *, lenient: bool) -> None:
        self.cls = cls
        self.own: dict[str, Field[Any, Any]] = {}
        self.facts = facts
        self.lenient: bool = lenient or next((base.lenient for base in self.bases()), False)
        self.writers: Any  # see labkit.resources.writing
        self.builders: Any  # see labkit.resources.quick
        self.build: Callable[[Any], Any]  # see labkit.resources.objects
        self.prelude: dict[str, str] = {}
        self.envelope: dict[str, Field[Any, Any]] = {}
        self._fields: dict[str, Field[Any, Any]] | None = None

    def bases(self) -> Iterator[ClassState]:
        """The states of the class's bases, the nearest first."""
        states = (base.__dict__.get("__labkit__") for base in self.cls.__mro__[1:])
        return (state for state in states if isinstance(state, ClassState))

    @property
    def fields(self) -> dict[str, Field[Any, Any]]:
        """All fields by JSON key: the bases' first, then in the order of declaration; the nearest declaration wins."""
        fields = self._fields
        return self._merged() if fields is None else fields

    def _merged(self) -> dict[str, Field[Any, Any]]:
        """Make the tables. Threads that meet a new class may do it at once: all make the same, and *_fields* last."""
        merged: dict[str, Field[Any, Any]] = {}
        for state in reversed([self, *self.bases()]):
            merged.update(state.own)
        self.table: dict[str, Field[Any, Any]] = {**self.envelope, **merged}
        self.required = tuple(key for key, field in merged.items() if field.enforced)
        self.dumps = _Dumps({key: field.dump for key, field in self.table.items()})
        self.coerces = _Coerces(self.table, self.undeclared)
        self.aliases = {field.attribute: key for key, field in merged.items() if field.attribute != key}
        self._fields = merged
        return merged

    def changed(self) -> None:
        """Drop the tables, here and in every subclass."""
        for cls in self.family():
            cls.__labkit__._fields = None
            cls.__labkit__.writers.clear()
            cls.__labkit__.builders.clear()
            for name in ("table", "coerces", "dumps"):
                cls.__labkit__.__dict__.pop(name, None)

    def family(self) -> Iterator[Any]:
        """The class and all its subclasses."""
        pending = [self.cls]
        while pending:
            cls = pending.pop()
            yield cls
            pending.extend(type.__subclasses__(cls))

    def __getattr__(self, name: str) -> Any:
        # Only reached while the tables are not there: makes them, once.
        if name in ("table", "required", "dumps", "aliases", "coerces"):
            self._merged()
            return self.__dict__[name]
        raise AttributeError(name)

    def undeclared(self, key: str, value: Any) -> Any:
        """The value to keep for a key that no field claims; a Refusal in strict mode, or if it is not JSON."""
        if isinstance(key, str) and is_strict():
            raise Refusal.of(undeclared(key, class_name(self.cls), self.fields))
        check_key(key)
        return check_json(value)

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The CEL rules of the bases, then those of the class."""
        found: list[dict[str, Any]] = []
        for state in reversed([self, *self.bases()]):
            found.extend(rule for rule in state.facts.get("rules", ()) if rule not in found)
        return found

    def fact(self, name: str, default: Any = None) -> Any:
        """What the class, or the nearest of its bases, says about *name*."""
        return next((state.facts[name] for state in (self, *self.bases()) if name in state.facts), default)


def state_within(field: Field[Any, Any] | None) -> ClassState | None:
    """The state of the class whose objects are the values of *field*, if there is one."""
    inner = getattr(getattr(field, "target", None), "__labkit__", None)
    return inner if isinstance(inner, ClassState) else None


def state_of(cls: type[Any]) -> ClassState:
    return cls.__labkit__  # type: ignore[no-any-return]
