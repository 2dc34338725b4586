"""What a kernel is told: which cluster it plays on, and nothing of the person's own Jupyter settings."""

from __future__ import annotations

from labkit.cluster import Cluster

__all__ = ["kernel_environment"]


def kernel_environment(cluster: Cluster) -> dict[str, str]:
    """Variables that lead ``labkit.begin`` in a kernel to exactly this cluster.

    The claim was made (or refused) by whoever chose the cluster, so a kernel may take it as made. It speaks the
    language of its notebook, which is that of the recorded outputs.
    """
    return {"LABKIT_CLUSTER": cluster.info().name, "LABKIT_CLAIM": "1", "LABKIT_LANG": ""}
