"""What a change of a definition does to the objects that exist, told before it is made.

An author fears three things of a new schema: that fields vanish, that objects which were valid cannot be written any
more, and that a version cannot be given up. The server tells none of it when it takes the definition, and each object
says it only when somebody touches it. So here every stored object is read, written back and created anew under the new
definition by the server's own libraries, and none of it happens on a cluster.

Ten thousand objects have few fates: what befalls one befalls most that were written alike. So objects are counted by
their ``Fate`` and each is handed on at once; no more of them are held than one batch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from labkit.errors import BadDocument
from labkit.languages import translate
from labkit.trace.codec import encode
from labkit.trace.documents import MOST
from labkit.trace.engine import Engine
from labkit.trace.forecast import Complaint, Forecast, Written
from labkit.trace.sources import Source, stored_versions
from labkit.trace.values import Definition

__all__ = ["Fate", "Preview", "Retirement", "preview"]

BATCH = 200
BATCH_BYTES = 8 * 2**20
"""Of a request's JSON. The program reads up to 64 MiB, the definitions among them."""

EXAMPLES = 3
_PLACE = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True)
class Fate:
    """What befalls *count* objects alike, of which *examples* names some; *forecast* is the first one's.

    They were stored in the same version, lose and gain the same fields, and meet the same complaints, whatever the
    values are, and whichever item of a list it is.
    """

    count: int
    examples: tuple[str, ...]
    forecast: Forecast


@dataclass(frozen=True)
class Retirement:
    """Whether a *version* can be taken out of the definition, once the new one is there.

    *defined*, *served* and *storage* are the new definition's words for it. *objects* counts what is stored in it, None
    where that is not visible; *listed* tells whether status.storedVersions has it, None where that is not known.
    *obstacles* are what stands in the way.
    """

    version: str
    defined: bool
    served: bool
    storage: bool
    objects: int | None
    listed: bool | None
    obstacles: tuple[str, ...]

    @property
    def possible(self) -> bool | None:
        """None where not enough is known to say."""
        return False if self.obstacles else None if self.objects is None or self.listed is None else True


@dataclass(frozen=True)
class Preview:
    """All of it.

    *definition* is what the server says of the new one, in place of the old one if *replaces*. *version* is the one
    that objects are read and written in; "" where none could be, since the definition is refused whatever it replaces.
    *unseen* says why objects are known only as the API gives them, "" where they are known as they are stored. *fates*
    begin with the worst.
    """

    definition: Definition
    replaces: bool
    version: str
    unseen: str
    total: int
    fates: tuple[Fate, ...]
    versions: tuple[Retirement, ...]

    def _count(self, property_: Callable[[Forecast], bool]) -> int:
        return sum(fate.count for fate in self.fates if property_(fate.forecast))

    @property
    def lose(self) -> int:
        """How many objects lose something that is stored now."""
        return self._count(lambda one: one.loses)

    @property
    def refused(self) -> int:
        """How many objects cannot be read or written any more."""
        return self._count(lambda one: one.refused)

    @property
    def forgiven(self) -> int:
        """How many objects can be written only because the ratchet forgives what does not change."""
        return self._count(lambda one: one.next_write.verdict == "forgiven")

    @property
    def not_restored(self) -> int:
        """How many objects could not be created anew."""
        return self._count(lambda one: one.created_anew.verdict == "refused")

    @property
    def unknown(self) -> int:
        """How many objects only a webhook knows the fate of."""
        return self._count(lambda one: one.unknown)

    @property
    def harmless(self) -> bool:
        """The definition is taken, no object loses anything, and each can be read and written."""
        return self.definition.verdict == "accepted" and not self.lose and not self.refused

    def to_json(self) -> dict[str, Any]:
        """All but the objects, which were handed on one by one."""
        found: dict[str, Any] = encode(self)
        for version, raw in zip(self.versions, found["versions"], strict=True):
            raw["possible"] = version.possible
        counts = {
            "objects": found.pop("total"),
            "lose": self.lose,
            "refused": self.refused,
            "forgiven": self.forgiven,
            "notRestored": self.not_restored,
            "unknown": self.unknown,
        }
        return {"harmless": self.harmless, "counts": counts, **found}


def preview(  # noqa: PLR0913  (a preview has these parts)
    asked: Engine,
    new: Source,
    objects: Iterable[Source],
    *,
    old: Source | None = None,
    version: str | None = None,
    unseen: str = "",
    each: Callable[[Forecast], None] | None = None,
) -> Preview:
    """What becomes of *objects*, texts as they lie in etcd, when *new* takes the place of *old*.

    They are read and written in *version*, by default the one that clients prefer. *unseen* says why they are not as
    stored but as the API gives them, "" where they are as stored. *each* gets every forecast, in order. Raises as
    ``Engine.trace`` does, and BadDocument for a version that is not served and an object that no request can hold.
    """
    definition = asked.define(new, old)
    takes, base = definition, old
    if definition.verdict == "refused" and old is not None:
        takes, base = asked.define(new), None  # what it would do if it were not for the old one
    tally = _Tally(visible=not unseen)
    if takes.verdict == "accepted":
        version, _ = asked.forecasts(new, (), old=base, version=version)
        for batch in _batches(objects):
            _, forecasts = asked.forecasts(new, batch, old=base, version=version)
            for forecast in forecasts:
                known = tally.add(forecast)
                if each is not None:
                    each(known)
    else:
        version = ""
    listed = _listed(definition, old)
    return Preview(
        definition=definition,
        replaces=old is not None,
        version=version or "",
        unseen=unseen,
        total=tally.total,
        fates=tally.fates(),
        versions=tuple(_retirements(definition, tally, listed)),
    )


def _batches(objects: Iterable[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for one in objects:
        more = _bytes(json.dumps(one.text, ensure_ascii=False))
        if more > MOST and (length := _bytes(one.text)) > MOST:
            evidence = f"{length:,} bytes, and the server reads {MOST:,}"
            raise BadDocument(translate("{name}: larger than any request may be", name=one.name), evidence=evidence)
        if batch and (len(batch) == BATCH or size + more > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += more
    if batch:
        yield batch


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))  # the engine refuses what is no text


class _Tally:
    """Objects counted by what befalls them."""

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._found: dict[tuple[object, ...], Fate] = {}
        self._stored: dict[str, int] = {}
        self.total = 0

    def add(self, one: Forecast) -> Forecast:
        """Count it; the same as far as it is visible."""
        self.total += 1
        if self._visible and one.stored_version is not None:
            self._stored[one.stored_version] = self._stored.get(one.stored_version, 0) + 1
        else:
            one = replace(one, stored_version=None)
        key = _alike(one)
        known = self._found.get(key)
        if known is None:
            self._found[key] = Fate(1, (one.called,), one)
        else:
            examples = known.examples if len(known.examples) == EXAMPLES else (*known.examples, one.called)
            self._found[key] = Fate(known.count + 1, examples, known.forecast)
        return one

    def fates(self) -> tuple[Fate, ...]:
        return tuple(sorted(self._found.values(), key=lambda fate: (-_badness(fate.forecast), -fate.count)))

    def stored_in(self, version: str) -> int | None:
        return self._stored.get(version, 0) if self._visible else None

    @property
    def versions(self) -> tuple[str, ...]:
        return tuple(sorted(self._stored))


def _badness(one: Forecast) -> int:
    anew = one.created_anew.verdict == "refused"
    return 16 * one.refused + 8 * one.loses + 4 * one.unknown + 2 * anew + bool(_alike(one)[1:])


def _alike(one: Forecast) -> tuple[object, ...]:
    read = one.next_read
    shown = (read.verdict, read.reason, read.lines, *(_places(each) for each in (read.pruned, read.nulls)))
    return (
        one.stored_version,
        *shown,
        _places(added.path for added in read.defaulted),
        _met(one.next_write),
        _met(one.created_anew),
    )


def _met(one: Written) -> tuple[object, ...]:
    said = frozenset(_kind(complaint) for complaint in one.complaints)
    added = _places(added.path for added in one.defaulted)
    return (one.verdict, one.reason, said, _places(one.pruned), added)


def _kind(one: Complaint) -> tuple[object, ...]:
    """A complaint without the value that it is about; of a rule, whose message may hold one, only the rule."""
    if one.rule:
        return (one.forgiven, _place(one.field), one.rule)
    return (one.forgiven, _place(one.field), one.type, _place(one.detail)) if one.field else (one.forgiven, one.line)


def _places(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(_place(path) for path in paths)


def _place(path: str) -> str:
    """A path without the index of the item, or the key of the entry, that it goes through."""
    return _PLACE.sub("[]", path)


def _listed(definition: Definition, old: Source | None) -> Callable[[str], bool | None]:
    """Whether status.storedVersions will have a version: what the old definition has, and the new storage version."""
    known = stored_versions(old) if old is not None else None
    return lambda version: version in definition.stored_versions or (None if known is None else version in known)


def _retirements(definition: Definition, tally: _Tally, listed: Callable[[str], bool | None]) -> Iterator[Retirement]:
    defined = {version.name: version for version in definition.versions}
    for name in dict.fromkeys((*defined, *definition.stored_versions, *tally.versions)):
        version, count = defined.get(name), tally.stored_in(name)
        storage = version is not None and version.storage
        obstacles = []
        if storage:
            obstacles.append("new writes are stored in it")
        if count:
            obstacles.append(f"{count:,} object{'s are' if count > 1 else ' is'} stored in it")
        if listed(name):
            obstacles.append("status.storedVersions has it")
        yield Retirement(
            version=name,
            defined=version is not None,
            served=version is not None and version.served,
            storage=storage,
            objects=count,
            listed=listed(name),
            obstacles=tuple(obstacles),
        )
