"""Built-in kinds: the generated classes, and classes from an OpenAPI document at run time."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from labkit.resources import (
    JSON,
    APIObject,
    DeclarationError,
    List,
    Object,
    Resource,
    ResourceError,
    SchemaOrBool,
    SpecPathError,
    crd,
    fields,
    from_openapi,
    k8s,
    strict,
)
from labkit.resources.apiobject import facts_of
from labkit.resources.emission import class_schema
from labkit.resources.meta import ObjectMeta

REF = "#/components/schemas/"
PART = "com.example.v1.Part"


def document(**kind: Any) -> dict[str, Any]:
    """A document of one kind, Thing, with *kind* as the properties of its spec."""
    gvk = {"group": "example.com", "version": "v1", "kind": "Thing"}
    get = {"x-kubernetes-action": "get", "x-kubernetes-group-version-kind": gvk}
    return {
        "paths": {
            "/apis/example.com/v1/things": {"get": {**get, "x-kubernetes-action": "list"}},
            "/apis/example.com/v1/things/{name}": {"get": get},
            "/apis/example.com/v1/things/{name}/status": {"get": get},
        },
        "components": {
            "schemas": {
                "com.example.v1.Thing": {
                    "type": "object",
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "kind": {"type": "string"},
                        "metadata": {"allOf": [{"$ref": f"{REF}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
                        "spec": {"allOf": [{"$ref": f"{REF}{PART}"}], "default": {}},
                    },
                    "x-kubernetes-group-version-kind": [gvk],
                },
                PART: {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, **kind}},
                "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": {"type": "object"},
            }
        },
    }


def thing(**kind: Any) -> type[APIObject]:
    return from_openapi(document(**kind), "example.com/v1", "Thing")


def spec_of(cls: type[APIObject]) -> Any:
    return fields(fields(cls)["spec"].cls)


def test_asking_for_the_package_is_what_loads_the_kinds() -> None:
    code = "import sys, labkit.resources; print('labkit.resources.k8s' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_kinds_of_the_plan_are_there_with_their_facts() -> None:
    kinds = {name: getattr(k8s, name) for name in k8s.__all__ if name != "NAMES"}
    facts = {name: facts_of(cls) for name, cls in kinds.items() if issubclass(cls, APIObject)}
    found = {name: (one["api_version"], one["scope"]) for name, one in facts.items()}
    rbac = "rbac.authorization.k8s.io/v1"
    assert found == {
        "ClusterRole": (rbac, "Cluster"),
        "ClusterRoleBinding": (rbac, "Cluster"),
        "ConfigMap": ("v1", "Namespaced"),
        "CustomResourceDefinition": ("apiextensions.k8s.io/v1", "Cluster"),
        "Namespace": ("v1", "Cluster"),
        "Pod": ("v1", "Namespaced"),
        "Role": (rbac, "Namespaced"),
        "RoleBinding": (rbac, "Namespaced"),
        "Secret": ("v1", "Namespaced"),
        "ServiceAccount": ("v1", "Namespaced"),
    }
    assert {"ObjectMeta", "JSONSchemaProps", "JSON", "SchemaOrArray", "SchemaOrBool", "SchemaOrStringArray"} <= set(
        kinds
    )


@pytest.mark.requirement("R146", "accepts")
def test_a_pod_is_built_checked_and_edited_by_path() -> None:
    pod = k8s.Pod(
        metadata={"name": "web", "labels": {"app": "web"}},
        spec={
            "containers": [
                {"name": "web", "image": "nginx", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": 1}}}
            ]
        },
    )
    assert isinstance(pod.spec, k8s.PodSpec)
    pod.spec_set("containers.0.image", "nginx:2").spec_push("containers", {"name": "side"}).spec_set("os.name", "linux")
    assert pod.to_dict()["spec"] == {
        "containers": [
            {
                "name": "web",
                "image": "nginx:2",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1"}},
            },
            {"name": "side"},
        ],
        "os": {"name": "linux"},
    }
    with pytest.raises(SpecPathError, match="is not one of: Always, Never, OnFailure"):
        pod.spec_set("restartPolicy", "never")
    with pytest.raises(ResourceError) as caught:
        k8s.Pod(spec={"containers": [{"ports": [{"containerPort": "http"}]}], "hostNetwork": 3})
    assert caught.value.paths == ("spec.containers[0].ports[0].containerPort", "spec.hostNetwork")


@pytest.mark.requirement("R147", "refuses")
def test_a_kind_without_a_spec_says_so() -> None:
    with pytest.raises(SpecPathError, match="ConfigMap has no spec field"):
        k8s.ConfigMap(data={"a": "b"}).spec_set("a", 1)


def test_what_a_server_sends_is_taken_as_it_is() -> None:
    sent = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"creationTimestamp": None, "name": "odd", "novel": {"a": None}},
        "spec": {"containers": None, "restartPolicy": "Sometimes", "novel": [1], "hostPID": "yes"},
    }
    pod = k8s.Pod.from_dict(sent)
    assert json.dumps(pod.to_dict()) == json.dumps(sent)
    assert json.loads(pod.to_json()) == sent
    with strict(), pytest.raises(ResourceError, match="did you mean 'restartPolicy'"):
        k8s.PodSpec(restartpolicy="Never")


@pytest.mark.requirement("R017", "accepts")
@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("meta/v1/ObjectMeta", ObjectMeta),
        ("meta/v1/LabelSelector", k8s.LabelSelector),
        ("core/v1/PodSpec", k8s.PodSpec),
        ("rbac/v1/PolicyRule", k8s.PolicyRule),
        ("apiextensions/v1/JSONSchemaProps", k8s.JSONSchemaProps),
        ("apiextensions/v1/JSONSchemaPropsOrBool", SchemaOrBool),
    ],
)
def test_a_field_may_name_a_built_in_type(name: str, cls: Any) -> None:
    class Holder(Resource):
        one = Object(name)
        many = List(name)

    assert isinstance(Holder(one={}).one, cls)
    assert isinstance((Holder(many=[{}]).many or [])[0], cls)


@pytest.mark.requirement("R017", "refuses")
def test_a_short_name_nobody_has_is_refused_with_the_class_that_says_it() -> None:
    class Holder(Resource):
        one = Object("core/v1/Nothing")

    with pytest.raises(DeclarationError, match=r"'core/v1/Nothing' of field 'one' of .*Holder names no resource class"):
        Holder(one={})


def test_a_kind_of_ones_own_may_have_a_pod_template_in_its_definition() -> None:
    class Job(APIObject, group="example.com", version="v1", plural="jobs"):
        spec = Object(k8s.PodSpec, required=True)

    definition = crd(Job).to_dict()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["required"] == ["containers"]
    assert schema["properties"]["containers"]["x-kubernetes-list-map-keys"] == ["name"]


def test_a_kind_is_read_with_plural_and_scope_from_the_paths() -> None:
    cls = thing()
    assert (cls.__name__, cls.api_version, cls.kind) == ("Thing", "example.com/v1", "Thing")
    definition = crd(cls).to_dict()
    assert definition["metadata"]["name"] == "things.example.com"
    assert definition["spec"]["scope"] == "Cluster"
    assert isinstance(cls(metadata={"name": "a"}).metadata, ObjectMeta)


@pytest.mark.parametrize(
    ("node", "type_", "options"),
    [
        ({"type": "string", "enum": ["a"], "default": "a"}, "Str", {"enum": ["a"], "default": "a"}),
        ({"type": "string", "format": "date-time"}, "Time", {}),
        ({"type": "integer", "format": "int32", "minimum": 1}, "Int", {"format": "int32", "minimum": 1}),
        ({"type": "number"}, "Num", {}),
        ({"type": "boolean"}, "Bool", {}),
        ({"type": "object"}, "Opaque", {}),
        ({}, "Opaque", {}),
        ({"type": "object", "additionalProperties": {"type": "string", "default": ""}}, "Map(Str)", {}),
        ({"type": "array", "items": {"$ref": f"{REF}{PART}"}, "x-kubernetes-list-type": "atomic"}, "List(Part)", None),
        ({"allOf": [{"$ref": f"{REF}{PART}"}], "default": {}, "description": "prose"}, "Part", {}),
        ({"$ref": f"{REF}io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"}, "Opaque", {}),
        ({"$ref": f"{REF}io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"}, "Time", {}),
        ({"$ref": f"{REF}io.k8s.apimachinery.pkg.util.intstr.IntOrString"}, "IntOrStr", {}),
        ({"$ref": f"{REF}io.k8s.apimachinery.pkg.api.resource.Quantity"}, "Quantity", {"int_or_string": True}),
        (
            {"$ref": f"{REF}io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray"},
            "SchemaOrArray",
            {},
        ),
    ],
)
def test_every_shape_of_a_published_field_has_its_type(node: Any, type_: str, options: Any) -> None:
    field = spec_of(thing(x=node))["x"]
    assert field.type == type_
    assert dict(field.options) == ({"list_type": "atomic"} if options is None else options)


def test_a_type_may_contain_itself_and_is_one_class() -> None:
    cls = thing(inner={"$ref": f"{REF}{PART}"}, more={"type": "object", "additionalProperties": {"$ref": REF + PART}})
    part = fields(cls)["spec"].cls
    assert spec_of(cls)["inner"].cls is spec_of(cls)["more"].cls is part
    made = cls(spec={"inner": {"inner": {"more": {"a": {"name": "deep"}}}}})
    assert made.spec_get("inner.inner.more.a.name") == "deep"
    assert made.spec_get("inner.inner.more.a").__class__ is part


def test_required_is_the_servers_to_enforce() -> None:
    cls = thing()
    assert (spec_of(cls)["name"].required, spec_of(cls)["name"].enforced) == (True, False)
    assert cls(spec={}).to_dict()["spec"] == {}
    assert class_schema(cls)["properties"]["spec"]["required"] == ["name"]


def test_types_written_in_place_become_inner_classes() -> None:
    tls = {"type": "object", "properties": {"port": {"type": "integer", "maximum": 9}}}
    cls = thing(tls=tls, mode={"type": "string", "pattern": "^a"})
    with pytest.raises(ResourceError) as caught:
        cls(spec={"tls": {"port": 10}, "mode": "b"})
    assert caught.value.paths == ("spec.tls.port", "spec.mode")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "components.schemas: is missing"),
        (None, "components.schemas: is missing"),
        ({"components": {"schemas": {}}}, "has no kind Thing in example.com/v1; it has none"),
        (
            document(x={"$ref": f"{REF}com.example.v1.Gone"}),
            r"com\.example\.v1\.Gone.*is not there, or no object",
        ),
    ],
)
def test_a_document_that_has_not_the_kind_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ResourceError, match=words):
        from_openapi(given, "example.com/v1", "Thing")


def test_a_kind_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ResourceError, match=r"has no kind Thin in example\.com/v1; it has Thing"):
        from_openapi(document(), "example.com/v1", "Thin")


def test_a_json_union_takes_any_value() -> None:
    cls = thing(x={"$ref": f"{REF}io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"})
    made = cls(spec={"x": [1, {"a": None}]})
    assert isinstance(made.spec_get("x"), JSON)
    assert made.to_dict()["spec"]["x"] == [1, {"a": None}]
