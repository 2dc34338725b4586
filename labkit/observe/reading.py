"""One look at what the API server publishes, how much memory it takes, and what lies in its etcd.

The numbers of the chapter, from the same places: definitions and types from discovery, the size of ``/apis`` as
``kubectl get --raw /apis`` prints it, and OpenAPI v3. Memory is read from the server's own ``/metrics``, because that
works on every backend and does not ask for a metrics server. It has two numbers for it: what the system gave the
process, with all the garbage not yet collected or returned, and what the last garbage collection found in use. The
first is what a machine must have; the second moves less.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from labkit.cluster import Cluster, Etcd
from labkit.cluster.api import AGGREGATED_DISCOVERY, Api, ApiResponse
from labkit.cluster.claim import DEFINITION_KEYS, DEFINITIONS
from labkit.errors import ApiError, CapabilityMissing
from labkit.languages import translate

__all__ = ["Reading", "count_types", "documented", "metric", "resident_memory", "take"]

_GROUP_VERSION = re.compile(r"^(api/[^/]+|apis/[^/]+/[^/]+)$")


@dataclass(frozen=True)
class Reading:
    """The server at one moment; sizes in bytes of the bodies, uncompressed.

    *types* counts as ``kubectl api-resources`` does, *groups* all but the core one; *discovery_bytes* is ``/apis``
    without the aggregated form, *aggregated_bytes* with it; *group_versions* counts those with an OpenAPI v3
    document, *openapi_bytes* is the size of the measured group's document (0 while it has none); *memory_bytes* is
    resident memory of the process that serves the API, which on the embedded cluster holds etcd and the controllers
    too; *heap_bytes* is what that process still used of its heap at its last garbage collection. *stored_bytes* are
    the keys and values of the group in etcd, definitions and objects; *database_bytes* is etcd's file, which keeps
    earlier revisions too. Each of the last three is None where the cluster does not tell.
    """

    definitions: int
    types: int
    groups: int
    discovery_bytes: int
    aggregated_bytes: int
    group_versions: int
    openapi_bytes: int
    memory_bytes: int
    heap_bytes: int | None
    stored_bytes: int | None
    database_bytes: int | None


def take(cluster: Cluster, api: Api, group_version: str) -> Reading:
    """Read everything once. *group_version* names the measured OpenAPI document ("cout.example.com/v1")."""
    aggregated = _ask(api, "/apis", AGGREGATED_DISCOVERY)
    core = _ask(api, "/api", AGGREGATED_DISCOVERY)
    index = _ask(api, "/openapi/v3").json["paths"]
    document = api.raw("GET", f"/openapi/v3/apis/{group_version}")
    plain = _ask(api, "/apis")
    metrics = _ask(api, "/metrics", "text/plain").text
    return Reading(
        definitions=len(api.list(DEFINITIONS)),
        types=count_types(core.json) + count_types(aggregated.json),
        groups=len(plain.json["groups"]),
        discovery_bytes=_size(plain.text),
        aggregated_bytes=_size(aggregated.text),
        group_versions=sum(1 for path in index if _GROUP_VERSION.match(path)),
        openapi_bytes=_size(document.text) if document.ok else 0,
        memory_bytes=resident_memory(metrics),
        heap_bytes=metric(metrics, "go_gc_heap_live_bytes"),
        stored_bytes=_stored(cluster, group_version.partition("/")[0]),
        database_bytes=metric(metrics, "apiserver_storage_size_bytes"),
    )


def documented(api: Api) -> set[str]:
    """The group-versions ("apps/v1") with an OpenAPI v3 document, the core group's apart."""
    index = (api.get("/openapi/v3") or {}).get("paths") or {}
    return {path.removeprefix("apis/") for path in index if path.startswith("apis/") and _GROUP_VERSION.match(path)}


def count_types(aggregated: dict[str, Any]) -> int:
    """Types in one aggregated discovery document: each group and plural once, if there is anything to do with it."""
    return len(
        {
            (group["metadata"].get("name", ""), resource["resource"])
            for group in aggregated["items"]
            for version in group["versions"]
            for resource in version.get("resources") or ()
            if resource.get("verbs")
        }
    )


def resident_memory(metrics: str) -> int:
    """Bytes, from the text of ``/metrics``. Raises ApiError when the metric is not in it."""
    found = metric(metrics, "process_resident_memory_bytes")
    if found is None:
        raise ApiError(
            translate("the API server does not tell how much memory it takes"),
            code=200,
            evidence=translate("/metrics has no process_resident_memory_bytes (only Linux servers have it)"),
            next_act=translate("measure on the embedded cluster: LABKIT_CLUSTER=embedded"),
        )
    return found


def metric(metrics: str, name: str) -> int | None:
    """The first sample of a metric in the text of ``/metrics``, whatever its labels; None when there is none."""
    found = re.search(rf"^{re.escape(name)}(?:{{[^}}]*}})? ([0-9.e+]+)$", metrics, re.MULTILINE)
    return int(float(found[1])) if found else None


def _stored(cluster: Cluster, group: str) -> int | None:
    """Bytes of the group's keys and values in etcd; None where it cannot be read."""
    etcd = Etcd(cluster)
    try:
        definitions = etcd.get(DEFINITION_KEYS, prefix=True).kvs
        objects = etcd.get(f"/registry/{group}/", prefix=True).kvs
    except CapabilityMissing:
        return None
    mine = [kv for kv in definitions if kv.key.endswith(f".{group}")] + list(objects)
    return sum(len(kv.key.encode()) + len(kv.value) for kv in mine)


def _ask(api: Api, path: str, accept: str = "application/json") -> ApiResponse:
    answer = api.raw("GET", path, accept=accept)
    if not answer.ok:
        raise ApiError(
            translate("the API server did not answer {path}", path=path),
            code=answer.code,
            evidence=answer.text.strip()[:300],
            next_act=translate("look whether it still runs: labkit doctor"),
        )
    return answer


def _size(text: str) -> int:
    return len(text.encode())
