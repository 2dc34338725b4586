"""What a cluster can do, asked of the cluster itself.

Names of APIs come from aggregated discovery, so a step that needs ``storagemigration.k8s.io/v1`` finds it wherever it
is served, whatever the version of the server.
"""

from __future__ import annotations

from labkit.cluster.api import Api
from labkit.cluster.base import BASIC_CONTROLLERS, Cluster, ClusterInfo

__all__ = ["describe"]


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
