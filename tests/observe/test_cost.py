"""What definitions cost, and that none is left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.cluster.claim import COST_DEFINITIONS, COST_LIMIT, DEFINITIONS
from labkit.errors import ApiError, ClaimRefused, CommandError
from labkit.observe import cost

from .conftest import Foreign, Stage


def left(stage: Stage) -> list[str]:
    names = (obj["metadata"]["name"] for obj in stage.api.list(DEFINITIONS))
    return [name for name in names if name.endswith(".cout.example.com")]


def test_five_definitions_add_five_types_one_group_and_one_document_and_are_gone_afterwards(stage: Stage) -> None:
    lines: list[str] = []

    seen = cost.measure(stage.cluster, 5, lines.append)

    one = seen.first
    assert (seen.count, seen.group_version, len(seen.rounds)) == (5, "cout.example.com/v1", 1)
    assert one.after.definitions - one.before.definitions == 5
    assert one.after.types - one.before.types == 5
    assert one.after.group_versions - one.before.group_versions == 1
    assert one.before.openapi_bytes == 0
    assert one.after.openapi_bytes > 100_000
    assert one.after.discovery_bytes - one.before.discovery_bytes == 168  # one group, as in the chapter
    assert one.after.aggregated_bytes > one.before.aggregated_bytes
    assert one.points[-1].established == 5
    assert [p.seconds for p in one.points] == sorted(p.seconds for p in one.points)
    assert one.points[-1].seconds == one.established_s <= one.published_s < 60
    assert left(stage) == []
    assert stage.api.get("/apis/cout.example.com") is None
    assert "removing 5 definitions" in lines


def test_repeats_show_how_the_memory_moves_while_the_rest_is_the_same(stage: Stage) -> None:
    lines: list[str] = []
    seen = cost.measure(stage.cluster, 2, lines.append, repeats=2)
    first, second = seen.rounds
    assert [one.after.types - one.before.types for one in (first, second)] == [2, 2]
    assert first.after.discovery_bytes == second.after.discovery_bytes
    assert second.before.group_versions == first.before.group_versions
    assert all(one.memory_change_bytes == one.after.memory_bytes - one.before.memory_bytes for one in seen.rounds)
    assert any(line.startswith("round 2 of 2: ") for line in lines)


def test_kubectl_sends_the_same_definitions(stage: Stage) -> None:
    seen = cost.measure(stage.cluster, 3, through="kubectl")
    assert seen.first.after.definitions - seen.first.before.definitions == 3
    assert left(stage) == []


def test_nothing_is_left_after_an_interrupt(stage: Stage) -> None:
    def interrupt(line: str) -> None:
        if "reading the server after" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cost.measure(stage.cluster, 4, interrupt)
    assert left(stage) == []


def test_nothing_is_left_after_a_refusal_in_the_middle(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "definition", _third_is_bad(cost.definition))
    with pytest.raises(ApiError, match=r"type-03\.cout\.example\.com was refused") as caught:
        cost.measure(stage.cluster, 5)
    assert caught.value.code == 422
    assert "spec.scope" in caught.value.evidence
    assert left(stage) == []


def test_what_kubectl_says_of_a_refusal_is_the_evidence(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "definition", _third_is_bad(cost.definition))
    with pytest.raises(CommandError, match=r"spec\.scope"):
        cost.measure(stage.cluster, 3, through="kubectl")
    assert left(stage) == []


def test_what_an_earlier_run_left_is_removed_first(stage: Stage) -> None:
    stage.api.apply(cost.definition(7))
    seen = cost.measure(stage.cluster, 1)
    assert seen.first.after.definitions - seen.first.before.definitions == 1
    assert left(stage) == []


def test_a_definition_of_the_group_that_is_not_claimed_stays(stage: Stage) -> None:
    other = cost.definition(1)
    other["metadata"]["name"] = "wagen.cout.example.com"
    other["spec"]["names"] = {"kind": "Wagen", "listKind": "WagenList", "plural": "wagen", "singular": "wagen"}
    stage.api.apply(cost.definition(2))
    stage.api.apply(other)
    assert "wagen.cout.example.com" not in COST_DEFINITIONS
    try:
        present = cost._present(stage.api)
    finally:
        stage.clear()
    assert [obj["metadata"]["name"] for obj in present] == ["type-02.cout.example.com"]


@pytest.mark.parametrize(("count", "repeats"), [(0, 1), (COST_LIMIT + 1, 1), (5, 0)])
def test_numbers_out_of_range_are_refused_before_anything_is_made(stage: Stage, count: int, repeats: int) -> None:
    with pytest.raises(ValueError, match=f"1 to {COST_LIMIT}"):
        cost.measure(stage.cluster, count, repeats=repeats)


def test_a_foreign_cluster_nobody_claimed_gets_no_definition(stage: Stage, foreign: Foreign) -> None:
    with pytest.raises(ClaimRefused):
        cost.measure(foreign, 1)
    assert left(stage) == []


def test_every_definition_comes_from_one_builder_under_a_claimed_name() -> None:
    made = [cost.definition(number) for number in range(1, COST_LIMIT + 1)]
    assert [obj["metadata"]["name"] for obj in made] == list(COST_DEFINITIONS)
    assert len({obj["spec"]["names"]["kind"] for obj in made}) == COST_LIMIT


def _third_is_bad(builder: Callable[[int], dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    def build(number: int) -> dict[str, Any]:
        obj = builder(number)
        if number == 3:
            obj["spec"]["scope"] = "Galaxy"
        return obj

    return build
