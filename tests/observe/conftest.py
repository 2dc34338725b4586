"""The course's type on the session's cluster, brought to a state by server-side apply of the real manifests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.base import ClusterInfo, Progress, silent
from labkit.cluster.claim import COURSE_NAMES, DEFINITIONS
from labkit.cluster.cleaning import empty_namespace
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.terminating import nudge
from labkit.errors import ClusterGone
from labkit.observe import discovery, load
from labkit.waiting import Seen, wait_for

CRD = Path(__file__).parents[2] / "crd"


class Stage:
    """What a test plays on: the connection, and the manifests of ``crd/``."""

    def __init__(self, cluster: EmbeddedCluster, api: Api) -> None:
        self.cluster = cluster
        self.api = api

    def load(self, file: str) -> dict[str, Any]:
        """The first object of ``crd/FILE``."""
        first: dict[str, Any] = next(yaml.safe_load_all((CRD / file).read_text(encoding="utf-8")))
        return first

    def apply(self, *files: str) -> None:
        """Server-side apply, then wait until discovery has followed the definition."""
        for file in files:
            obj = self.load(file)
            self.api.apply(obj)
            if obj["kind"] == "CustomResourceDefinition":
                self.established(obj["metadata"]["name"])

    def established(self, name: str) -> None:
        def look() -> Seen[None]:
            obj = self.api.get(f"{DEFINITIONS}/{name}") or {}
            conditions = (obj.get("status") or {}).get("conditions") or []
            done = any(c["type"] == "Established" and c["status"] == "True" for c in conditions)
            return Seen(done, str(conditions))

        wait_for(f"{name} to be established", look, limit_s=60)
        discovery.look(self.cluster, name.partition(".")[2])

    def clear(self) -> None:
        """Nothing of the course but an empty ch54 (deleting that would take 5 s)."""
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ch54"}})
        empty_namespace(self.api)
        for name in COURSE_NAMES[1:]:
            for path in name.taken(self.api):
                self.api.delete(path)

        def look() -> Seen[None]:
            definitions = self.api.list(DEFINITIONS)
            nudge(self.api, definitions)
            left = [path for name in COURSE_NAMES[1:] for path in name.taken(self.api)]
            left += [one["metadata"]["name"] for one in definitions if "deletionTimestamp" in one["metadata"]]
            return Seen(not left, str(left))

        wait_for("the course's names to be free, and other tests' definitions to be gone", look, limit_s=120)
        discovery.look(self.cluster, "cours.example.com")
        load.settled(self.api)


@pytest.fixture
def stage(cluster: EmbeddedCluster) -> Iterator[Stage]:
    with Api(cluster) as api:
        one = Stage(cluster, api)
        one.clear()
        yield one


class Foreign:
    """The same cluster, as somebody else's whose etcd is closed."""

    def __init__(self, cluster: EmbeddedCluster) -> None:
        self._cluster = cluster
        self.kubeconfig = cluster.kubeconfig
        self.context: str | None = None
        self.cache_dir = cluster.cache_dir
        self.owned = False

    def start(self, progress: Progress = silent) -> None: ...

    def stop(self) -> None: ...

    def reset(self, progress: Progress = silent) -> None:
        from labkit.cluster import cleaning

        cleaning.reset(self, progress)

    def info(self) -> ClusterInfo:
        return self._cluster.info()

    def gone(self) -> ClusterGone | None:
        return self._cluster.gone()


@pytest.fixture
def foreign(cluster: EmbeddedCluster) -> Foreign:
    return Foreign(cluster)
