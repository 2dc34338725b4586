"""What a type checker must see in classes a person writes; checked by mypy in tests/resources/test_typing.py."""

from __future__ import annotations

from typing import Any, assert_type

from labkit.resources import (
    APIObject,
    Bool,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Object,
    Opaque,
    Quantity,
    Resource,
    Str,
    Struct,
    Time,
    cel,
    column,
    crd,
    fields,
    from_crd,
    from_openapi,
)
from labkit.resources.apiextensions import CustomResourceDefinition
from labkit.resources.k8s import Container, Pod, PodSpec


class Worker(Resource, rules=[cel("self.min <= self.max", message="…")]):
    min = Int(minimum=0, default=0)
    max = Int(minimum=1, maximum=20, default=5)


class Spec(Resource):
    version = Str(required=True, pattern="^a$")
    soft = Str(required="schema")
    null = Str(required=True, nullable=True)
    ratio = Num()
    on = Bool()
    port = IntOrStr()
    size = Quantity(int_or_string=True)
    at = Time()
    worker = Object(Worker, default={"min": 0})
    needed = Object(Worker, required=True)
    raw = Opaque()
    tags = List(Str, enum=["a"])
    workers = List(Object(Worker))
    short = List(Worker)
    matrix = List(List(Int))
    labels = Map(Str, required=True)
    by_name = Map(Worker)
    api = Struct({"replicas": Int})


class Colis(APIObject, group="cours.example.com", version="v1", plural="colis", columns=[column("A", ".spec.a")]):
    spec = Object(Spec, required=True)


colis = Colis(metadata={"name": "principal"}, spec={"version": "a"})
assert_type(colis.spec, Spec)
assert_type(colis.spec.version, str)
assert_type(colis.spec.soft, str | None)
assert_type(colis.spec.null, str | None)
assert_type(colis.spec.ratio, float | None)
assert_type(colis.spec.on, bool | None)
assert_type(colis.spec.port, int | str | None)
assert_type(colis.spec.size, str | None)
assert_type(colis.spec.at, str | None)
assert_type(colis.spec.worker, Worker | None)
assert_type(colis.spec.needed, Worker)
assert_type(colis.spec.needed.max, int | None)
assert colis.spec.worker is not None
assert_type(colis.spec.worker.max, int | None)
assert_type(colis.spec.raw, Any)
assert_type(colis.spec.tags, list[str] | None)
assert_type(colis.spec.workers, list[Worker] | None)
assert_type(colis.spec.short, list[Worker] | None)
assert_type(colis.spec.labels, dict[str, str])
assert_type(colis.spec.by_name, dict[str, Worker] | None)
assert_type(colis.spec.api, Any)
assert colis.metadata is not None
assert_type(colis.metadata.labels, dict[str, str] | None)
assert_type(colis.kind, str)

assert_type(colis.spec_set("worker.max", 7).spec_merge(web={"replicas": 3}), Colis)
assert_type(Colis.from_dict({}), Colis)
assert_type(Colis.from_json("{}"), Colis)
assert_type(colis.to_dict(), dict[str, Any])
assert_type(crd(Colis), CustomResourceDefinition)
assert_type(from_crd({})["v1"], type[APIObject])
assert_type(Worker.max, Int[int | None])
assert_type(fields(Colis)["spec"].required, bool)

pod = Pod(metadata={"name": "web"}, spec={"containers": []})
assert_type(pod.spec, PodSpec | None)
assert pod.spec is not None
assert_type(pod.spec.containers, list[Container] | None)
assert_type(pod.spec.restartPolicy, str | None)
assert_type(pod.spec_push("containers", Container(name="web")), Pod)
assert_type(from_openapi({}, "apps/v1", "Deployment"), type[APIObject])

colis.spec.version = "b"
colis.spec.worker = {"max": 3}
colis.spec.worker = None
colis.spec.on = "false"

assert_type(Spec.null.given(colis.spec), bool)
del colis.spec.soft

# What must be an error; mypy reports an unused ignore if it is not.
colis.spec.needed.max = "x"  # type: ignore[assignment]
colis.spec.nope  # type: ignore[attr-defined]  # noqa: B018
Int(minimum="low")  # type: ignore[call-overload]
Str(colour="red")  # type: ignore[call-overload]
crd(Worker)  # type: ignore[arg-type]
