"""What a preview says comes true: the change is made on a real server, each object read, written and created anew."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from labkit.cluster import Api, Etcd
from labkit.cluster.api import ApiResponse
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.show import views
from labkit.trace import Source, collection, engine, sources
from labkit.trace.forecast import Forecast
from labkit.trace.preview import Preview, preview
from labkit.waiting import Seen, wait_for
from tests.cluster.helpers import put_over, remove_definitions

from . import preview_world as world

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NOT_SENT = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
Json = Any


@dataclass
class Stage:
    """A server with one definition of this test."""

    cluster: EmbeddedCluster
    api: Api
    plural: str

    @property
    def path(self) -> str:
        return f"{DEFINITIONS}/{self.plural}.{world.GROUP}"

    def collection(self, version: str) -> str:
        return f"/apis/{world.GROUP}/{version}/namespaces/default/{self.plural}"

    def put(self, definition: Json, *, dry: bool = False) -> ApiResponse:
        def body(live: Json) -> Json:
            metadata = definition["metadata"] | {"resourceVersion": live["metadata"]["resourceVersion"]}
            return definition | {"metadata": metadata}

        return put_over(self.api, self.path, body, "?dryRun=All" if dry else "")[1]

    def begin(self) -> None:
        """Objects in v0, then others in v1."""
        self.api.post(DEFINITIONS, world.old(self.plural, "v0"))
        for version in ("v0", "v1"):
            if version == "v1":
                assert self.put(world.old(self.plural, "v1")).ok
            self.until(f"objects to be stored in {version}", lambda v=version: self.stores_in(v))
            for name, spec in world.FATES.items():
                self.api.post(self.collection(version), world.thing(version, name, spec))

    def stores_in(self, version: str) -> bool:
        """Whether what is created now is stored in *version*; told by an object that goes at once."""
        probe = world.thing(version, "probe", {})
        if self.api.raw("POST", self.collection(version), probe).code == 404:
            return False
        stored = self.stored(f"{version}-probe")
        assert self.api.delete(f"{self.collection(version)}/{version}-probe")
        return bool(stored["apiVersion"] == f"{world.GROUP}/{version}")

    def change(self, definition: Json) -> None:
        assert self.put(definition).ok
        self.until("the new definition to be in force", self.changed)

    def changed(self) -> bool:
        answer = self.api.raw("GET", f"{self.collection('v1')}?limit=1", accept=TABLE)
        if not answer.ok:  # the page holds an object that cannot be read
            return "invalid group/version" in answer.text
        return "Changed" in answer.text

    def until(self, what: str, look: Any) -> None:
        wait_for(what, lambda: Seen(look(), "not yet"), limit_s=120)

    def stored(self, name: str) -> Json:
        (kv,) = Etcd(self.cluster).get(f"/registry/{world.GROUP}/{self.plural}/default/{name}").kvs
        return json.loads(kv.value)

    def end(self) -> None:
        """All gone; a version that objects are still stored in is named again first, or they could not be deleted."""
        if self.api.get(self.path) is not None:
            self.put(world.old(self.plural, "v1"))
            self.until("objects to be readable", lambda: self.api.raw("GET", self.collection("v1")).ok)
            remove_definitions(self.api, f"{self.plural}.{world.GROUP}")

    def preview(self, new: Json, version: str | None = None) -> tuple[Preview, list[Forecast]]:
        there = sources.type_named(self.cluster, f"{self.plural}.{world.GROUP}")
        found = collection.stored_on(self.cluster, there)
        each: list[Forecast] = []
        seen = preview(
            engine(),
            Source.of("the new one", new),
            found.objects,
            old=there.definition,
            version=version,
            each=each.append,
        )
        assert found.total == seen.total == len(each)
        return seen, each


@pytest.fixture
def stage(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Iterator[Stage]:
    plural = f"things{abs(hash(request.node.name)) % 10**6}"
    with Api(cluster) as api:
        one = Stage(cluster, api, plural)
        try:
            one.begin()
            yield one
        finally:
            one.end()


# -- the truth, told independently -----------------------------------------------------------------------------------


def leaves_gone(before: Json, after: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Path and value of what *before* has and *after* has not, outermost first."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            inner = f"{path}.{key}" if path else key
            if key in after:
                yield from leaves_gone(value, after[key], inner)
            else:
                yield inner, value
    elif isinstance(before, list) and isinstance(after, list):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from leaves_gone(one, other, f"{path}[{index}]")


def content(obj: Json) -> Json:
    return {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion")}


def lines_of(answer: ApiResponse) -> list[str]:
    """A refusal's lines, sorted, as field errors print."""
    status = answer.status
    causes = (status.get("details") or {}).get("causes")
    if status.get("reason") != "Invalid" or not causes:
        return [status.get("message", answer.text)]
    return sorted({f"{one.get('field', '')}: {one['message']}" for one in causes})


def expect_met(said: Any, answer: ApiResponse, sent: Json, stored: Json | None) -> None:
    """What was *said* of a write is what the server's *answer* is, and what lies in etcd after it."""
    assert said.verdict == ("refused" if not answer.ok else said.verdict)
    assert (said.verdict in ("accepted", "forgiven")) is answer.ok, answer.text
    if not answer.ok:
        assert list(said.lines) == lines_of(answer)
        return
    assert said.lines == ()
    forgiven_rules = sorted(one.line for one in said.complaints if one.rule)
    assert forgiven_rules == sorted(answer.warnings)
    assert stored is not None
    assert sorted(said.pruned) == sorted(path for path, _ in leaves_gone(content(sent), content(stored)))
    gained = dict(leaves_gone(content(stored), content(sent)))
    lost_again = {added.path for added in said.defaulted} - gained.keys()  # defaults that the storage version lacks
    assert {added.path: added.value for added in said.defaulted if added.path not in lost_again} == gained
    assert lost_again <= {"spec.early", "spec.late"}


def expect_truth(stage: Stage, said: Forecast, version: str) -> None:
    """Read, write and create anew on the server what was foreseen."""
    before = stage.stored(said.name)
    assert said.stored_version == before["apiVersion"].rpartition("/")[2]
    path = f"{stage.collection(version)}/{said.name}"
    answer = stage.api.raw("GET", path)
    if said.next_read.verdict == "refused":
        put = stage.api.raw("PUT", path, world.thing(version, "x", {}) | {"metadata": {"name": said.name}})
        (line,) = said.next_read.lines
        assert said.next_write.lines == (line,)
        for refusal in (answer, put):  # the server names the key and its revision first
            assert (refusal.code, refusal.status["message"].endswith(f": {line}")) == (500, True)
        assert said.created_anew.verdict == "unknown"
        return
    assert answer.ok, answer.text
    read = answer.json
    gone = dict(leaves_gone(content(before), content(read)))
    assert sorted(said.next_read.pruned) == sorted(path for path, value in gone.items() if value is not None)
    assert sorted(said.next_read.nulls) == sorted(path for path, value in gone.items() if value is None)
    shown = dict(leaves_gone(content(read), content(before)))
    assert {added.path: added.value for added in said.next_read.defaulted} == shown

    touched = copy.deepcopy(read)
    touched["metadata"].setdefault("annotations", {})["touched"] = "yes"
    put = stage.api.raw("PUT", f"{path}?fieldValidation=Strict", touched)
    expect_met(said.next_write, put, touched, stage.stored(said.name) if put.ok else None)

    assert stage.api.delete(path)
    anew = copy.deepcopy(read)
    for name in NOT_SENT:
        anew["metadata"].pop(name, None)
    post = stage.api.raw("POST", f"{stage.collection(version)}?fieldValidation=Strict", anew)
    sent = {key: value for key, value in anew.items() if key != "status"}
    expect_met(said.created_anew, post, sent, stage.stored(said.name) if post.ok else None)


# -- the tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1", "v0"])
def test_each_object_is_read_written_and_created_anew_as_foreseen(stage: Stage, version: str) -> None:
    new = world.new(stage.plural, "v0", "v1")
    seen, each = stage.preview(new, None if version == "v1" else version)
    assert seen.version == version
    assert seen.total == 2 * len(world.FATES)
    assert seen.definition.verdict == "accepted"
    stage.change(new)
    for said in each:
        expect_truth(stage, said, version)


def test_the_world_has_every_fate(stage: Stage) -> None:
    seen, each = stage.preview(world.new(stage.plural, "v0", "v1"))
    assert {one.next_write.verdict for one in each} == {"accepted", "forgiven", "refused"}
    assert {one.created_anew.verdict for one in each} == {"accepted", "refused"}
    said = {one.name: one for one in each}
    assert said["v1-sealed"].next_write.verdict == "accepted"
    assert said["v1-sealed"].created_anew.verdict == "refused"
    assert said["v1-rising"].next_write.complaints[0].rule == "self > oldSelf"
    assert said["v0-legacy"].next_read.pruned == ("spec.legacy", "spec.early")
    assert seen.lose == sum(one.loses for one in each)
    assert seen.refused == sum(one.refused for one in each)
    assert sum(fate.count for fate in seen.fates) == seen.total
    assert not seen.harmless


def test_the_definition_meets_what_was_foreseen_and_versions_can_go_or_not(stage: Stage) -> None:
    new = world.new(stage.plural, "v0", "v1")
    seen, _ = stage.preview(new)
    assert {one.version: one.objects for one in seen.versions} == {"v0": len(world.FATES), "v1": len(world.FATES)}
    stage.change(new)
    for one in seen.versions:
        assert one.possible is False
        assert one.listed == (one.version in stage.api.get(stage.path)["status"]["storedVersions"])  # type: ignore[index]
        other = "v1" if one.version == "v0" else "v0"
        without = world.new(stage.plural, other)
        without["spec"]["versions"][0]["storage"] = True
        answer = stage.put(without, dry=True)
        assert not answer.ok
        foreseen, _ = stage.preview(without)
        assert foreseen.definition.verdict == "refused"
        assert list(foreseen.definition.lines) == lines_of(answer)


def test_objects_of_a_version_that_is_gone_cannot_be_read_as_foreseen(stage: Stage) -> None:
    body = {"status": {"storedVersions": ["v1"]}}
    answer = stage.api.raw("PATCH", f"{stage.path}/status", body, "application/merge-patch+json")
    assert answer.ok, answer.text
    new = world.new(stage.plural, "v1")
    seen, each = stage.preview(new)
    assert seen.definition.verdict == "accepted"
    assert seen.refused >= len(world.FATES)
    (v0,) = (one for one in seen.versions if one.version == "v0")
    assert (v0.defined, v0.objects, v0.possible) == (False, len(world.FATES), False)
    stage.change(new)
    for said in each:
        if said.stored_version == "v0":
            expect_truth(stage, said, "v1")
    listing = stage.api.raw("GET", stage.collection("v1"))
    assert listing.code in (429, 500), "429 where the watch cache is not filled, and so for as long as one is there"
    assert "invalid group/version" in listing.text
    assert "no list of them works, nor a deletion" in views.text(seen)


def test_a_version_that_nothing_speaks_for_can_go(stage: Stage) -> None:
    stage.api.delete(stage.collection("v0"))
    stage.until("the objects to be gone", lambda: not stage.api.list(stage.collection("v0")))
    body = {"status": {"storedVersions": ["v1"]}}
    assert stage.api.raw("PATCH", f"{stage.path}/status", body, "application/merge-patch+json").ok
    seen, _ = stage.preview(world.new(stage.plural, "v0", "v1"))
    assert {one.version: one.possible for one in seen.versions} == {"v0": True, "v1": False}
    stage.change(world.new(stage.plural, "v1"))
    assert stage.api.get(stage.path)["status"]["storedVersions"] == ["v1"]  # type: ignore[index]
