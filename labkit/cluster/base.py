"""What a cluster is to the rest of the kit.

Every backend (one module each: ``embedded``, ``minikube``, ``existing``) offers the small protocol ``Cluster``. What
only some can do is a narrow protocol of its own, asked for with ``isinstance``: ``ReadsEtcd``. What a step may rely on
is a set of names in ``ClusterInfo.capabilities``, so that a step can say "not shown, because" instead of failing.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from labkit.errors import ClusterGone

__all__ = [
    "BASIC_CONTROLLERS",
    "KUBERNETES_VERSION",
    "WHOLE",
    "Cluster",
    "ClusterInfo",
    "Encoding",
    "KeyValue",
    "Owner",
    "Page",
    "Progress",
    "ReadsEtcd",
    "silent",
]

KUBERNETES_VERSION = "v1.37.2"
"""The release the embedded control plane is built from and minikube is asked for (controlplane/go.mod has it too; a
test compares them)."""

BASIC_CONTROLLERS = frozenset(
    {
        "controllers:namespace",
        "controllers:garbage-collector",
        "controllers:clusterrole-aggregation",
        "controllers:service-account",
        "controllers:storage-version-migrator",
    }
)
"""Capabilities every backend has: without these controllers the chapter cannot be played."""

Progress = Callable[[str], None]
"""Takes one short line about what is being waited for."""


def silent(_: str) -> None:
    """A progress that shows nothing."""


class Owner(enum.Enum):
    """Who ends a cluster that labkit starts. Every cluster has one owner.

    HELD: this Python process, through the control plane's standard input; it ends with the process, however that ends.
    LEASED: the parent of this process (Jupyter, when this is a kernel), so that a restarted kernel finds its objects.
    LEFT: nobody but the person: it runs until ``labkit stop``.
    """

    HELD = "held"
    LEASED = "leased"
    LEFT = "left"


@dataclass(frozen=True)
class ClusterInfo:
    """What there is to know of a running cluster.

    *name* is its spelling for ``--cluster``; *version* the server's gitVersion ("v1.37.2"); *capabilities* holds
    "etcd" where its etcd can be read, "nodes" where Pods can run, BASIC_CONTROLLERS, and each served API as
    "GROUP/VERSION" and "GROUP/VERSION/PLURAL" ("v1" and "v1/pods" for the core group); *lacks* says in words what it
    does not have, for people; *owned* is true when labkit started it.
    """

    name: str
    backend: str
    server: str
    version: str
    owned: bool
    capabilities: frozenset[str] = field(default_factory=frozenset)
    lacks: tuple[str, ...] = ()


@runtime_checkable
class Cluster(Protocol):
    """A cluster the course can be played on. ``start`` and ``stop`` are idempotent; ``stop`` is always safe."""

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig that leads to this cluster; never the user's own file for one labkit started."""

    @property
    def context(self) -> str | None:
        """The context in it; None means its current one."""

    @property
    def cache_dir(self) -> Path:
        """kubectl's KUBECACHEDIR for this cluster."""

    @property
    def owned(self) -> bool:
        """Labkit started it, so its course names need no claim."""

    def start(self, progress: Progress = silent) -> None: ...

    def stop(self) -> None: ...

    def reset(self, progress: Progress = silent) -> None:
        """Back to a cluster on which the course has not been played: what the course made, and only that, is gone."""

    def info(self) -> ClusterInfo: ...

    def gone(self) -> ClusterGone | None:
        """Why it does not answer any more, as an error to raise; None while it answers."""


Encoding = Literal["json", "protobuf", "none", "other"]

_PROTOBUF_HEAD = b"k8s\x00"
"""First bytes of a value that kube-apiserver stored as protobuf (apimachinery runtime/serializer/protobuf)."""


@dataclass(frozen=True)
class KeyValue:
    """One key of etcd as it is stored: bytes, and etcd's revisions of it."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    version: int

    @property
    def encoding(self) -> Encoding:
        """How the value is written: "json", "protobuf" (by its ``k8s\\0`` head), "none" when empty, else "other"."""
        if not self.value:
            return "none"
        if self.value.startswith(_PROTOBUF_HEAD):
            return "protobuf"
        return "json" if self._decoded() is not None else "other"

    @property
    def object(self) -> dict[str, Any] | None:
        """The stored object when it is JSON, else None."""
        return self._decoded()

    def _decoded(self) -> dict[str, Any] | None:
        if not self.value.lstrip().startswith(b"{"):
            return None
        try:
            decoded = json.loads(self.value)
        except ValueError:
            return None
        return decoded if isinstance(decoded, dict) else None


@dataclass(frozen=True)
class Page:
    """A part of the keys with a prefix: at most *limit* (0: all) of those behind the key *after* ("": of all)."""

    limit: int = 0
    after: str = ""


WHOLE = Page()


@runtime_checkable
class ReadsEtcd(Protocol):
    """A cluster whose etcd can be read (never written)."""

    def etcd_range(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, revision: int = 0, page: Page = WHOLE
    ) -> tuple[KeyValue, ...]:
        """The key, or all keys with this prefix, in key order. Values are empty with *keys_only*.

        As they are now, or as they were at an earlier *revision*. Raises CommandError when etcd no longer has that one
        (kube-apiserver lets it forget what is older than about five minutes). With *prefix* a *page* of them may be
        asked for.
        """
