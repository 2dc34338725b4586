"""Taking away what the course made, and nothing else.

A deletion can be held: an object by its own finalizer (the chapter sets one), a definition by its objects, a namespace
by both. So finalizers go first, then objects, then definitions, the namespace last: the claim stands in it, and an
interrupted clean-up can then be run again.

Most of the time there is next to nothing, and to see that takes the API server some forty requests: one for each type
that a namespace may have objects of. An embedded cluster's etcd says it in one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from labkit.cluster.api import Api, Resource
from labkit.cluster.base import Cluster, Progress, silent
from labkit.cluster.claim import COURSE_GROUPS, DEFINITION_KEYS, DEFINITIONS, NAMESPACE, CourseName, claimed_names
from labkit.cluster.embedded import EmbeddedCluster
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
                _delete(api, name.taken(api), progress, limit_s=_NAMESPACE_LIMIT_S)


def clear(api: Api, names: Sequence[CourseName], progress: Progress = silent) -> None:
    """Delete everything under *names*, and wait until it is gone; of the namespace, if it is named, only the content.

    Objects go before their definitions: a definition deleted while it has some is looked at again by its finalizer
    after 5 s only. Raises WaitTimeout, ApiError, ClusterGone.
    """
    groups = [name for name in names if name.collection == DEFINITIONS]
    others = [name for name in reversed(names) if name not in groups and name.name != NAMESPACE]
    stored = _stored(api.cluster)
    for name in others:  # a binding before its policy
        if stored is None or any(key.endswith(f"/{name.name}") for key in stored):
            _delete(api, name.taken(api), progress)
    definitions = [one for one in _definitions(api, stored) if any(name.covers(_name(one)) for name in groups)]
    if definitions:
        for definition in definitions:
            _delete_objects(api, definition, stored)
        stored = _stored(api.cluster)
    if any(name.name == NAMESPACE for name in names):
        plurals = None if stored is None else {_plural(key, NAMESPACE) for key in stored} - {""}
        if plurals is None or plurals:
            empty_namespace(api, NAMESPACE, progress, only=plurals)
    _delete(api, [f"{DEFINITIONS}/{_name(one)}" for one in definitions], progress)


def _stored(cluster: Cluster) -> tuple[str, ...] | None:
    """All keys of etcd, where that is one quick request; None elsewhere."""
    if not isinstance(cluster, EmbeddedCluster):
        return None
    return tuple(one.key for one in cluster.etcd_range("/registry/", prefix=True, keys_only=True))


def _definitions(api: Api, stored: Sequence[str] | None) -> list[dict[str, Any]]:
    """All, each asked for by its name where the names are known: a list waits until the server's cache has caught up
    with writes of other types too, for up to a tenth of a second (kubernetes 1.37, apiserver/pkg/storage/cacher)."""
    if stored is None:
        return api.list(DEFINITIONS)
    names = [key.removeprefix(DEFINITION_KEYS) for key in stored if key.startswith(DEFINITION_KEYS)]
    return [found for name in names if (found := api.get(f"{DEFINITIONS}/{name}")) is not None]


def _name(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["name"])


def _plural(key: str, namespace: str) -> str:
    """Of the object at *key* (".../PLURAL/NAMESPACE/NAME") if it is to go from *namespace*, else nothing."""
    where, inside, name = key.partition(f"/{namespace}/")
    plural = where.rpartition("/")[2]
    if not inside or plural in _NOT_EMPTIED or (plural, name) in _MADE_BY_THE_CLUSTER:
        return ""
    return plural


def _delete(api: Api, paths: Sequence[str], progress: Progress, limit_s: float = _LIMIT_S) -> None:
    """Delete the objects at these URL paths, and wait until they are gone."""
    if not paths:
        return
    for path in paths:
        api.delete(path)
    left = list(paths)

    def look() -> Seen[None]:
        while left:
            found = api.get(left[0])
            if found is not None:
                nudge(api, [found] if left[0].startswith(DEFINITIONS) else [])
                break
            del left[0]
        return Seen(
            not left, translate("{n} left ({first})", n=len(left), first=left[0].rpartition("/")[2]) if left else "gone"
        )

    wait_for(
        translate("{name} to be gone", name=", ".join(map(_short, paths[:3]))), look, limit_s=limit_s, progress=progress
    )


def _short(path: str) -> str:
    """ "namespaces/ch54" of a URL path."""
    return "/".join(path.rsplit("/", 2)[1:])


def _delete_objects(api: Api, definition: Mapping[str, Any], stored: Sequence[str] | None) -> None:
    """Delete the objects of a definition's type, in all namespaces, whatever finalizers hold them."""
    spec = definition["spec"]
    place = f"/registry/{spec['group']}/{spec['names']['plural']}/"
    if stored is not None and not any(key.startswith(place) for key in stored):
        return
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


def empty_namespace(
    api: Api, namespace: str = NAMESPACE, progress: Progress = silent, *, only: Set[str] | None = None
) -> None:
    """Delete every object in *namespace* that the cluster did not put there itself, and wait until they are gone.

    The namespace stays (deleting one takes the server 5 s and more). Finalizers of the course's own types are taken
    off first; Pods go without grace. Does nothing when the namespace is absent. *only* are the plurals, as etcd's keys
    spell them, of all that is there, where that is known. Raises WaitTimeout, ApiError.
    """
    kinds = _emptied_kinds(api)
    if only is not None and only <= {kind.plural for kind in kinds}:  # else a key is spelled in another way
        kinds = [kind for kind in kinds if kind.plural in only]

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
