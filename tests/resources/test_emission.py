"""Definitions from classes: the chapter's own, and what the server would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.resources import (
    JSON,
    APIObject,
    DeclarationError,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Object,
    Opaque,
    Quantity,
    Resource,
    ResourceError,
    Str,
    Struct,
    Time,
    cel,
    column,
    crd,
)
from labkit.resources.apiextensions import CustomResourceDefinition
from labkit.resources.emission import class_schema
from tests.resources.colis import GROUP, KEPT, ORDERED, RULES, SHOWN, STATUS, WEB, kind_class, spec_class

CRD = Path(__file__).parents[2] / "crd"
DEPRECATED = "cours.example.com/v1alpha1 Colis est dépréciée : utilisez cours.example.com/v1"
TOLERANT = cel(
    "!has(self.min) || !has(self.max) || self.min <= self.max", message_expression=ORDERED["messageExpression"]
)
STRINGS = cel(
    "self.min <= self.max", message_expression="'min (' + string(self.min) + ') dépasse max (' + string(self.max) + ')'"
)


def windows(**bound: Any) -> dict[str, Any]:
    rule = cel(
        "self.all(a, self.filter(b, a.debut < b.fin && b.debut < a.fin).size() == 1)",
        message="deux fenêtres se chevauchent",
    )
    window = Struct(
        {
            "debut": Int(required=True, minimum=0, maximum=23),
            "fin": Int(required=True, minimum=1, maximum=24),
        }
    )
    description = "Heures pendant lesquelles une mise à jour est permise."
    return {"fenetres": List(window, description=description, rules=[rule], **bound)}


def one(**spec: Any) -> CustomResourceDefinition:
    described = {**GROUP, "description": SHOWN["description"]}
    return crd(kind_class("v1alpha1", Object(spec_class(**spec), required=True), **described))


def shown(version: str, *, more: Any = None, **facts: Any) -> type[APIObject]:
    spec = Object(spec_class(**RULES, worker_default=KEPT, more=more), required=True)
    return kind_class(version, spec, status=STATUS, **SHOWN, **facts)


def two(**old: Any) -> CustomResourceDefinition:
    versions = (shown("v1alpha1", deprecated=DEPRECATED, **old), shown("v1", more=WEB, selectable=[".spec.version"]))
    return crd(*versions, storage="v1", conversion={"strategy": "None"}, check=not old)


GOLDENS: dict[str, Any] = {
    "01-colis-minimal": lambda: crd(kind_class("v1alpha1", Opaque(), **GROUP)),
    "02-colis-schema": one,
    "03-a-default-vide": lambda: one(**RULES),
    "03-b-default-complet": lambda: one(**RULES, worker_default=KEPT),
    "03-c-regle-tolerante": lambda: one(**{**RULES, "worker_rules": [TOLERANT]}),
    "03-d-message-string": lambda: one(**{**RULES, "worker_rules": [STRINGS]}, worker_default=KEPT, longest=True),
    "03-e-liste-bornee": lambda: one(**RULES, worker_default=KEPT, more=windows(max_items=10)),
    "03-e-liste-sans-borne": lambda: one(**RULES, worker_default=KEPT, more=windows()),
    "04-colis-complet": lambda: crd(shown("v1alpha1", selectable=[".spec.version"])),
    "05-colis-v1": two,
    "05-colis-v1-selectable-partout": lambda: two(selectable=[".spec.version"]),
    "06-colis-v1-seul": lambda: crd(shown("v1", more=WEB, selectable=[".spec.version"])),
    "ensemble": lambda: crd(shown("v1", more=WEB, selectable=[".spec.version"])),
}


def test_every_definition_of_the_chapter_has_its_golden() -> None:
    files = {path.stem for path in CRD.glob("*.yaml") if "kind: CustomResourceDefinition" in path.read_text("utf-8")}
    assert files == set(GOLDENS)


@pytest.mark.parametrize("name", GOLDENS)
def test_classes_emit_the_chapters_definition(name: str) -> None:
    written = next(yaml.safe_load_all((CRD / f"{name}.yaml").read_text("utf-8")))
    made = GOLDENS[name]()
    assert isinstance(made, CustomResourceDefinition)
    assert made.to_dict() == written
    assert yaml.safe_load(made.to_yaml()) == written


def test_the_chapters_five_mistakes_are_told_at_once() -> None:
    document = yaml.safe_load((CRD / "objects" / "invalide.yaml").read_text("utf-8"))
    with pytest.raises(ResourceError) as caught:
        shown("v1alpha1").from_dict(document)
    assert str(caught.value).splitlines() == [
        "Colis: 5 problems",
        r'  spec.version: Value "2.2" does not match the pattern ^[0-9]+\.[0-9]+\.[0-9]+$',
        '  spec.api.replicas: Value "0" is below the minimum 1',
        '  spec.worker.max: Value "50" is above the maximum 20',
        '  spec.base.taille: Value "1G" does not match the pattern ^[0-9]+(Mi|Gi)$',
        '  spec.base.classe: Value "rapide" is not one of: standard, csi-hostpath-sc',
    ]


def test_the_schema_of_every_type() -> None:
    class Child(
        Resource, description="a child", rules=[cel("self.n > 0", reason="FieldValueInvalid", field_path=".n")]
    ):
        n = Int(format="int32")

    class Every(Resource):
        i = Int(exclusive_minimum=True, minimum=0, multiple_of=2)
        x = Num()
        port = IntOrStr()
        q = Quantity()
        q2 = Quantity(int_or_string=True)
        at = Time()
        free = Opaque()
        any = JSON
        child = Object(Child, description="mine", nullable=True)
        rows = List(dict)
        lists = List(list)
        matrix = List(List(Int), max_items=3)
        names = List(Str, min_length=1, list_type="set")
        sizes = Map(Quantity, max_properties=4)
        odd = Str(verbatim={"oneOf": [{"format": "ipv4"}]})
        template = Struct({}, preserve_unknown=True, embedded=True)
        itself = Object("Every")

    quantity = class_schema(Every)["properties"]["q"]["pattern"]
    assert class_schema(Every)["properties"] == {
        "i": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 2},
        "x": {"type": "number"},
        "port": {"x-kubernetes-int-or-string": True},
        "q": {"type": "string", "pattern": quantity},
        "q2": {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": True,
            "pattern": quantity,
        },
        "at": {"type": "string", "format": "date-time"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "child": {
            "type": "object",
            "description": "mine",
            "nullable": True,
            "properties": {"n": {"type": "integer", "format": "int32"}},
            "x-kubernetes-validations": [{"rule": "self.n > 0", "reason": "FieldValueInvalid", "fieldPath": ".n"}],
        },
        "rows": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        "lists": {
            "type": "array",
            "items": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}},
        },
        "matrix": {"type": "array", "maxItems": 3, "items": {"type": "array", "items": {"type": "integer"}}},
        "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "minLength": 1}},
        "sizes": {
            "type": "object",
            "maxProperties": 4,
            "additionalProperties": {"type": "string", "pattern": quantity},
        },
        "odd": {"type": "string", "oneOf": [{"format": "ipv4"}]},
        "template": {
            "type": "object",
            "properties": {},
            "x-kubernetes-preserve-unknown-fields": True,
            "x-kubernetes-embedded-resource": True,
        },
        "itself": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }


def test_a_subclass_emits_its_bases_fields_first_and_their_rules() -> None:
    class Base(Resource, rules=[cel("a")]):
        b = Int(required=True)

    class Sub(Base, rules=[cel("b")]):
        a = Int(required=True)

    schema = class_schema(Sub)
    assert (list(schema["properties"]), schema["required"]) == (["b", "a"], ["b", "a"])
    assert schema["x-kubernetes-validations"] == [{"rule": "a"}, {"rule": "b"}]


def test_changing_a_definition_does_not_change_the_classes() -> None:
    cls = shown("v1")
    made = crd(cls).to_dict()
    made["spec"]["versions"][0]["subresources"]["scale"].clear()
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].clear()
    made["spec"]["names"]["shortNames"].append("x")
    assert crd(cls).to_dict() != made


@pytest.mark.parametrize(
    ("classes", "facts", "words"),
    [
        ([], {}, "at least one class"),
        ([{"version": "v1"}, {"version": "v1"}], {"storage": "v1"}, "same version"),
        ([{"version": "v1"}, {"version": "v2"}], {}, "storage=None names none of the versions v1, v2"),
        ([{"version": "v1"}, {"version": "v2"}], {"storage": "v3"}, "storage='v3'"),
        ([{"version": "v1"}, {"version": "v2", "kind": "Other"}], {"storage": "v1"}, "do not agree on the kind"),
        ([{"version": "v1"}, {"version": "v2", "scope": "Cluster"}], {"storage": "v1"}, "agree on the scope"),
        ([{"version": "v1", "plural": None}], {}, "says no plural"),
    ],
)
def test_classes_that_make_no_kind_are_refused(classes: Any, facts: Any, words: str) -> None:
    made = []
    for one_class in classes:
        said = {key: value for key, value in {**GROUP, **one_class}.items() if value is not None}
        made.append(kind_class(said.pop("version"), Opaque(), **said))
    with pytest.raises(DeclarationError, match=words):
        crd(*made, **facts)


SPEC = "spec.validation.openAPIV3Schema.properties[spec]"
MISTAKES: list[tuple[dict[str, Any], Any, str, str]] = [
    ({"plural": "Colis"}, {}, "spec.names.plural", "a DNS-1035 label must consist"),
    ({"group": "nodots"}, {}, "spec.group", "should be a domain with at least one dot"),
    ({"group": "a.k8s.io"}, {}, "metadata.annotations[api-approved.kubernetes.io]", "protected groups"),
    ({"scope": "Foo"}, {}, "spec.scope", 'Unsupported value: "Foo": supported values: "Cluster", "Namespaced"'),
    ({"list_kind": "Colis"}, {}, "spec.names.listKind", "kind and listKind may not be the same"),
    ({"short_names": ["C L"]}, {}, "spec.names.shortNames[0]", "DNS-1035"),
    (
        {"columns": [column("A", "spec.a")]},
        {},
        "spec.additionalPrinterColumns[0].JSONPath",
        "must be a simple json path",
    ),
    (
        {"columns": [column("A", ".spec.a", "text")]},
        {},
        "spec.additionalPrinterColumns[0].type",
        "must be one of boolean",
    ),
    ({"selectable": [".spec.nope"]}, {}, "spec.selectableFields[0].jsonPath", "does not refer to a valid field"),
    (
        {"selectable": [".metadata.name"]},
        {},
        "spec.selectableFields[0].jsonPath",
        "does not refer to a valid field",
    ),
    ({"deprecated": "x" * 257}, {}, "spec.versions[0].deprecationWarning", "must be <= 256"),
    (
        {"subresources": {"scale": {"specReplicasPath": ".a", "statusReplicasPath": ".status.b"}}},
        {},
        "spec.subresources.scale.specReplicasPath",
        "should be a json path under .spec",
    ),
    ({}, {"a": List(Str, list_type="map")}, f"{SPEC}.properties[a].x-kubernetes-list-map-keys", "must not be empty"),
    (
        {},
        {"a": List({"k": Str}, list_type="map", list_map_keys=["k"])},
        f"{SPEC}.properties[a].items.properties[k].default",
        "must have a default or be a required property",
    ),
    ({}, {"a": List(Str, unique_items=True)}, f"{SPEC}.properties[a].uniqueItems", "Forbidden"),
    (
        {},
        {"a": Str(rules=[cel(" ")])},
        f"{SPEC}.properties[a].x-kubernetes-validations[0].rule",
        "rule is not specified",
    ),
    (
        {},
        {"a": Str(rules=[cel("x", reason="No")])},
        f"{SPEC}.properties[a].x-kubernetes-validations[0].reason",
        "Unsupported",
    ),
    (
        {},
        {"a": Struct({"m": Int(maximum=3)}, default={"m": 4})},
        f"{SPEC}.properties[a].default.m",
        "less than or equal to 3",
    ),
    ({}, {"a": Struct({"m": Int}, default={"x": 4})}, f"{SPEC}.properties[a].default", "must not have unknown fields"),
    ({}, {"a": Opaque(verbatim={"type": "foo"})}, f"{SPEC}.properties[a].type", 'Unsupported value: "foo"'),
    ({}, {"a": Str(verbatim={"pattern": "["})}, f"{SPEC}.properties[a].pattern", "missing closing ]"),
]


@pytest.mark.parametrize(("facts", "fields", "path", "text"), MISTAKES)
def test_what_the_server_refuses_is_refused_with_its_path(facts: Any, fields: Any, path: str, text: str) -> None:
    cls = kind_class("v1", Struct(fields or {"ok": Str}), **{**GROUP, **facts})
    with pytest.raises(ResourceError) as caught:
        crd(cls)
    assert path in caught.value.paths
    assert text in str(caught.value)
    assert crd(cls, check=False).spec is not None


def test_equal_selectable_fields_with_different_schemas_are_the_servers_odd_refusal() -> None:
    versions = (shown("v1alpha1", selectable=[".spec.version"]), shown("v1", more=WEB, selectable=[".spec.version"]))
    with pytest.raises(ResourceError) as caught:
        crd(*versions, storage="v1")
    assert str(caught.value) == (
        'Colis: spec.selectableFields: Invalid value: "": may only be set when validations.schema is included'
    )


def test_all_mistakes_of_a_definition_come_together() -> None:
    cls = kind_class("V1", Struct({"a": Str(verbatim={"pattern": "["})}), **{**GROUP, "scope": "x"})
    with pytest.raises(ResourceError) as caught:
        crd(cls)
    assert caught.value.paths == ("spec.scope", "spec.versions[0].name", f"{SPEC}.properties[a].pattern")
