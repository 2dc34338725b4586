"""Runs the notebooks under nbval: one embedded cluster a worker, held through its standard input.

The cluster starts with the worker's first cell (about 3 s), and a notebook's kernel is told of it by LABKIT_CLUSTER;
nothing else of this process changes. Everything a cell prints is compared with what is recorded
(``labkit record`` renews it).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Owner
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import nbval_support

_FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
_CLUSTER = pytest.StashKey[EmbeddedCluster]()
_BEGUN = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    nbval_support.notice_dead_kernels()
    nbval_support.refuse_split_notebooks(config)
    config.stash[_BEGUN] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Lead the kernel that nbval starts before a notebook's first cell to this worker's cluster."""
    if not nbval_support.is_cell(item):
        return (yield)
    before = os.environ.get("LABKIT_CLUSTER")
    os.environ["LABKIT_CLUSTER"] = f"embedded:{_cluster(item.config).state_dir}"
    try:
        return (yield)
    finally:
        if before is None:
            del os.environ["LABKIT_CLUSTER"]
        else:
            os.environ["LABKIT_CLUSTER"] = before


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Say why, when a worker was given the middle of a notebook: a cell needs those before it."""
    if not nbval_support.is_cell(item):
        return
    notebook = item.nodeid.rpartition("::")[0]
    begun = item.config.stash[_BEGUN]
    if item.name != "Cell 0" and notebook not in begun:
        pytest.fail("the cells before this one were not run here: run the whole notebook on one worker", pytrace=False)
    begun.add(notebook)


def pytest_sessionfinish(session: pytest.Session) -> None:
    stash = session.config.stash
    if _CLUSTER in stash:
        stash[_CLUSTER].stop()
        stash[_FOLDER].cleanup()


def _cluster(config: pytest.Config) -> EmbeddedCluster:
    if _CLUSTER not in config.stash:
        config.stash[_FOLDER] = tempfile.TemporaryDirectory(prefix="labkit-notebooks-")
        cluster = EmbeddedCluster(Path(config.stash[_FOLDER].name) / "cluster", owner=Owner.HELD)
        config.stash[_CLUSTER] = cluster
        cluster.start()
    return config.stash[_CLUSTER]
