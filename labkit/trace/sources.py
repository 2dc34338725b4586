"""Where the texts of a trace come from: a file, standard input, an object in Python, or a cluster.

A trace is asked with texts, and a complaint about one of them is of use only with the name of where it came from. So
each text carries that name. From a cluster come the definition of an object's type and the object as it lies in etcd;
nothing is changed there. Where etcd cannot be read, the object is taken as the API gives it.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.cluster import Api, Cluster, Etcd
from labkit.cluster.claim import DEFINITIONS
from labkit.errors import ApiError, BadDocument, CapabilityMissing
from labkit.languages import translate

__all__ = [
    "Identity",
    "Source",
    "Type",
    "identify",
    "in_etcd",
    "live",
    "read",
    "stored_on",
    "stored_versions",
    "type_named",
    "type_on",
]

_NEXT_ACT = "give a file that holds one object, in YAML or JSON"


@dataclass(frozen=True)
class Source:
    """A text, and what to call it in a complaint ("crd/04.yaml")."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, value: Mapping[str, Any]) -> Source:
        """An object that Python holds. Raises BadDocument for one that JSON cannot say."""
        try:
            return cls(name, json.dumps(value, ensure_ascii=False, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise BadDocument(translate("{name}: no object of JSON", name=name), evidence=str(error)) from error


def read(path: Path, name: str = "") -> Source:
    """A file's text, called *name* (by default its path); ``-`` is standard input. Raises BadDocument by that name."""
    name = "standard input" if str(path) == "-" else name or str(path)
    try:
        raw = _standard_input() if str(path) == "-" else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise BadDocument(
            translate("{name}: cannot be read", name=name), evidence=error.strerror or str(error)
        ) from error
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is 0x{error.object[error.start]:02x}"
        raise BadDocument(
            translate("{name}: not UTF-8", name=name), evidence=place, next_act=translate("save it as UTF-8")
        ) from error
    if not text.strip():
        raise BadDocument(translate("{name}: empty", name=name), next_act=_NEXT_ACT)
    return Source(name, text)


def _standard_input() -> bytes:
    if sys.stdin is None:  # as Python has it when a program is started with that closed
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer.read()


@dataclass(frozen=True)
class Identity:
    """What an object calls itself; *namespace* and *name* are "" where it does not say."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str


def identify(source: Source) -> Identity:
    """Read an object's own words for what it is. Raises BadDocument where they cannot be had."""
    found = _loaded(source)
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not found.get("apiVersion") or not found.get("kind"):
        raise BadDocument(
            translate("{name}: not an object", name=source.name),
            evidence=translate("apiVersion, kind and metadata are wanted"),
            next_act=_NEXT_ACT,
        )
    group, _, version = str(found["apiVersion"]).rpartition("/")
    namespace, name = metadata.get("namespace") or "", metadata.get("name") or ""
    return Identity(group, version, str(found["kind"]), str(namespace), str(name))


def stored_versions(definition: Source) -> tuple[str, ...] | None:
    """A definition's status.storedVersions; None where it has no such list. Raises BadDocument as ``identify`` does."""
    found = _loaded(definition)
    status = found.get("status") if isinstance(found, dict) else None
    versions = status.get("storedVersions") if isinstance(status, dict) else None
    return tuple(map(str, versions)) if versions and isinstance(versions, list) else None


def _loaded(source: Source) -> Any:
    import yaml

    try:
        return yaml.load(source.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (it is safe)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        evidence = " ".join(str(error).split())
        raise BadDocument(
            translate("{name}: not one object in YAML or JSON", name=source.name), evidence=evidence
        ) from error


@dataclass(frozen=True)
class Type:
    """A definition on a cluster: its text, and what is needed to find its objects."""

    definition: Source
    group: str
    plural: str
    namespaced: bool
    storage_version: str
    served_versions: tuple[str, ...]

    def key(self, namespace: str, name: str) -> str:
        """The object's key in etcd."""
        return "/".join(("/registry", self.group, self.plural, *([namespace] if self.namespaced else ()), name))

    @property
    def read_version(self) -> str | None:
        """What to ask the API in: the version stored if that is served, else the last that is; None where none is."""
        if self.storage_version in self.served_versions:
            return self.storage_version
        return self.served_versions[-1] if self.served_versions else None

    def collection(self, version: str) -> str:
        """The URL path of all objects, in a version."""
        return f"/apis/{self.group}/{version}/{self.plural}"

    def path(self, version: str, namespace: str, name: str) -> str:
        """The object's URL path, in a version."""
        space = f"namespaces/{namespace}/" if self.namespaced else ""
        return f"/apis/{self.group}/{version}/{space}{self.plural}/{name}"


def type_on(cluster: Cluster, group: str, kind: str) -> Type:
    """The definition whose objects have this group, and this kind or plural. Raises ApiError with code 404.

    Where several claim a kind, the one that is served has it; the others are not established.
    """
    with Api(cluster) as api:
        there = api.list(DEFINITIONS)
    for one in sorted(there, key=_established, reverse=True):
        names, spec = one["spec"]["names"], one["spec"]
        if kind in (names["kind"], names["plural"]) and group in (spec["group"], ""):
            return _type(one)
    raise ApiError(
        translate("no definition of {kind} in {group}", kind=kind, group=group)
        if group
        else translate("no definition of {kind}", kind=kind),
        code=404,
        reason="NotFound",
        evidence=translate(
            "the cluster defines {names}",
            names=", ".join(one["metadata"]["name"] for one in there) or translate("nothing"),
        ),
        next_act=translate("apply it first, or give its file with --crd (crd= in a notebook)"),
    )


def _established(one: Mapping[str, Any]) -> bool:
    conditions = (one.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def type_named(cluster: Cluster, name: str) -> Type:
    """The definition of this name, PLURAL.GROUP. Raises ApiError with code 404."""
    with Api(cluster) as api:
        found = api.get(f"{DEFINITIONS}/{name}")
    if found is None:
        raise ApiError(
            translate("no definition {name} on this cluster", name=name),
            code=404,
            reason="NotFound",
            evidence=translate("so it holds no object of it"),
            next_act=translate("look at metadata.name of the new definition, or name the cluster with --cluster"),
        )
    return _type(found)


def _type(one: Mapping[str, Any]) -> Type:
    names, spec = one["spec"]["names"], one["spec"]
    manifest = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **one}
    return Type(
        Source.of(f"definition {one['metadata']['name']} on the cluster", manifest),
        spec["group"],
        names["plural"],
        spec["scope"] == "Namespaced",
        next(version["name"] for version in spec["versions"] if version["storage"]),
        tuple(version["name"] for version in spec["versions"] if version["served"]),
    )


def stored_on(cluster: Cluster, found: Type, namespace: str, name: str) -> Source | None:
    """The object as it lies in etcd, else as the API gives it, in the version stored if it can; None where there is
    none. Raises CapabilityMissing where neither shows it.
    """
    try:
        return in_etcd(cluster, found, namespace, name)
    except CapabilityMissing:
        if found.read_version is None:
            raise
        with Api(cluster) as api:
            given = api.get(found.path(found.read_version, namespace, name))
        return Source.of(f"{found.plural}/{name} as the API gives it", given) if given else None
    except ApiError as error:
        if error.code != 404:
            raise
        return None


def in_etcd(cluster: Cluster, found: Type, namespace: str, name: str) -> Source:
    """The object as it lies in etcd. Raises CapabilityMissing where that cannot be read, ApiError with code 404."""
    key = found.key(namespace, name)
    kvs = Etcd(cluster).get(key).kvs
    if not kvs:
        raise ApiError(
            f"no {found.plural} {name}" + (f" in namespace {namespace}" if found.namespaced else ""),
            code=404,
            reason="NotFound",
            evidence=translate("etcd has no key {key}", key=key),
            next_act=translate("apply the object first"),
        )
    return Source(f"{key} in etcd", kvs[0].value.decode("utf-8", "replace"))


def live(
    cluster: Cluster, source: Source, *, namespace: str, definition: Source | None = None
) -> tuple[Source, Source | None]:
    """An object's definition (*definition*, else the cluster's), and the object as it lies there, None where none does.

    No object lies where the type is not defined: to a *definition* that no cluster has yet, it is a new one.
    *namespace* is where to look for an object that names none. Raises BadDocument; ApiError with code 404 where neither
    has the definition.
    """
    called = identify(source)
    try:
        found = type_on(cluster, called.group, called.kind)
    except ApiError as error:
        if definition is None or error.code != 404:
            raise
        return definition, None
    there = stored_on(cluster, found, called.namespace or namespace, called.name) if called.name else None
    return definition or found.definition, there
