"""When a mutating admission policy has come into force.

A policy and its binding are stored at once, but the API server looks for new ones only about once a second, and no
field of a ``MutatingAdmissionPolicy`` tells when it has (1.37). What can be seen is the effect: a dry run of an object
the policy is meant for comes back with another value than it was sent with.
"""

from __future__ import annotations

from typing import Any

from labkit.cluster import Cluster
from labkit.cluster.base import Progress, silent
from labkit.languages import translate
from labkit.observe import fields
from labkit.observe.changes import dotted
from labkit.waiting import Seen, wait_for

__all__ = ["IN_FORCE_LIMIT_S", "wait_in_force"]

IN_FORCE_LIMIT_S = 30.0
"""Seen on the embedded cluster: 0.1 to 1.1 s."""


def wait_in_force(cluster: Cluster, manifest: dict[str, Any], field: str, progress: Progress = silent) -> None:
    """Wait until the server no longer stores *manifest* with the value it gives at *field* ("spec.worker.max").

    Only dry runs are sent: nothing is stored. Raises WaitTimeout, ManifestError, ApiError.
    """

    def look() -> Seen[None]:
        seen = fields.look(cluster, manifest)
        if seen.refusal is not None:
            return Seen(False, translate("a dry run is refused: {message}", message=seen.refusal.message))
        changed = any(change.kind in ("changed", "dropped") and dotted(change.path) == field for change in seen.changes)
        return Seen(changed, translate("{field} is stored as it is sent", field=field))

    wait_for(
        translate("a policy to change {field} of {name}", field=field, name=manifest["metadata"]["name"]),
        look,
        limit_s=IN_FORCE_LIMIT_S,
        progress=progress,
        next_act=translate("apply the policy and its binding, and give the object the label they ask for"),
    )
