"""What the server publishes of its types, and when it has caught up with a definition.

A definition is served at once, but told to clients by two documents that follow later: discovery within milliseconds,
OpenAPI within about a second (the aggregator asks its parts once a second, kube-apiserver 1.37). A person does not
notice; a notebook that applies a definition and explains it in the next cell would show the previous schema.
"""

from __future__ import annotations

from typing import Any

from labkit.cluster import Api, Cluster
from labkit.cluster.api import AGGREGATED_DISCOVERY
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.kubectl import forget_discovery
from labkit.errors import ApiError
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["discovered", "wait_documented"]

LIMIT_S = 60.0


def discovered(api: Api) -> dict[str, set[str]]:
    """Group → versions, from the document kubectl reads (aggregated discovery), current entries only."""
    response = api.raw("GET", "/apis", accept=AGGREGATED_DISCOVERY)
    if not response.ok:
        raise ApiError(translate("discovery cannot be read"), code=response.code, evidence=response.text[:200])
    return {
        item["metadata"]["name"]: {
            one["version"] for one in item["versions"] if one.get("freshness", "Current") == "Current"
        }
        for item in response.json["items"]
    }


def wait_documented(cluster: Cluster, group: str) -> None:
    """Wait until ``kubectl explain`` gets every served version of *group*'s definitions described as they are now.

    Both parts of OpenAPI v3 are asked, the index (which the aggregator keeps) and the document. kubectl's own copies of
    them are then dropped: the index is dated to the second, so a copy taken earlier in the same second would be
    confirmed as "not modified". Returns at once when no definition has this group. Raises WaitTimeout after LIMIT_S.
    """
    with Api(cluster) as api:
        _wait_described(api, group)
    forget_discovery(cluster, "http")


def _wait_described(api: Api, group: str) -> None:

    def look() -> Seen[None]:
        index = (api.get("/openapi/v3") or {}).get("paths", {})
        for definition in api.list(DEFINITIONS):
            spec = definition["spec"]
            if spec["group"] != group:
                continue
            for version in spec["versions"]:
                if version["served"] and f"apis/{group}/{version['name']}" not in index:
                    return Seen(
                        False,
                        translate("OpenAPI's index lacks {group}/{version}", group=group, version=version["name"]),
                    )
                if version["served"] and not _describes(api, spec, version):
                    return Seen(
                        False,
                        translate(
                            "OpenAPI's {group}/{version} is of an earlier definition",
                            group=group,
                            version=version["name"],
                        ),
                    )
        return Seen(True, "current")

    wait_for(translate("OpenAPI to describe {group}", group=group), look, limit_s=LIMIT_S)


def _describes(api: Api, spec: dict[str, Any], version: dict[str, Any]) -> bool:
    document = api.get(f"/openapi/v3/apis/{spec['group']}/{version['name']}")
    if document is None:
        return False
    name = ".".join([*reversed(spec["group"].split(".")), version["name"], spec["names"]["kind"]])
    published = document.get("components", {}).get("schemas", {}).get(name, {})
    wanted = version.get("schema", {}).get("openAPIV3Schema", {})
    return all(
        published.get("properties", {}).get(field) == schema
        for field, schema in wanted.get("properties", {}).items()
        if field not in ("apiVersion", "kind", "metadata")
    )
