"""A cluster of any state, brought to the beginning of a section in about a quarter of a second.

Each notebook runs alone and again, after whatever was played, interrupted or tried before it: a definition being
deleted, ch54 terminating, a migration that runs, stored versions of another section. So ``begin`` never patches what
it finds into shape. It takes away everything of the course's names (ch54 itself stays: the namespace controller needs
five seconds to delete one), waits until the server has forgotten it, and makes the beginning anew.

Three facts of the server (1.37) shape the code:

- a definition deleted while objects are left makes its finalizer look again only after 5 s: objects go first (where
  somebody did that before, up to these 5 s are lost);
- ``Established`` is written before every part of the server knows the type: discovery and the type's own storage are
  waited for one by one, and before that for the old ones to be gone, lest an old answer pass for a new (OpenAPI
  follows within a second; only ``kubectl explain`` needs it, and waits for itself: ``published``);
- a create within 2 s after ``Established`` is held for 2 s. The pause is for clusters of several API servers; here
  the condition's time is set back, so that the first step of a section is not slower than the others, and objects are
  made by server-side apply, which is never held.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import COURSE_GROUPS, DEFINITIONS, NAMESPACE, CourseName, claim, record
from labkit.cluster.cleaning import clear
from labkit.cluster.kubectl import forget_discovery
from labkit.course import manifests
from labkit.course.notebook import Begin, BeginObject
from labkit.course.published import discovered
from labkit.errors import ManifestError
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["begin", "served"]

Object = dict[str, Any]

APPLY_MANAGER = "kubectl-client-side-apply"
PATCH_MANAGER = "kubectl-patch"
_NAMESPACE_PATH = f"/api/v1/namespaces/{NAMESPACE}"
_ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
_AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-"
LIMIT_S = 30.0
CONTROLLER_REST_S = 3.0
"""Less than the namespace controller's grace period of 5 s (kubernetes 1.37, pkg/controller/namespace), to be sure."""
CREATE_PAUSE_S = 60
"""How far Established is set back; the server compares it with 2 s."""


def begin(cluster: Cluster, section_begin: Begin, *, root: Path) -> None:
    """Bring *cluster* to *section_begin*; *root* is the folder that holds ``crd/``.

    Idempotent. Raises ManifestError and ClaimRefused (a foreign cluster that nobody claimed) before anything is
    touched, ApiError when the server refuses the beginning, WaitTimeout, ClusterGone.
    """
    wanted = _Wanted(section_begin, root)
    claimed = claim(cluster, yes=False)
    forget_discovery(cluster)
    with Api(cluster) as api:
        _sweep(api, claimed, owned=cluster.owned)
        if section_begin.namespace or not cluster.owned:
            _ensure_namespace(api, () if cluster.owned else claimed)
        if wanted.definition is not None:
            _define(api, wanted.definition)
        for manifest in wanted.also:
            _create(api, manifests.collection_path(manifest), manifest)
        _wait_aggregated(api, wanted.also)
        for one, manifest in wanted.objects:
            _make(api, wanted.plural, one, manifest)


class _Wanted:
    """The manifests of a beginning, all read before the cluster is touched."""

    def __init__(self, section_begin: Begin, root: Path) -> None:
        self.definition: Object | None = None
        self.plural = ""
        if section_begin.definition is not None:
            (self.definition,) = _exactly_one(root / section_begin.definition)
            self.plural = self.definition["spec"]["names"]["plural"]
        self.also = [manifest for file in section_begin.also for manifest in manifests.documents(root / file)]
        self.objects: list[tuple[BeginObject, Object]] = []
        for one in section_begin.objects:
            (manifest,) = _exactly_one(root / one.file)
            self.objects.append((one, manifests.with_version(manifest, one.version)))


def _exactly_one(path: Path) -> tuple[Object, ...]:
    found = manifests.documents(path)
    if len(found) != 1:
        raise ManifestError(
            translate("{path}: one object is wanted to begin with", path=path),
            evidence=translate("it has {n}", n=len(found)),
        )
    return found


# -- taking away ------------------------------------------------------------------------------------------------------


def _sweep(api: Api, claimed: tuple[CourseName, ...], *, owned: bool) -> None:
    """Remove everything of the claimed names, and wait until the server has forgotten it."""
    clear(api, claimed)
    _wait_undiscovered(api)
    if "deletionTimestamp" in (api.get(_NAMESPACE_PATH) or {"metadata": {}})["metadata"]:
        _wait_namespace_gone(api, hurry=owned)


def _wait_undiscovered(api: Api) -> None:
    def look() -> Seen[None]:
        served = sorted(set(COURSE_GROUPS) & discovered(api).keys())
        return Seen(not served, translate("discovery still lists {names}", names=", ".join(served)))

    wait_for(
        translate("the old definitions to be forgotten"),
        look,
        limit_s=LIMIT_S,
        next_act=translate("kubectl get crd -o yaml shows why"),
    )


def _wait_namespace_gone(api: Api, *, hurry: bool) -> None:
    """Wait for the namespace controller; with *hurry*, end the deletion of a namespace known to be empty without it."""

    def look() -> Seen[None]:
        found = api.get(_NAMESPACE_PATH)
        if found is None:
            return Seen(True, "gone")
        if hurry and found["spec"].get("finalizers") and _between_passes(found):
            api.raw("PUT", f"{_NAMESPACE_PATH}/finalize", {**found, "spec": {"finalizers": []}})
        conditions = found.get("status", {}).get("conditions") or []
        messages = "; ".join(one["message"] for one in conditions if one["status"] == "True")
        return Seen(False, messages or "terminating")

    wait_for(
        translate("namespace {namespace}, which is being deleted, to be gone", namespace=NAMESPACE),
        look,
        limit_s=LIMIT_S,
    )


def _between_passes(namespace: Object) -> bool:
    """Whether the controller is not deleting in it right now, so that it cannot hit a namespace made after it.

    It starts 5 s after the deletion was asked for, writes conditions at the end of each pass, and rests 5 s between.
    """
    asked = datetime.datetime.fromisoformat(namespace["metadata"]["deletionTimestamp"])
    age = datetime.datetime.now(datetime.UTC) - asked
    return bool(namespace["status"].get("conditions")) or age.total_seconds() < CONTROLLER_REST_S


# -- making -----------------------------------------------------------------------------------------------------------


def _ensure_namespace(api: Api, claimed: tuple[CourseName, ...]) -> None:
    """Make ch54 when it is absent; on a foreign cluster with the claim it carried before someone deleted it."""
    if api.get(_NAMESPACE_PATH) is not None:
        return
    if claimed:
        record(api, claimed)
        return
    api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})


def _define(api: Api, manifest: Object) -> None:
    """Create the definition and wait until the server serves it everywhere a client looks."""
    _create(api, DEFINITIONS, manifest)
    served(api, manifest)


def served(api: Api, manifest: Object, *, limit_s: float = LIMIT_S) -> None:
    """Wait until a definition that was just created is served, and let its first create not be held for 2 s.

    Raises WaitTimeout with its conditions when it is not after *limit_s* seconds (its names may be taken).
    """
    path = f"{DEFINITIONS}/{manifest['metadata']['name']}"
    spec = manifest["spec"]
    wanted = {version["name"] for version in spec["versions"] if version["served"]}

    def look() -> Seen[None]:
        found = api.get(path) or {}
        conditions = {one["type"]: one for one in found.get("status", {}).get("conditions") or []}
        if conditions.get("Established", {}).get("status") != "True":
            return Seen(False, translate("conditions {found}", found=json.dumps(list(conditions.values()))))
        listed = discovered(api).get(spec["group"], set())
        if not wanted <= listed:
            return Seen(
                False,
                translate("discovery lists {names}, wanted {wanted}", names=sorted(listed), wanted=sorted(wanted)),
            )
        for version in sorted(wanted):
            response = api.raw("GET", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1")
            if response.code != 200:
                return Seen(
                    False, translate("listing in {version} answers {code}", version=version, code=response.code)
                )
        return Seen(True, "served")

    wait_for(translate("{name} to be served", name=manifest["metadata"]["name"]), look, limit_s=limit_s)
    _end_create_pause(api, path)


def _end_create_pause(api: Api, path: str) -> None:
    """Set Established's time back, so that the server does not hold the first create for 2 s."""
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=CREATE_PAUSE_S)
    conditions = [
        {**one, "lastTransitionTime": past.strftime("%Y-%m-%dT%H:%M:%SZ")} if one["type"] == "Established" else one
        for one in (api.get(path) or {})["status"]["conditions"]
    ]
    api.patch(f"{path}/status", {"status": {"conditions": conditions}})


def _create(api: Api, collection: str, manifest: Object) -> None:
    """Create as ``kubectl apply -f`` does: annotation, field manager and strict validation of fields."""
    api.post(collection, manifests.as_applied(manifest), manager=APPLY_MANAGER)


def _wait_aggregated(api: Api, made: Sequence[Object]) -> None:
    """Wait until the roles view, edit and admin hold the course's rules if, and only if, *made* has roles for them."""
    wanted = {
        role: any(f"{_AGGREGATE_TO}{role}" in (one["metadata"].get("labels") or {}) for one in made)
        for role in ("view", "edit", "admin")
    }

    def look() -> Seen[None]:
        for role, expected in wanted.items():
            rules = (api.get(f"{_ROLES}/{role}") or {}).get("rules") or []
            if any(set(COURSE_GROUPS) & set(rule.get("apiGroups", ())) for rule in rules) != expected:
                return Seen(
                    False,
                    translate("ClusterRole {role} lacks the course's rules", role=role)
                    if expected
                    else translate("ClusterRole {role} still has the course's rules", role=role),
                )
        return Seen(True, "aggregated")

    wait_for(translate("the aggregated roles to follow"), look, limit_s=LIMIT_S)


def _make(api: Api, plural: str, one: BeginObject, manifest: Object) -> None:
    """Make one object as kubectl would have, by server-side apply: unlike a create, it is never held for 2 s."""
    path = f"{manifests.collection_path(manifest, plural)}/{manifest['metadata']['name']}"
    api.apply(manifests.as_applied(manifest), manager=APPLY_MANAGER, path=path)
    for merge in one.merges:
        api.patch(path, merge, manager=PATCH_MANAGER)
    if one.status is not None:
        api.patch(f"{path}/status", {"status": one.status}, manager=PATCH_MANAGER)
