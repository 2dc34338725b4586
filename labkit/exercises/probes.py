"""A probe file as steps: what is tried on the cluster, and what must come of it.

The same step is read by a check, by the linter and by who explains a mark, and a misspelt key must not make a step that
tests nothing. So each step becomes a frozen value with every key known, of its type, and fit for what the step does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.cluster.claim import NAMESPACE
from labkit.course import manifests
from labkit.errors import LabkitError, ManifestError
from labkit.observe.verdict import GRAVEST_FIRST, Checking, checking

__all__ = ["DOES", "EXPECTATIONS", "Probe", "Step", "read_probe"]

_TARGET = {"object", "file", "target", "namespace", "as", "subresource"}
_REFUSAL = {"field", "by", "message"}
_SHOWN = {"shows", "matches"}
_COMMON = {"do", "task", "name", "expect", "otherwise"}
DOES: Mapping[str, frozenset[str]] = {
    "answer": frozenset(_COMMON | _REFUSAL),
    "apply": frozenset(_COMMON | _TARGET | _REFUSAL | _SHOWN | {"validate", "copies"}),
    "create": frozenset(_COMMON | _TARGET | _REFUSAL | _SHOWN | {"validate"}),
    "replace": frozenset(_COMMON | _TARGET | _REFUSAL | _SHOWN | {"validate"}),
    "patch": frozenset(_COMMON | _TARGET | _REFUSAL | _SHOWN | {"merge", "validate"}),
    "scale": frozenset(_COMMON | _TARGET | _REFUSAL | {"replicas"}),
    "delete": frozenset(_COMMON | _TARGET | _REFUSAL),
    "read": frozenset(_COMMON | _TARGET | _REFUSAL | _SHOWN | {"table", "selector"}),
    "ask": frozenset(_COMMON | _REFUSAL | {"object", "file", "validate"}),
    "can-i": frozenset(_COMMON | {"as", "verb", "resource", "namespace"}),
    "run": frozenset(_COMMON | {"argv", "judge", "prints"}),
    "predict": frozenset(_COMMON | {"object", "file", "validate", "key", "asks"}),
}
"""What a step does → the keys it may have."""

EXPECTATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("answer", "apply", "create", "replace", "patch", "scale", "delete", "read"),
        ("accepted", "refused"),
    ),
    "ask": ("accepted", *GRAVEST_FIRST),
    "can-i": ("yes", "no"),
    "run": ("exit0", "exit1", "any"),
    "predict": ("right",),
}
"""What a step does → what may be expected of it; the first is the default."""

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "merge": dict,
    "shows": dict,
    "matches": dict,
    "replicas": int,
    "copies": int,
    "table": bool,
    "argv": list,
    "asks": list,
    "verb": (str, list),
    "resource": (str, list),
    "field": (str, list),
    "prints": (str, list),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "patch": ("merge",),
    "scale": ("replicas",),
    "can-i": ("as", "verb", "resource"),
    "predict": ("key",),
}
_PATH = re.compile(r"([^/]+/)?v[0-9][a-z0-9]*/[a-z0-9.-]+/[^/]+")


@dataclass(frozen=True)
class Step:
    """One thing tried. *where* is its place for authors ("probes/1.yaml: step 2"); *task* "" means set-up.

    The other fields are the keys of the file under the same names: *user* is ``as``, *fields* is ``field`` (None:
    anywhere; "" in it: the whole object).
    """

    do: str
    where: str
    expect: str
    task: str = ""
    name: str = ""
    otherwise: str = ""
    object: Mapping[str, Any] | None = None
    target: str = ""
    namespace: str | None = None
    user: str = ""
    subresource: str = ""
    merge: Mapping[str, Any] = field(default_factory=dict)
    replicas: int = 0
    copies: int = 1
    validate: Checking = "strict"
    verbs: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    judge: str = ""
    prints: tuple[str, ...] = ()
    key: str = ""
    asks: tuple[str, ...] = ("outcome",)
    fields: tuple[str, ...] | None = None
    by: str = ""
    message: str = ""
    shows: Mapping[str, Any] = field(default_factory=dict)
    matches: Mapping[str, str] = field(default_factory=dict)
    table: bool = False
    selector: str = ""

    @property
    def about(self) -> tuple[str, str, str]:
        """Group, namespace and name of the object that it is about, all empty where it is about none."""
        if self.object is None:
            *groups, _, _, name = self.target.split("/") if self.target else ("", "", "")
            return ("".join(groups), _elsewhere(self.namespace), name)
        group, slash, _ = str(self.object["apiVersion"]).partition("/")
        metadata = self.object["metadata"]
        return (group if slash else "", _elsewhere(self.namespace or metadata.get("namespace")), str(metadata["name"]))


def _elsewhere(space: str | None) -> str:
    return "" if space in (None, NAMESPACE) else str(space)


@dataclass(frozen=True)
class Probe:
    """One file: its steps are played in order in a fresh state. *name* is "probes/1-refused"."""

    name: str
    steps: tuple[Step, ...]
    hidden: bool = False


def read_probe(path: Path, root: Path, tasks: tuple[str, ...], *, hidden: bool) -> Probe:
    """Read one file; ``file:`` in it is relative to *root*. Raises ManifestError with file, step and key."""
    name = f"{path.parent.name}/{path.name}"
    try:
        (steps,) = manifests.parsed(path.read_text(encoding="utf-8"), str(path))
    except ValueError as error:
        if isinstance(error, LabkitError):
            raise
        raise ManifestError(f"{path}: one list of steps is wanted") from error
    if not isinstance(steps, list) or not steps:
        raise ManifestError(f"{path}: a list of steps is wanted")
    read = tuple(_step(f"{path}: step {number}", one, root, tasks) for number, one in enumerate(steps, 1))
    return Probe(name.removesuffix(".yaml"), read, hidden)


def _step(where: str, raw: Any, root: Path, tasks: tuple[str, ...]) -> Step:
    if not isinstance(raw, dict) or raw.get("do") not in DOES:
        raise ManifestError(f"{where}: what it does is not known", next_act=f"do: one of {', '.join(DOES)}")
    do = raw["do"]
    _keys(where, do, raw)
    told = raw.get("expect", EXPECTATIONS[do][0])
    expect = ("yes" if told else "no") if isinstance(told, bool) else str(told)
    if expect not in EXPECTATIONS[do]:
        raise ManifestError(f"{where}: expect {expect!r} is not known", next_act=f"one of {EXPECTATIONS[do]}")
    task = raw.get("task", "")
    if task and task not in tasks:
        raise ManifestError(f"{where}: no task {task!r}", next_act=f"one of {', '.join(tasks)}")
    if task and not (raw.get("name") and raw.get("otherwise")):
        raise ManifestError(f"{where}: a step of a task needs name and otherwise", evidence=f"it does {do}")
    if expect != "refused" and raw.keys() & {"by", "field"}:
        raise ManifestError(f"{where}: field and by belong to expect: refused")
    found = _object(where, raw, root)
    if do not in ("answer", "can-i", "run") and found is None and not raw.get("target"):
        raise ManifestError(
            f"{where}: no object", next_act="object: {…}, file: crd/…, or target: GROUP/VERSION/PLURAL/NAME"
        )
    for key in ("message", *raw.get("matches", {})):
        pattern = raw.get("message", "") if key == "message" else raw["matches"][key]
        _expression(where, key, pattern)
    return Step(
        do=do,
        where=where,
        expect=expect,
        object=found,
        user=raw.get("as", ""),
        validate=checking(raw.get("validate", "strict")),
        verbs=_many(raw.get("verb", ())),
        resources=_many(raw.get("resource", ())),
        argv=tuple(map(str, raw.get("argv", ()))),
        prints=_many(raw.get("prints", ())),
        asks=tuple(raw.get("asks", ("outcome",))),
        fields=_many(raw["field"]) if "field" in raw else None,
        **{key: raw[key] for key in _AS_THEY_ARE if key in raw},
    )


_AS_THEY_ARE = (
    "task",
    "name",
    "otherwise",
    "target",
    "namespace",
    "subresource",
    "merge",
    "replicas",
    "copies",
    "judge",
    "key",
    "by",
    "message",
    "shows",
    "matches",
    "table",
    "selector",
)


def _keys(where: str, do: str, raw: Mapping[str, Any]) -> None:
    for key, value in raw.items():
        if key not in DOES[do]:
            raise ManifestError(
                f"{where}: {do} has no key {key!r}", next_act=f"known are {', '.join(sorted(DOES[do]))}"
            )
        if key not in ("expect", "validate") and not isinstance(value, _TYPES.get(key, str)):
            raise ManifestError(f"{where}: {key} is of the wrong type", evidence=repr(value)[:80])
    missing = [key for key in _NEEDED.get(do, ()) if key not in raw]
    if missing:
        raise ManifestError(f"{where}: {do} needs {' and '.join(missing)}")
    if len(raw.keys() & {"object", "file", "target"}) > 1:
        raise ManifestError(f"{where}: object, file and target exclude each other")
    if "target" in raw and not _PATH.fullmatch(raw["target"]):
        raise ManifestError(
            f"{where}: target {raw['target']!r} does not fit", next_act="cours.example.com/v1/colis/principal"
        )
    if not set(raw.get("asks", ())) <= {"outcome", "field", "rule"}:
        raise ManifestError(f"{where}: asks {raw['asks']!r}", next_act="of outcome, field and rule")


def _object(where: str, raw: Mapping[str, Any], root: Path) -> Mapping[str, Any] | None:
    if "file" in raw:
        try:
            found = manifests.documents(root / raw["file"])
        except ManifestError as error:
            raise ManifestError(f"{where}: {raw['file']}: {error.state}", evidence=error.evidence) from error
        if len(found) != 1:
            raise ManifestError(f"{where}: {raw['file']} must hold one object", evidence=f"it has {len(found)}")
        return found[0]
    given: Mapping[str, Any] | None = raw.get("object")
    if given is not None and not (
        {"apiVersion", "kind"} <= given.keys()
        and isinstance(given.get("metadata"), dict)
        and given["metadata"].get("name")
    ):
        raise ManifestError(f"{where}: object needs apiVersion, kind and metadata.name")
    return given


def _many(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def _expression(where: str, key: str, pattern: Any) -> None:
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ManifestError(f"{where}: {key}: not a regular expression", evidence=f"{pattern!r}: {error}") from error
