"""What N definitions cost the API server, measured before and after, and removed again.

Definitions without a single object are created at once; when all are Established and published, the server is read
again. Time and sizes are plain; memory is not: a garbage-collected server's memory moves by tens of MiB for reasons of
its own, so one difference proves little. *repeats* measures the whole several times, so that the noise can be seen
beside the effect.

The definitions belong to the course (``labkit.cluster.claim`` lists their names) and are removed whatever happens, also
after an error and after Ctrl-C; those an interrupted run left are removed first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import yaml

from labkit.cluster import Api, Cluster, Kubectl
from labkit.cluster.base import Progress, silent
from labkit.cluster.claim import COST_DEFINITIONS, COST_GROUP, COST_LIMIT, DEFINITIONS, claim, cost_plural
from labkit.cluster.terminating import nudge
from labkit.errors import ApiError, CommandError
from labkit.observe import reading
from labkit.observe.definition import conditions_of
from labkit.observe.reading import Reading
from labkit.waiting import Seen, wait_for

__all__ = ["DefinitionsCost", "Point", "Round", "Through", "definition", "measure", "remove"]

GROUP_VERSION = f"{COST_GROUP}/v1"

LIMIT_S = 120.0
"""For the definitions to be established, and again to be published, and to be gone. The chapter's cluster took 11 s."""

Through: TypeAlias = Literal["api", "kubectl"]


@dataclass(frozen=True)
class Point:
    """*seconds* after the first definition was sent, *established* of them were seen to be."""

    seconds: float
    established: int


@dataclass(frozen=True)
class Round:
    """One measurement. Seconds count from the first definition sent.

    *established_s*: all Established; *published_s*: all in discovery and in the OpenAPI document too, when *after* was
    read; *points*: how many were established when, the last one all; *memory_gone_bytes*: once they were removed.
    """

    before: Reading
    after: Reading
    established_s: float
    published_s: float
    points: tuple[Point, ...]
    memory_gone_bytes: int

    @property
    def memory_change_bytes(self) -> int:
        return self.after.memory_bytes - self.before.memory_bytes


@dataclass(frozen=True)
class DefinitionsCost:
    """*count* definitions of *group_version*, sent *through* the API or kubectl, measured once a round."""

    count: int
    group_version: str
    through: Through
    rounds: tuple[Round, ...]

    @property
    def first(self) -> Round:
        """The round to quote: later ones find a server that has already grown."""
        return self.rounds[0]


def definition(number: int) -> dict[str, Any]:
    """The definition of the type *number*, from 1: as small as a useful one can be."""
    plural = cost_plural(number)
    kind = f"Type{plural.removeprefix('type-')}"
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


def measure(
    cluster: Cluster,
    count: int = 50,
    progress: Progress = silent,
    *,
    repeats: int = 1,
    through: Through = "api",
) -> DefinitionsCost:
    """Measure *count* definitions (1 to 200), *repeats* times.

    *through* "api" sends them over one connection, "kubectl" by one ``kubectl apply``, which asks about each before it
    sends it. Raises ValueError for numbers out of range, ClaimRefused on a foreign cluster nobody claimed, WaitTimeout
    when the server does not get there, and whatever sending raises; the definitions are gone then, too.
    """
    if not 1 <= count <= COST_LIMIT or repeats < 1:
        raise ValueError(
            f"measure 1 to {COST_LIMIT} definitions at least once, not {count} definitions {repeats} times"
        )
    claim(cluster, yes=False)
    with Api(cluster) as api:
        remove(api, progress)
        # Read once for nothing: what a first reader makes the server build and keep is no cost of the definitions.
        reading.take(api, GROUP_VERSION)
        rounds = []
        for number in range(1, repeats + 1):
            told = _numbered(progress, number, repeats)
            rounds.append(_round(cluster, api, count, told, through))
    return DefinitionsCost(count, GROUP_VERSION, through, tuple(rounds))


def remove(api: Api, progress: Progress = silent) -> int:
    """Delete the definitions of the measurement, wait until they are gone, and say how many there were."""
    found = _present(api)
    if not found:
        return 0
    progress(f"removing {len(found)} definitions")
    for obj in found:
        api.delete(f"{DEFINITIONS}/{obj['metadata']['name']}")

    def look() -> Seen[None]:
        left = _present(api)
        nudge(api, left)
        discovered = api.get(f"/apis/{COST_GROUP}") is not None
        documented = GROUP_VERSION in reading.documented(api)
        sight = f"{len(left)} definitions left" if left else f"{COST_GROUP} still in discovery or OpenAPI"
        return Seen(not left and not discovered and not documented, sight)

    wait_for(
        "the measured definitions to be gone",
        look,
        limit_s=LIMIT_S,
        next_act=f"`kubectl get crd` shows what is left of {COST_GROUP}; delete it",
    )
    return len(found)


def _numbered(progress: Progress, number: int, repeats: int) -> Progress:
    if repeats == 1:
        return progress
    return lambda line: progress(f"round {number} of {repeats}: {line}")


def _round(cluster: Cluster, api: Api, count: int, progress: Progress, through: Through) -> Round:
    progress("reading the server before")
    _settled(api, progress)
    before = reading.take(api, GROUP_VERSION)
    manifests = [definition(number) for number in range(1, count + 1)]
    with _removed(api, progress):
        points, start = _establish(cluster, api, manifests, progress, through)
        _published(api, manifests, progress)
        published_s = time.monotonic() - start
        progress("reading the server after")
        after = reading.take(api, GROUP_VERSION)
    gone = reading.take(api, GROUP_VERSION)
    return Round(before, after, points[-1].seconds, published_s, points, gone.memory_bytes)


@contextmanager
def _removed(api: Api, progress: Progress) -> Iterator[None]:
    try:
        yield
    finally:
        remove(api, progress)


def _establish(
    cluster: Cluster, api: Api, manifests: Sequence[dict[str, Any]], progress: Progress, through: Through
) -> tuple[tuple[Point, ...], float]:
    """Send the definitions from a thread while looking how many are established; the points, and when it began."""
    names = {manifest["metadata"]["name"] for manifest in manifests}
    points: list[Point] = []
    stop = threading.Event()
    send = _send_by_kubectl if through == "kubectl" else _send
    with ThreadPoolExecutor(max_workers=1) as pool:
        start = time.monotonic()
        sent: Future[None] = pool.submit(send, cluster, manifests, stop)

        def look() -> Seen[None]:
            if sent.done():
                sent.result()
            found = [obj for obj in api.list(DEFINITIONS) if obj["metadata"]["name"] in names]
            established = sum(_is_established(obj) for obj in found)
            if not points or points[-1].established != established:
                points.append(Point(time.monotonic() - start, established))
            return Seen(established == len(names), f"{established} of {len(names)} definitions established")

        try:
            wait_for("the definitions to be established", look, limit_s=LIMIT_S, progress=progress)
        finally:
            stop.set()
    return tuple(points), start


def _send(cluster: Cluster, manifests: Sequence[dict[str, Any]], stop: threading.Event) -> None:
    with Api(cluster) as api:
        for manifest in manifests:
            if stop.is_set():
                return
            answer = api.raw("POST", f"{DEFINITIONS}?fieldManager=labkit", manifest)
            if not answer.ok:
                raise ApiError(
                    f"the definition {manifest['metadata']['name']} was refused",
                    code=answer.code,
                    reason=answer.status.get("reason", ""),
                    evidence=answer.status.get("message") or answer.text.strip()[:300],
                    next_act="read the server's sentence; nothing of the measurement is left behind",
                )


def _send_by_kubectl(cluster: Cluster, manifests: Sequence[dict[str, Any]], stop: threading.Event) -> None:
    if stop.is_set():
        return
    result = Kubectl(cluster).run(["apply", "-f", "-"], stdin=yaml.safe_dump_all(manifests))
    if not result.ok:
        raise CommandError(
            "kubectl apply did not send all definitions",
            evidence=result.stderr.strip()[:300],
            next_act="read kubectl's sentence; nothing of the measurement is left behind",
        )


def _settled(api: Api, progress: Progress) -> None:
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

    wait_for("the OpenAPI documents to follow", look, limit_s=LIMIT_S, progress=progress)


def _published(api: Api, manifests: Sequence[dict[str, Any]], progress: Progress) -> None:
    """Wait until discovery and the OpenAPI document of the group have every type: both follow Established later."""
    kinds = {manifest["spec"]["names"]["kind"] for manifest in manifests}

    def look() -> Seen[None]:
        found = {r["kind"] for r in (api.get(f"/apis/{GROUP_VERSION}") or {}).get("resources") or ()} & kinds
        document = api.get(f"/openapi/v3/apis/{GROUP_VERSION}") or {}
        schemas = (document.get("components") or {}).get("schemas") or {}
        described = {name.rpartition(".")[2] for name in schemas} & kinds
        sight = f"{len(found)} of {len(kinds)} types in discovery, {len(described)} in OpenAPI"
        return Seen(found == described == kinds, sight)

    wait_for("the types to be published", look, limit_s=LIMIT_S, progress=progress)


def _is_established(obj: dict[str, Any]) -> bool:
    return any(c.type == "Established" and c.status == "True" for c in conditions_of(obj))


def _present(api: Api) -> tuple[dict[str, Any], ...]:
    """The measurement's definitions on the cluster, by their claimed names alone."""
    return tuple(obj for obj in api.list(DEFINITIONS) if obj["metadata"]["name"] in COST_DEFINITIONS)
