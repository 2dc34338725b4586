"""Resource: a typed object over one ordered dict.

The dict, keyed by JSON key, is the whole state. A field that is absent has no entry, null is an entry with None, a key
that no field claims stays where it came (the bag), and the order is the document's. So an object that is read and
written back differs in nothing but what the caller changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from labkit.resources import names
from labkit.resources.building import builder_of, not_an_object, read_values, taken
from labkit.resources.containers import Struct
from labkit.resources.declaring import declare_field
from labkit.resources.errors import DeclarationError, Problem, Refusal, ResourceError, class_name, outermost, refused
from labkit.resources.field import Field, Subscripted, as_field, same
from labkit.resources.names import attribute_of
from labkit.resources.node import Node
from labkit.resources.state import ClassState, state_of
from labkit.resources.values import check_json, copied, described, text_of, unpaired
from labkit.resources.writing import ENCODER, Writers
from labkit.resources.yaml import as_yaml

__all__ = ["Resource", "ResourceMeta", "make_inner", "new_class"]

FACTS = (
    "description",
    "rules",
    "preserve_unknown",
    "map_type",
    "min_properties",
    "max_properties",
    "embedded",
    "verbatim",
)


class _Body(dict[str, Any]):
    """The namespace of a class body: fields are put aside in order, so ``min = Int()`` does not hide ``min()``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.class_name = name
        self.plans: dict[str, Field[Any, Any]] = {}

    @outermost
    def __setitem__(self, name: str, value: Any) -> None:
        if name == "__annotations__" or name.startswith("__"):
            super().__setitem__(name, value)
        elif _is_type(name, value):
            plan = as_field(value, lambda message: self._refuse(name, message))
            if name in self:
                self._refuse(name, f"would take over the attribute '{name}' that {self.class_name} defines itself")
            if name in self.plans and not same(self.plans[name], plan):
                self._refuse(
                    name,
                    f"is already declared in {self.class_name} with a different type, options or required-ness; "
                    "declare it once a class",
                )
            self.plans.setdefault(name, plan)
        else:
            if name in self.plans:
                self._refuse(name, f"would be replaced by {described(value)} of the same name")
            super().__setitem__(name, value)

    def _refuse(self, name: str, message: str) -> None:
        raise DeclarationError(
            f"field '{name}' of {self.class_name} {message}", class_name=self.class_name, field=name
        ) from None


def _is_type(name: str, value: Any) -> bool:
    if isinstance(value, (Field, Subscripted)):
        return True
    if isinstance(value, type):
        return issubclass(value, Field) or value is dict or (issubclass(value, Node) and value.__name__ != name)
    return isinstance(value, dict) and not name.startswith("_")


class ResourceMeta(type):
    """Makes a class of its fields, all or nothing."""

    @classmethod
    def __prepare__(mcls, name: str, bases: tuple[type, ...], /, **facts: Any) -> _Body:  # noqa: N804
        return _Body(name)

    @outermost
    def __new__(mcls, name: str, bases: tuple[type, ...], body: _Body, /, **facts: Any) -> ResourceMeta:
        body.setdefault("__slots__", ())
        lenient = bool(facts.pop("lenient", False))
        cls = super().__new__(mcls, name, bases, dict(body))
        known = (*FACTS, *getattr(cls, "__fact_names__", ()))
        for fact in sorted(facts):
            if fact not in known:
                raise DeclarationError(
                    f"class {name} says '{fact}', which no class can (known: {', '.join(known)})",
                    class_name=name,
                    option=fact,
                )
        state = ClassState(cls, {fact: copied(value) for fact, value in facts.items()}, lenient=lenient)
        state.build, state.writers = builder_of(cls, state), Writers(state)
        type.__setattr__(cls, "__labkit__", state)
        cls.__made__()
        for attribute, plan in body.plans.items():
            key = plan.options.get("key", attribute)
            if attribute_of(str(key)) != attribute and "key" in plan.options:
                raise DeclarationError(
                    f"field '{key}' of {name} is written as the attribute '{attribute}', "
                    f"not '{attribute_of(str(key))}'",
                    class_name=name,
                    field=str(key),
                    option="key",
                )
            declare_field(cls, key, plan)
        names.note(cls)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], body: Any, /, **_facts: Any) -> None:
        super().__init__(name, bases, body)

    def __made__(cls) -> None:
        """For bases that hold more facts: called when the class exists and before its fields are declared."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if isinstance(value, Field) or isinstance(getattr(cls, name, None), Field):
            raise DeclarationError(
                f"field '{name}' of {cls.__name__} cannot be set on the class; use declare()",
                class_name=cls.__name__,
                field=name,
            )
        super().__setattr__(name, value)


def new_class(
    base: type[Any], name: str, *, qualname: str, module: str, doc: str | None = None, **facts: Any
) -> type[Any]:
    """A class without fields, as the statement ``class name(base, **facts)`` would make it."""
    kind: Any = type(base)
    body = kind.__prepare__(name, (base,))
    body.update(__qualname__=qualname, __module__=module, __doc__=doc)
    return kind(name, (base,), body, **facts)  # type: ignore[no-any-return]


def make_inner(field: Field[Any, Any]) -> type[Resource]:
    """The class of an inline struct, complete but not yet attached to its owner."""
    assert isinstance(field, Struct)  # noqa: S101  (the only caller)
    owner, name = field.owner, names.inner_name(field.key)
    taken = owner.__dict__.get(name)
    if taken is not None and not (isinstance(taken, type) and getattr(taken, "labkit_inner", False)):
        raise DeclarationError(
            f"field '{field.key}' of {class_name(owner)} needs the name '{name}' for its class, which is taken",
            class_name=class_name(owner),
            field=field.key,
        )
    place = {"qualname": f"{owner.__qualname__}.{name}", "module": owner.__module__}
    cls = new_class(Resource, name, **place, lenient=field.lenient)
    for key, plan in field.inner.items():
        declare_field(cls, key, plan)
    return cls


class Resource(Node, metaclass=ResourceMeta):
    """Base of all typed objects: ``class Worker(Resource): min = Int(minimum=0)``.

    Class keywords: *rules* (from ``cel``), *description*, *preserve_unknown*, *map_type*, *min_properties*,
    *max_properties*, *embedded*, and *verbatim* (schema keywords that have no spelling of their own).

    ``Worker(min=0)`` takes attribute names and JSON keys; ``Worker({"min": 0})`` and ``Worker.from_dict`` take a
    document, JSON keys only. Every value is checked by its field, everywhere alike; all problems of one construction
    come in one ResourceError. None means absent, except for a nullable field, where it is null. Undeclared keys are
    kept in place and visible as ``_unknown_fields``; ``with strict():`` refuses them. Defaults are recorded for the
    schema and never applied: that is the server's work.
    """

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def __init__(self, document: Mapping[str, Any] | None = None, /, **fields: Any) -> None:
        try:
            state = state_of(type(self))
            if document is not None and not isinstance(document, Mapping):
                raise not_an_object(type(self), document)
            if document is not None and state.lenient and not fields:
                self._values = taken(type(self), document)._values
            else:
                self._values = state.build(_given(state, document, fields))._values
        except (Refusal, RecursionError) as reason:
            error = refused(class_name(type(self)), reason)
        else:
            return
        raise error

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """An object of *document*, whose keys are JSON keys; raises ResourceError with every problem.

        A class read from a server's definition takes what a server sent as it is, whatever its schema says.
        """
        try:
            state: ClassState = cls.__labkit__  # type: ignore[attr-defined]
            if type(document) is dict:
                made = state.builders[tuple(document)](document)
                if made is not None:
                    return made  # type: ignore[no-any-return]
            elif not isinstance(document, Mapping):
                raise not_an_object(cls, document)
            return taken(cls, document) if state.lenient else state.build(document)  # type: ignore[no-any-return]
        except (Refusal, RecursionError) as reason:
            error = refused(class_name(cls), reason)
        raise error

    @classmethod
    @outermost
    def from_json(cls, text: str | bytes) -> Self:
        """from_dict of a JSON text; raises ResourceError for a text that is not JSON."""
        try:
            document = json.loads(text)
        except ValueError as reason:
            raise Refusal.of(f"is not JSON: {reason}") from None
        return cls.from_dict(document)

    @classmethod
    def _build(cls, value: Any) -> Any:
        return state_of(cls).build(value)

    @classmethod
    def _builder(cls) -> Callable[[Any], Any]:
        return state_of(cls).build

    @classmethod
    def _read(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value if isinstance(value, cls) else copied(value)
        made = _new(cls)
        made._values = read_values(state_of(cls), value)
        return made

    def _dump(self) -> dict[str, Any]:
        dumps = self.__labkit__.dumps  # type: ignore[attr-defined]
        wire = {}
        for key, value in self._values.items():
            dump = dumps[key]
            wire[key] = value if dump is None or value is None else dump(value)
        return wire

    def _text(self) -> str:
        values = self._values
        return self.__labkit__.writers[tuple(values)](values)  # type: ignore[attr-defined,no-any-return]

    @outermost
    def to_dict(self) -> dict[str, Any]:
        """The wire form: plain dicts and lists of JSON values, in the order of the document.

        The caller's to change: containers are copies (free JSON is copied one level). Raises ResourceError if the
        object is nested too deeply to be written.
        """
        return self._dump()

    def to_json(self, *, indent: int | None = None) -> str:
        """The wire form as JSON text, UTF-8 safe, keys in the order of the document; raises ResourceError.

        That happens only if free JSON was changed directly to something JSON cannot write; the path is in the error.
        """
        try:
            if indent is None:
                text = self._text()
                if text.isascii() or not unpaired(text):
                    return text
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            pass  # the general way tells what is wrong, or writes it
        try:
            text = _json_text(self, indent)
            if not unpaired(text):
                return text
            error = _not_json(self, "cannot be written as JSON")
        except RecursionError as reason:
            error = refused(class_name(type(self)), reason)
        except (TypeError, ValueError) as reason:
            error = _not_json(self, f"cannot be written as JSON: {reason}")
        raise error

    @outermost
    def to_yaml(self) -> str:
        """The wire form as one YAML document that YAML 1.1 and 1.2 readers, and kubectl, understand alike.

        Needs PyYAML; raises ImportError naming it if it is absent, and ResourceError as to_json.
        """
        return as_yaml(check_json(self._dump()))

    @property
    def _unknown_fields(self) -> dict[str, Any]:
        """The keys no field claims, as a copy."""
        table = state_of(type(self)).table
        return {key: copied(value) for key, value in self._values.items() if key not in table}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Resource):
            return NotImplemented
        try:
            return self._values == other._values
        except RecursionError as reason:
            error = refused(class_name(type(self)), reason)
        raise error

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _shown(self, 4)

    def __getstate__(self) -> dict[str, Any]:
        return {"_values": self._values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._values = dict(state["_values"])  # a copy, for copy.copy


_new = Resource.__new__


def _given(state: ClassState, document: Mapping[str, Any] | None, fields: dict[str, Any]) -> Mapping[str, Any]:
    """The document of a constructor call: keyword names may be attributes."""
    aliases = state.aliases if state._fields is not None or state.table else {}
    if aliases and fields:
        renamed: dict[str, Any] = {}
        for name, value in fields.items():
            key = aliases.get(name, name)
            if key in renamed:
                raise Refusal([Problem((key,), f"is given twice, also as '{name if name != key else key}'")])
            renamed[key] = value
        fields = renamed
    if document is None:
        return fields
    return {**document, **fields} if fields else document


def _json_text(obj: Resource, indent: int | None) -> str:
    if indent is None:
        return ENCODER.encode(obj._dump())
    return json.dumps(obj._dump(), ensure_ascii=False, allow_nan=False, indent=indent)


def _not_json(obj: Resource, otherwise: str) -> ResourceError:
    problems = [Problem((), otherwise)]
    try:
        check_json(obj._dump())
    except Refusal as refusal:
        problems = refusal.problems
    return ResourceError(class_name(type(obj)), problems)


def _shown(value: Any, depth: int) -> str:
    if isinstance(value, Resource):
        inside = ", ".join(_pairs(value._values.items(), "=", depth)) if depth else "…"
        return f"{class_name(type(value))}({inside})"
    if isinstance(value, dict):
        return "{" + (", ".join(_pairs(value.items(), ": ", depth)) if depth else "…") + "}"
    if isinstance(value, (list, tuple)):
        shown = [_shown(one, depth - 1) for one in value[:10]] if depth else ["…"]
        return f"[{', '.join(shown)}{', …' if depth and len(value) > 10 else ''}]"
    return repr(value) if not isinstance(value, int) else text_of(value)


def _pairs(items: Any, between: str, depth: int) -> Iterator[str]:
    for number, (key, value) in enumerate(items):
        if number == 20:
            yield "…"
            return
        yield f"{key if between == '=' else repr(key)}{between}{_shown(value, depth - 1)}"
