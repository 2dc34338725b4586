"""What definitions and objects cost, and that nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.cluster import choose
from labkit.cluster.claim import COST_DEFINITIONS, COST_LIMIT, DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ApiError, ClaimRefused, ClusterError, CommandError, WaitTimeout
from labkit.observe import cost, load
from labkit.observe.cost import Plan

from .conftest import Foreign, Stage


def left(stage: Stage) -> list[str]:
    names = (obj["metadata"]["name"] for obj in stage.api.list(DEFINITIONS))
    return [name for name in names if name.endswith(".cout.example.com")]


# -- what is measured -------------------------------------------------------------------------------------------------


def test_each_step_adds_its_types_to_one_group_and_one_document_and_all_are_gone_afterwards(stage: Stage) -> None:
    lines: list[str] = []
    parts: list[float] = []

    seen = cost.measure(stage.cluster, Plan((1, 5), repeats=1), lines.append, parts.append)

    assert (seen.group_version, seen.apart, seen.whole, len(seen.rounds)) == ("cout.example.com/v1", False, True, 1)
    before, (one, five) = seen.first.before, seen.first.steps
    assert [(step.definitions, step.objects) for step in seen.first.steps] == [(1, 0), (5, 0)]
    for step in (one, five):
        assert step.reading.definitions - before.definitions == step.definitions
        assert step.reading.types - before.types == step.definitions
        assert step.reading.group_versions - before.group_versions == 1
        assert step.reading.discovery_bytes - before.discovery_bytes == 168  # one group, as in the chapter
        assert len(step.cold_s) == len(step.warm_s) == cost.KUBECTL_RUNS
        assert 0 < step.established_s <= step.published_s < 60
        assert step.stored_s == 0
    assert one.established_s < five.established_s
    assert before.openapi_bytes == before.stored_bytes == 0
    assert five.reading.openapi_bytes > 3 * one.reading.openapi_bytes > 100_000
    assert five.reading.stored_bytes == 5 * (one.reading.stored_bytes or 0) > 5000
    assert five.reading.aggregated_bytes > one.reading.aggregated_bytes > before.aggregated_bytes
    assert seen.first.removed.types == before.types
    assert left(stage) == []
    assert stage.api.get("/apis/cout.example.com") is None
    assert "removing 5 definitions" in lines
    assert parts == sorted(parts) and parts[-1] == pytest.approx(1.0)


def test_objects_add_what_they_weigh_in_etcd_and_no_type(stage: Stage) -> None:
    seen = cost.measure(stage.cluster, Plan((1,), (0, 20, 50), repeats=1))
    none, some, many = (step.reading for step in seen.first.steps)
    assert none.types == some.types == many.types == seen.first.before.types + 1
    assert none.stored_bytes is not None and some.stored_bytes is not None and many.stored_bytes is not None
    assert many.stored_bytes - none.stored_bytes == pytest.approx(2.5 * (some.stored_bytes - none.stored_bytes), 0.01)
    assert many.database_bytes is not None and none.database_bytes is not None
    assert many.database_bytes >= none.database_bytes, "it keeps its size where earlier revisions have left room in it"
    assert 0 < seen.first.steps[1].stored_s < seen.first.last.stored_s
    assert seen.first.steps[0].established_s == seen.first.last.established_s > 0
    assert left(stage) == []


def test_repeats_show_how_the_memory_moves_while_the_rest_is_the_same(stage: Stage) -> None:
    lines: list[str] = []
    seen = cost.measure(stage.cluster, Plan((2,), repeats=2), lines.append)
    first, second = seen.rounds
    assert [one.after.types - one.before.types for one in (first, second)] == [2, 2]
    assert first.after.discovery_bytes == second.after.discovery_bytes
    assert second.before.group_versions == first.before.group_versions
    assert all(one.memory_change_bytes == one.after.memory_bytes - one.before.memory_bytes for one in seen.rounds)
    assert any(line.startswith("round 2 of 2: ") for line in lines)


def test_kubectl_sends_the_same_definitions(stage: Stage) -> None:
    seen = cost.measure(stage.cluster, Plan((3,), repeats=1, through="kubectl"))
    assert seen.first.after.definitions - seen.first.before.definitions == 3
    assert left(stage) == []


def test_kubectl_is_timed_without_touching_what_the_person_s_kubectl_remembers(stage: Stage) -> None:
    remembered = stage.cluster.cache_dir / "discovery" / "mine"
    remembered.mkdir(parents=True, exist_ok=True)
    cost.measure(stage.cluster, Plan((1,), repeats=1))
    assert remembered.is_dir()
    assert not any("cout" in path.name for path in stage.cluster.cache_dir.rglob("*"))


def test_each_round_has_a_new_cluster_where_one_may_be_started() -> None:
    lines: list[str] = []
    parts: list[float] = []
    seen = cost.measure_apart(choose.resolve("embedded"), Plan((1,), repeats=2), lines.append, parts.append)
    assert seen.apart and seen.whole and len(seen.rounds) == 2
    assert seen.rounds[0].before.definitions == seen.rounds[1].before.definitions == 0
    assert "round 2 of 2: starting etcd and the API server" in lines
    assert parts == sorted(parts) and parts[-1] == pytest.approx(1.0)


def test_a_named_cluster_has_all_rounds_and_stays(stage: Stage, cluster: EmbeddedCluster) -> None:
    spec = choose.resolve(f"embedded:{cluster.state_dir}")
    seen = cost.measure_apart(spec, Plan((1,), repeats=2))
    assert not seen.apart and len(seen.rounds) == 2
    assert cluster.gone() is None
    assert left(stage) == []


# -- nothing is left --------------------------------------------------------------------------------------------------


def test_nothing_is_left_after_an_interrupt(stage: Stage) -> None:
    def interrupt(line: str) -> None:
        if "reading the server with 4" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cost.measure(stage.cluster, Plan((4,)), interrupt)
    assert left(stage) == []


def test_an_interrupt_of_the_removal_lets_it_begin_once_more(stage: Stage) -> None:
    told: list[str] = []

    def interrupt(line: str) -> None:
        told.append(line)
        if told.count("removing 2 definitions") == 1 and line == "removing 2 definitions":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        cost.measure(stage.cluster, Plan((2,), repeats=1), interrupt)
    assert told.count("removing 2 definitions") == 2
    assert not hasattr(caught.value, "__notes__")
    assert left(stage) == []


def test_a_removal_that_fails_says_what_is_left(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(line: str) -> None:
        if "reading the server with 1" in line:
            stage.api.patch(path, {"metadata": {"finalizers": ["cours.example.com/inventaire"]}})
            monkeypatch.setattr(load, "LIMIT_S", 1.0)  # from now on: a busy server may need longer for what came before

    path = f"{DEFINITIONS}/{COST_DEFINITIONS[0]}"
    try:
        with pytest.raises(WaitTimeout, match="the measured definitions to be gone") as caught:
            cost.measure(stage.cluster, Plan((1,), repeats=1), held)
    finally:
        stage.api.patch(path, {"metadata": {"finalizers": None}})
    note = "left on the cluster: 1 definition (type-01.cout.example.com); labkit reset removes it"
    assert caught.value.__notes__ == [note]


def test_nothing_is_left_after_a_refusal_in_the_middle(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "definition", _third_is_bad(load.definition))
    with pytest.raises(ApiError, match=r"type-03\.cout\.example\.com was refused") as caught:
        cost.measure(stage.cluster, Plan((5,)))
    assert caught.value.code == 422
    assert "spec.scope" in caught.value.evidence
    assert left(stage) == []


def test_what_kubectl_says_of_a_refusal_is_the_evidence(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "definition", _third_is_bad(load.definition))
    with pytest.raises(CommandError, match=r"spec\.scope"):
        cost.measure(stage.cluster, Plan((3,), through="kubectl"))
    assert left(stage) == []


def test_what_an_earlier_run_left_is_removed_first(stage: Stage) -> None:
    stage.api.apply(load.definition(7))
    seen = cost.measure(stage.cluster, Plan((1,), repeats=1))
    assert seen.first.after.definitions - seen.first.before.definitions == 1
    assert left(stage) == []


def test_a_definition_of_the_group_that_is_not_claimed_stays(stage: Stage) -> None:
    other = load.definition(1)
    other["metadata"]["name"] = "wagen.cout.example.com"
    other["spec"]["names"] = {"kind": "Wagen", "listKind": "WagenList", "plural": "wagen", "singular": "wagen"}
    stage.api.apply(load.definition(2))
    stage.api.apply(other)
    assert "wagen.cout.example.com" not in COST_DEFINITIONS
    try:
        present = load.present(stage.api)
    finally:
        stage.clear()
    assert [obj["metadata"]["name"] for obj in present] == ["type-02.cout.example.com"]


# -- what is refused before anything is made --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definitions", "objects", "repeats", "says"),
    [
        ((0,), (0,), 1, f"1 to {COST_LIMIT}"),
        ((COST_LIMIT + 1,), (0,), 1, f"1 to {COST_LIMIT}"),
        ((10, 5), (0,), 1, "growing"),
        ((), (0,), 1, "growing"),
        ((1,), (0, -1), 1, "growing"),
        ((1,), (0, cost.OBJECT_LIMIT + 1), 1, "objects"),
        ((1, 2), (0, 10), 1, "not both"),
        ((5,), (0,), 0, "at least once"),
    ],
)
def test_numbers_out_of_range_make_no_plan(
    definitions: tuple[int, ...], objects: tuple[int, ...], repeats: int, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Plan(definitions, objects, repeats)


def test_a_way_to_send_that_there_is_not_makes_no_plan() -> None:
    with pytest.raises(ValueError, match='"api" or "kubectl"'):
        Plan(through="post")  # type: ignore[arg-type]


def test_a_foreign_cluster_nobody_claimed_gets_no_definition(stage: Stage, foreign: Foreign) -> None:
    with pytest.raises(ClaimRefused):
        cost.measure(foreign, Plan((1,)))
    assert left(stage) == []


@pytest.mark.parametrize("plan", [Plan((51,)), Plan((1,), (0, 1))])
def test_much_is_measured_on_an_embedded_cluster_only(stage: Stage, foreign: Foreign, plan: Plan) -> None:
    with pytest.raises(ClusterError, match="on an embedded cluster only"):
        cost.measure(foreign, plan)
    assert left(stage) == []


def test_every_definition_comes_from_one_builder_under_a_claimed_name() -> None:
    made = [load.definition(number) for number in range(1, COST_LIMIT + 1)]
    assert [obj["metadata"]["name"] for obj in made] == list(COST_DEFINITIONS)
    assert len({obj["spec"]["names"]["kind"] for obj in made}) == COST_LIMIT


def _third_is_bad(builder: Callable[[int], dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    def build(number: int) -> dict[str, Any]:
        obj = builder(number)
        if number == 3:
            obj["spec"]["scope"] = "Galaxy"
        return obj

    return build
