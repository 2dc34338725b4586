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
from labkit.resources.errors import SpecPathError, TooDeep, class_name, outermost
from labkit.resources.walk import Bad, Path, Place

__all__ = ["SpecPaths"]


class SpecPaths:
    """The verbs. A kind without a field ``spec`` has them too, and each says so (SpecPathError).

    All raise SpecPathError, whose message begins ``spec path 'PATH'`` and says what was attempted; a dict that a class
    cannot be built from raises the ResourceError of that class instead. A refused write changes nothing at its target.
    """

    __slots__ = ()

    @outermost
    def spec_get(self, path: Path) -> Any:
        """The value at *path*, a typed value as the object it is; None if anything on the way is missing.

        The empty path is the spec itself. Creates nothing.
        """
        return _run(self, path, walk.read)

    @outermost
    def spec_set(self, path: Path, value: Any) -> Self:
        """Write *value* through the field it is for; creates what is missing on the way. Returns the object.

        None is null for a nullable field and absence for others. A list index equal to the length appends.
        """
        _run(self, path, walk.at, Place.store, value)
        return self

    @outermost
    def spec_array(self, path: Path) -> list[Any]:
        """The list at *path*, created if missing: the very list the object holds. Appending to it is not checked."""
        return _run(self, path, walk.at, Place.container, "list")  # type: ignore[no-any-return]

    @outermost
    def spec_hash(self, path: Path) -> Any:
        """The dict at *path*, or the typed object there, created if missing: the very one the object holds."""
        return _run(self, path, walk.at, Place.container, "dict")

    @outermost
    def spec_push(self, path: Path, *values: Any) -> Self:
        """Append to the list at *path*, created if missing: all *values*, or none if one is refused."""
        _run(self, path, walk.at, Place.push, values)
        return self

    @outermost
    def spec_merge(self, document: dict[str, Any] | None = None, /, **values: Any) -> Self:
        """Write keys of the spec itself (a dot in a key is part of it), all or none; other keys stay."""
        _run(self, (), _merge, {**(document or {}), **values})
        return self

    @outermost
    def spec_delete(self, path: Path) -> Self:
        """Remove what is at *path*; nothing happens if it is not there. A required field cannot be removed."""
        _run(self, path, _delete)
        return self


def _run(obj: Any, path: Path, verb: Callable[..., Any], *more: Any) -> Any:
    """What ``verb(obj, steps, *more)`` gives; its refusals become public errors, which name the path."""
    shown = ""
    try:
        steps, shown = walk.parsed(obj, path)
        return verb(obj, steps, *more)
    except (Bad, RecursionError) as reason:
        bad = reason if isinstance(reason, Bad) else Bad(TooDeep().reason)
        error = SpecPathError(class_name(type(obj)), bad.path or shown, bad.reason, segment=bad.segment)
    raise error


def _merge(obj: Any, _: tuple[str | int, ...], given: dict[str, Any]) -> None:
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
