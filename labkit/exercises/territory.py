"""What a check may change on a cluster: ch54, the claimed names, and nothing that was there before it.

An answer is somebody's text: it may name any object of the cluster, and a right answer may well need one that the
course does not claim (a ClusterRole of its own). On a cluster of labkit's own such roles and bindings are made when the
name is free, carry a label, and are gone after the check, or, if that was killed, before the next one. On any other
cluster a check keeps to the claimed names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import COURSE_GROUPS, DEFINITIONS, NAMESPACE, claimed_names
from labkit.cluster.terminating import nudge
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["LABEL", "Territory"]

LABEL = "labkit.example/check"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_OWN_KINDS = (f"{_RBAC}/clusterrolebindings", f"{_RBAC}/clusterroles")
_LIMIT_S = 120.0
_COURSE_TYPES = tuple(f"/apis/{group}/" for group in COURSE_GROUPS)


class Territory:
    """The names that may be changed on one cluster."""

    def __init__(self, cluster: Cluster, api: Api) -> None:
        self._api = api
        self._owned = cluster.owned
        self._claimed = claimed_names(cluster)

    def mine(self, path: str) -> bool:
        """Whether the object at this URL path is in ch54, has a claimed name, or is of a claimed type that has no
        namespaces.
        """
        collection, _, name = path.rpartition("/")
        if f"/namespaces/{NAMESPACE}/" in path:
            return True
        if "/namespaces/" not in path and collection.startswith(_COURSE_TYPES):
            group = collection.split("/")[2]
            collection, name = DEFINITIONS, f"{collection.rpartition('/')[2]}.{group}"
        return any(one.collection == collection and one.covers(name) for one in self._claimed)

    def free(self, path: str) -> bool:
        """Whether it is a role or a binding that a check may make here for its own time: owned, and not there yet."""
        collection = path.rpartition("/")[0]
        if not self._owned or collection not in _OWN_KINDS:
            return False
        there = self._api.get(path)
        return there is None or LABEL in (there["metadata"].get("labels") or {})

    def labelled(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        metadata = {**obj["metadata"], "labels": {**(obj["metadata"].get("labels") or {}), LABEL: "true"}}
        return {**obj, "metadata": metadata}

    def sweep(self) -> None:
        """Take away what checks made under free names, and definitions that they made by the hundred."""
        self._sweep_definitions()
        if not self._owned:
            return
        for kind in _OWN_KINDS:
            for item in self._api.list(kind, selector=LABEL):
                self._api.delete(f"{kind}/{item['metadata']['name']}")

    def _sweep_definitions(self) -> None:
        """Labelled ones have no objects, so they can go in one request: one by one, two hundred take half a minute."""
        selected = f"{DEFINITIONS}?{urlencode({'labelSelector': LABEL})}"
        found = self._api.list(DEFINITIONS, selector=LABEL)
        if not found or not all(self.mine(f"{DEFINITIONS}/{one['metadata']['name']}") for one in found):
            return
        self._api.settled("DELETE", selected)

        def look() -> Seen[None]:
            left = self._api.list(DEFINITIONS, selector=LABEL)
            nudge(self._api, left)
            return Seen(not left, translate("{n} are left", n=len(left)))

        wait_for(translate("the definitions of the check to be gone"), look, limit_s=_LIMIT_S)
