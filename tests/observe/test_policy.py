"""When a mutating policy is in force."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from labkit.errors import WaitTimeout
from labkit.observe import policy

from .conftest import CRD, Stage


@pytest.fixture
def held(stage: Stage) -> dict[str, Any]:
    """An object that the course's policy is for, and the definition with a schema."""
    stage.apply("02-colis-schema.yaml")
    mini = stage.load("objects/mini.yaml")
    mini["metadata"] |= {"name": "mute", "labels": {"essai": "mutation"}}
    mini["spec"]["worker"] = {"max": 9}
    return mini


def test_a_policy_is_in_force_once_the_field_is_stored_otherwise(stage: Stage, held: dict[str, Any]) -> None:
    for obj in yaml.safe_load_all((CRD / "politique-retire-max.yaml").read_text(encoding="utf-8")):
        stage.api.apply(obj)
    policy.wait_in_force(stage.cluster, held, "spec.worker.max")
    assert stage.api.apply(held)["spec"]["worker"] == {"max": 5, "min": 0}


def test_without_a_policy_the_wait_ends_and_says_what_it_saw(
    stage: Stage, held: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "IN_FORCE_LIMIT_S", 0.2)
    held["metadata"]["labels"] = {}
    with pytest.raises(WaitTimeout, match=r"spec\.worker\.max is stored as it is sent"):
        policy.wait_in_force(stage.cluster, held, "spec.worker.max")


def test_a_refused_probe_is_what_the_wait_tells(
    stage: Stage, held: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "IN_FORCE_LIMIT_S", 0.2)
    held["spec"]["version"] = "2.2"
    with pytest.raises(WaitTimeout, match="a dry run is refused"):
        policy.wait_in_force(stage.cluster, held, "spec.worker.max")
