"""Typed objects on a real cluster: written, read as they are, written back without a difference, refused by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from labkit.cluster import Api, Refused, Typed
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ApiError, ManifestError
from labkit.resources import (
    APIObject,
    Bool,
    Int,
    List,
    Map,
    Object,
    Resource,
    ResourceError,
    Str,
    Struct,
    cel,
    crd,
    from_crd,
)
from labkit.resources.k8s import ConfigMap, Namespace, Pod, Role

GROUP = "typed.example.com"


class Range(Resource, rules=[cel("self.min <= self.max", message="min is above max")]):
    min = Int(minimum=0, default=0)
    max = Int(minimum=1, maximum=20, default=5)


class Parcel(APIObject, group=GROUP, version="v1", plural="parcels", subresources={"status": {}}):
    """A kind with most of what can be refused."""

    spec = Struct(
        {
            "version": Str(required=True, pattern=r"^[0-9]+\.[0-9]+$"),
            "range": Object(Range, default={"min": 0, "max": 5}),
            "names": List(Str, max_items=3),
            "fast": Bool,
        },
        required=True,
    )


class Anything(APIObject, group=GROUP, version="v1", plural="anythings", preserve_unknown=True):
    """A kind whose definition keeps every field, and whose class declares two of them."""

    spec = Struct({"count": Int, "rows": List({"a": Int}), "texts": Map(Str)}, preserve_unknown=True)


@pytest.fixture(scope="module")
def server(cluster: EmbeddedCluster) -> Iterator[Typed]:
    with Api(cluster) as api:
        server = Typed(api)
        for kind in (Parcel, Anything):
            server.register(crd(kind))
        yield server
        for kind in (Parcel, Anything):
            server.delete(crd(kind))


@pytest.fixture
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


def parcel(name: str, **spec: Any) -> Parcel:
    return Parcel(metadata={"name": name, "namespace": "default"}, spec={"version": "1.0", **spec})


def test_a_registered_definition_is_established_and_comes_back_typed(server: Typed) -> None:
    definition = server.register(crd(Parcel))
    assert definition.is_condition_true("Established")
    assert definition.to_dict()["spec"]["names"]["kind"] == "Parcel"
    assert set(from_crd(definition.to_dict())) == {"v1"}


def test_an_object_is_applied_read_patched_and_deleted(server: Typed) -> None:
    made = server.apply(parcel("one", range={"max": 7}))
    assert isinstance(made, Parcel)
    assert made.spec_get("range.min") == 0, "the server's default"
    read = server.read(Parcel, "one", "default")
    assert read is not None
    assert read.to_dict() == made.to_dict()
    patched = server.patch(read, {"spec": {"range": {"max": 9}, "fast": True}})
    assert (patched.spec_get("range.max"), patched.spec_get("fast")) == (9, True)
    assert server.delete(patched)
    assert server.read(Parcel, "one", "default") is None
    assert not server.delete(patched)


def test_a_dry_run_stores_nothing(server: Typed) -> None:
    for write in (server.apply, server.create):
        assert write(parcel("dry"), dry_run=True).spec_get("range.max") == 5
    assert server.read(Parcel, "dry", "default") is None


def test_what_is_read_can_be_edited_by_path_and_put_back(server: Typed) -> None:
    read = server.apply(parcel("edited"))
    again = server.replace(read.spec_set("range.max", 12).spec_push("names", "a", "b"))
    assert (again.spec_get("range.max"), again.spec_get("names")) == (12, ["a", "b"])
    with pytest.raises(Refused) as caught:
        server.replace(read)
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    assert "the object has been modified" in str(caught.value)
    server.delete(again)


ODD: dict[str, Any] = {
    "zulu": None,
    "count": 3,
    "alpha": {"null": None, "empty": {}, "list": [None, [], {"b": 1, "a": None}], "f": 1.5, "big": 2**53 + 1},
    "rows": [{"z": 1, "a": 2, "unknown": {"deep": None}}],
    "texts": {"b": "2", "a": "1"},
    "$ref": "x",
    "é": "ü\u2028",
}


def test_an_object_read_and_written_back_differs_in_nothing(server: Typed, api: Api) -> None:
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Anything", "metadata": {"name": "odd", "labels": {"a": ""}}}
    collection = f"/apis/{GROUP}/v1/namespaces/default/anythings"
    assert api.raw("POST", collection, {**body, "spec": ODD, "beside": [None]}).ok
    sent = api.raw("GET", f"{collection}/odd").text
    read = server.read(Anything, "odd", "default")
    assert read is not None
    assert read.to_json() == json.dumps(json.loads(sent), ensure_ascii=False, separators=(",", ":"))
    assert "zulu" in read.to_dict()["spec"]
    server.replace(read)
    assert api.raw("GET", f"{collection}/odd").text == sent, "not even a new resourceVersion"
    server.delete(read)


def test_what_the_server_holds_is_read_whatever_the_class_says(server: Typed, api: Api) -> None:
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Anything", "metadata": {"name": "loose"}}
    spec = {"count": 3, "free": {"version": 3}, "more": "x"}
    assert api.raw("POST", f"/apis/{GROUP}/v1/namespaces/default/anythings", {**body, "spec": spec}).ok

    class Strict(APIObject, group=GROUP, version="v1", plural="anythings", kind="Anything"):
        spec = Struct({"free": List(Int), "needed": Str(required=True), "more": Int(minimum=3), "count": Str})

    read = server.read(Strict, "loose", "default")
    assert read is not None
    assert read.to_dict()["spec"] == spec
    assert server.replace(read).to_json() == read.to_json()
    with pytest.raises(ResourceError, match="needed: is required"):
        Strict.from_dict(read.to_dict())
    server.delete(read)


def test_a_refusal_names_every_field_in_one_order(server: Typed) -> None:
    wrong = {"version": "one", "range": {"min": -1, "max": 50}, "names": ["a"] * 4}
    document = {"apiVersion": f"{GROUP}/v1", "kind": "Parcel", "metadata": {"name": "wrong"}, "spec": wrong}
    loose = Parcel._read(document)  # as if an older class had built it
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            server.create(loose, dry_run=True)
        refusal = caught.value.refusal
        assert (refusal.code, refusal.reason) == (422, "Invalid")
        assert refusal.fields == ("spec.names", "spec.range.max", "spec.range.min", "spec.version")
    lines = str(caught.value).splitlines()
    assert lines[0] == "the API server refused Parcel wrong: 422 Invalid"
    assert lines[-1].startswith('  spec.version: Invalid value: "one": spec.version in body should match')
    assert {cause.reason for cause in refusal.causes} >= {"FieldValueInvalid", "FieldValueTooMany"}
    with pytest.raises(ResourceError) as local:
        Parcel.from_dict(document)
    assert tuple(sorted(local.value.paths)) == refusal.fields


def test_a_rule_is_the_servers_to_run(server: Typed) -> None:
    with pytest.raises(Refused, match=r"spec\.range: Invalid value: .*min is above max"):
        server.apply(parcel("ruled", range={"min": 9}), dry_run=True)


def test_an_unknown_field_is_named_by_every_way_of_writing_that_refuses_it(server: Typed) -> None:
    odd = parcel("odd", rnage={"max": 7})
    for write in (lambda: server.apply(odd, dry_run=True), lambda: server.create(odd, dry_run=True, strict=True)):
        with pytest.raises(Refused) as caught:
            write()
        assert caught.value.refusal.fields == ("spec.rnage",)
    assert "rnage" not in server.create(odd, dry_run=True).to_dict()["spec"], "left out, with a warning"


def test_a_field_of_another_manager_is_a_conflict_without_force(server: Typed, api: Api) -> None:
    server.apply(parcel("shared"))
    other = Typed(api, manager="other")
    with pytest.raises(Refused) as caught:
        other.apply(parcel("shared", version="2.0"), force=False)
    assert [(cause.field, cause.reason) for cause in caught.value.causes] == [("spec.version", "FieldManagerConflict")]
    assert other.apply(parcel("shared", version="2.0")).spec_get("version") == "2.0"
    server.delete(parcel("shared"))


PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def test_built_in_kinds_go_both_ways(server: Typed) -> None:
    for obj in (
        Namespace(metadata={"name": "typed-kinds"}),
        ConfigMap(metadata={"name": "typed", "namespace": "default"}, data={"a": "1"}),
        Role(metadata={"name": "typed", "namespace": "default"}, rules=[PODS]),
    ):
        stored = server.apply(obj, dry_run=isinstance(obj, Namespace))
        assert type(stored) is type(obj)
        if not isinstance(obj, Namespace):
            assert server.replace(stored).to_dict() == stored.to_dict()
            server.delete(stored)
    with pytest.raises(Refused) as caught:
        server.create(Pod(metadata={"name": "Bad Name"}, spec={"containers": []}), dry_run=True)
    assert caught.value.refusal.fields == ("metadata.name", "spec.containers")


def test_a_type_the_server_does_not_have_and_an_object_without_a_name_are_told(server: Typed) -> None:
    class Unknown(APIObject, group=GROUP, version="v1", plural="unknowns"):
        spec = Struct({"a": Int})

    with pytest.raises(ApiError, match=f"the server has no type Unknown in {GROUP}/v1"):
        server.read(Unknown, "a")
    with pytest.raises(ManifestError, match="a Parcel without a name cannot be sent"):
        server.apply(Parcel(spec={"version": "1.0"}))
