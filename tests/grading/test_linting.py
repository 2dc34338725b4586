"""The linter that puts states back finds what the plain one finds, and leaves the cluster as that does."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.store import Store
from labkit.exercises.lint import lint
from labkit.exercises.model import load
from labkit.grading import linting
from labkit.grading.states import NotClean, States
from tests.exercises import sample

FALLS_SHORT = {"wrong/none.yaml": "# fails: refuses: words that nobody says\n" + sample.starter()}


def stored(cluster: EmbeddedCluster) -> set[str]:
    """But for signs of life, and for what happened."""
    alone = ("/registry/leases/", "/registry/masterleases/", "/registry/peerserverleases/", "/registry/events/")
    with Store(cluster) as store:
        return {key for key in set(store.keys()) if not key.startswith(alone)}


def test_it_finds_the_same_and_leaves_the_same(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    exercise = load(sample.make(tmp_path, files=FALLS_SHORT))
    plain = list(lint(exercise, cluster))
    left = stored(cluster)
    assert linting.linted(exercise, cluster) == plain
    assert [one.what for one in plain if not one.good] == ["wrong/none"]
    assert stored(cluster) == left


def test_what_cannot_be_put_back_is_linted_plainly(
    tmp_path: Path, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = dataclasses.replace(load(sample.make(tmp_path)), hidden=())
    left = stored(cluster)

    class Unclean(States):
        def bring(self, *_: object) -> bool:
            raise NotClean("an answer deleted the namespace")

    monkeypatch.setattr(linting, "States", Unclean)
    found = linting.linted(exercise, cluster)
    assert [one.what for one in found if one.what.startswith("right/")] == ["right/other-way-round"]
    assert [one for one in found if not one.good] == []
    assert stored(cluster) == left
