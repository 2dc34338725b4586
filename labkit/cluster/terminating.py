"""Definitions that do not go by themselves, and what helps them.

**Forgotten.** Before a definition goes, the server lists its objects through a storage that it may have to open for
this; while that is not ready the try fails ("storage is (re)initializing") and is repeated some milliseconds later.
When the repeat reads the definition from a cache that has not seen the failure yet, its own write conflicts, and it
gives up, counting on an event that the server leaves out (apiextensions-apiserver v0.37.2,
pkg/controller/finalizer/crd_finalizer.go: an update that changes only the condition Terminating is not queued). What
is left then waits for the next resync, up to five minutes. About one deletion in several hundred of types that were
never used met this, on 2 cores. Any other change of the definition queues it again; an annotation on something that is
being deleted harms nobody.

**Unreadable.** A storage migration that fails still takes the old version out of ``status.storedVersions`` (seen on
1.37.2, with an object that the scale subresource refuses). The version can then be dropped from the definition, its
objects stay in etcd in a version the server no longer knows, and every list and every deletion of the type fails.
Naming the version again makes them readable, and so deletable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.cluster.api import Api, Resource
from labkit.cluster.claim import DEFINITIONS
from labkit.errors import ApiError
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["NUDGED", "bring_back_versions", "nudge"]

NUDGED = "labkit.example/nudged"
"""The annotation; its value is the resourceVersion the definition had, so that each nudge is a change."""

_LIMIT_S = 30.0
_UNREADABLE = re.compile(r"request to convert CR from an invalid group/version: [^/\s]+/([a-z0-9]+)")


def nudge(api: Api, definitions: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Annotate those of *definitions* (as just read) that are being deleted and whose last try failed; their names.

    Call it at each look of a wait for definitions to be gone.
    """
    nudged = []
    for definition in definitions:
        metadata = definition["metadata"]
        if "deletionTimestamp" not in metadata or not _failed(definition):
            continue
        try:
            api.patch(
                f"{DEFINITIONS}/{metadata['name']}",
                {"metadata": {"annotations": {NUDGED: metadata["resourceVersion"]}}},
            )
        except ApiError as refused:
            if refused.code != 404:
                raise
        else:
            nudged.append(metadata["name"])
    return tuple(nudged)


def _failed(definition: Mapping[str, Any]) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Terminating" and c.get("reason") == "InstanceDeletionFailed" for c in conditions)


def bring_back_versions(api: Api, definition: Mapping[str, Any], kind: Resource) -> tuple[str, ...]:
    """Add to *definition* the versions that objects of *kind* are stored in and that it has dropped; their names.

    Only for objects about to be deleted: such a version has no schema, so a read in it shows the bare bytes.
    """
    versions = list(definition["spec"]["versions"])
    added: list[str] = []

    def look() -> Seen[None]:
        found = _UNREADABLE.search(api.raw("GET", kind.path()).text)
        if found and found[1] not in added:
            added.append(found[1])
            schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
            versions.append({"name": found[1], "served": True, "storage": False, "schema": {"openAPIV3Schema": schema}})
            api.patch(f"{DEFINITIONS}/{definition['metadata']['name']}", {"spec": {"versions": versions}})
        return Seen(found is None, translate("objects in {names} cannot be read yet", names=", ".join(added)))

    wait_for(translate("objects in dropped versions to be readable"), look, limit_s=_LIMIT_S)
    return tuple(added)
