"""The nudge for a definition whose deletion the server has forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.terminating import NUDGED, nudge
from labkit.waiting import Seen, wait_for

NAME = "dinge.nudge.example.com"
PATH = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME},
    "spec": {
        "group": "nudge.example.com",
        "scope": "Namespaced",
        "names": {"kind": "Ding", "listKind": "DingList", "plural": "dinge", "singular": "ding"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


@pytest.fixture
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        one.apply(DEFINITION)
        yield one
        one.delete(PATH)

        def look() -> Seen[None]:
            left = one.get(PATH)
            nudge(one, [left] if left else [])
            return Seen(left is None, str(left))

        wait_for("the definition to go", look, limit_s=30)


def seen(api: Api, *, deleted: bool, reason: str) -> dict[str, Any]:
    """The definition as it is read, with what the server would say of its deletion."""
    obj = api.get(PATH)
    assert obj is not None
    condition = {"type": "Terminating", "status": "True", "reason": reason}
    obj["status"] = {"conditions": [*((obj.get("status") or {}).get("conditions") or ()), condition]}
    if deleted:
        obj["metadata"]["deletionTimestamp"] = "2026-11-30T13:24:47Z"
    return obj


def annotations(api: Api) -> dict[str, str]:
    return ((api.get(PATH) or {}).get("metadata") or {}).get("annotations") or {}


def test_a_definition_whose_last_try_failed_is_changed_each_time_it_is_seen(api: Api) -> None:
    values = []
    for _ in range(2):
        assert nudge(api, [seen(api, deleted=True, reason="InstanceDeletionFailed")]) == (NAME,)
        values.append(annotations(api)[NUDGED])
    assert len(set(values)) == 2


@pytest.mark.parametrize(
    ("deleted", "reason"), [(False, "InstanceDeletionFailed"), (True, "InstanceDeletionInProgress")]
)
def test_a_definition_that_stays_or_is_being_worked_on_is_left_alone(api: Api, deleted: bool, reason: str) -> None:
    assert nudge(api, [seen(api, deleted=deleted, reason=reason)]) == ()
    assert NUDGED not in annotations(api)


def test_a_definition_that_has_just_gone_is_no_error(api: Api) -> None:
    gone = seen(api, deleted=True, reason="InstanceDeletionFailed")
    gone["metadata"]["name"] = "weg.nudge.example.com"
    assert nudge(api, [gone]) == ()
