"""Declaring a field on a class: the only way a field comes to be, from a class body, a struct or by hand.

Everything is checked before anything is installed, so a refused declaration leaves no trace. The order: the attribute
names that would clash, then the options, then the comparison with an earlier declaration of the same key, then the
building of what the field needs (inner classes), and only then the class changes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

from labkit.resources.containers import Object, Struct
from labkit.resources.errors import DeclarationError, class_name, outermost
from labkit.resources.field import Field, as_field, same
from labkit.resources.names import attribute_of
from labkit.resources.state import ClassState, state_of
from labkit.resources.values import copied

__all__ = ["FieldInfo", "declare", "fields", "yields_to_field"]


@dataclass(frozen=True)
class FieldInfo:
    """One entry of the registry.

    *key* and *attribute*; *type* as one would write it (``List(Str)``); *cls* the class of the value, of the elements
    or of the map's values, if it has one; *required* True or False, where ``"schema"`` counts as True and *enforced*
    tells them apart; *options* the other options as given, copied one level; *declared_by* the class it was declared
    on; *left_to_server* why a pattern is not tried here (empty if it is, or there is none).
    """

    key: str
    attribute: str
    type: str
    cls: Any
    required: bool
    enforced: bool
    options: Mapping[str, Any]
    declared_by: Any
    left_to_server: str = ""


def fields(cls: type[Any]) -> Mapping[str, FieldInfo]:
    """The registry of *cls*: JSON key → FieldInfo, its bases' fields first, the nearest declaration winning.

    A read-only view of the moment; the options in it are copies. Raises TypeError for what is no resource class.
    """
    if not isinstance(getattr(cls, "__labkit__", None), ClassState):
        raise TypeError(f"{cls!r} is not a resource class")
    return MappingProxyType({key: _info(field) for key, field in state_of(cls).fields.items()})


def _info(field: Field[Any, Any]) -> FieldInfo:
    inner: Field[Any, Any] = field
    while inner.item is not None:
        inner = inner.item
    options = {name: copied(value) for name, value in field.options.items() if name not in ("required", "key")}
    return FieldInfo(
        key=field.key,
        attribute=field.attribute,
        type=field.expression,
        cls=inner.target,
        required=field.listed,
        enforced=field.enforced,
        options=MappingProxyType(options),
        declared_by=field.owner,
        left_to_server=field.left_to_server,
    )


@outermost
def declare(cls: type[Any], key: str, type_: Any, /, *junk: Any, **options: Any) -> None:
    """Declare the field *key* (the JSON key) of *cls*, as a class body would.

    *type_* is a field (``Int(minimum=1)``), a bare type, a resource class, the name of one, or a dict (a struct); then
    *options* may follow. Seen at once by the class, its subclasses and their objects. Declaring the same again changes
    nothing. Raises DeclarationError, naming class and field, and leaves the class exactly as it was.
    """
    if not isinstance(getattr(cls, "__labkit__", None), ClassState):
        raise TypeError(f"{cls!r} is not a resource class")
    declare_field(cls, key, type_, *junk, **options)


def declare_field(cls: type[Any], key: str, type_: Any, /, *junk: Any, **options: Any) -> None:
    """declare(), for classes that are known to be resource classes."""
    if not isinstance(key, str):
        _refuse(cls, key, "has a key that is not text")
    plan = as_field(type_, lambda message: _refuse(cls, key, message))
    if junk or options:
        plan = _with(plan, junk, options)
    attribute = attribute_of(key)
    state = state_of(cls)
    fixed = state.envelope.get(key) or (state.fields.get(key) if key in state.fact("fixed", ()) else None)
    if fixed is not None:
        _same_envelope(cls, fixed, plan)
        return
    nullable = plan.options.get("nullable") is True
    while state.lenient and not _is_free(cls, key, attribute, nullable=nullable):
        attribute += "_"  # a server's definition may use any name; its key stays what it is
    check_names_free(cls, key, attribute, nullable=nullable)
    earlier = state.own.get(key)
    if earlier is not None and same(earlier.plan, plan):
        return
    if earlier is not None:
        _different(cls, earlier, plan)
    bound = plan.bind(cls, key, attribute, lenient=state.lenient)
    _install(cls, bound)


def _with(plan: Field[Any, Any], junk: tuple[Any, ...], options: dict[str, Any]) -> Field[Any, Any]:
    whole = copy.copy(plan)
    whole.junk = (*plan.junk, *junk)
    whole.options = {**plan.options, **{name: copied(value) for name, value in options.items()}}
    return whole


def _install(cls: type[Any], field: Field[Any, Any]) -> None:
    state = state_of(cls)
    inherited = next((s.own[field.key] for s in state.bases() if field.key in s.own), None)
    state.own[field.key] = field
    type.__setattr__(cls, field.attribute, field)
    inner: Field[Any, Any] = field
    while inner.item is not None:
        inner = inner.item
    if isinstance(inner, Struct):
        type.__setattr__(cls, inner.target.__name__, inner.target)
    for name, make in (("has", _has), ("clear", _clear)):
        if field.nullable:
            type.__setattr__(cls, f"{name}_{field.attribute}", make(field))
        elif inherited is not None and inherited.nullable:
            type.__setattr__(cls, f"{name}_{field.attribute}", _Withdrawn(f"{name}_{field.attribute}", field.key))
    state.changed()


class _Withdrawn:
    """Stands in a subclass where the base's field was nullable and the subclass's is not."""

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.labkit_key = key

    def __get__(self, obj: Any, owner: Any) -> NoReturn:
        raise AttributeError(f"{class_name(owner)} has no {self.name}: the field is not nullable")


def _has(field: Field[Any, Any]) -> Any:
    key = field.key

    def has(self: Any) -> bool:
        return key in self._values

    has.__doc__ = f"Whether the key ``{key}`` exists, null included."
    has.labkit_key = key  # type: ignore[attr-defined]
    return has


def _clear(field: Field[Any, Any]) -> Any:
    attribute, key = field.attribute, field.key

    def clear(self: Any) -> None:
        field.__delete__(self)

    clear.__doc__ = f"Make ``{attribute}`` absent."
    clear.labkit_key = key  # type: ignore[attr-defined]
    return clear


def yields_to_field(helper: Any) -> bool:
    """Whether a method gives way to a field of the same name (``conditions`` does)."""
    return getattr(helper, "labkit_yields", False) is True


def _is_free(cls: type[Any], key: str, attribute: str, *, nullable: bool) -> bool:
    try:
        check_names_free(cls, key, attribute, nullable=nullable)
    except DeclarationError:
        return False
    return True


def check_names_free(cls: type[Any], key: str, attribute: str, *, nullable: bool) -> None:
    """Raise DeclarationError if *attribute*, or the two methods of a nullable field, are taken."""
    if attribute.startswith("__") and attribute.endswith("__") and not attribute.endswith("___"):
        _refuse(cls, key, f"needs the attribute '{attribute}', and such names are Python's")
    for owner in [*cls.__mro__, *list(state_of(cls).family())[1:]]:
        _check_attribute(cls, owner, key, attribute)
    if not nullable:
        return
    for name in (f"has_{attribute}", f"clear_{attribute}"):
        for owner in cls.__mro__:
            taken = owner.__dict__.get(name)
            if taken is not None and getattr(taken, "labkit_key", None) != key:
                _refuse(
                    cls, key, f"needs the method '{name}' as a nullable field, but {class_name(owner)} already has one"
                )


def _check_attribute(cls: type[Any], owner: type[Any], key: str, attribute: str) -> None:
    if attribute not in owner.__dict__:
        return
    taken = owner.__dict__[attribute]
    if isinstance(taken, Field):
        if taken.key != key:
            _refuse(
                cls,
                key,
                f"collides with field '{taken.key}' of {class_name(owner)}: both map to the attribute '{attribute}'",
            )
    elif not yields_to_field(taken):
        if callable(taken) or hasattr(taken, "__get__"):
            _refuse(cls, key, f"collides with the method '{attribute}' of {class_name(owner)}, which is not a field")
        _refuse(cls, key, f"would take over the attribute '{attribute}' that {class_name(owner)} defines itself")


def _different(cls: type[Any], earlier: Field[Any, Any], plan: Field[Any, Any]) -> NoReturn:
    if isinstance(earlier, Struct) and isinstance(plan, Struct) and isinstance(plan.inner, dict):
        old = earlier.plan.inner if isinstance(earlier.plan, Struct) else {}
        for inner_key in [*old, *plan.inner]:
            if inner_key not in plan.inner or inner_key not in old:
                verb = "drops" if inner_key in old else "adds"
                _refuse(earlier.target, inner_key, f"is already decided: declaring '{earlier.key}' again {verb} it")
            if not same(as_field(old[inner_key], lambda _: None), as_field(plan.inner[inner_key], lambda _: None)):
                _differs(earlier.target, inner_key)
    _differs(cls, earlier.key)


def _differs(cls: type[Any], key: str) -> NoReturn:
    owner = class_name(cls)
    _refuse(
        cls,
        key,
        f"is already declared in {owner} with a different type, options or required-ness; declare it once a class",
    )


def _same_envelope(cls: type[Any], envelope: Field[Any, Any], plan: Field[Any, Any]) -> None:
    """``metadata`` may be declared again as what it is; apiVersion and kind as text."""
    kind = envelope.resolved() if isinstance(envelope, Object) else None
    if isinstance(plan, Object) and kind is not None and plan.target in (kind, kind.__name__, "meta/v1/ObjectMeta"):
        return
    if kind is None and plan.kind == "Str":
        return
    _refuse(cls, envelope.key, f"is already declared with a different type, {envelope.expression}")


def _refuse(cls: type[Any], key: str, message: str) -> NoReturn:
    owner = class_name(cls)
    raise DeclarationError(f"field '{key}' of {owner} {message}", class_name=owner, field=str(key)) from None
