"""Clusters the course is played on, and the ways to speak to one: kubectl, etcd, the API, typed objects.

Names are loaded when first asked for: ``labkit.cluster.tools`` runs before any package is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.cluster import choose, claim
    from labkit.cluster.api import Api, ApiResponse
    from labkit.cluster.base import Cluster, ClusterInfo, KeyValue, Owner, ReadsEtcd
    from labkit.cluster.choose import ClusterSpec
    from labkit.cluster.etcd import Etcd, EtcdResult
    from labkit.cluster.kubectl import Kubectl, KubectlResult
    from labkit.cluster.refusal import Cause, Refusal, Refused
    from labkit.cluster.typed import Typed

__all__ = [
    "Api",
    "ApiResponse",
    "Cause",
    "Cluster",
    "ClusterInfo",
    "ClusterSpec",
    "Etcd",
    "EtcdResult",
    "KeyValue",
    "Kubectl",
    "KubectlResult",
    "Owner",
    "ReadsEtcd",
    "Refusal",
    "Refused",
    "Typed",
    "choose",
    "claim",
]

_HOMES = {
    "Api": "api",
    "ApiResponse": "api",
    "Cause": "refusal",
    "Cluster": "base",
    "ClusterInfo": "base",
    "ClusterSpec": "choose",
    "Etcd": "etcd",
    "EtcdResult": "etcd",
    "KeyValue": "base",
    "Kubectl": "kubectl",
    "KubectlResult": "kubectl",
    "Owner": "base",
    "ReadsEtcd": "base",
    "Refusal": "refusal",
    "Refused": "refusal",
    "Typed": "typed",
}
_MODULES = ("choose", "claim")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"labkit.cluster.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"labkit.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
