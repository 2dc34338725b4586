"""A definition that changes, and objects of every fate: what the truth about a preview is asked of.

``v0`` and ``v1`` are there before the change; ``v0`` was stored first, so objects lie in both. The names of the objects
say what they are for.
"""

from __future__ import annotations

import copy
from typing import Any

import yaml

from tests.trace.definitions import things

Json = Any
GROUP = "preview.example.com"

OLD_SCHEMA = """
type: object
properties:
  spec:
    type: object
    properties:
      size: {type: string}
      count: {type: integer}
      mode: {type: string, nullable: true}
      ports: {type: array, items: {type: object, properties: {port: {type: integer}}}}
      entries:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {type: object, required: [name], properties: {name: {type: string}, value: {type: integer}}}
      tags: {type: object, additionalProperties: {type: string}}
      unique: {type: array, items: {type: string}}
      range: {type: object, properties: {min: {type: integer}, max: {type: integer}}}
      rising: {type: integer}
      kept: {type: string}
      sealed: {type: string}
      legacy: {type: string}
      deep: {type: array, items: {type: object, properties: {known: {type: string}, gone: {type: string}}}}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""

NEW_SCHEMA = """
type: object
properties:
  spec:
    type: object
    required: [size]
    x-kubernetes-validations:
      - {rule: "!has(self.legacy2) || self.legacy2 != 'no'", message: never broken}
    properties:
      size: {type: string, enum: [small, large]}
      count: {type: integer, minimum: 1, default: 1}
      mode: {type: string}
      ports: {type: array, items: {type: object, properties: {port: {type: integer, maximum: 100}}}}
      entries:
        type: array
        maxItems: 10
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string, maxLength: 10}
            value:
              type: integer
              x-kubernetes-validations: [{rule: self >= 0, message: not below zero}]
      tags: {type: object, additionalProperties: {type: string, maxLength: 3}}
      unique: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      range:
        type: object
        x-kubernetes-validations:
          - {rule: self.min <= self.max, messageExpression: "'min %d over max %d'.format([self.min, self.max])"}
        properties: {min: {type: integer, default: 0}, max: {type: integer, default: 5}}
      rising:
        type: integer
        x-kubernetes-validations: [{rule: self > oldSelf, message: must rise with each write}]
      kept:
        type: string
        x-kubernetes-validations: [{rule: self == oldSelf, message: immutable}]
      sealed:
        type: string
        x-kubernetes-validations:
          - {rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true, message: must be new when created}
      legacy2: {type: string}
      deep: {type: array, items: {type: object, properties: {known: {type: string}}}}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""

FATES: dict[str, Json] = {
    "fine": {"size": "small", "count": 2},
    "default": {"size": "small"},
    "nested-default": {"size": "small", "count": 1, "range": {"min": 1}},
    "null": {"size": "small", "mode": None},
    "legacy": {"size": "small", "legacy": "x"},
    "deep": {"size": "small", "deep": [{"known": "a"}, {"known": "b", "gone": "c"}]},
    "any": {"size": "small", "any": {"a.b": {"c": 1}}},
    "enum": {"size": "huge"},
    "minimum": {"size": "small", "count": 0},
    "atomic-list": {"size": "small", "ports": [{"port": 80}, {"port": 8080}]},
    "map-list-rule": {"size": "small", "entries": [{"name": "a", "value": 1}, {"name": "b", "value": -1}]},
    "map-list-too-long": {"size": "small", "entries": [{"name": "far-too-long", "value": -1}]},
    "map-values": {"size": "small", "tags": {"a.b/c": "long enough", "x": "ok"}},
    "set": {"size": "small", "unique": ["a", "a"]},
    "required": {"count": 3},
    "required-and-rule": {"range": {"min": 3, "max": 2}},
    "rule": {"size": "small", "range": {"min": 3, "max": 2}},
    "rule-on-default": {"size": "small", "range": {"min": 9}},
    "rising": {"size": "small", "rising": 4},
    "kept": {"size": "small", "kept": "x"},
    "sealed": {"size": "small", "sealed": "old"},
    "several": {"size": "huge", "count": -1, "legacy": "x", "range": {"min": 3, "max": 2}, "rising": 1},
    "empty": {},
}
"""The specs of objects, by name; each is stored in both versions."""


def _version(name: str, schema: str, **facts: Json) -> Json:
    return {
        "name": name,
        "served": True,
        "storage": False,
        "schema": {"openAPIV3Schema": yaml.safe_load(schema)},
        **facts,
    }


def definition(plural: str, storage: str, *versions: Json) -> Json:
    """A definition of these versions."""
    versions = copy.deepcopy(versions)
    for version in versions:
        version["storage"] = version["name"] == storage
    return things(GROUP, plural, list(versions))


def old(plural: str, storage: str) -> Json:
    """Before the change. v0 alone has ``early``, and v1 alone has ``late``."""
    v0, v1 = (_version(name, OLD_SCHEMA) for name in ("v0", "v1"))
    _spec(v0)["early"] = {"type": "string"}
    _spec(v1)["late"] = {"type": "string"}
    return definition(plural, storage, v0, v1)


def new(plural: str, *names: str) -> Json:
    """After the change: defaults of their own, the status as a subresource, and a column that tells it is in force."""
    v0, v1 = (
        _version(
            name,
            NEW_SCHEMA,
            subresources={"status": {}},
            additionalPrinterColumns=[{"name": "Changed", "type": "string", "jsonPath": ".spec.size"}],
        )
        for name in ("v0", "v1")
    )
    _spec(v0)["early"] = {"type": "string", "default": "e"}
    _spec(v1)["late"] = {"type": "string", "default": "l"}
    return definition(plural, "v1", *(one for one in (v0, v1) if one["name"] in names))


def _spec(version: Json) -> Json:
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def thing(version: str, name: str, spec: Json) -> Json:
    """An object; one stored in v0 has what only v0 knows too."""
    own = {"early": "seen"} if version == "v0" and name == "legacy" else {}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Thing",
        "metadata": {"name": f"{version}-{name}", "namespace": "default", "labels": {"case": name}},
        "spec": {**spec, **own},
        "status": {"phase": "Old"},
    }
