"""The trace's verdict is the server's: the same value from both, of objects that end at every station."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.observe import verdict
from labkit.observe.foreseen import foresee

from .conftest import CRD, Stage
from .test_verdict import WHOLE, A, B, C, D, colis

OBJECTS: dict[str, dict[str, Any]] = {
    "unknown field": A,
    "type": B,
    "completed": C,
    "rule": D,
    "as is": colis("essai-e", WHOLE),
    "metadata": colis("essai-f", WHOLE, wroker="x"),
    "null": colis("essai-g", {**WHOLE, "web": None}),
    "many": colis("essai-h", {"version": "2", "api": {"replicas": 0}, "worker": {"max": 50}, "autre": 1}),
}


@pytest.fixture(scope="module")
def final(cluster: EmbeddedCluster) -> Iterator[Stage]:
    with Api(cluster) as api:
        stage = Stage(cluster, api)
        stage.clear()
        stage.apply("06-colis-v1-seul.yaml")
        yield stage


@pytest.mark.parametrize("checking", ["strict", "warn", "ignore"])
@pytest.mark.parametrize("name", OBJECTS)
def test_a_trace_gives_the_verdict_of_the_server(final: Stage, name: str, checking: verdict.Checking) -> None:
    definition = yaml.safe_load((CRD / "06-colis-v1-seul.yaml").read_text("utf-8"))
    seen = verdict.ask(final.cluster, OBJECTS[name], checking=checking)
    assert replace(foresee(OBJECTS[name], definition, checking=checking), message=seen.message) == seen


def test_the_objects_end_in_every_way(final: Stage) -> None:
    strict = {name: verdict.ask(final.cluster, one).outcome for name, one in OBJECTS.items()}
    assert set(strict.values()) == {"refused", "completed", "accepted as is"}
    assert verdict.ask(final.cluster, A, checking="warn").outcome == "pruned"
