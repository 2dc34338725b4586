"""What a new definition makes of one object that lies in etcd: of its next read, of its next write, and of a restore.

An object outlives the schema it was written with. Nothing happens to it when the definition changes; what the change
has done shows at the next read, at the next write of whatever part of it, and when it is created anew from a backup or
from a repository. Three verdicts for one object, then, and each may differ from the others: the ratchet forgives a
write what it would refuse a create.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from labkit.trace.codec import decode, encode
from labkit.trace.values import Added

__all__ = ["Complaint", "Forecast", "NextRead", "WriteVerdict", "Written"]

WriteVerdict: TypeAlias = Literal["accepted", "forgiven", "refused", "unknown"]
"""*forgiven*: accepted, with complaints that do not count because nothing changed there."""


@dataclass(frozen=True)
class Complaint:
    """One *line* of the server's, and where it comes from: a *rule* of that *field*, or a *type* of error with its
    detail.

    All but *line* may be "": a refusal that is about no field has only that.
    """

    line: str
    field: str
    type: str
    detail: str
    rule: str
    forgiven: bool


@dataclass(frozen=True)
class NextRead:
    """How what is read differs from what is stored.

    *pruned* are paths that are stored and not shown; *nulls* those that hold null, and may not; *defaulted* is shown
    and not stored. *verdict* is "refused" for an object that cannot be read any more, whose *lines* then say why, and
    "unknown" where only a webhook knows what is read.
    """

    verdict: Literal["accepted", "refused", "unknown"]
    reason: str
    lines: tuple[str, ...]
    pruned: tuple[str, ...]
    nulls: tuple[str, ...]
    defaulted: tuple[Added, ...]


@dataclass(frozen=True)
class Written:
    """What a write of the object as it is read meets; *pruned* are paths that are read and would not be stored."""

    verdict: WriteVerdict
    reason: str
    lines: tuple[str, ...]
    complaints: tuple[Complaint, ...]
    pruned: tuple[str, ...]
    defaulted: tuple[Added, ...]


@dataclass(frozen=True)
class Forecast:
    """One object. *next_write* changes nothing but metadata; *created_anew* has what is read created where nothing is.

    *source* is where the object comes from (a file and document, a key of etcd). *stored_version* is None where only
    the API was asked, which does not show it.
    """

    source: str
    namespace: str
    name: str
    stored_version: str | None
    next_read: NextRead
    next_write: Written
    created_anew: Written

    @classmethod
    def from_answer(cls, raw: Mapping[str, Any], source: str) -> Forecast:
        """From one of an answer's objects. Raises TraceError when it is not of the form described here."""
        return decode(cls, {"source": source, **raw}, "result.objects")

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = encode(self)
        return found

    @property
    def called(self) -> str:
        """Its name, with the namespace if it has one."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def loses(self) -> bool:
        """Whether the next read or write loses something that is stored now."""
        return bool(self.next_read.pruned or self.next_write.pruned)

    @property
    def refused(self) -> bool:
        """Whether it cannot be read or written any more."""
        return "refused" in (self.next_read.verdict, self.next_write.verdict)

    @property
    def unknown(self) -> bool:
        """Whether only a webhook knows what is read or written."""
        return "unknown" in (self.next_read.verdict, self.next_write.verdict)
