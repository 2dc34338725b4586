"""Definitions whose deletion the API server has forgotten, and the nudge that reminds it.

Before a definition goes, the server lists its objects through a storage that it may have to open for this; while that
is not ready the try fails ("storage is (re)initializing") and is repeated some milliseconds later. When the repeat
reads the definition from a cache that has not seen the failure yet, its own write conflicts, and it gives up, counting
on an event that the server leaves out (apiextensions-apiserver v0.37.2, pkg/controller/finalizer/crd_finalizer.go:
an update that changes only the condition Terminating is not queued). What is left then waits for the next resync, up to
five minutes. About one deletion in several hundred of types that were never used met this, on 2 cores. Any other
change of the definition queues it again; an annotation on something that is being deleted harms nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labkit.cluster.api import Api
from labkit.errors import ApiError

__all__ = ["NUDGED", "nudge"]

NUDGED = "labkit.example/nudged"
"""The annotation; its value is the resourceVersion the definition had, so that each nudge is a change."""

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


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
                f"{_DEFINITIONS}/{metadata['name']}",
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
