"""The generated classes are those the real control plane describes, and the check finds out when they are not."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import MachineError
from labkit.machine import generate_k8s
from labkit.machine.checkout import Checkout
from labkit.resources import APIObject, Resource, fields, from_openapi, k8s
from labkit.resources.state import state_of

FOLDER = Checkout.here().root / "labkit" / "resources" / "k8s"


@pytest.fixture(scope="module")
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


@pytest.fixture(scope="module")
def docs(api: Api) -> dict[str, dict[str, Any]]:
    return generate_k8s.documents(api)


def test_the_generated_classes_are_not_stale(docs: dict[str, dict[str, Any]]) -> None:
    assert generate_k8s.stale(docs, FOLDER) == {}, "make kinds"


def test_the_classes_written_by_hand_say_what_the_server_says(docs: dict[str, dict[str, Any]]) -> None:
    assert generate_k8s.twin_differences(docs) == []


def test_a_changed_a_missing_and_a_leftover_module_are_stale(docs: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    for name, text in generate_k8s.sources(docs, "v0").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert generate_k8s.stale(docs, tmp_path) == {}
    newer = copy.deepcopy(docs)
    pod = newer["v1"]["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]
    pod["properties"]["novel"] = {"type": "string"}
    (tmp_path / "apps_v1.py").write_text("", encoding="utf-8")
    (tmp_path / "meta_v1.py").unlink()
    assert generate_k8s.stale(newer, tmp_path) == {
        "core_v1.py": "differs from what the control plane publishes",
        "meta_v1.py": "is not there",
        "apps_v1.py": "is not generated any more",
    }


def test_a_field_the_server_has_gained_is_missed_in_the_classes_written_by_hand(
    docs: dict[str, dict[str, Any]],
) -> None:
    newer = copy.deepcopy(docs)
    schemas = newer["apiextensions.k8s.io/v1"]["components"]["schemas"]
    schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]["properties"]["novel"] = {"type": "integer"}
    assert generate_k8s.twin_differences(newer) == ["ObjectMeta.novel is None; the server says Int"]


def test_a_type_without_a_place_is_an_error(docs: dict[str, dict[str, Any]]) -> None:
    newer = copy.deepcopy(docs)
    schemas = newer["v1"]["components"]["schemas"]
    schemas["io.k8s.other.v1.Part"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["part"] = {"$ref": "#/components/schemas/io.k8s.other.v1.Part"}
    with pytest.raises(MachineError, match=r"no module for io\.k8s\.other\.v1\.Part"):
        generate_k8s.sources(newer, "v0")


@pytest.mark.parametrize(("api_version", "kind"), [(a, k) for a, kinds in generate_k8s.KINDS.items() for k in kinds])
def test_a_class_made_at_run_time_declares_what_the_generated_one_does(
    docs: dict[str, dict[str, Any]], api_version: str, kind: str
) -> None:
    compared: set[type[Any]] = set()
    _same(from_openapi(docs[api_version], api_version, kind), getattr(k8s, kind), compared)
    assert len(compared) >= (100 if kind == "Pod" else 1)


def _same(made: type[Any], generated: type[Any], compared: set[type[Any]]) -> None:
    if generated in compared:
        return
    compared.add(generated)
    left, right = fields(made), fields(generated)
    assert [_said(one) for one in left.values()] == [_said(one) for one in right.values()], generated
    if not issubclass(generated, APIObject):
        assert state_of(made).facts == state_of(generated).facts
    for key, field in right.items():
        if field.cls is not None and issubclass(field.cls, Resource):
            _same(left[key].cls, field.cls, compared)


def _said(field: Any) -> tuple[Any, ...]:
    return (field.key, field.attribute, field.type, field.required, field.enforced, dict(field.options))


def test_a_deployment_is_made_at_run_time_and_the_server_takes_it(api: Api) -> None:
    document = api.get("/openapi/v3/apis/apps/v1")
    assert document is not None
    deployment = from_openapi(document, "apps/v1", "Deployment")
    labels = {"app": "typed"}
    made = deployment(
        metadata={"name": "typed", "namespace": "default"},
        spec={"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}},
    )
    made.spec_push("template.spec.containers", k8s.Container(name="web", image="nginx"))
    made.spec_set("replicas", 0)
    answer = api.raw("POST", "/apis/apps/v1/namespaces/default/deployments?dryRun=All", made.to_dict())
    assert answer.ok, answer.text
    assert deployment.from_dict(answer.json).to_dict() == answer.json
