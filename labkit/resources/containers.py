"""Fields that hold more than one value: lists, maps, free JSON, other classes, inline structs.

A list or map checks its elements with the field of its element, so an element written by path is checked by the very
function that checks the whole. Containers given by a caller are copied one level; what a free field holds deeper than
that stays shared with the caller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from labkit.resources import names
from labkit.resources.errors import Problem, Refusal, class_name
from labkit.resources.field import Field, as_field, constrained, places, register_kind
from labkit.resources.legacy import legacy_values
from labkit.resources.node import Node
from labkit.resources.options import ELEMENT, PRESERVE, refuse, size_checks
from labkit.resources.scalars import No, Scalar, Str, Yes
from labkit.resources.values import check_json, check_key, copied, described, text_of

if TYPE_CHECKING:
    pass

__all__ = ["Holder", "List", "Map", "Object", "Opaque", "Struct"]

E = TypeVar("E")
V = TypeVar("V")
X = TypeVar("X")
N = TypeVar("N", bound=Node)

Item = Field[E, X] | type[Field[E, X]]


@register_kind
class Opaque(Field[Any, Any]):
    """Any JSON, kept with its types; a bare ``dict`` as a type means the same.

    Takes every value that is JSON throughout (a cycle, NaN, a set are refused with their place). Copied one level.
    Schema: ``type: object`` with ``x-kubernetes-preserve-unknown-fields: true``; it takes no element type. Options:
    required, default, description, nullable, preserve_unknown.
    """

    kind = "Opaque"

    def compile(self) -> None:
        places(self, has_object=True)
        self.coerce = _present
        self.read = copied
        self.dump = copied

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "object", PRESERVE: True}

    def element(self) -> Callable[[Any], Any]:
        return check_json  # null is JSON


def _present(value: Any) -> Any:
    """Null is JSON, but as the value of a field it means absence."""
    if value is None:
        raise Refusal.of("expected JSON, got null")
    return check_json(value)


class _Rows(Field[Any, Any]):
    """An element that is any object (``List(dict)``) or any list (``List(list)``)."""

    kind = "dict"

    def __init__(self, container: type[Any]) -> None:
        super().__init__()
        self.container = container

    def compile(self) -> None:
        container, expected = self.container, "an object" if self.container is dict else "a list"

        def coerce(value: Any) -> Any:
            if not isinstance(value, (container, tuple) if container is list else container):
                raise Refusal.of(f"expected {expected}, got {described(value)}", text_of(value))
            return check_json(value)

        self.coerce, self.read, self.dump = coerce, copied, copied

    @property
    def expression(self) -> str:
        return self.container.__name__

    def parts(self) -> Any:
        return self.container.__name__

    def schema_parts(self) -> dict[str, Any]:
        if self.container is dict:
            return {"type": "object", PRESERVE: True}
        return {"type": "array", "items": {PRESERVE: True}}


class _Container(Field[E, V]):
    """What List and Map share: an element type, and options handed on to it."""

    def __init__(self, item: Any = None, *junk: Any, **options: Any) -> None:
        super().__init__(*junk, **options)
        self.item_plan = item

    def parts(self) -> Any:
        item = as_field(self.item_plan, lambda _: None) if not self._is_rows() else _Rows(self.item_plan)
        return item.signature()

    def _is_rows(self) -> bool:
        return self.kind == "List" and self.item_plan in (dict, list)

    def bind_item(self) -> Field[Any, Any]:
        plan = self.item_plan
        if plan is None:
            refuse(self, f"has the type {self.kind} without the type of its elements")
        if plan is list and self.kind == "Map":
            refuse(self, "has the type Map(list), which means nothing; write Map(List(...))")
        item = _Rows(plan) if self._is_rows() else as_field(plan, lambda message: refuse(self, message))
        handed_on = {option: self.options[option] for option in ELEMENT if option in self.options}
        if handed_on and not isinstance(item, Scalar) and not self.lenient:
            option = next(iter(handed_on))
            refuse(self, f"has the option '{option}', which needs a scalar field, not {self.expression}", option)
        for option in ("required", "key"):
            if option in item.options:
                refuse(self, f"gives its elements the option '{option}', which needs a field of its own", option)
        if handed_on:
            item = copy.copy(item)
            item.options = {**item.options, **handed_on}
        bound = item.bind(self.owner, self.key, self.attribute, lenient=self.lenient)
        self.left_to_server = bound.left_to_server
        return bound

    @property
    def expression(self) -> str:
        if self._is_rows():
            return f"{self.kind}({self.item_plan.__name__})"
        item = self.item or as_field(self.item_plan, lambda _: None)
        return f"{self.kind}({item.expression})"

    def check_default(self) -> None:
        item = self.item
        while item is not None and item.item is not None:
            item = item.item
        if isinstance(item, Scalar):  # objects inside are the server's to check
            super().check_default()


@register_kind
class List(_Container[E, V]):
    """A list whose elements are all of one type: ``List(Str)``, ``List(Object(Container))``, ``List(List(Int))``.

    ``List(dict)`` and ``List(list)`` hold objects or lists of any content. Takes lists and tuples; the object keeps a
    list of its own, which the attribute hands out: appending to it directly is not checked, the path verbs do. Options
    that constrain a value (enum, pattern, minimum …) apply to each element and are written on ``items``. Others: the
    nine, min_items, max_items, list_type, list_map_keys, rules. Raises ResourceError with the index in the path.
    """

    kind = "List"

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: List[E, list[E]], item: Item[E, X], *, required: Yes, nullable: No = False, **options: Any
        ) -> None: ...
        @overload
        def __init__(self: List[E, list[E] | None], item: Item[E, X], **options: Any) -> None: ...
        @overload
        def __init__(self: List[N, list[N] | None], item: type[N], **options: Any) -> None: ...
        @overload
        def __init__(self: List[Any, list[Any] | None], item: Any, **options: Any) -> None: ...
        def __init__(self, item: Any, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: Any) -> None: ...

    def compile(self) -> None:
        self.item = item = self.bind_item()
        places(self, scalar=isinstance(item, Scalar), has_list=True)
        one, read, dump = item.element(), item.read, item.dump
        kind_of = f"a list of {item.expression}"

        def coerce(value: Any) -> Any:
            if type(value) is not list and not isinstance(value, (list, tuple)):
                raise Refusal.of(f"expected {kind_of}, got {described(value)}", text_of(value))
            kept: list[Any] = []
            problems: list[Problem] = []
            inflated = False
            rest = iter(value)
            while True:  # once, and once more after each refused element: none is tried twice
                try:
                    for element in rest:
                        kept.append(one(element))  # noqa: PERF401  (what was kept must outlive a refusal)
                    break
                except Refusal as refusal:
                    problems.extend(refusal.under(len(kept)))
                    inflated = inflated or refusal.inflated
                    kept.append(None)
            if problems:
                raise Refusal(problems, inflated=inflated)
            return kept

        self.coerce = constrained(coerce, [] if self.lenient else size_checks(self, "items"))
        self.read = lambda value: [read(element) for element in value] if isinstance(value, list) else copied(value)
        if dump is None:
            self.dump = copied
        else:
            self.dump = lambda value: [dump(one) for one in value] if isinstance(value, list) else copied(value)

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "array"}


@register_kind
class Map(_Container[E, V]):
    """An object with free keys whose values are all of one type: ``Map(Str)``, ``Map(Quantity)``, ``Map(Object(C))``.

    ``Map(Str)`` takes texts and numbers, keeps them, and writes texts. ``Map(Str, lenient=True)`` is the legacy map: it
    takes anything, and warns once (DeprecationWarning) for each class and field where a value is not a scalar. A null
    value is dropped, as the server does. Options that constrain a value apply to each value and are written on
    ``additionalProperties``; others: the nine, min_properties, max_properties, map_type, rules.
    """

    kind = "Map"

    @overload
    def __init__(
        self: Map[E, dict[str, E]], item: Item[E, X], *, required: Yes, nullable: No = False, **options: Any
    ) -> None: ...
    @overload
    def __init__(self: Map[E, dict[str, E] | None], item: Item[E, X], **options: Any) -> None: ...
    @overload
    def __init__(self: Map[N, dict[str, N] | None], item: type[N], **options: Any) -> None: ...
    @overload
    def __init__(self: Map[Any, dict[str, Any] | None], item: Any, **options: Any) -> None: ...
    def __init__(self, item: Any = None, *junk: Any, lenient: Any = False, **options: Any) -> None:
        super().__init__(item, *junk, **options)
        self.legacy = lenient

    if TYPE_CHECKING:

        def __set__(self, obj: Any, value: Any) -> None: ...

    def parts(self) -> Any:
        return (super().parts(), self.legacy)

    def compile(self) -> None:
        if self.legacy not in (True, False) or (self.legacy and self.item_plan not in (Str, "Str")):
            refuse(self, f"has lenient={self.legacy!r}; only Map(Str, lenient=True) is lenient", "lenient")
        if self.legacy and (bad := next((option for option in ELEMENT if option in self.options), None)):
            refuse(self, f"has the option '{bad}', which needs a scalar field, not a lenient map", bad)
        self.item = item = self.bind_item()
        places(self, scalar=isinstance(item, Scalar), has_object=True)
        coerce = legacy_values(self, _keys) if self.legacy else _values(self)
        self.coerce = constrained(coerce, [] if self.lenient else size_checks(self, "properties"))
        read: Any = item.read
        dump: Any = item.dump

        def read_all(value: Any) -> Any:
            return {key: read(one) for key, one in value.items()} if isinstance(value, dict) else copied(value)

        def dump_all(value: Any) -> Any:
            return {key: dump(one) for key, one in value.items()} if isinstance(value, dict) else copied(value)

        self.read = read_all
        self.dump = copied if dump is None else dump_all

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:
        """As for all fields; but what is not wrong is kept as a copy."""
        if self.legacy or self.options or self.item_plan is not Str:
            return None
        names[f"texts{number}"] = _plain_texts
        return f"not texts{number}({value})"

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "object"}


def _plain_texts(value: Any) -> bool:
    if value.__class__ is not dict:
        return False
    for key, text in value.items():
        if key.__class__ is not str or text.__class__ is not str or not key.isascii() or not text.isascii():
            return False
    return True


def _keys(value: Any, field: Field[Any, Any]) -> None:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise Refusal.of(f"expected a map of {field.item.expression}, got {described(value)}", text_of(value))
    for key in value:
        if type(key) is not str or not key.isascii():
            check_key(key)


def _values(field: Map[Any, Any]) -> Callable[[Any], Any]:
    item = field.item
    assert item is not None  # noqa: S101  (set just before)
    one = item.element()
    keep_null = item.nullable or isinstance(item, Opaque)

    def coerce(value: Any) -> Any:
        _keys(value, field)
        kept: dict[str, Any] = {}
        problems: list[Problem] = []
        inflated = False
        for key, element in value.items():
            try:
                if element is not None or keep_null:
                    kept[key] = one(element)
            except Refusal as refusal:
                problems.extend(refusal.under(key))
                inflated = inflated or refusal.inflated
        if problems:
            raise Refusal(problems, inflated=inflated)
        return kept

    return coerce


class Holder(Field[E, V]):
    """What Object and Struct share: the value is an object of a class."""

    def check_default(self) -> None:
        """Nothing: a dict is no instance, and the server checks it against the schema."""

    def wire_default(self) -> Any:
        return _plain(self.options["default"])

    def resolved(self) -> type[Any]:
        """The class."""
        return self.target  # type: ignore[no-any-return]

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "object"}


@register_kind
class Object(Holder[N, V]):
    """A value of another resource class: ``Object(Worker)``, or ``Object("Worker")`` for one that is written later.

    Takes an instance (kept, the same one), a dict (built into the class), or an instance of another resource class
    (converted through its wire form). Wire: a JSON object. Options: required, default (not checked here), description,
    nullable, preserve_unknown, rules. The class may also be a union such as JSON, which takes more than dicts.
    """

    kind = "Object"
    found: type[Any] | None = None  # what a name meant, once it was looked up

    @overload
    def __init__(
        self: Object[N, N], target: type[N], *, required: Yes, nullable: No = False, **options: Any
    ) -> None: ...
    @overload
    def __init__(self: Object[N, N | None], target: type[N], **options: Any) -> None: ...
    @overload
    def __init__(self: Object[Any, Any], target: str, **options: Any) -> None: ...
    def __init__(self, target: Any = None, *junk: Any, **options: Any) -> None:
        super().__init__(*junk, **options)
        self.target = target

    if TYPE_CHECKING:

        def __set__(self, obj: Any, value: Any) -> None: ...

    def compile(self) -> None:
        places(self, has_object=True)
        target = self.target
        if not isinstance(target, str) and not (isinstance(target, type) and issubclass(target, Node)):
            refuse(self, f"has the type Object({target!r}), which names no resource class")
        if isinstance(target, str):
            self.coerce, self.read = self._late_coerce, self._late_read
        else:
            self._use(target)
        self.dump = copied

    def _use(self, target: type[Node]) -> None:
        self.target, self.read = target, target._read
        self.coerce = target._builder()

    def _late_coerce(self, value: Any) -> Any:
        return self.resolved()._build(value)

    def _late_read(self, value: Any) -> Any:
        return self.resolved()._read(value)

    def resolved(self) -> type[Any]:
        """The class; a name is looked up on first use. Raises DeclarationError for a name that means nothing."""
        if isinstance(self.target, str):
            if self.found is None:
                self.found = names.resolve(self.target, self.owner, self.key)
            return self.found
        return super().resolved()

    def element(self) -> Callable[[Any], Any]:
        if getattr(self.target, "takes_null", False):
            coerce = self.coerce
            return lambda value: None if value is None else coerce(value)
        return super().element()

    @property
    def expression(self) -> str:
        return self.target if isinstance(self.target, str) else class_name(self.target)

    def parts(self) -> Any:
        return self.target if isinstance(self.target, str) else self.target.__name__


@register_kind
class Struct(Holder[Any, Any]):
    """A class written in place: ``Struct({"replicas": Int, "mode": Str(enum=[...])})``; a dict in a class body is one.

    Keys are JSON keys. The class made for ``spec`` of ``C`` is ``C._Spec``; in every other way it is as Object.
    """

    kind = "Struct"

    def __init__(self, inner: Any = None, *junk: Any, **options: Any) -> None:
        super().__init__(*junk, **options)
        self.inner = dict(inner) if isinstance(inner, Mapping) else inner

    def compile(self) -> None:
        from labkit.resources.objects import make_inner

        places(self, has_object=True)
        if not isinstance(self.inner, dict):
            refuse(self, f"has the type Struct({self.inner!r}); the fields of a struct are a dict")
        self.target = make_inner(self)
        self.coerce, self.read, self.dump = self.target._builder(), self.target._read, copied

    def parts(self) -> Any:
        if not isinstance(self.inner, dict):
            return repr(self.inner)
        return sorted((key, as_field(plan, lambda _: None).signature()) for key, plan in self.inner.items())


def _plain(value: Any) -> Any:
    """A deep copy in which resources are their wire form."""
    if isinstance(value, Node):
        return _plain(value._dump())
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
