"""The seven verbs on dotted paths into ``spec``: get, set, array, hash, push, merge, delete.

A path is text with dots (``worker.max``, ``routes.-1.match``) or a tuple of steps, for keys that have dots themselves
(``("nodeSelector", "a.b/c")``). On a typed object a step is a JSON key; on plain data it is a key or an index. Walking
keeps beside each container the field it belongs to, and an element is written through that field: so a path refuses
exactly what an assignment of the whole would refuse, at the write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from labkit.resources import walk
from labkit.resources.errors import ResourceError, SpecPathError, TooDeep
from labkit.resources.options import class_name
from labkit.resources.state import state_of
from labkit.resources.walk import Bad, Path, Place

__all__ = ["SpecPaths"]


class SpecPaths:
    """The verbs. A kind without a field ``spec`` has them too, and each says so (SpecPathError).

    All raise SpecPathError, whose message begins ``spec path 'PATH'`` and says what was attempted; a dict that a class
    cannot be built from raises the ResourceError of that class instead. A refused write changes nothing at its target.
    """

    __slots__ = ()

    def spec_get(self, path: Path) -> Any:
        """The value at *path*, a typed value as the object it is; None if anything on the way is missing.

        The empty path is the spec itself. Creates nothing.
        """
        found, error = _run(self, path, lambda steps: walk.read(self, steps))
        if error is not None:
            __tracebackhide__ = True
            raise error
        return found

    def spec_set(self, path: Path, value: Any) -> Self:
        """Write *value* through the field it is for; creates what is missing on the way. Returns the object.

        None is null for a nullable field and absence for others. A list index equal to the length appends.
        """
        _, error = _run(self, path, lambda steps: walk.at(self, steps, lambda place: place.store(value)), empty=False)
        if error is not None:
            __tracebackhide__ = True
            raise error
        return self

    def spec_array(self, path: Path) -> list[Any]:
        """The list at *path*, created if missing: the very list the object holds. Appending to it is not checked."""
        found, error = _run(
            self, path, lambda steps: walk.at(self, steps, lambda place: place.container("list")), empty=False
        )
        if error is not None:
            __tracebackhide__ = True
            raise error
        return found  # type: ignore[no-any-return]

    def spec_hash(self, path: Path) -> Any:
        """The dict at *path*, or the typed object there, created if missing: the very one the object holds."""
        found, error = _run(
            self, path, lambda steps: walk.at(self, steps, lambda place: place.container("dict")), empty=False
        )
        if error is not None:
            __tracebackhide__ = True
            raise error
        return found

    def spec_push(self, path: Path, *values: Any) -> Self:
        """Append to the list at *path*, created if missing: all *values*, or none if one is refused."""
        _, error = _run(self, path, lambda steps: walk.at(self, steps, lambda place: place.push(values)), empty=False)
        if error is not None:
            __tracebackhide__ = True
            raise error
        return self

    def spec_merge(self, document: dict[str, Any] | None = None, /, **values: Any) -> Self:
        """Write keys of the spec itself (a dot in a key is part of it), all or none; other keys stay."""
        given = {**(document or {}), **values}
        _, error = _run(self, (), lambda _: _merge(self, given))
        if error is not None:
            __tracebackhide__ = True
            raise error
        return self

    def spec_delete(self, path: Path) -> Self:
        """Remove what is at *path*; nothing happens if it is not there. A required field cannot be removed."""
        _, error = _run(self, path, lambda steps: _delete(self, steps))
        if error is not None:
            __tracebackhide__ = True
            raise error
        return self


def _run(
    obj: Any, path: Path, act: Callable[[tuple[str | int, ...]], Any], *, empty: bool = True
) -> tuple[Any, Exception | None]:
    """What *act* gives, or the error that the verb is to raise: so no more than its own line is in a traceback."""
    name = class_name(type(obj))
    shown = ""
    try:
        if "spec" not in state_of(type(obj)).fields:
            reason = f"{name} has no spec field: the spec_* methods need one to read or build"
            return None, SpecPathError(name, "", reason)
        steps, shown = walk.parsed(path)
        if not steps and not empty:
            return None, SpecPathError(name, "", f"spec path '{shown}' is empty")
        return act(steps), None
    except Bad as bad:
        return None, SpecPathError(name, bad.path or shown, bad.reason, segment=bad.segment)
    except walk.Inflation as bad:
        return None, ResourceError(bad.class_name, bad.problems)
    except RecursionError:
        return None, SpecPathError(name, shown, TooDeep().reason)


def _merge(obj: Any, given: dict[str, Any]) -> None:
    spec = walk.spec_of(obj)
    writes = []
    for key, value in given.items():
        try:
            writes.append(Place(spec, None, key).prepared(value))
        except Bad as bad:
            raise Bad(bad.reason, segment=bad.segment, path=walk.text(str(key))) from None
    for write in writes:
        write()


def _delete(obj: Any, steps: tuple[str | int, ...]) -> None:
    if not steps:
        return
    place = walk.found_parent(obj, steps)
    if place is not None:
        place.remove()
