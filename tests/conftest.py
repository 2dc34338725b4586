"""Fixtures every test may use: a labkit home of its own, and one embedded cluster a test process.

The cluster starts with the first test that asks for it (about 3 s) and is held through its standard input, so that a
killed test process leaves none. Tests share it: each makes names of its own, or empties what it used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Kubectl, Owner
from labkit.cluster.embedded import EmbeddedCluster

OURS = ("LABKIT_CLUSTER", "LABKIT_CLAIM", "LABKIT_HOME", "LABKIT_LANG", "KUBECONFIG", "KUBECACHEDIR")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty LABKIT_HOME, and none of the settings of the person who runs the tests."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "labkit-home"
    monkeypatch.setenv("LABKIT_HOME", str(place))
    return place


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    """A running embedded cluster, one a test process."""
    state_dir = tmp_path_factory.mktemp("cluster") / f"session-{os.getpid()}"
    one = EmbeddedCluster(state_dir, owner=Owner.HELD)
    one.start()
    yield one
    one.stop()


@pytest.fixture
def kubectl(cluster: EmbeddedCluster) -> Kubectl:
    """kubectl on that cluster."""
    return Kubectl(cluster)
