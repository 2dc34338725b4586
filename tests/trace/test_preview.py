"""Objects counted by what befalls them, versions with what stands in their way, and no more held than a batch."""

from __future__ import annotations

import copy
import json
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from labkit.errors import BadDocument, DefinitionRefused
from labkit.trace import Engine, Source
from labkit.trace.forecast import Forecast
from labkit.trace.preview import BATCH, BATCH_BYTES, Preview, preview

from . import preview_world as world
from .texts import COMPLETE, TWO_VERSIONS

PLURAL = "things"
NEW = world.new(PLURAL, "v0", "v1")


@pytest.fixture(scope="module")
def asked() -> Iterator[Engine]:
    with Engine() as one:
        yield one


def source(value: Any, name: str = "given") -> Source:
    return Source.of(name, value)


def look(asked: Engine, *objects: Any, new: Any = NEW, **options: Any) -> tuple[Preview, list[Forecast]]:
    each: list[Forecast] = []
    given = [source(one, f"object {number}") for number, one in enumerate(objects)]
    return preview(asked, source(new, "new"), given, each=each.append, **options), each


def things(version: str, **specs: Any) -> list[Any]:
    return [world.thing(version, name, spec) for name, spec in specs.items()]


# -- fates -----------------------------------------------------------------------------------------------------------


def test_objects_that_meet_the_same_are_one_fate_whatever_their_values(asked: Engine) -> None:
    enums = {f"e{number}": {"size": f"huge-{number}"} for number in range(5)}
    lists = {f"l{number}": {"size": "small", "deep": [{}] * number + [{"gone": "x"}]} for number in range(5)}
    messages = {f"m{number}": {"size": "small", "range": {"min": 10 + number, "max": 3}} for number in range(5)}
    seen, each = look(asked, *things("v1", **enums, **lists, **messages))
    assert len(each) == seen.total == 15
    assert sorted(fate.count for fate in seen.fates) == [5, 5, 5]
    lost = seen.fates[0]
    assert (lost.forecast.loses, lost.examples) == (True, ("default/v1-l0", "default/v1-l1", "default/v1-l2"))
    assert {fate.forecast.next_write.verdict for fate in seen.fates[1:]} == {"forgiven"}


def test_objects_stored_in_another_version_are_another_fate(asked: Engine) -> None:
    seen, _ = look(asked, *things("v1", fine=world.FATES["fine"]), *things("v0", fine=world.FATES["fine"]))
    assert [fate.forecast.stored_version for fate in seen.fates] == ["v1", "v0"]


def test_the_worst_comes_first_and_is_counted(asked: Engine) -> None:
    fates = {name: world.FATES[name] for name in ("fine", "enum", "legacy", "rising")}
    seen, _ = look(asked, *things("v1", **fates))
    assert [fate.forecast.name for fate in seen.fates] == ["v1-rising", "v1-legacy", "v1-enum", "v1-fine"]
    assert (seen.refused, seen.lose, seen.forgiven, seen.not_restored) == (1, 1, 1, 1)
    assert seen.to_json()["counts"] == {
        "objects": 4, "lose": 1, "refused": 1, "forgiven": 1, "notRestored": 1, "unknown": 0,
    }  # fmt: skip


def test_what_the_ratchet_forgives_is_harmless_for_what_is_there(asked: Engine) -> None:
    seen, _ = look(asked, *things("v1", enum=world.FATES["enum"]))
    assert (seen.harmless, seen.forgiven, seen.not_restored) == (True, 1, 1)
    assert not look(asked, *things("v1", legacy=world.FATES["legacy"]))[0].harmless
    assert not look(asked, *things("v1", rising=world.FATES["rising"]))[0].harmless


def test_only_a_webhook_knows_what_it_converts(asked: Engine) -> None:
    new = copy.deepcopy(NEW)
    config = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.example/convert"}}
    new["spec"]["conversion"] = {"strategy": "Webhook", "webhook": config}
    fine = world.FATES["fine"]
    seen, each = look(asked, *things("v0", fine=fine), *things("v1", fine=fine), new=new)
    assert [one.next_read.verdict for one in each] == ["unknown", "accepted"]
    assert (seen.unknown, seen.harmless) == (1, True)


# -- definitions and versions ----------------------------------------------------------------------------------------


def test_a_definition_refused_only_for_the_old_one_is_looked_at_all_the_same(asked: Engine) -> None:
    old, new = world.old(PLURAL, "v0"), world.new(PLURAL, "v1")
    seen, each = look(asked, *things("v0", fine=world.FATES["fine"]), new=new, old=source(old))
    assert seen.definition.verdict == "refused"
    assert "v0 was previously a storage version" in seen.definition.lines[0]
    assert each[0].next_read.verdict == "refused"
    assert not seen.harmless


def test_a_definition_refused_by_itself_leaves_nothing_to_look_at(asked: Engine) -> None:
    new = copy.deepcopy(NEW)
    new["spec"]["versions"][0]["storage"] = True
    seen, each = look(asked, *things("v1", fine=world.FATES["fine"]), new=new)
    assert (seen.definition.verdict, seen.version, seen.total, each) == ("refused", "", 0, [])
    assert not seen.harmless


def test_a_version_is_read_and_written_that_clients_prefer_or_that_is_asked_for(asked: Engine) -> None:
    assert look(asked)[0].version == "v1"
    assert look(asked, version="v0")[0].version == "v0"
    with pytest.raises(BadDocument, match="no version v9, only v0, v1"):
        look(asked, version="v9")


def retirements(seen: Preview) -> dict[str, tuple[int | None, bool | None, bool | None]]:
    return {one.version: (one.objects, one.listed, one.possible) for one in seen.versions}


def test_a_version_can_go_when_it_is_not_stored_not_held_and_not_listed(asked: Engine) -> None:
    fine = world.FATES["fine"]
    old = world.old(PLURAL, "v1")
    seen, _ = look(asked, *things("v1", fine=fine), old=source(old | {"status": {"storedVersions": ["v1"]}}))
    assert retirements(seen) == {"v0": (0, False, True), "v1": (1, True, False)}
    seen, _ = look(asked, *things("v0", fine=fine), old=source(old | {"status": {"storedVersions": ["v1"]}}))
    assert retirements(seen) == {"v0": (1, False, False), "v1": (0, True, False)}
    seen, _ = look(asked, old=source(old | {"status": {"storedVersions": ["v0", "v1"]}}))
    assert retirements(seen) == {"v0": (0, True, False), "v1": (0, True, False)}


def test_what_is_not_known_is_not_claimed(asked: Engine) -> None:
    assert retirements(look(asked)[0]) == {"v0": (0, None, None), "v1": (0, True, False)}
    old = source(world.old(PLURAL, "v0"))
    assert retirements(look(asked, old=old)[0])["v0"] == (0, True, False), "it is stored by the old one"
    seen, each = look(asked, *things("v1", fine=world.FATES["fine"]), unseen="no etcd")
    assert retirements(seen) == {"v0": (None, None, None), "v1": (None, True, False)}
    assert (each[0].stored_version, seen.fates[0].forecast.stored_version) == (None, None)


# -- what is no object -----------------------------------------------------------------------------------------------


def test_a_text_that_is_no_object_of_the_definition_is_named(asked: Engine) -> None:
    with pytest.raises(BadDocument, match=r"^object 1: the object is a Other of"):
        look(asked, *things("v1", fine={}), world.thing("v1", "other", {}) | {"kind": "Other"})
    with pytest.raises(DefinitionRefused, match=r"^new: the server would refuse this definition"):
        look(asked, new=NEW | {"spek": {}})


def test_an_object_larger_than_the_server_reads_is_named_and_counted_in_bytes(asked: Engine) -> None:
    large = world.thing("v1", "large", {"any": {"text": "é" * (2 * 2**20)}})
    with pytest.raises(BadDocument, match=r"^object 1: larger than any request may be: 4,194,\d{3} bytes.* 3,145,728$"):
        look(asked, *things("v1", fine={}), large)


# -- many ------------------------------------------------------------------------------------------------------------


def colis(number: int) -> Source:
    manifest = {
        "apiVersion": "cours.example.com/v1alpha1",
        "kind": "Colis",
        "metadata": {"name": f"c{number}", "namespace": "default", "uid": "u", "generation": 1},
        "spec": {"version": f"1.{number}.0", "worker": {"min": 1, "max": 1 + number % 20}},
    }
    return Source(f"c{number}", json.dumps(manifest))


def test_ten_thousand_objects_would_take_less_than_thirty_seconds_of_processor(asked: Engine) -> None:
    """Half of what two cores have in 30 s: measured in processor time, which others on the machine do not lengthen."""
    new, old = Source("new", TWO_VERSIONS), Source("old", COMPLETE)
    preview(asked, new, [colis(0)], old=old)
    assert asked.pid is not None
    program, number = psutil.Process(asked.pid), 2000

    def spent() -> float:
        times = program.cpu_times()
        return float(times.user + times.system) + time.process_time()

    before = spent()
    seen = preview(asked, new, map(colis, range(number)), old=old)
    assert (spent() - before) / number * 10_000 < 30
    assert [fate.count for fate in seen.fates] == [number]


def test_no_more_objects_are_taken_than_a_batch_ahead(asked: Engine) -> None:
    taken = told = most = 0

    def objects() -> Iterator[Source]:
        nonlocal taken, most
        for number in range(3 * BATCH):
            taken += 1
            most = max(most, taken - told)
            yield colis(number)

    def each(_: Forecast) -> None:
        nonlocal told
        told += 1

    preview(asked, Source("new", TWO_VERSIONS), objects(), each=each)
    assert (taken, told) == (3 * BATCH, 3 * BATCH)
    assert most <= BATCH + 1


def test_a_request_is_as_large_as_its_json_not_as_its_texts(asked: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each character of the comment takes two bytes."""
    sent: list[int] = []
    answer = Engine.ask

    def counted(one: Engine, request: dict[str, Any]) -> dict[str, Any]:
        sent.append(len(json.dumps(request.get("objects", ()), ensure_ascii=False).encode()))
        return answer(one, request)

    monkeypatch.setattr(Engine, "ask", counted)
    filling = "# " + '"\\é' * 2**17 + "\n"
    objects = [Source(one.name, filling + one.text) for one in map(colis, range(40))]
    seen = preview(asked, Source("new", TWO_VERSIONS), objects)
    assert seen.total == 40
    assert sum(sent) > 2 * BATCH_BYTES and max(sent) <= BATCH_BYTES + 2 * BATCH


def test_memory_is_flat(asked: Engine) -> None:
    def peak(number: int) -> int:
        tracemalloc.start()
        try:
            preview(asked, Source("new", TWO_VERSIONS), map(colis, range(number)))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(BATCH)
    assert peak(10 * BATCH) < 1.3 * peak(2 * BATCH)
