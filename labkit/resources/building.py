"""Making an object of a document: checked, as a person's work, or taken as it is, as a server's.

Checked building is the hot path of the package, so each class has one function for it with what it needs at hand. Every
value is tried exactly once, refused or not: a document that is wrong at the bottom of many levels costs no more than a
right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labkit.resources.errors import Problem, Refusal, class_name
from labkit.resources.node import Node
from labkit.resources.quick import Builders
from labkit.resources.state import ClassState
from labkit.resources.strictness import is_strict, undeclared
from labkit.resources.values import check_json, copied, described, text_of

__all__ = ["builder_of", "not_an_object", "read_values", "taken"]


def builder_of(cls: Any, state: ClassState) -> Callable[[Any], Any]:
    """The function from a document, or from another object, to an instance of *cls*; it raises Refusal."""
    new = object.__new__
    builders = state.builders = Builders(state)

    def build(document: Any) -> Any:  # noqa: PLR0912  (one function, since calls are what costs)
        if type(document) is dict:
            made = builders[tuple(document)](document)
            if made is not None:
                return made
        elif isinstance(document, cls):
            return document
        else:
            document = _document(cls, document)
        prelude = state.prelude
        coerces = state.coerces
        values: dict[str, Any] = {}
        if prelude and "kind" not in document and "apiVersion" not in document:
            values.update(prelude)
        problems: list[Problem] | None = None  # made when there is one
        for key, value in document.items():
            try:
                values[key] = coerces[key](value)
            except Refusal as refusal:
                refused = refusal if value is not None else _null(state, key, values, refusal)
                if refused is not None:
                    problems = problems or []
                    problems.extend(refused.under(key) if isinstance(key, str) else refused.problems)
        for key in state.required:
            if key not in values:
                problems = _missing(cls, key, problems)
        if problems:
            raise Refusal(problems, inflated=True)
        for key in prelude:
            if key not in values:
                values[key] = prelude[key]
        made = new(cls)
        made._values = values
        return made

    return build


def _document(cls: type[Any], value: Any) -> Mapping[str, Any]:
    if isinstance(value, Node):
        value = value._dump()
    if not isinstance(value, Mapping):
        raise not_an_object(cls, value)
    return value


def _null(state: ClassState, key: Any, values: dict[str, Any], refusal: Refusal) -> Refusal | None:
    """Null is absence for a declared field, and a value for a nullable one: then None is given, and no refusal."""
    field = state.table.get(key) if isinstance(key, str) else None
    if field is None or key in state.envelope:
        return refusal
    if field.nullable:
        try:
            field.check_null()
        except Refusal as refused:
            return refused
        values[key] = None
    return None


def _missing(cls: type[Any], key: str, problems: list[Problem] | None) -> list[Problem]:
    """A required field that is not there, unless it was there and was refused."""
    if problems and any(problem.path[:1] == (key,) for problem in problems):
        return problems
    return [*(problems or ()), Problem((key,), f"is required by {class_name(cls)} and missing")]


def not_an_object(cls: type[Any], value: Any) -> Refusal:
    message = f"expected an object of class {class_name(cls)}, got {described(value)}"
    return Refusal.of(message, text_of(value))


def taken(cls: Any, document: Mapping[str, Any]) -> Any:
    """An instance of read_values; in strict mode a Refusal that names every undeclared key of the document."""
    made = object.__new__(cls)
    made._values = read_values(cls.__labkit__, document)
    problems = list(_undeclared_in(made, ())) if is_strict() else []
    if problems:
        raise Refusal(problems)
    return made


def _undeclared(state: ClassState, values: dict[str, Any]) -> Iterator[Problem]:
    for key, value in values.items():
        if key not in state.table:
            yield Problem((key,), undeclared(key, class_name(state.cls), state.fields))
        else:
            yield from _undeclared_in(value, (key,))


def _undeclared_in(value: Any, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if isinstance(value, Node):
        held: Any = value
        state = getattr(type(value), "__labkit__", None)  # a union has none, and holds its value
        found = _undeclared_in(held.value, ()) if state is None else _undeclared(state, held._values)
        yield from (problem._replace(path=(*path, *problem.path)) for problem in found)
    elif isinstance(value, (list, dict)):
        for step, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _undeclared_in(one, (*path, step))


def read_values(state: ClassState, document: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an object as a server sent it: nothing is refused, dropped or converted."""
    table = state.table
    values: dict[str, Any] = {}
    if state.prelude and "kind" not in document and "apiVersion" not in document:
        values.update(state.prelude)
    for key, value in document.items():
        field = table.get(key)
        if field is None:
            check_json({key: value})
            values[key] = copied(value)
            continue
        try:
            values[key] = field.coerce(value) if key in state.envelope else None if value is None else field.read(value)
        except Refusal as refusal:
            raise Refusal(refusal.under(key)) from None
    for key, value in state.prelude.items():
        values.setdefault(key, value)
    return values
