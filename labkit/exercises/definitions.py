"""A definition changed on the cluster, and the moment from which the server really goes by it.

The answer to an update comes before the server's handlers know of it: a probe sent at once may be judged by the
definition that was there before, and a right answer would fail now and then. Nothing that is published says when
(discovery and OpenAPI are other parts of the server). So a column is added first and waited for, in the tables that the
handlers themselves print; then the definition is applied, which takes the column away, and that is waited for.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.cluster import Api, ApiResponse
from labkit.cluster.claim import DEFINITIONS
from labkit.course import manifests
from labkit.course.begin import APPLY_MANAGER, served
from labkit.errors import WaitTimeout
from labkit.languages import translate
from labkit.observe.verdict import apply_patch
from labkit.waiting import Seen, wait_for

__all__ = ["TABLE", "apply_definition", "apply_definitions", "settle"]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
"""Accept header with which a list or an object comes as the table that ``kubectl get`` prints."""

_MARKER = "labkit-check"
_NOWHERE = "labkit-nowhere"
"""A namespace with no objects: an object that the definition can no longer read makes a list of it an error 500."""
_LIMIT_S = 8.0
_MANY_LIMIT_S = 120.0
_MERGE = "application/merge-patch+json"


def apply_definition(api: Api, manifest: Mapping[str, Any], validation: str) -> ApiResponse:
    """Apply a definition as kubectl does and wait until the server goes by it; the server's answer.

    A refused one leaves what was there. Raises WaitTimeout when it never comes into force, with what is missing.
    """
    applied = manifests.as_applied(dict(manifest))
    path = f"{DEFINITIONS}/{manifest['metadata']['name']}"
    query = f"fieldValidation={validation}&fieldManager={APPLY_MANAGER}"
    there = api.get(path)
    if there is None:
        answer = api.settled("POST", f"{DEFINITIONS}?{query}", applied)
        if answer.ok:
            served(api, answer.json, limit_s=_LIMIT_S)
        return answer
    patch = apply_patch(there, applied)
    trial = api.settled("PATCH", f"{path}?{query}&dryRun=All", patch, _MERGE)
    if not trial.ok:
        return trial
    _mark(api, path, there)
    answer = api.settled("PATCH", f"{path}?{query}", patch, _MERGE)
    if answer.ok:
        _wait_in_force(api, answer.json, marked=False)
    return answer


def apply_definitions(api: Api, manifests_: Sequence[Mapping[str, Any]], validation: str) -> ApiResponse:
    """Create many definitions that are not there yet, and wait for all of them at the end; the last answer."""
    query = f"fieldValidation={validation}&fieldManager={APPLY_MANAGER}"
    answer = None
    for manifest in manifests_:
        answer = api.settled("POST", f"{DEFINITIONS}?{query}", manifests.as_applied(dict(manifest)))
        if not answer.ok:
            return answer
    if answer is None:
        raise ValueError("no definitions")
    names = {manifest["metadata"]["name"] for manifest in manifests_}

    def look() -> Seen[None]:
        there = {one["metadata"]["name"] for one in api.list(DEFINITIONS) if _is_established(one)}
        return Seen(names <= there, translate("{n} are not established", n=len(names - there)))

    wait_for(translate("{n} definitions to be established", n=len(names)), look, limit_s=_MANY_LIMIT_S)
    served(api, answer.json)
    return answer


def _is_established(definition: Mapping[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def settle(api: Api, path: str) -> None:
    """Wait until the server goes by the definition at *path* as it is now, whoever changed it; it is left so."""
    there = api.get(path)
    if there is None or "deletionTimestamp" in there["metadata"]:
        return
    _mark(api, path, there)
    plain = api.patch(path, {"spec": {"versions": there["spec"]["versions"]}})
    _wait_in_force(api, plain, marked=False)


def _mark(api: Api, path: str, there: Mapping[str, Any]) -> None:
    """Add the column to every version, and wait until it is printed."""
    versions = copy.deepcopy(there["spec"]["versions"])
    for version in versions:
        columns = [one for one in version.get("additionalPrinterColumns") or () if one["name"] != _MARKER]
        marker = {"name": _MARKER, "type": "string", "jsonPath": ".metadata.name"}
        version["additionalPrinterColumns"] = [*columns, marker]
    marked = api.patch(path, {"spec": {"versions": versions}})
    _wait_in_force(api, marked, marked=True)


def _wait_in_force(api: Api, definition: Mapping[str, Any], *, marked: bool) -> None:
    spec = definition["spec"]
    name = definition["metadata"]["name"]
    inside = f"/namespaces/{_NOWHERE}" if spec["scope"] == "Namespaced" else ""

    def look() -> Seen[None]:
        for version in spec["versions"]:
            group_version = f"/apis/{spec['group']}/{version['name']}"
            answer = api.raw("GET", f"{group_version}{inside}/{spec['names']['plural']}?limit=1", accept=TABLE)
            if not version["served"]:
                if answer.code != 404:
                    return Seen(False, translate("{version} is still served", version=version["name"]))
                continue
            if not answer.ok:
                return Seen(
                    False, translate("listing in {version} answers {code}", version=version["name"], code=answer.code)
                )
            columns = [column["name"] for column in answer.json["columnDefinitions"]]
            if (_MARKER in columns) != marked:
                return Seen(False, translate("{version} still goes by the definition before", version=version["name"]))
            if api.get(group_version) is None:
                return Seen(False, translate("discovery does not list {version} yet", version=version["name"]))
        return Seen(True, "in force")

    try:
        wait_for(translate("{name} to come into force", name=name), look, limit_s=_LIMIT_S)
    except WaitTimeout as cause:
        found = api.get(f"{DEFINITIONS}/{name}") or {}
        told = [
            f"{one['type']}={one['status']}: {one['message']}" for one in found.get("status", {}).get("conditions", [])
        ]
        raise WaitTimeout(cause.state, evidence=f"{cause.evidence}; {'; '.join(told)}") from cause
