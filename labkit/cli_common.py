"""What the commands share: how a cluster is named, where the course is, and how a line is said."""

from __future__ import annotations

from pathlib import Path

import click

from labkit.cluster.base import Cluster

__all__ = ["attached", "cluster_option", "course_root", "say"]

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


def course_root() -> Path:
    """The folder that holds crd/, notebooks/ and exercises/: the one here or above, else the checkout's."""
    from labkit.course.notebook import find_root
    from labkit.errors import NotebookError
    from labkit.machine.checkout import Checkout

    try:
        return find_root(Path.cwd())
    except NotebookError:
        return Checkout.here().root


def say(line: str) -> None:
    """A line to standard error, in which nothing steers a terminal."""
    from labkit.show.plain import plain

    click.echo(plain(line), err=True)
