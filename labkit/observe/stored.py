"""An object as it lies in etcd, beside what each served version answers for it.

A read does not show what is stored: the API server prunes, fills defaults and rewrites the version on the way out, and
never writes the result back. So a field may be seen that is in no bytes, and bytes may hold a field nobody sees.
Metadata is left out of the comparison: it is the same, except for the resourceVersion, which is not in the bytes at all
(it is etcd's revision of the key).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from labkit.cluster import Api, ApiResponse, Cluster, Etcd, KeyValue
from labkit.errors import ApiError
from labkit.languages import translate
from labkit.observe import definition as definitions
from labkit.observe.changes import ABSENT, Change, Difference, Json, Kind, differences
from labkit.observe.definition import Definition
from labkit.waiting import Seen, wait_for

__all__ = ["Read", "Stored", "StoredAndRead", "StoredVersion", "key_of", "look", "url_of", "versions"]

SERVED_LIMIT_S = 10.0
"""For a version of the definition to be served; it takes some milliseconds."""


@dataclass(frozen=True)
class Stored:
    """The bytes of a key, decoded. *mod_revision* is etcd's revision of the last write: the resourceVersion.

    *content* is the object without metadata.
    """

    key: str
    api_version: str
    mod_revision: int
    content: dict[str, Json]


@dataclass(frozen=True)
class Read:
    """What GET answers in one served version.

    *content* is the object without metadata; *changes* lead to it from the stored content; *warnings* came with it.
    """

    version: str
    content: dict[str, Json]
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class StoredAndRead:
    """One object, stored and read; *namespace* is "" for one without; reads are in the definition's order."""

    definition: str
    namespace: str
    name: str
    stored: Stored
    reads: tuple[Read, ...]


@dataclass(frozen=True)
class StoredVersion:
    """Which version one key is written in, and at which revision of etcd."""

    key: str
    api_version: str
    mod_revision: int


def key_of(definition: Definition, namespace: str, name: str = "") -> str:
    """The etcd key of an object, or, without a name, the prefix of all keys of the type in this namespace."""
    parts = [definition.group, definition.plural, *([namespace] if definition.namespaced and namespace else []), name]
    return "/registry/" + "/".join(parts)


def url_of(definition: Definition, version: str, namespace: str, name: str) -> str:
    """The URL path of an object in one version; *namespace* is "" for a type without."""
    space = f"namespaces/{namespace}/" if namespace else ""
    return f"/apis/{definition.group}/{version}/{space}{definition.plural}/{name}"


def look(cluster: Cluster, definition: str, name: str, namespace: str = "ch54") -> StoredAndRead:
    """The object *name* of the type *definition* (any of its names), in etcd and in each served version.

    Raises CapabilityMissing where etcd cannot be read, ApiError with code 404 where the type or the object is not.
    """
    with Api(cluster) as api:
        found = definitions.get(api, definition)
        space = namespace if found.namespaced else ""
        key = key_of(found, space, name)
        kvs = Etcd(cluster).get(key).kvs
        if not kvs:
            raise ApiError(
                translate("no {plural} {name} in namespace {space}", plural=found.plural, name=name, space=space)
                if space
                else translate("no {plural} {name}", plural=found.plural, name=name),
                code=404,
                reason="NotFound",
                evidence=translate("etcd has no key {key}", key=key),
                next_act=translate("apply the object first"),
            )
        stored = _stored(kvs[0])
        reads = tuple(
            _read(api, found, version, url_of(found, version, space, name), stored) for version in found.served_versions
        )
    return StoredAndRead(found.name, space, name, stored, reads)


def versions(cluster: Cluster, definition: Definition, *, revision: int = 0) -> tuple[StoredVersion, ...]:
    """The version each object of the type is stored in, by key; with *revision*, as of that revision of etcd.

    Raises CapabilityMissing where etcd cannot be read, and CommandError where it no longer has that revision.
    """
    kvs = Etcd(cluster).get(key_of(definition, ""), prefix=True, revision=revision).kvs
    return tuple(StoredVersion(kv.key, _object(kv).get("apiVersion", "?"), kv.mod_revision) for kv in kvs)


def without_metadata(obj: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in obj.items() if key != "metadata"}


def _object(kv: KeyValue) -> dict[str, Json]:
    return kv.object if isinstance(kv.object, dict) else {}


def _stored(kv: KeyValue) -> Stored:
    obj = _object(kv)
    return Stored(kv.key, obj.get("apiVersion", "?"), kv.mod_revision, without_metadata(obj))


def _read(api: Api, found: Definition, version: str, path: str, stored: Stored) -> Read:
    def look() -> Seen[ApiResponse]:
        # A version that was just added is served some milliseconds later: until then the URL is unknown, and the
        # answer is no Status.
        answer = api.raw("GET", path)
        return Seen(answer.ok or bool(answer.status), translate("{path} is not served yet", path=path), answer)

    answer = wait_for(
        translate("{name} to be served in {version}", name=found.name, version=version), look, limit_s=SERVED_LIMIT_S
    )
    if answer is None or not answer.ok:
        raise ApiError(
            translate("{key} is stored, but cannot be read in {version}", key=stored.key, version=version),
            code=answer.code if answer else 0,
            reason=answer.status.get("reason", "") if answer else "",
            evidence=answer.status.get("message", "") if answer else "",
            next_act=translate("look again; it may have just been deleted"),
        )
    content = without_metadata(answer.json)
    webhook = found.conversion == "Webhook" and content["apiVersion"] != stored.api_version
    changes = tuple(_changes(differences(stored.content, content), webhook=webhook))
    return Read(version, content, changes, answer.warnings)


def _changes(found: Iterable[Difference], *, webhook: bool) -> Iterable[Change]:
    for difference in found:
        yield Change(difference.path, _kind(difference, webhook=webhook), difference.before, difference.after)


def _kind(difference: Difference, *, webhook: bool) -> Kind:
    """Between stored and read only three things happen; a webhook may do any of them, so all is its conversion then."""
    if webhook or difference.path == ("apiVersion",):
        return "converted"
    if difference.after is ABSENT:
        return "dropped" if difference.before is None else "pruned"
    if difference.before is ABSENT or difference.before is None:
        return "defaulted"
    return "changed"
