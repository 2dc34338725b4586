"""The backends the contract suite runs on, each started from nothing and taken away again."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from labkit.cluster import Cluster, Owner
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.cluster.minikube import MinikubeCluster

STANDIN = Path(__file__).parent / "standin"
REAL_MINIKUBE = os.environ.get("LABKIT_TEST_MINIKUBE") == "1"
"""``make test-minikube``: the same suite on the minikube of this machine."""


def put_standin_on_path(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """Let ``minikube`` and ``kubectl`` be the stand-ins, for clusters that end with this process."""
    folder = place / "bin"
    folder.mkdir(parents=True)
    for name in ("minikube", "kubectl"):
        script = folder / name
        run = f"import runpy\nrunpy.run_path({str(STANDIN / f'{name}.py')!r}, run_name='__main__')\n"
        script.write_text(f"#!{sys.executable}\n{run}")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MINIKUBE_HOME", str(place / "minikube"))
    monkeypatch.setenv("STANDIN_UNTIL_PID", str(os.getpid()))


@contextmanager
def embedded(place: Path) -> Iterator[Cluster]:
    cluster = EmbeddedCluster(place / "state", owner=Owner.HELD)
    try:
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def minikube(place: Path) -> Iterator[Cluster]:
    """A profile of minikube: the real one on demand, else the stand-in."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        if not REAL_MINIKUBE:
            put_standin_on_path(monkeypatch, place)
        cluster = MinikubeCluster("labkit-test")
        try:
            yield cluster
        finally:
            cluster.delete()


@contextmanager
def existing(place: Path) -> Iterator[Cluster]:
    """Somebody's kubeconfig, whose current context leads elsewhere, to nobody; the named one leads to a cluster."""
    with embedded(place) as behind:
        behind.start()
        path = place / "somebody" / "config"
        write_kubeconfig(path, behind.kubeconfig, context="course")
        yield ExistingCluster(path, "course")


def write_kubeconfig(path: Path, source: Path, *, context: str) -> None:
    """A kubeconfig with two contexts: *context* as in *source*, and the current one, which leads to a closed port."""
    config = yaml.safe_load(source.read_text())
    nowhere = {"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}}
    config["clusters"] = [{**config["clusters"][0], "name": context}, nowhere]
    config["users"] = [{**config["users"][0], "name": "somebody"}]
    config["contexts"] = [
        {"name": name, "context": {"cluster": name, "user": "somebody"}} for name in (context, "nowhere")
    ]
    config["current-context"] = "nowhere"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config))


BACKENDS = {"embedded": embedded, "minikube": minikube, "existing": existing}


def named(backend: str) -> str:
    """The backend as the names of tests have it: a stand-in says that it is one."""
    return "minikube-standin" if backend == "minikube" and not REAL_MINIKUBE else backend
