"""A field: what a class body says about one key of a document.

``replicas = Int(minimum=1)`` is written once and serves four uses: as the type of an attribute (a descriptor with its
Python type, so that editors complete it), as the check of every value on every route (constructor, assignment, reading,
path), as its wire form, and as its schema. A field written in a class body is a plan; binding it to a class and a key
checks the plan and compiles its functions, once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar, overload

from labkit.resources.errors import Refusal, class_name, refused
from labkit.resources.options import Check, check_names, check_places, refuse
from labkit.resources.values import copied, text_of

if TYPE_CHECKING:
    from labkit.resources.objects import Resource

__all__ = ["Field", "Subscripted", "as_field", "constrained", "places", "register_kind", "same"]

E = TypeVar("E")  # one value
V = TypeVar("V")  # what the attribute gives: the value, or None where it may be absent

Coerce = Callable[[Any], Any]

_kinds: dict[str, type[Field[Any, Any]]] = {}


class Subscripted(NamedTuple):
    """``Map[Int]``: the type and what stood in the brackets."""

    kind: type[Field[Any, Any]]
    item: Any


class Field(Generic[E, V]):
    """Base of all field types; not written by users.

    Class facts: *kind* the name of the type, *numeric* and *textual* what constraints it takes.
    Bound facts: *key*, *attribute*, *owner*, *enforced* (``required=True``), *listed* (in the schema's ``required``),
    *nullable*, *left_to_server* (why the pattern is not tried here; empty if it is), *coerce* (value → value or
    Refusal), *read* (a server's value → value, never refusing), *dump* (value → wire form; None if they are the same).
    """

    kind: ClassVar[str] = "Field"
    numeric: ClassVar[bool] = False
    textual: ClassVar[bool] = False

    key: str
    attribute: str
    owner: type[Any]
    plan: Any  # the field this one was bound from
    enforced: bool
    listed: bool
    nullable: bool
    item: Any = None  # the bound field of the elements, for lists and maps
    target: Any = None
    left_to_server: str = ""
    wire_difference: Any = None  # see labkit.resources.emission.Wire
    whole: Any = ...  # a schema that is no object (true, false), as it was read
    lenient: bool = False
    coerce: Coerce
    read: Coerce
    dump: Coerce | None = None

    def __init__(self, *junk: Any, **options: Any) -> None:
        self.junk = junk
        self.options = {name: copied(value) for name, value in options.items()}

    if not TYPE_CHECKING:

        def __class_getitem__(cls, item: Any) -> Any:
            # Map[Int] in a class body is Map(Int); on the bases the brackets are typing's.
            if _kinds.get(cls.kind) is cls:
                return Subscripted(cls, item)
            return super().__class_getitem__(item)

    @overload
    def __get__(self, obj: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, obj: Resource, owner: type[Any]) -> V: ...
    def __get__(self, obj: Resource | None, owner: type[Any]) -> Self | V:
        if obj is None:
            return self
        return obj._values.get(self.key)  # type: ignore[return-value]

    def __set__(self, obj: Resource, value: Any) -> None:
        try:
            self.store(obj, value)
        except (Refusal, RecursionError) as reason:
            error = refused(class_name(type(obj)), reason, self.key)
        else:
            return
        raise error

    def __delete__(self, obj: Resource) -> None:
        try:
            self.clear(obj)
        except Refusal as reason:
            error = refused(class_name(type(obj)), reason, self.key)
        else:
            return
        raise error

    def store(self, obj: Resource, value: Any) -> None:
        """Assign; None is null for a nullable field and absence for any other. Raises Refusal, without this key."""
        if value is not None:
            obj._values[self.key] = self.coerce(value)
        elif self.nullable:
            self.check_null()
            obj._values[self.key] = None
        else:
            self.clear(obj)

    def check_null(self) -> None:
        """Raise Refusal if there is an enum: the server lets no null pass one, not even one that lists null."""
        enum = self.options.get("enum") if self.item is None else None
        if isinstance(enum, (list, tuple)):
            raise Refusal.of(f'Value "null" is not one of: {", ".join(map(text_of, enum))}', "null")

    def given(self, obj: Resource) -> bool:
        """Whether *obj* has the key, null included: ``C.note.given(obj)``, the typed spelling of ``obj.has_note()``.

        That of ``obj.clear_note()`` is ``del obj.note``. Both are there for every field, nullable or not.
        """
        return self.key in obj._values

    def clear(self, obj: Resource) -> None:
        """Make the field absent; raises Refusal if it is required."""
        if self.enforced:
            raise Refusal.of("is required and cannot be absent")
        obj._values.pop(self.key, None)

    def bind(self, owner: type[Any], key: str, attribute: str, *, lenient: bool = False) -> Self:
        """A copy that belongs to *owner*; raises DeclarationError."""
        bound = copy.copy(self)
        bound.owner, bound.key, bound.attribute, bound.plan, bound.lenient = owner, key, attribute, self, lenient
        bound.options = {name: copied(value) for name, value in self.options.items()}
        check_names(bound)
        required = bound.options.get("required", False)
        bound.enforced = bool(required) and required != "schema"
        bound.listed = bool(required)
        bound.nullable = bound.options.get("nullable") is True
        bound.compile()
        if "default" in bound.options and not lenient:
            bound.check_default()
        return bound

    def compile(self) -> None:
        """Set coerce, read and dump; raises DeclarationError for options that this type has no use for."""
        raise NotImplementedError

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:  # noqa: ARG002
        """A Python expression, false only if *value* is kept as it is; None if there is no short one.

        *names* takes what the expression needs, under names that end in *number*. See labkit.resources.quick.
        """
        return None

    def check_default(self) -> None:
        try:
            self.coerce(self.options["default"])
        except Refusal as refusal:
            reason = refusal.reason
            refuse(self, f"has a default that fails the field's own type: {reason}", "default")

    def wire_default(self) -> Any:
        """The default as the schema has it: a copy, in wire form."""
        default = self.options["default"]
        try:
            value = self.coerce(default)
        except Refusal:
            return copy.deepcopy(default)
        return copy.deepcopy(value if self.dump is None else self.dump(value))

    @property
    def expression(self) -> str:
        """The type as one would write it, without options."""
        return self.kind

    def signature(self) -> Any:
        """Equal for plans that declare the same."""
        return (self.kind, self.junk, _typed(self.options), self.parts())

    def parts(self) -> Any:
        """What the type is made of, as part of the signature."""
        return ()

    def schema_parts(self) -> dict[str, Any]:
        """The schema's keywords that come from the type itself."""
        raise NotImplementedError

    def element(self) -> Coerce:
        """*coerce* for an element of a list: null only where the element is nullable."""
        coerce = self.coerce
        return (lambda value: self.check_null() if value is None else coerce(value)) if self.nullable else coerce


def constrained(base: Coerce, checks: list[Check], of: Coerce | None = None) -> Coerce:
    """*base*, then all *checks* on its result (or on ``of(result)``, its wire form); all failures together."""
    if not checks:
        return base

    def coerce(value: Any) -> Any:
        value = base(value)
        tried = value if of is None else of(value)
        for holds, _ in checks:
            if not holds(tried):
                break
        else:
            return value
        raise Refusal([problem for check in checks if not check.holds(tried) for problem in (_problem(check, tried),)])

    return coerce


def _problem(check: Check, value: Any) -> Any:
    return Refusal.of(check.say(value), text_of(value)).problems[0]


def register_kind(cls: type[Field[Any, Any]]) -> type[Field[Any, Any]]:
    """Make a type known by its name, so that ``"Str"`` means ``Str``."""
    _kinds[cls.kind] = cls
    return cls


def as_field(expression: Any, report: Callable[[str], Any]) -> Field[Any, Any]:  # noqa: PLR0911  (a table)
    """The plan that a type expression means; calls *report* (which raises) for one that means nothing."""
    if isinstance(expression, Field):
        return expression
    if isinstance(expression, Subscripted):
        return expression.kind(expression.item)
    if isinstance(expression, type):
        if issubclass(expression, Field):
            return expression()
        if expression is dict:
            return _kinds["Opaque"]()
        if hasattr(expression, "_build"):
            return _kinds["Object"](expression)
    if isinstance(expression, str):
        return _kinds[expression]() if expression in _kinds else _kinds["Object"](expression)
    if isinstance(expression, Mapping):
        return _kinds["Struct"](expression)
    report(f"has the type {expression!r}, which means nothing")
    raise AssertionError("report raises")


def same(one: Field[Any, Any], other: Field[Any, Any]) -> bool:
    """Whether two plans declare the same, comparing values with their types (1 is not True)."""
    return bool(one.signature() == other.signature())


def _typed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ("dict", sorted((str(key), _typed(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return ("list", [_typed(item) for item in value])
    return (type(value).__name__, repr(value))


def places(field: Field[Any, Any], *, scalar: bool = False, has_list: bool = False, has_object: bool = False) -> None:
    """check_places, unless the class was read from a server, whose odd options are kept as they are."""
    if not field.lenient:
        check_places(field, scalar=scalar, has_list=has_list, has_object=has_object)
