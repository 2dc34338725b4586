"""Classes from definitions, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.resources import APIObject, Int, ResourceError, SpecPathError, crd, declare, fields, from_crd, strict
from labkit.resources.coercions import QUANTITY

CRD = Path(__file__).parents[2] / "crd"
CHAPTER = sorted(path for path in CRD.glob("*.yaml") if "kind: CustomResourceDefinition" in path.read_text("utf-8"))


def definition(spec: dict[str, Any], **version: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "odds.g.io", "annotations": {"controller-gen.kubebuilder.io/version": "v0.17"}},
        "spec": {
            "group": "g.io",
            "names": {"kind": "Odd", "plural": "odds", "singular": "odd", "listKind": "OddList"},
            "scope": "Namespaced",
            "preserveUnknownFields": False,
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "apiVersion": {"type": "string", "description": "a"},
                                "kind": {"type": "string"},
                                "metadata": {"type": "object"},
                                "spec": spec,
                            },
                        }
                    },
                    **version,
                }
            ],
        },
        "status": {"storedVersions": ["v1"], "conditions": None},
    }


ODD: dict[str, Any] = {
    "type": "object",
    "description": "d",
    "required": ["z", "a", "not-declared"],
    "oneOf": [{"required": ["a"]}, {"required": ["z"]}],
    "x-kubernetes-validations": [{"rule": "self.a == 1", "message": "m"}],
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "a": {"type": "integer", "format": "int64", "minimum": 5, "maximum": 1, "title": "t", "multipleOf": 2},
        "z": {"type": "string", "enum": ["b", "b"], "pattern": "(?=x)", "not": {"enum": ["q"]}, "nullable": False},
        "null": {"type": "string", "enum": ["a", None], "nullable": True, "default": None},
        "unknown": {"type": "string", "format": "truc", "x-unheard-of": {"a": [1]}, "maxLength": -1},
        "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "quantity": {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY,
        },
        "plain-quantity": {"type": "string", "pattern": QUANTITY},
        "when": {"type": "string", "format": "date-time"},
        "is_ready": {"type": "boolean"},
        "from": {"type": "string"},
        "$ref": {"type": "string"},
        "x-y": {"type": "string"},
        "x_y": {"type": "integer"},
        "to_dict": {"type": "object", "properties": {"to_dict": {"type": "string"}}},
        "has_null": {"type": "string", "nullable": True},
        "list": {
            "type": "array",
            "minItems": 1,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "default": "x"}},
            },
            "default": [{"name": "y"}],
        },
        "bare-list": {"type": "array"},
        "tuple": {"type": "array", "items": [{"type": "string"}]},
        "lists": {"type": "array", "items": {"type": "array", "items": {"type": "string", "minLength": 1}}},
        "enums": {"type": "array", "items": {"type": "string", "enum": ["a"], "nullable": True}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"k": {"type": "integer"}}}},
        "map-of-lists": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "open": {"type": "object", "additionalProperties": True},
        "closed": {"type": "object", "additionalProperties": False},
        "both": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
        "empty": {"type": "object", "properties": {}},
        "nothing": {},
        "anything": {"x-kubernetes-preserve-unknown-fields": True},
        "boolean-schema": True,
        "embedded": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
            "x-kubernetes-map-type": "atomic",
        },
        "number": {"type": "number", "exclusiveMinimum": True, "minimum": 0.5, "example": 3},
        "wrong-keywords": {"type": "string", "minimum": 3, "enum": "x", "required": True, "default": 5, "minItems": 1},
        "no-type-but-properties": {"properties": {"a": {"type": "string"}}},
    },
}


@pytest.mark.parametrize("path", CHAPTER, ids=lambda path: path.stem)
def test_the_chapters_definitions_come_back_equal(path: Path) -> None:
    document = next(yaml.safe_load_all(path.read_text("utf-8")))
    classes = from_crd(document)
    assert crd(*classes.values()).to_dict() == document
    assert list(classes) == [version["name"] for version in document["spec"]["versions"]]


def test_an_odd_definition_comes_back_equal_word_for_word() -> None:
    document = definition(ODD, additionalPrinterColumns=[{"name": "x"}], selectableFields=[{"jsonPath": ".a", "b": 1}])
    assert crd(*from_crd(document).values()).to_dict() == document
    again = from_crd(crd(*from_crd(document).values()).to_dict())
    assert crd(*again.values()).to_dict() == document


def test_unserved_versions_conversion_and_names_come_back_too() -> None:
    document = definition({"type": "object"})
    spec = document["spec"]
    spec["versions"].insert(
        0, {"name": "v1beta1", "served": False, "storage": False, "schema": {"openAPIV3Schema": {}}}
    )
    spec["versions"].append({**spec["versions"][1], "name": "v2", "storage": False, "deprecated": True})
    spec["conversion"] = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}
    spec["names"] = {"kind": "Odd", "plural": "odds", "shortNames": [], "categories": ["all"]}
    classes = from_crd(document)
    assert list(classes) == ["v1", "v2"]
    assert crd(*classes.values()).to_dict() == document


def test_a_version_without_a_schema_comes_back_too() -> None:
    document = definition({})
    del document["spec"]["versions"][0]["schema"]
    assert crd(*from_crd(document).values()).to_dict() == document


def test_classes_have_types_names_and_attributes_that_are_free() -> None:
    cls = from_crd(definition(ODD))["v1"]
    spec = cls._Spec  # type: ignore[attr-defined]
    entries = fields(spec)
    assert cls.__name__ == "Odd"
    assert spec.__qualname__ == "Odd._Spec"
    assert {
        key: entries[key].type for key in ("a", "port", "quantity", "plain-quantity", "when", "lists", "map-of-lists")
    } == {
        "a": "Int",
        "port": "IntOrStr",
        "quantity": "Quantity",
        "plain-quantity": "Quantity",
        "when": "Time",
        "lists": "List(List(Str))",
        "map-of-lists": "Map(List(Str))",
    }
    assert entries["to_dict"].attribute == "to_dict_"
    assert {entries["x-y"].attribute, entries["x_y"].attribute} == {"x_y", "x_y_"}
    assert entries["from"].attribute == "from_"


HEAD = {"apiVersion": "g.io/v1", "kind": "Odd"}
SERVER: dict[str, Any] = {
    "apiVersion": "g.io/v1",
    "kind": "Odd",
    "metadata": {"name": "x", "uid": "u", "creationTimestamp": None, "zz": 1},
    "spec": {
        "a": "not an integer any more",
        "z": 5,
        "when": "yesterday",
        "quantity": None,
        "list": {"was": "a map"},
        "map": {"k": "was a string", "l": None},
        "to_dict": [1],
        "lists": [["a", None], "x"],
        "new": {"deep": [None]},
        "is_ready": "maybe",
    },
}


def test_what_a_server_returned_is_never_refused_nor_changed() -> None:
    cls = from_crd(definition(ODD))["v1"]
    for made in (cls(SERVER), cls.from_dict(SERVER)):
        assert made.to_dict() == SERVER
        assert list(made.to_dict()) == list(SERVER)
        assert cls.from_json(made.to_json()) == made
    assert cls.from_dict({"spec": 5}).spec == 5  # type: ignore[attr-defined]


def test_strict_mode_names_what_a_document_has_undeclared_and_leaves_reading_from_a_server_alone() -> None:
    items = {"type": "object", "properties": {"n": {"type": "integer"}}}
    properties = {"rows": {"type": "array", "items": items}, "map": {"type": "object", "additionalProperties": items}}
    cls = from_crd(definition({"type": "object", "properties": properties}))["v1"]
    document = {**HEAD, "spec": {"rows": [{"n": "x"}, {"m": 1}], "map": {"k": {"o": None}}, "zz": {}}}
    with strict():
        for make in (cls, cls.from_dict):
            with pytest.raises(ResourceError) as caught:
                make(document)
            assert caught.value.paths == ("spec.rows[1].m", "spec.map.k.o", "spec.zz")
        assert cls._read(document).to_dict() == document
    assert cls(document).to_dict() == document


def test_what_is_no_json_has_its_place_in_a_class_that_was_read_too() -> None:
    cls = from_crd(definition({"type": "object", "properties": {"n": {"type": "integer"}}}))["v1"]
    with pytest.raises(ResourceError, match=r"^Odd: spec\.zz\.a\[0\]: is nan"):
        cls({**HEAD, "spec": {"n": 1, "zz": {"a": [float("nan")]}}})


def test_what_a_person_writes_is_checked() -> None:
    cls = from_crd(definition({"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}))["v1"]
    made = cls.from_dict({"spec": {"n": 50}})
    with pytest.raises(ResourceError, match=r"spec\.n: Value \"50\" is above the maximum 3"):
        cls(spec={"n": 50})
    with pytest.raises(SpecPathError, match="expected an integer"):
        made.spec_set("n", "x")
    assert made.spec_set("n", 3).to_dict()["spec"] == {"n": 3}


def test_a_field_added_to_a_read_class_is_emitted_beside_the_rest() -> None:
    document = definition(
        {"type": "object", "required": ["b", "a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    )
    cls = from_crd(document)["v1"]
    declare(cls._Spec, "c", Int(required="schema"))  # type: ignore[attr-defined]
    schema = crd(cls).to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["required"] == ["b", "a", "c"]
    assert schema["properties"]["c"] == {"type": "integer"}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], ""),
        ({}, "spec"),
        ({"kind": "Pod"}, "kind"),
        ({"spec": {}}, "spec.names.kind"),
        ({"spec": {"names": {"kind": "X"}}}, "spec.versions"),
        ({"spec": {"names": {"kind": "X"}, "versions": [{}]}}, "spec.versions[0]"),
    ],
)
def test_what_is_no_definition_is_refused_with_its_place(document: Any, path: str) -> None:
    with pytest.raises(ResourceError) as caught:
        from_crd(document)
    assert caught.value.paths == (path,)


def test_the_classes_are_kinds() -> None:
    cls = from_crd(definition(ODD))["v1"]
    assert issubclass(cls, APIObject)
    assert (cls.kind, cls.api_version) == ("Odd", "g.io/v1")
