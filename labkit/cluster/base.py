"""What a cluster is to the rest of the kit.

Every backend (one module each: ``embedded``, ``minikube``, ``existing``) offers the small protocol ``Cluster``. What
only some can do is a narrow protocol of its own, asked for with ``isinstance``: ``ReadsEtcd``. What a step may rely on
is a set of names in ``ClusterInfo.capabilities``, so that a step can say "not shown, because" instead of failing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["KUBERNETES_VERSION", "Cluster", "ClusterInfo", "KeyValue", "Progress", "ReadsEtcd", "silent"]

KUBERNETES_VERSION = "v1.37.2"
"""The release the embedded control plane is built from and minikube is asked for (controlplane/go.mod has it too; a
test compares them)."""

Progress = Callable[[str], None]
"""Takes one short line about what is being waited for."""


def silent(_: str) -> None:
    """A progress that shows nothing."""


@dataclass(frozen=True)
class ClusterInfo:
    """What there is to know of a running cluster.

    *name* is its spelling for ``--cluster``; *version* the server's gitVersion ("v1.37.2"); *capabilities* holds
    "etcd" where its etcd can be read, "nodes" where Pods can run, and each served API as "GROUP/VERSION" and
    "GROUP/VERSION/PLURAL"; *lacks* says in words what it does not have, for people; *owned* is true when labkit
    started it.
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

    def start(self, progress: Progress = silent) -> None: ...

    def stop(self) -> None: ...

    def reset(self, progress: Progress = silent) -> None:
        """Back to a cluster on which the course has not been played: what the course made, and only that, is gone."""

    def info(self) -> ClusterInfo: ...


@dataclass(frozen=True)
class KeyValue:
    """One key of etcd as it is stored: bytes, and etcd's revisions of it."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    version: int


@runtime_checkable
class ReadsEtcd(Protocol):
    """A cluster whose etcd can be read (never written)."""

    def etcd_range(self, key: str, *, prefix: bool = False, keys_only: bool = False) -> tuple[KeyValue, ...]:
        """The key, or all keys with this prefix, in key order. Values are empty with *keys_only*."""
