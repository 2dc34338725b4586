"""What the control plane says of one object's path, as frozen values.

The server does many things to an object between a request and etcd, and says only how it ended. A trace has each of
them, in the order done: a ``Stage`` with the object as it was afterwards, and what that stage alone knows (the fields
pruned, the rules run). The names of stages and fields are those of the protocol, so ``to_json`` gives back the answer
itself; only what Python reserves is spelled otherwise (``from`` is ``from_version``).

All of it is said by Kubernetes' own libraries in the control plane's program; nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from labkit.trace.codec import LEFT_OUT, decode, encode, named

__all__ = [
    "Added",
    "Admission",
    "Cel",
    "Conversion",
    "Decoding",
    "Defaulting",
    "Definition",
    "FieldError",
    "Json",
    "Operation",
    "Preparing",
    "Pruning",
    "Ratcheting",
    "Reading",
    "RuleResult",
    "Stage",
    "Storing",
    "Trace",
    "Validation",
    "Version",
]

Json: TypeAlias = Any
"""A value as ``json.loads`` gives it; held as it came, never changed."""

Operation: TypeAlias = Literal["create", "update", "read"]
S = TypeVar("S", bound="Stage")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One thing done to the object. *source* is the file of Kubernetes that does it; *object* is it afterwards.

    A stage that changed nothing has no object of its own: ``Trace.objects`` has one for each.
    """

    name: str
    title: str
    source: str
    object: Json = LEFT_OUT

    @property
    def changed(self) -> bool:
        return self.object is not LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class Decoding(Stage):
    """Bytes become an object: fields the schema does not know, fields given twice, and what is refused for it."""

    unknown: tuple[str, ...]
    duplicated: tuple[str, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Pruning(Stage):
    """Fields taken away (of a write, and of a read: "read-pruning"): *paths* because the schema does not know them,
    *nulls* because they hold null and may not.
    """

    paths: tuple[str, ...]
    nulls: tuple[str, ...]


@dataclass(frozen=True)
class Added:
    """A default put in."""

    path: str
    value: Json


@dataclass(frozen=True, kw_only=True)
class Defaulting(Stage):
    """Fields filled in ("defaulting", and of a read "read-defaulting")."""

    added: tuple[Added, ...]


@dataclass(frozen=True, kw_only=True)
class Admission(Stage):
    """Where webhooks and policies would come in; a trace has none."""

    configured: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class Preparing(Stage):
    """The object made ready for storage.

    *dropped* are fields that are not this request's to write (status), *kept* those taken over from the old object.
    """

    dropped: tuple[str, ...]
    kept: tuple[str, ...]
    generation: int


@dataclass(frozen=True)
class FieldError:
    """One complaint. *line* is all of it as the server prints it; *forgiven* because nothing changed there."""

    line: str
    field: str
    type: str
    detail: str
    value: Json = None
    forgiven: bool = False


@dataclass(frozen=True, kw_only=True)
class Validation(Stage):
    """The schema and what goes with it: type, metadata, scale, embedded resources, list sets and maps."""

    errors: tuple[FieldError, ...]


@dataclass(frozen=True)
class RuleResult:
    """One rule at one place of the object.

    *line* is the server's for a rule that failed or could not be evaluated; *cost* what running it took, in CEL's
    units; *skipped* says why it was not run.
    """

    path: str
    schema_path: str
    rule: str
    result: Literal["passed", "failed", "error", "skipped"]
    message: str = ""
    line: str = ""
    cost: int = 0
    skipped: str = ""
    forgiven: bool = False


@dataclass(frozen=True, kw_only=True)
class Cel(Stage):
    """The rules in CEL: *cost* is spent of *budget*."""

    rules: tuple[RuleResult, ...]
    cost: int
    budget: int


@dataclass(frozen=True, kw_only=True)
class Ratcheting(Stage):
    """Of an update: complaints forgiven because nothing changed there."""

    forgiven: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Conversion(Stage):
    """Rewritten for another version ("conversion" before etcd, "read-conversion" after it)."""

    from_version: str = named("from")
    to_version: str = named("to")
    pruned: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Storing(Stage):
    """Into etcd, under *key*; *bytes* without the managedFields that a server would add."""

    key: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Reading(Stage):
    """Out of etcd, as it lies there."""


KINDS: Mapping[str, type[Stage]] = {
    "decoding": Decoding,
    "pruning": Pruning,
    "defaulting": Defaulting,
    "admission": Admission,
    "defaulting-again": Defaulting,
    "preparing": Preparing,
    "validation": Validation,
    "cel": Cel,
    "ratcheting": Ratcheting,
    "conversion": Conversion,
    "storing": Storing,
    "reading": Reading,
    "read-pruning": Pruning,
    "read-defaulting": Defaulting,
    "read-conversion": Conversion,
}


@dataclass(frozen=True)
class Trace:
    """The path of one object.

    *verdict* is "unknown" where the trace must stop, and *reason* says why (a conversion by webhook). An accepted write
    has a *reason* where it cannot be read back. *status* is the refusal's ``Status``, *lines* its complaints as the
    server prints them, sorted. *stored* would go to etcd, *read* would be read back; both are null where there is no
    such thing.
    """

    operation: Operation
    verdict: Literal["accepted", "refused", "unknown"]
    reason: str
    status: Json
    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    stages: tuple[Stage, ...]
    stored: Json
    read: Json

    @classmethod
    def from_answer(cls, result: Mapping[str, Json]) -> Trace:
        """From the *result* of an answer. Raises TraceError when it is not of the form described here."""
        head = decode(_Head, result, "result")
        stages = tuple(_stage(raw, f"result.stages[{index}]") for index, raw in enumerate(head.stages))
        return cls(**{**vars(head), "stages": stages})

    def to_json(self) -> dict[str, Json]:
        """The answer: ``{operation, verdict, reason, status, lines, warnings, stages: [{name, …}], stored, read}``."""
        found: dict[str, Json] = encode(self)
        return found

    @property
    def decoded(self) -> bool:
        """Whether there was an object at all; false of a text that is refused as no JSON, or for its size."""
        return any(stage.changed for stage in self.stages)

    def find(self, kind: type[S]) -> S | None:
        """The first stage of a kind (``Cel``, ``Validation``, …); None when the object did not come so far."""
        return next((stage for stage in self.stages if isinstance(stage, kind)), None)

    @property
    def steps(self) -> tuple[tuple[Stage, Json, Json], ...]:
        """Each stage with the object before it (None before the first) and after it."""
        found: list[tuple[Stage, Json, Json]] = []
        before: Json = None
        for stage in self.stages:
            after = stage.object if stage.changed else before
            found.append((stage, before, after))
            before = after
        return tuple(found)


@dataclass(frozen=True)
class _Head:
    """A trace as it comes, with stages still to be told apart."""

    operation: Operation
    verdict: Literal["accepted", "refused", "unknown"]
    reason: str
    status: Json
    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    stages: tuple[Json, ...]
    stored: Json
    read: Json


def _stage(raw: Json, where: str) -> Stage:
    name = raw.get("name") if isinstance(raw, dict) else None
    return decode(KINDS.get(str(name), Stage), raw, where)


@dataclass(frozen=True)
class Version:
    """One of a definition's versions."""

    name: str
    served: bool
    storage: bool
    deprecated: bool


@dataclass(frozen=True)
class Definition:
    """What becomes of a definition: taken or refused, by its *lines*. *stored_versions* are those of its status."""

    verdict: Literal["accepted", "refused"]
    status: Json
    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    name: str
    group: str
    kind: str
    plural: str
    scope: str
    versions: tuple[Version, ...]
    stored_versions: tuple[str, ...]
    conversion: Literal["None", "Webhook"]

    @classmethod
    def from_answer(cls, result: Mapping[str, Json]) -> Definition:
        """From the *result* of an answer. Raises TraceError when it is not of the form described here."""
        return decode(cls, result, "result")

    def to_json(self) -> dict[str, Json]:
        found: dict[str, Json] = encode(self)
        return found
