"""Taking away what the course made, and nothing else.

A deletion can be held: an object by its own finalizer (the chapter sets one), a definition by its objects, a namespace
by both. So finalizers go first, then objects, then definitions, the namespace last: the claim stands in it, and an
interrupted clean-up can then be run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.cluster.api import Api, Resource
from labkit.cluster.base import Cluster, Progress, silent
from labkit.cluster.claim import COURSE_GROUPS, DEFINITIONS, NAMESPACE, CourseName, claimed_names
from labkit.cluster.terminating import bring_back_versions, nudge
from labkit.errors import ApiError
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["clear", "empty_namespace", "reset"]

_LIMIT_S = 60.0
_NAMESPACE_LIMIT_S = 120.0
_MADE_BY_THE_CLUSTER = {("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")}
_NOT_EMPTIED = {"events", "endpoints", "endpointslices", "leases"}
"""What the cluster writes about other objects; it goes with them or in time."""


def reset(cluster: Cluster, progress: Progress = silent) -> None:
    """Delete everything under the course's claimed names, and wait until it is gone.

    Nothing is deleted on a foreign cluster without a claim. Idempotent. Raises WaitTimeout, ApiError, ClusterGone.
    """
    names = claimed_names(cluster)
    with Api(cluster) as api:
        clear(api, names, progress)
        for name in names:
            if name.name == NAMESPACE:
                _delete_named(api, name, progress, limit_s=_NAMESPACE_LIMIT_S)


def clear(api: Api, names: Sequence[CourseName], progress: Progress = silent) -> None:
    """Delete everything under *names*, and wait until it is gone; of the namespace, if it is named, only the content.

    Objects go before their definitions: a definition deleted while it has some is looked at again by its finalizer
    after 5 s only. Raises WaitTimeout, ApiError, ClusterGone.
    """
    definitions = [name for name in names if name.collection == DEFINITIONS]
    namespaces = [name for name in names if name.name == NAMESPACE]
    for name in reversed(names):  # a binding before its policy
        if name not in definitions and name not in namespaces:
            _delete_named(api, name, progress)
    for name in definitions:
        for definition in api.list(name.collection):
            if name.covers(definition["metadata"]["name"]):
                _delete_objects(api, definition)
    for name in namespaces:
        empty_namespace(api, name.name, progress)
    for name in definitions:
        _delete_named(api, name, progress)


def _delete_named(api: Api, name: CourseName, progress: Progress, limit_s: float = _LIMIT_S) -> None:
    for path in name.taken(api):
        api.delete(path)
    wait_for(translate("{name} to be gone", name=name), lambda: _left(api, name), limit_s=limit_s, progress=progress)


def _left(api: Api, name: CourseName) -> Seen[None]:
    paths = name.taken(api)
    if name.collection == DEFINITIONS and paths:
        nudge(api, (found for path in paths if (found := api.get(path)) is not None))
    return Seen(
        not paths, translate("{n} left ({first})", n=len(paths), first=paths[0].rpartition("/")[2]) if paths else "gone"
    )


def _delete_objects(api: Api, definition: Mapping[str, Any]) -> None:
    """Delete the objects of a definition's type, in all namespaces, whatever finalizers hold them."""
    spec = definition["spec"]
    served = [version["name"] for version in spec["versions"] if version["served"]]
    if not served:
        return
    kind = Resource(
        spec["group"], served[0], spec["names"]["plural"], spec["names"]["kind"], spec["scope"] == "Namespaced"
    )
    bring_back_versions(api, definition, kind)
    for item in api.list(kind.path()):
        _release(api, kind, item)
        api.delete(kind.path(item["metadata"].get("namespace"), item["metadata"]["name"]))


def _release(api: Api, kind: Resource, item: dict[str, Any]) -> None:
    metadata = item["metadata"]
    if not metadata.get("finalizers"):
        return
    try:
        api.patch(kind.path(metadata.get("namespace"), metadata["name"]), {"metadata": {"finalizers": None}})
    except ApiError as refused:
        if refused.code != 404:
            raise


def empty_namespace(api: Api, namespace: str = NAMESPACE, progress: Progress = silent) -> None:
    """Delete every object in *namespace* that the cluster did not put there itself, and wait until they are gone.

    The namespace stays (deleting one takes the server 5 s and more). Finalizers of the course's own types are taken
    off first; Pods go without grace. Does nothing when the namespace is absent. Raises WaitTimeout, ApiError.
    """
    kinds = _emptied_kinds(api)

    def look() -> Seen[None]:
        left = []
        for kind in kinds:
            left += _delete_all(api, kind, namespace)
        return Seen(
            not left,
            translate("{n} objects left: {names}", n=len(left), names=", ".join(left[:3])) if left else "empty",
        )

    wait_for(
        translate("namespace {namespace} to be empty", namespace=namespace), look, limit_s=_LIMIT_S, progress=progress
    )


def _emptied_kinds(api: Api) -> list[Resource]:
    """One served version of each namespaced type whose objects can be listed and deleted."""
    kinds: dict[tuple[str, str], Resource] = {}
    for kind in api.resources():
        if kind.namespaced and {"list", "delete"} <= kind.verbs and kind.plural not in _NOT_EMPTIED:
            kinds.setdefault((kind.group, kind.plural), kind)
    return list(kinds.values())


def _delete_all(api: Api, kind: Resource, namespace: str) -> list[str]:
    """Ask for the deletion of all objects of a type; the names ("pods/a") of those that were there."""
    there = []
    for item in api.list(kind.path(namespace)):
        metadata = item["metadata"]
        if (kind.plural, metadata["name"]) in _MADE_BY_THE_CLUSTER:
            continue
        there.append(f"{kind.plural}/{metadata['name']}")
        if kind.group in COURSE_GROUPS:
            _release(api, kind, item)
        if "deletionTimestamp" not in metadata or kind.plural == "pods":
            api.delete(kind.path(namespace, metadata["name"]), grace_s=0)
    return there
