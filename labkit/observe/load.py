"""What a measurement of cost puts on the cluster, and takes off it again.

A server that is asked how much it has grown must have grown by something known: definitions of one group
(``cout.example.com``), as small as a useful one can be and all alike, and objects of the first of them. They are sent
one after the other over one connection, and this module knows when they are all there (Established, in discovery, in
the OpenAPI document) and when they are all gone: three moments that a server reaches at different times.

The names are the course's (``labkit.cluster.claim`` lists them); nothing else is ever deleted here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import yaml

from labkit.cluster import Api, Cluster, Kubectl
from labkit.cluster.base import Progress, silent
from labkit.cluster.claim import COST_DEFINITIONS, COST_GROUP, DEFINITIONS, cost_plural
from labkit.cluster.terminating import nudge
from labkit.errors import ApiError, CommandError, LabkitError
from labkit.languages import plural, translate
from labkit.observe import reading
from labkit.observe.definition import conditions_of
from labkit.waiting import Seen, wait_for

__all__ = [
    "GROUP_VERSION",
    "NAMESPACE",
    "Through",
    "definition",
    "establish",
    "object_of_first",
    "present",
    "published",
    "remove",
    "removed",
    "settled",
    "store",
]

GROUP_VERSION = f"{COST_GROUP}/v1"
NAMESPACE = "default"
"""Of the objects: it is there on every cluster, and they go with their definition."""

LIMIT_S, LIMIT_EACH_S = 120.0, 1.0
"""For definitions to be established, and again to be published, and to be gone: so much, and so much for each. The
chapter's cluster took 11 s for fifty. Five hundred take 7 s on two cores, and 90 s when much else runs on them."""

Through: TypeAlias = Literal["api", "kubectl"]
Count: TypeAlias = Callable[[int], None]
"""Told how many are there, or gone, so far."""

_OBJECTS = f"/apis/{GROUP_VERSION}/namespaces/{NAMESPACE}/{cost_plural(1)}"


def _limit_s(definitions: int) -> float:
    return LIMIT_S + LIMIT_EACH_S * definitions


def ignored(_: int) -> None:
    """A count that nobody wants."""


def definition(number: int) -> dict[str, Any]:
    """The definition of the type *number*, from 1: as small as a useful one can be."""
    plural = cost_plural(number)
    kind = _kind(number)
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
                    "replicas": {"type": "integer", "minimum": 0, "default": 1},
                },
            }
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{COST_GROUP}"},
        "spec": {
            "group": COST_GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def object_of_first(number: int) -> dict[str, Any]:
    """The object *number*, from 1, of the first type."""
    return {
        "apiVersion": GROUP_VERSION,
        "kind": _kind(1),
        "metadata": {"name": f"object-{number:05}"},
        "spec": {"name": f"object-{number:05}"},
    }


def _kind(number: int) -> str:
    return f"Type{cost_plural(number).removeprefix('type-')}"


# -- putting there ----------------------------------------------------------------------------------------------------


def establish(  # noqa: PLR0913  (where, what, how, and whom to tell)
    cluster: Cluster,
    api: Api,
    manifests: Sequence[dict[str, Any]],
    progress: Progress = silent,
    *,
    through: Through = "api",
    count: Count = ignored,
) -> float:
    """Send the definitions from a thread, look until all are established, and return the seconds that took.

    Raises WaitTimeout, and whatever sending raises.
    """
    names = {manifest["metadata"]["name"] for manifest in manifests}
    stop = threading.Event()
    send = _send_by_kubectl if through == "kubectl" else _send
    with ThreadPoolExecutor(max_workers=1) as pool:
        start = time.monotonic()
        sent: Future[None] = pool.submit(send, cluster, manifests, stop)

        def look() -> Seen[float]:
            if sent.done():
                sent.result()
            found = [obj for obj in api.list(DEFINITIONS) if obj["metadata"]["name"] in names]
            established = sum(_is_established(obj) for obj in found)
            count(established)
            sight = plural(
                "{there} of {n} definition established",
                "{there} of {n} definitions established",
                len(names),
                there=established,
            )
            return Seen(established == len(names), sight, time.monotonic() - start)

        try:
            seconds = wait_for(
                translate("the definitions to be established"), look, limit_s=_limit_s(len(names)), progress=progress
            )
        finally:
            stop.set()
    assert seconds is not None  # noqa: S101 (each look gives one)
    return seconds


def _send(cluster: Cluster, manifests: Sequence[dict[str, Any]], stop: threading.Event) -> None:
    with Api(cluster) as api:
        for manifest in manifests:
            if stop.is_set():
                return
            _create(api, DEFINITIONS, manifest)


def _send_by_kubectl(cluster: Cluster, manifests: Sequence[dict[str, Any]], stop: threading.Event) -> None:
    if stop.is_set():
        return
    result = Kubectl(cluster).run(["apply", "-f", "-"], stdin=yaml.safe_dump_all(manifests))
    if not result.ok:
        raise CommandError(
            translate("kubectl apply did not send all definitions"),
            evidence=result.stderr.strip()[:300],
            next_act=translate("read kubectl's sentence; nothing of the measurement is left behind"),
        )


def _create(api: Api, collection: str, manifest: dict[str, Any]) -> None:
    answer = api.raw("POST", f"{collection}?fieldManager=labkit", manifest)
    if not answer.ok:
        raise ApiError(
            translate("{kind} {name} was refused", kind=manifest["kind"], name=manifest["metadata"]["name"]),
            code=answer.code,
            reason=answer.status.get("reason", ""),
            evidence=answer.status.get("message") or answer.text.strip()[:300],
            next_act=translate("read the server's sentence; nothing of the measurement is left behind"),
        )


def published(api: Api, manifests: Sequence[dict[str, Any]], progress: Progress = silent) -> None:
    """Wait until discovery and the OpenAPI document of the group have every type: both follow Established later."""
    kinds = {manifest["spec"]["names"]["kind"] for manifest in manifests}

    def look() -> Seen[None]:
        found = {r["kind"] for r in (api.get(f"/apis/{GROUP_VERSION}") or {}).get("resources") or ()} & kinds
        document = api.get(f"/openapi/v3/apis/{GROUP_VERSION}") or {}
        schemas = (document.get("components") or {}).get("schemas") or {}
        described = {name.rpartition(".")[2] for name in schemas} & kinds
        told = {"found": len(found), "all": len(kinds), "described": len(described)}
        sight = translate("{found} of {all} types in discovery, {described} in OpenAPI", **told)
        return Seen(found == described == kinds, sight)

    wait_for(translate("the types to be published"), look, limit_s=_limit_s(len(kinds)), progress=progress)


def store(api: Api, numbers: range, *, count: Count = ignored) -> float:
    """Create these objects of the first type one by one, and return the seconds from the first answer to the last.

    The first does not count: the server holds the first create of a new type for up to two seconds.
    """
    start = 0.0
    for index, number in enumerate(numbers):
        _create(api, _OBJECTS, object_of_first(number))
        start = start if index else time.monotonic()
        count(index + 1)
    return time.monotonic() - start if numbers else 0.0


# -- taking away ------------------------------------------------------------------------------------------------------


@contextmanager
def removed(
    api: Api, progress: Progress = silent, *, counting: Callable[[], Count] = lambda: ignored, leave: bool = False
) -> Iterator[None]:
    """Remove everything of the measurement at the end of the block, however it ends: an interrupt of the removal, too,
    lets it begin once more. When it fails, or is interrupted again, the error has a note that says what is left.

    With *leave* the cluster is about to end, and only a block that ends well is followed by the removal.
    """
    removing = False
    try:
        yield
        removing = True
        remove(api, progress, count=counting())
    except BaseException as error:
        if leave:
            raise
        if removing and not isinstance(error, KeyboardInterrupt):
            error.add_note(_what_is_left(api))
            raise
        try:
            remove(api, progress, count=counting())
        except BaseException as again:
            again.add_note(_what_is_left(api))
            raise
        raise


def remove(api: Api, progress: Progress = silent, *, count: Count = ignored) -> int:
    """Delete the definitions of the measurement with their objects, wait until they are gone, and say how many
    definitions there were.
    """
    found = present(api)
    if not found:
        return 0
    progress(plural("removing {n} definition", "removing {n} definitions", len(found)))
    if any(obj["metadata"]["name"] == COST_DEFINITIONS[0] for obj in found):
        # Before the definition: its own finalizer looks again for objects that are left only after 5 s.
        api.raw("DELETE", _OBJECTS)
    for index, obj in enumerate(found):
        api.delete(f"{DEFINITIONS}/{obj['metadata']['name']}")
        count(index + 1)

    def look() -> Seen[None]:
        left = present(api)
        nudge(api, left)
        discovered = api.get(f"/apis/{COST_GROUP}") is not None
        documented = GROUP_VERSION in reading.documented(api)
        sight = translate("{group} still in discovery or OpenAPI", group=COST_GROUP)
        if left:
            sight = plural("{n} definition left", "{n} definitions left", len(left))
        return Seen(not left and not discovered and not documented, sight)

    wait_for(
        translate("the measured definitions to be gone"),
        look,
        limit_s=_limit_s(len(found)),
        next_act=translate("`kubectl get crd` shows what is left of {group}; delete it", group=COST_GROUP),
        progress=progress,
    )
    return len(found)


def _what_is_left(api: Api) -> str:
    try:
        left = [obj["metadata"]["name"] for obj in present(api)]
    except LabkitError as error:
        return translate("what is left on the cluster cannot be seen: {state}", state=error.state)
    if not left:
        return translate("no definition of {group} is left on the cluster", group=COST_GROUP)
    names = f"{', '.join(left[:3])}{', …' if len(left) > 3 else ''}"
    return plural(
        "left on the cluster: {n} definition ({names}); labkit reset removes it",
        "left on the cluster: {n} definitions ({names}); labkit reset removes them",
        len(left),
        names=names,
    )


def present(api: Api) -> tuple[dict[str, Any], ...]:
    """The measurement's definitions on the cluster, by their claimed names alone."""
    return tuple(obj for obj in api.list(DEFINITIONS) if obj["metadata"]["name"] in COST_DEFINITIONS)


def settled(api: Api, progress: Progress = silent) -> None:
    """Wait until the list of OpenAPI documents has followed earlier changes, which would count as the measurement's.

    It has when the group-versions of all definitions are in it, and none that discovery does not know any more.
    """

    def look() -> Seen[None]:
        listed = reading.documented(api)
        discovered = {
            version["groupVersion"]
            for group in (api.get("/apis") or {}).get("groups") or ()
            for version in group["versions"]
        }
        served = {
            f"{obj['spec']['group']}/{version['name']}"
            for obj in api.list(DEFINITIONS)
            if _is_established(obj)
            for version in obj["spec"]["versions"]
            if version["served"]
        }
        missing, stale = sorted(served - listed), sorted(listed - discovered)
        sight = (
            f"OpenAPI does not list {', '.join(missing)} yet" if missing else f"OpenAPI still lists {', '.join(stale)}"
        )
        return Seen(not missing and not stale, sight)

    wait_for(translate("the OpenAPI documents to follow"), look, limit_s=LIMIT_S, progress=progress)


def _is_established(obj: dict[str, Any]) -> bool:
    return any(c.type == "Established" and c.status == "True" for c in conditions_of(obj))
