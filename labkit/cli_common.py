"""What the commands share: how a cluster is named, and how a line is said."""

from __future__ import annotations

import click

from labkit.cluster.base import Cluster

__all__ = ["attached", "cluster_option", "say"]

cluster_option = click.option(
    "--cluster",
    "spelled",
    metavar="CLUSTER",
    help="embedded[:STATE_DIR], minikube[:PROFILE] or kubeconfig:PATH[#CONTEXT]. Default: $LABKIT_CLUSTER, else a "
    "running one.",
)


def attached(spelled: str | None) -> Cluster:
    """The running cluster of that spelling. Raises LabkitError."""
    from labkit.cluster import choose

    return choose.attach(choose.resolve(spelled))


def say(line: str) -> None:
    """A line to standard error, in which nothing steers a terminal."""
    from labkit.show.plain import plain

    click.echo(plain(line), err=True)
