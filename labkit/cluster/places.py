"""Where labkit keeps what outlives a command.

Everything lies under one folder, ``home()``, so that it can be moved (``LABKIT_HOME``), looked through by ``labkit
doctor`` and deleted by hand. Nothing of it is needed again: objects of the course live in clusters.

    clusters/started           the cluster of ``labkit start`` (``clusters/kept`` holds the path instead with --keep)
    clusters/lease-<pid>       a cluster leased to process <pid>, the parent of the kernel that began it
    clusters/held-<pid>-<n>    the n-th cluster that process <pid> holds
    clusters/lock              held while one of the first two is started or stopped
    minikube/<profile>/        its kubeconfig, and the record that labkit started this profile
    kubectl-cache/<cluster>/   kubectl's discovery cache of clusters whose state lies elsewhere
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import platformdirs

from labkit.errors import MachineError

__all__ = ["clusters", "held", "home", "kept_pointer", "kubectl_cache", "lease", "lock", "made", "minikube", "started"]

_serial = itertools.count(1)


def home() -> Path:
    """labkit's state folder (``$LABKIT_HOME``, else the platform's place for state), made 0700 when absent.

    Raises MachineError when it cannot be made or is not a folder.
    """
    named = os.environ.get("LABKIT_HOME")
    path = Path(named).expanduser().absolute() if named else Path(platformdirs.user_state_dir("labkit"))
    return made(path)


def clusters() -> Path:
    """The folder of embedded clusters' state directories."""
    return made(home() / "clusters")


def lock() -> Path:
    """The lock of starting and stopping clusters that several processes may share."""
    return clusters() / "lock"


def kept_pointer() -> Path:
    """A text file with the state directory of ``labkit start --keep DIR``, while that cluster is the started one."""
    return clusters() / "kept"


def started() -> Path:
    """The state directory of ``labkit start``'s cluster: where the pointer leads, else ``clusters/started``."""
    try:
        return Path(kept_pointer().read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return clusters() / "started"


def lease(pid: int) -> Path:
    """The state directory of the cluster leased to process *pid*."""
    return clusters() / f"lease-{pid}"


def held() -> Path:
    """A new state directory's path for a cluster that this process holds."""
    return clusters() / f"held-{os.getpid()}-{next(_serial)}"


def minikube(profile: str) -> Path:
    """The folder of a minikube profile; it may be absent."""
    return home() / "minikube" / profile


def kubectl_cache(cluster_id: str) -> Path:
    """A KUBECACHEDIR for a cluster that has no state directory here; *cluster_id* is a plain file name."""
    return home() / "kubectl-cache" / cluster_id


def made(path: Path) -> Path:
    """The folder, made for its owner only when absent. Raises MachineError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as cause:
        raise MachineError(
            "labkit's state folder cannot be made",
            evidence=str(cause),
            next_act="set LABKIT_HOME to a folder you may write",
        ) from cause
    return path
