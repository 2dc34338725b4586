"""What becomes of a manifest: the fields the server prunes, and those it fills in.

The server is asked, not imitated: the manifest is sent as a dry run with ``fieldValidation=Warn``, which answers with
the object as it would be stored and with a warning for each unknown field, and stores nothing. ``kubectl apply`` asks
for ``Strict`` instead, under which the same unknown fields are a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from labkit.cluster import Api, ApiResponse, Cluster
from labkit.cluster.refusal import Cause, Refusal, refusal_of
from labkit.errors import ManifestError
from labkit.languages import translate
from labkit.observe.changes import ABSENT, Change, Difference, Kind, differences, dotted
from labkit.observe.stored import without_metadata

__all__ = ["Cause", "PrunedAndDefaulted", "Refusal", "changes_between", "collection", "look"]

_UNKNOWN = re.compile(r'unknown field "([^"]*)"')


@dataclass(frozen=True)
class PrunedAndDefaulted:
    """What a dry run made of a manifest.

    *sent_as* is "new" (a create) or "update" (an object of that name is there, so it was replaced: a field that was
    invalid already and does not change is then let through). *changes* lead from the manifest to what would be stored,
    metadata apart, and are empty when *refusal* is set. *warnings* are the server's.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    sent_as: Literal["new", "update"]
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]
    refusal: Refusal | None

    @property
    def pruned(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == "pruned")

    @property
    def defaulted(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == "defaulted")


def look(cluster: Cluster, manifest: dict[str, Any], *, namespace: str = "ch54") -> PrunedAndDefaulted:
    """Send *manifest* as a dry run. *namespace* is used where it names none and its type has them.

    Raises ManifestError when it is not an object of a served type with a name.
    """
    with Api(cluster) as api:
        place, space = collection(api, manifest, namespace)
        name = manifest["metadata"]["name"]
        there = api.get(f"{place}/{name}")
        answer = _dry_run(api, place, manifest, there)
    changes: tuple[Change, ...] = ()
    refusal = None
    if answer.ok:
        changes = changes_between(manifest, answer.json, answer.warnings)
    else:
        refusal = refusal_of(answer)
    return PrunedAndDefaulted(
        api_version=manifest["apiVersion"],
        kind=manifest["kind"],
        namespace=space,
        name=name,
        sent_as="new" if there is None else "update",
        changes=changes,
        warnings=answer.warnings,
        refusal=refusal,
    )


def changes_between(sent: dict[str, Any], made: dict[str, Any], warnings: Iterable[str]) -> tuple[Change, ...]:
    """What a write did to an object, metadata apart; *warnings* name the fields that were pruned."""
    unknown = {field for warning in warnings for field in _UNKNOWN.findall(warning)}
    found = differences(without_metadata(sent), without_metadata(made))
    return tuple(Change(d.path, _kind(d, unknown), d.before, d.after) for d in found)


def _dry_run(api: Api, collection: str, manifest: dict[str, Any], there: dict[str, Any] | None) -> ApiResponse:
    """A create, or, where the object is *there*, a replacement of it."""
    query = "dryRun=All&fieldValidation=Warn&fieldManager=labkit"
    if there is None:
        return api.raw("POST", f"{collection}?{query}", manifest)
    metadata = {**manifest["metadata"], "resourceVersion": there["metadata"]["resourceVersion"]}
    return api.raw("PUT", f"{collection}/{metadata['name']}?{query}", {**manifest, "metadata": metadata})


def collection(api: Api, manifest: dict[str, Any], namespace: str) -> tuple[str, str]:
    """The URL of the manifest's type, in its namespace, and that namespace ("" for a type without)."""
    given = manifest.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    missing = [field for field in ("apiVersion", "kind") if not manifest.get(field)]
    missing += [] if metadata.get("name") else ["metadata.name"]
    if missing:
        raise ManifestError(
            translate("the manifest is not an object the API could store"),
            evidence=translate("it lacks {fields}", fields=", ".join(missing)),
            next_act=translate("give it that, as in crd/objects/principal.yaml"),
        )
    resource = api.resource_of(str(manifest["apiVersion"]), str(manifest["kind"]))
    space = (metadata.get("namespace") or namespace) if resource.namespaced else ""
    return resource.path(space), space


def _kind(difference: Difference, unknown: set[str]) -> Kind:
    if difference.after is ABSENT:
        return "pruned" if dotted(difference.path) in unknown else "dropped"
    if difference.before is ABSENT or difference.before is None:
        return "defaulted"
    return "changed"
