"""What a cluster can do, asked of the cluster itself.

Names of APIs come from aggregated discovery, so a step that needs ``storagemigration.k8s.io/v1`` finds it wherever it
is served, whatever the version of the server.
"""

from __future__ import annotations

from collections.abc import Callable

from labkit.cluster.api import Api
from labkit.cluster.base import BASIC_CONTROLLERS, Cluster, ClusterInfo
from labkit.cluster.etcd import find_pod
from labkit.errors import ApiError

__all__ = ["describe", "describe_with_nodes"]


def describe(
    cluster: Cluster, *, name: str, backend: str, extra: frozenset[str], lacks: tuple[str, ...]
) -> ClusterInfo:
    """The ClusterInfo of a running cluster; *extra* are the capabilities that discovery cannot tell.

    Raises ClusterGone when it does not answer.
    """
    with Api(cluster) as api:
        served, version, server = api.resources(), api.version(), api.server
    apis = {resource.group_version for resource in served}
    apis |= {f"{resource.group_version}/{resource.plural}" for resource in served}
    return ClusterInfo(
        name=name,
        backend=backend,
        server=server,
        version=version,
        owned=cluster.owned,
        capabilities=BASIC_CONTROLLERS | extra | apis,
        lacks=lacks,
    )


def describe_with_nodes(cluster: Cluster, *, name: str, backend: str) -> ClusterInfo:
    """The ClusterInfo of a cluster that may have nodes and an etcd Pod: looks for both."""
    extra, lacks = set(), []
    if _allowed(lambda: _has_nodes(cluster)):
        extra |= {"nodes", "controllers:deployment"}
    else:
        lacks.append("nodes that can be seen: Pods may be stored and never run")
    if _allowed(lambda: find_pod(cluster) is not None):
        extra.add("etcd")
    else:
        lacks.append("an etcd that can be read: no Pod labelled component=etcd can be seen in kube-system")
    return describe(cluster, name=name, backend=backend, extra=frozenset(extra), lacks=tuple(lacks))


def _has_nodes(cluster: Cluster) -> bool:
    with Api(cluster) as api:
        return bool(api.list("/api/v1/nodes"))


def _allowed(look: Callable[[], bool]) -> bool:
    """What *look* says; False where this user may not look."""
    try:
        return look()
    except ApiError as refused:
        if refused.code != 403:
            raise
        return False
