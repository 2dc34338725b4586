"""Which cluster: from a person's spelling, or from what runs, to a running cluster.

One order for everything labkit starts: the cluster that is named, else one that runs, else a new embedded one. What
"runs" may be joined depends on the owner: a command that holds its cluster (``labkit play``, a test worker) never
plays on the embedded cluster of somebody else unless told to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from labkit.cluster import embedded, places, process
from labkit.cluster.base import Cluster, Owner, Progress, silent
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterBusy, ClusterChoiceError, ClusterGone
from labkit.languages import translate

if TYPE_CHECKING:
    from labkit.cluster.minikube import MinikubeCluster

__all__ = ["SPELLINGS", "ClusterSpec", "attach", "attach_or_start", "opened", "resolve"]

SPELLINGS = (
    "embedded",
    "embedded:STATE_DIR",
    "minikube",
    "minikube:PROFILE",
    "kubeconfig:PATH",
    "kubeconfig:PATH#CONTEXT",
)
DEFAULT_PROFILE = "labkit"

_PROFILE = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class ClusterSpec:
    """A choice. *backend* "any" means that nothing was named; *path* is a state directory or a kubeconfig."""

    backend: Literal["any", "embedded", "minikube", "kubeconfig"]
    path: Path | None = None
    profile: str = DEFAULT_PROFILE
    context: str | None = None


def resolve(spec: str | None, *, environ: Mapping[str, str] = os.environ) -> ClusterSpec:
    """The choice of ``--cluster`` (*spec*), else of LABKIT_CLUSTER, else "any".

    Raises ClusterChoiceError, whose next act lists the legal spellings. Looks at no file and no cluster.
    """
    spelled = spec if spec is not None else environ.get("LABKIT_CLUSTER", "")
    if not spelled:
        return ClusterSpec("any")
    backend, colon, rest = spelled.partition(":")
    if backend == "embedded" and bool(rest) == bool(colon):
        return ClusterSpec("embedded", path=Path(rest).expanduser().absolute() if rest else None)
    if backend == "minikube" and bool(rest) == bool(colon) and (not rest or _PROFILE.fullmatch(rest)):
        return ClusterSpec("minikube", profile=rest or DEFAULT_PROFILE)
    if backend == "kubeconfig" and rest:
        path, _, context = rest.partition("#")
        if path:
            return ClusterSpec("kubeconfig", path=Path(path).expanduser().absolute(), context=context or None)
    raise ClusterChoiceError(
        translate("no cluster is spelled so"),
        evidence=repr(spelled),
        next_act=translate("use one of: {names}", names=", ".join(SPELLINGS)),
    )


def attach_or_start(
    spec: ClusterSpec,
    *,
    owner: Owner,
    progress: Progress = silent,
    keep: Path | None = None,
    lessee: int | None = None,
) -> Cluster:
    """A running cluster: the one named, else one that runs, else an embedded one started for *owner*.

    *keep* is the directory of ``labkit start --keep`` (LEFT only). *lessee* is the process a LEASED cluster lives as
    long as, this one's parent when None. Does not claim. Raises ClusterError and MachineError of every kind.
    """
    if spec.backend == "kubeconfig" and spec.path is not None:
        from labkit.cluster.existing import ExistingCluster

        return _up(ExistingCluster(spec.path, spec.context), progress)
    if spec.backend == "minikube":
        from labkit.cluster.minikube import MinikubeCluster

        return _up(MinikubeCluster(spec.profile), progress)
    if spec.backend == "any" and keep is None:
        minikube = _running_minikube()
        if minikube is not None:
            return _up(minikube, progress)
    return _up(_embedded(spec.path, owner, keep, lessee), progress)


def attach(spec: ClusterSpec) -> Cluster:
    """A cluster that runs already, for one command: the one named, else minikube's, else a started embedded one, else
    the one embedded cluster that runs. Starts nothing. Raises ClusterGone when none runs, ClusterChoiceError when
    several do and none is named.
    """
    if spec.path is not None:  # a kubeconfig or a state directory: starting it is only asking whether it answers
        return attach_or_start(spec, owner=Owner.HELD)
    minikube = _running_minikube(spec.profile) if spec.backend in ("any", "minikube") else None
    if minikube is not None:
        return _up(minikube, silent)
    if spec.backend == "minikube":
        start = f"labkit start --cluster minikube:{spec.profile}"
        raise ClusterGone(
            translate("this minikube profile does not run as labkit's"), evidence=spec.profile, next_act=start
        )
    started = places.started()
    found = [started] if process.find(started) is not None else [ready.state_dir for ready in embedded.running()]
    if not found:
        raise ClusterGone(
            translate("no cluster runs"),
            next_act=translate("labkit start; or name one with --cluster or LABKIT_CLUSTER"),
        )
    if len(found) > 1:
        spelled = ", ".join(f"embedded:{state_dir}" for state_dir in found)
        raise ClusterChoiceError(
            translate("several clusters run"),
            evidence=spelled,
            next_act=translate("name one with --cluster or LABKIT_CLUSTER"),
        )
    return embedded.attach(found[0])


@contextmanager
def opened(spec: ClusterSpec, *, progress: Progress = silent) -> Iterator[Cluster]:
    """A cluster for the time of the block. An embedded one started for it ends with the block, others keep running."""
    cluster = attach_or_start(spec, owner=Owner.HELD, progress=progress)
    try:
        yield cluster
    finally:
        if isinstance(cluster, EmbeddedCluster):
            cluster.stop()


def _up(cluster: Cluster, progress: Progress) -> Cluster:
    cluster.start(progress)
    return cluster


def _running_minikube(profile: str = DEFAULT_PROFILE) -> MinikubeCluster | None:
    from labkit.cluster.minikube import MinikubeCluster

    cluster = MinikubeCluster(profile)
    return cluster if cluster.runs() else None


def _embedded(state_dir: Path | None, owner: Owner, keep: Path | None, lessee: int | None) -> EmbeddedCluster:
    if state_dir is not None:
        return EmbeddedCluster(state_dir, owner=None)
    if owner is Owner.HELD:
        return EmbeddedCluster(places.held(), owner=owner)
    if owner is Owner.LEASED:
        return _leased(lessee if lessee is not None else os.getppid())
    return _left(keep)


def _leased(lessee: int) -> EmbeddedCluster:
    """This lessee's own cluster if it runs, else the started one if that runs, else a new one for the lessee."""
    own = places.lease(lessee)
    started = places.started()
    if process.find(own) is None and process.find(started) is not None:
        return EmbeddedCluster(started, owner=None)
    return EmbeddedCluster(own, owner=Owner.LEASED, lessee=lessee)


def _left(keep: Path | None) -> EmbeddedCluster:
    wanted = keep.expanduser().absolute() if keep is not None else None
    started = places.started()
    if process.find(started) is not None and wanted not in (None, started):
        raise ClusterBusy(
            translate("another started cluster is running"),
            evidence=str(started),
            next_act=translate("labkit stop, then start with --keep again"),
        )
    if wanted is not None:
        return EmbeddedCluster(wanted, owner=Owner.LEFT, throw_away=False)
    running = process.find(started) is not None
    return EmbeddedCluster(started if running else places.clusters() / "started", owner=Owner.LEFT)
