"""The four JSON unions of apiextensions/v1: values that are one of several shapes on the wire, with no tag.

``additionalProperties`` is a schema or a boolean, ``items`` a schema or a list of schemas, ``default`` any JSON. Each
has a small class that holds the value and writes it bare. A path walks through it into the arm that is in use.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from labkit.resources import names
from labkit.resources.containers import Object
from labkit.resources.errors import Refusal, each, outermost
from labkit.resources.field import Field
from labkit.resources.node import Node
from labkit.resources.scalars import Str
from labkit.resources.values import check_json, copied, described, text_of, unpaired
from labkit.resources.writing import ENCODER

__all__ = ["JSON", "SchemaOrArray", "SchemaOrBool", "SchemaOrStringArray", "Union"]

SCHEMA = "apiextensions/v1/JSONSchemaProps"


class Union(Node):
    """Base of the four: *value* is what is held (None: nothing yet); ``to_dict()`` is the bare wire value."""

    __slots__ = ("value",)

    empty: ClassVar[Any] = None  # the wire form of a union that holds nothing
    takes_null: ClassVar[bool] = False  # whether null is a value, where it stands as an element

    @outermost
    def __init__(self, value: Any = None) -> None:
        self.value = None if value is None else self._held(value)

    @classmethod
    def _held(cls, value: Any) -> Any:
        """*value* as it is held; raises Refusal."""
        raise NotImplementedError

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def _build(cls, value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if value is None:
            raise Refusal.of(f"expected a value for {cls.__name__}, got null")
        if isinstance(value, Union):
            value = value._dump()
        made = cls()
        made.value = cls._held(value)
        return made

    @classmethod
    def _read(cls, value: Any) -> Any:
        made = cls()
        made.value = cls._held_read(value)
        return made

    @classmethod
    def from_struct(cls, value: Any) -> Self:
        """The union holding a bare wire value; raises ResourceError."""
        return cls(value)

    def _dump(self) -> Any:
        value = self.value
        if value is None:
            return self.empty
        if isinstance(value, list):
            return [one._dump() if isinstance(one, Node) else one for one in value]
        return copied(value)

    def _text(self) -> str:
        return ENCODER.encode(self._dump())

    def to_dict(self) -> Any:
        """The bare wire value."""
        return self._dump()

    def node(self) -> tuple[Any, Field[Any, Any] | None]:
        """What a path walks into, and the field that the elements of a list there belong to."""
        return self.value, None

    def hold(self, shape: Literal["list", "dict"]) -> None:
        """Hold an empty container, if nothing is held; raises Refusal where there is no such arm."""
        if self.value is None:
            self.value = self._held([] if shape == "list" else {})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Union) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class JSON(Union):
    """Any JSON value: a schema's ``default``, ``example``, elements of ``enum``; a Helm chart's values.

    Takes everything that is JSON throughout; ``JSON(None)`` holds nothing and writes null.
    """

    __slots__ = ()
    takes_null = True

    @classmethod
    def _held(cls, value: Any) -> Any:
        return check_json(value)

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        return copied(value)

    def _dump(self) -> Any:
        return copied(self.value)


class _SchemaOr(Union):
    __slots__ = ()
    empty: ClassVar[Any] = {}

    @classmethod
    def _schema(cls) -> type[Any]:
        return names.resolve(SCHEMA, cls, "schema")

    @classmethod
    def _held(cls, value: Any) -> Any:
        return cls._schema()._build(value)

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        return cls._schema()._read(value)


class SchemaOrArray(_SchemaOr):
    """A schema or a list of schemas (``items``). An empty list stays an empty list."""

    __slots__ = ()

    @classmethod
    def _held(cls, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return each(value, super()._held)
        return super()._held(value)

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        return (
            [super(SchemaOrArray, cls)._held_read(one) for one in value]
            if isinstance(value, list)
            else super()._held_read(value)
        )

    def node(self) -> tuple[Any, Field[Any, Any] | None]:
        return self.value, _element(Object(SCHEMA), type(self))


class SchemaOrBool(_SchemaOr):
    """A schema or a boolean (``additionalProperties``); ``SchemaOrBool()`` writes true, what leaving it out means."""

    __slots__ = ()
    empty: ClassVar[Any] = True

    @classmethod
    def _held(cls, value: Any) -> Any:
        return value if isinstance(value, bool) else super()._held(value)

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        return value if isinstance(value, bool) else super()._held_read(value)

    def hold(self, shape: Literal["list", "dict"]) -> None:
        if shape == "list" and self.value is None:
            raise Refusal.of(f"{type(self).__name__} cannot hold an array")
        super().hold(shape)


class SchemaOrStringArray(_SchemaOr):
    """A schema or a list of property names (``dependencies``)."""

    __slots__ = ()

    @classmethod
    def _held(cls, value: Any) -> Any:
        return each(value, _name) if isinstance(value, (list, tuple)) else super()._held(value)

    @classmethod
    def _held_read(cls, value: Any) -> Any:
        return list(value) if isinstance(value, list) else super()._held_read(value)

    def node(self) -> tuple[Any, Field[Any, Any] | None]:
        holder = _element(Str(), type(self))
        holder.item.coerce = _name  # a Str takes numbers; a list of names does not
        return self.value, holder


def _name(value: Any) -> str:
    if not isinstance(value, str) or unpaired(value):
        raise Refusal.of(f"expected a string, got {described(value)}", text_of(value))
    return value


def _element(plan: Field[Any, Any], owner: type[Any]) -> Field[Any, Any]:
    """The field of a list arm's elements, in the shape of a list field: paths ask it for its ``item``."""
    holder: Any = Field()
    holder.key, holder.owner = "items", owner
    holder.item = plan.bind(owner, "items", "items")
    return holder  # type: ignore[no-any-return]
