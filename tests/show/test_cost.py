"""Tables of what definitions and objects cost."""

from __future__ import annotations

from dataclasses import replace

from labkit.observe.cost import Cost, Plan
from labkit.show import cost as view
from labkit.show import views

from .samples import COST, OBJECTS_COST


def table(value: Cost) -> dict[str, list[str]]:
    return {name: cells for name, *cells in view.rows(value)}


def test_each_measure_stands_with_units_under_every_load_and_ends_with_its_growth() -> None:
    assert view.columns(COST) == ("measure", "0", "1", "10", "50", "each more", "fit")
    found = table(COST)
    assert found["types (api-resources)"] == ["72", "73", "82", "122", "+1.00", "R² 1.000"]
    assert found["/apis, bytes"] == ["3922", "4090", "4090", "4090", "–", "–"]
    assert found["/apis, aggregated, bytes"][-2:] == ["+235 bytes", "R² 1.000"]
    assert found["all established in"][:4] == ["–", "0.0 s", "0.2 s", "0.7 s"]
    assert found["kubectl get namespaces, cold"][1] == "70 ms"


def test_what_drifts_is_compared_with_the_beginning_of_its_own_round() -> None:
    found = table(COST)
    assert found["memory of the process"][:4] == ["418 MiB", "+0 MiB", "-3 MiB", "+15 MiB"]
    assert found["memory in use"] == ["100 MiB", "+1 MiB", "+10 MiB", "+50 MiB", "+1024 KiB", "R² 1.000"]


def test_of_objects_there_is_no_load_before_the_first() -> None:
    assert view.columns(OBJECTS_COST) == ("measure", "0", "100", "1000", "each more", "fit")
    found = table(OBJECTS_COST)
    assert found["all objects created in"] == ["0.0 s", "0.2 s", "2.0 s", "+2.00 ms", "R² 1.000"]
    assert "kubectl get type-01, warm" in found
    assert "groups" not in found


def test_what_a_cluster_does_not_tell_is_a_dash() -> None:
    def closed(value: Cost) -> Cost:
        one = value.first
        steps = tuple(replace(step, reading=replace(step.reading, stored_bytes=None)) for step in one.steps)
        return replace(value, rounds=(replace(one, before=replace(one.before, stored_bytes=None), steps=steps),))

    assert set(table(closed(COST))["etcd, keys and values"]) == {"–"}


def test_with_two_loads_nothing_is_fitted() -> None:
    first = replace(COST.rounds[0], steps=COST.rounds[0].steps[-1:])
    single = replace(COST, plan=Plan((50,), repeats=1), rounds=(first,))
    assert all(cells[-2:] == ["–", "–"] for cells in table(single).values())


def test_the_noise_has_a_row_a_round() -> None:
    row = ("2", "501.0 MiB", "459.3 MiB", "-41.7 MiB", "500.0 MiB", "+50.0 MiB", "0.5 s")
    assert view.noise_rows(COST)[1] == row
    assert "501.0 MiB" in views.text(view.noise(COST))
    assert "501.0 MiB" not in views.text(view.loads(COST))
