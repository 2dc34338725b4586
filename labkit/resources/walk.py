"""Walking a path: what each step means on each kind of node, and what may be created or written there.

A Place is one step not yet taken: a container, the field whose container it is (if any), and the step. The verbs are
operations on the last Place of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from labkit.resources.containers import Holder, List, Map, Opaque
from labkit.resources.errors import Refusal, ResourceError, class_name, each, printable
from labkit.resources.field import Field
from labkit.resources.node import Node
from labkit.resources.objects import Resource
from labkit.resources.options import size_checks
from labkit.resources.scalars import Scalar
from labkit.resources.state import state_of
from labkit.resources.strictness import is_strict, undeclared
from labkit.resources.unions import Union
from labkit.resources.values import check_json, described, in_quotes, text_of, unpaired

__all__ = ["Bad", "Path", "Place", "at", "found_parent", "parsed", "read", "spec_of", "text"]

Step = str | int
Path = str | tuple[Step, ...] | list[Step]

_INDEX = re.compile(r"-?[0-9]{1,12}", re.ASCII)
_DIGITS = re.compile(r"-?[0-9]+", re.ASCII)
_FAR = 10**12  # an index no list reaches


class Bad(Exception):
    """A step that cannot be taken, or a write that cannot be done; *reason* comes after the path."""

    def __init__(self, reason: str, *, segment: str = "", path: str = "") -> None:
        super().__init__(reason)
        self.reason, self.segment, self.path = reason, segment, path


def text(path: object) -> str:
    """A path as it is shown; steps of a tuple are joined with dots."""
    if isinstance(path, str):
        return printable(path)
    return ".".join(map(text_of, path)) if isinstance(path, (tuple, list)) else described(path)


def parsed(obj: Any, path: object) -> tuple[tuple[Step, ...], str]:
    """The steps of *path* in the spec of *obj*, and its text."""
    if "spec" not in state_of(type(obj)).fields:
        name = class_name(type(obj))
        raise Bad(f"{name} has no spec field: the spec_* methods need one to read or build")
    shown = text(path)
    if isinstance(path, str):
        steps: tuple[Step, ...] = tuple(path.split(".")) if path else ()
    elif isinstance(path, (tuple, list)):
        steps = tuple(path)
    else:
        raise Bad(f"a spec path is text or a tuple of steps, not {described(path)}")
    for step in steps:
        if isinstance(step, bool) or not isinstance(step, (str, int)):
            raise Bad(f"the step {step!r} is neither a key nor an index", path=shown)
        if step == "":
            raise Bad("has an empty segment (a dot too many)", path=shown)
    return steps, shown


def _index(step: Step) -> int | None:
    """The index a step means on a list; None for a key."""
    if isinstance(step, int):
        return step
    if _INDEX.fullmatch(step):
        return int(step)
    return (-_FAR if step[0] == "-" else _FAR) if _DIGITS.fullmatch(step) else None


def _entered(value: Any, field: Field[Any, Any] | None) -> tuple[Any, Field[Any, Any] | None]:
    """The node to walk on in, and the field whose elements it holds."""
    if isinstance(value, Union):
        return value.node()
    return value, field


class Place:
    """One step in *node*. *holder* is the List or Map field that *node* is the value of; None for free data."""

    __slots__ = ("field", "holder", "key", "node", "step")

    def __init__(self, node: Any, holder: Field[Any, Any] | None, step: Step) -> None:
        self.node, self.holder, self.step, self.key = (
            node,
            holder,
            step,
            text_of(step) if isinstance(step, int) else step,
        )
        self.field: Field[Any, Any] | None
        if isinstance(node, Resource):
            self.field = state_of(type(node)).fields.get(self.key)
        else:
            self.field = holder.item if holder is not None else None

    @property
    def shown(self) -> str:
        return text(self.key)

    def bad(self, reason: str) -> Bad:
        return Bad(reason, segment=self.shown)

    def _at(self) -> tuple[int, bool]:
        """The index in the list *node*, and whether it is the end, where an element is appended."""
        index, length = _index(self.step), len(self.node)
        if index is None:
            raise self.bad(f"'{self.shown}' is not an array index")
        if index == -1 and not length:
            return 0, True
        at = index + length if index < 0 else index
        if 0 <= at <= length:
            return at, at == length
        raise self.bad(f"array index {self.shown} is out of range: the array has {length} elements")

    def current(self) -> Any:
        """What is there, for a write; None if nothing is. Raises Bad if the step cannot be taken here."""
        node = self.node
        if isinstance(node, Resource):
            return node._values.get(self.key)
        if isinstance(node, dict):
            return node.get(self.key)
        if isinstance(node, list):
            at, new = self._at()
            return None if new else node[at]
        raise self.bad(f"cannot step to '{self.shown}': {described(node)} is a scalar")

    def found(self) -> tuple[bool, Any]:
        """Whether something is there, and what; never raises."""
        node = self.node
        values = node._values if isinstance(node, Resource) else node
        if isinstance(values, dict):
            return self.key in values, values.get(self.key)
        index = _index(self.step)
        if isinstance(node, list) and index is not None and -len(node) <= index < len(node):
            return True, node[index]
        return False, None

    def created(self, shape: str) -> Any:
        """What the declaration says belongs here, empty, not yet attached; *shape* decides for free data."""
        field = self.field
        self._allowed()
        if field is None or isinstance(field, Opaque):
            return [] if shape == "list" else {}
        if isinstance(field, Holder):
            target = field.resolved()
            try:
                if issubclass(target, Union):
                    union = target()
                    union.hold(shape)  # type: ignore[arg-type]
                    return union
                return target._build({})
            except Refusal as refusal:
                raise self.bad(f"cannot create {class_name(target)} for '{self.shown}': {refusal.reason}") from None
        if isinstance(field, Scalar):
            raise self.bad(f"cannot descend through scalar field '{self.shown}'")
        if isinstance(field, List) or field.expression == "list":
            return []
        return {}

    def _allowed(self) -> None:
        if isinstance(self.node, Resource) and self.field is None:
            cls = type(self.node)
            if is_strict():
                raise self.bad(f"'{self.shown}' {undeclared(self.key, class_name(cls), state_of(cls).fields)}")
            if self.key in state_of(cls).table:
                raise self.bad(f"cannot set '{self.shown}': it is fixed by {class_name(cls)}")
        if unpaired(self.key):
            raise self.bad(f"the key {in_quotes(self.key)} has half of a surrogate pair")

    def put(self, value: Any) -> None:
        """Attach *value* as it is."""
        node = self.node
        if isinstance(node, Resource):
            node._values[self.key] = value
        elif isinstance(node, dict):
            node[self.key] = value
        else:
            at, new = self._at()
            if new:
                node.append(value)
            else:
                node[at] = value

    def take_back(self, was_null: bool) -> None:
        """Undo the put of a created value, before which there was null or nothing."""
        node = self.node
        if was_null:
            self.put(None)
        elif isinstance(node, list):
            node.pop()
        else:
            (node._values if isinstance(node, Resource) else node).pop(self.key, None)

    def store(self, value: Any) -> None:
        """Write *value* through its field."""
        self.prepared(value)()

    def prepared(self, value: Any) -> Callable[[], None]:
        """The write of *value*, checked but not yet done."""
        self.current()
        field, node = self.field, self.node
        self._allowed()
        if field is None:
            try:
                free = check_json(value)
            except Refusal as refusal:
                raise self.bad(f"cannot set '{self.shown}': {refusal.reason}") from None
            return lambda: self.put(free)
        if value is None and not isinstance(node, list):
            return self._prepared_null(field)
        try:
            kept = field.element()(value) if isinstance(node, list) else field.coerce(value)
        except Refusal as refusal:
            if refusal.inflated and isinstance(value, (dict, list, Node)):
                outer = type(node) if isinstance(node, Resource) else field.owner
                problems = refusal.under(self.step if isinstance(node, list) else self.key)
                if self.holder is not None and not isinstance(node, Resource):
                    problems = Refusal(problems).under(self.holder.key)
                raise ResourceError(class_name(outer), problems) from None
            raise self.bad(f"cannot set '{self.shown}'{self._inside}: {refusal.reason}") from None
        if not self.found()[0]:
            self._sized(len(node) + 1 if not isinstance(node, Resource) else 0, "cannot set")
        return lambda: self.put(kept)

    def _prepared_null(self, field: Field[Any, Any]) -> Callable[[], None]:
        if field.nullable:
            try:
                field.check_null()
            except Refusal as refusal:
                raise self.bad(f"cannot set '{self.shown}'{self._inside}: {refusal.reason}") from None
        if field.nullable or (isinstance(field, Opaque) and isinstance(self.node, dict)):
            return lambda: self.put(None)
        if field.enforced and isinstance(self.node, Resource):
            raise self.bad(f"cannot set '{self.shown}': is required and cannot be absent")
        return lambda: (self.node._values if isinstance(self.node, Resource) else self.node).pop(self.key, None)

    @property
    def _inside(self) -> str:
        return f" in '{self.holder.key}'" if self.holder is not None and not isinstance(self.node, Resource) else ""

    def _sized(self, length: int, attempt: str) -> None:
        """Whether the container may have that many elements."""
        holder = self.holder
        if isinstance(self.node, Resource) or holder is None or not isinstance(holder, (List, Map)):
            return
        for check in size_checks(holder, "items" if isinstance(holder, List) else "properties"):
            if not check.holds(range(length)):
                raise self.bad(f"{attempt} '{self.shown}'{self._inside}: {check.say(range(length))}")

    def container(self, shape: str) -> Any:
        """The list or dict here, created if missing."""
        value = self.current()
        made = self.created(shape) if value is None else value
        if isinstance(made, Union):
            self._hold(made, shape)
        node, _ = _entered(made, self.field)
        if not isinstance(node, list if shape == "list" else (dict, Resource)):
            expected = "an array" if shape == "list" else "a hash"
            raise self.bad(f"'{self.shown}' is not {expected}: it holds {described(node)}")
        if value is None:
            self.put(made)
        return node

    def _hold(self, union: Union, shape: str) -> None:
        try:
            union.hold(shape)  # type: ignore[arg-type]
        except Refusal as refusal:
            raise self.bad(f"'{self.shown}': {refusal.reason}") from None

    def push(self, values: tuple[Any, ...]) -> None:
        """Append to the list here: all or none."""
        value = self.current()
        made = self.created("list") if value is None else value
        if isinstance(made, Union):
            self._hold(made, "list")
        node, holder = _entered(made, self.field)
        if not isinstance(node, list):
            raise self.bad(f"'{self.shown}' is not an array: it holds {described(node)}")
        item = None if holder is None else holder.item
        try:
            kept = each(values, check_json if item is None else item.element())
        except Refusal as refusal:
            raise self.bad(f"cannot push onto '{self.shown}': {refusal.reason}") from None
        if item is not None:
            Place(node, holder, self.key)._sized(len(node) + len(kept), "cannot push onto")
        if value is None:
            self.put(made)
        node.extend(kept)

    def remove(self) -> None:
        """Remove what is here, if anything is."""
        there, _ = self.found()
        if not there:
            return
        node = self.node
        if isinstance(node, Resource):
            if self.field is not None and self.field.enforced:
                raise self.bad(f"cannot clear '{self.shown}': is required and cannot be absent")
            self._allowed()
            node._values.pop(self.key, None)
            return
        self._sized(len(node) - 1, "cannot clear")
        if isinstance(node, list):
            del node[_index(self.step) or 0]
        else:
            del node[self.key]


def _spec_place(obj: Any) -> Place:
    return Place(obj, None, "spec")


def spec_of(obj: Any) -> Any:
    """The spec, created if missing."""
    place = _spec_place(obj)
    value = place.current()
    if value is None:
        value = place.created("dict")
        place.put(value)
    return _entered(value, place.field)[0]


def at(obj: Any, steps: tuple[Step, ...], act: Callable[..., Any], *more: Any) -> Any:
    """``act(place, *more)`` at the place of the last step. What is missing is created, and taken back if that fails."""
    if not steps:
        raise Bad("spec path '' is empty")
    made: list[tuple[Place, bool]] = []
    try:
        return act(_parent(obj, steps, made), *more)
    except (Bad, ResourceError, RecursionError):
        if made:
            made[0][0].take_back(*made[0][1:])
        raise


def _parent(obj: Any, steps: tuple[Step, ...], made: list[tuple[Place, bool]]) -> Place:
    place = _spec_place(obj)
    for step in steps:
        value = place.current()
        shape = "dict" if _index(step) is None else "list"
        if value is None:
            value = place.created(shape)
            made.append((place, place.found()[0]))
            place.put(value)
        elif isinstance(value, Union):
            place._hold(value, shape)
        node, holder = _entered(value, place.field)
        if not isinstance(node, (Resource, dict, list)):
            raise Bad(f"cannot descend through scalar field '{place.shown}'", segment=place.shown)
        place = Place(node, holder, step)
    return place


def found_parent(obj: Any, steps: tuple[Step, ...]) -> Place | None:
    """The place of the last step, if everything before it is there."""
    place = _spec_place(obj)
    for step in steps:
        node, holder = _entered(place.found()[1], place.field)
        if not isinstance(node, (Resource, dict, list)):
            return None
        place = Place(node, holder, step)
    return place


def read(obj: Any, steps: tuple[Step, ...]) -> Any:
    """The value at the end, or None."""
    place = found_parent(obj, steps)
    return None if place is None else place.found()[1]
