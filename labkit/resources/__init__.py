"""Typed resource classes, dotted paths into them, and definitions written in Python.

    class Worker(Resource, rules=[cel("self.min <= self.max", message="min is above max")]):
        min = Int(minimum=0, default=0)
        max = Int(minimum=1, maximum=20, default=5)

    class Colis(APIObject, group="cours.example.com", version="v1", plural="colis"):
        spec = Struct({"version": Str(required=True), "worker": Object(Worker)}, required=True)

    colis = Colis(metadata={"name": "principal"}, spec={"version": "2.2.1"})
    colis.spec_set("worker.max", 7).to_yaml()
    crd(Colis).to_dict()

Built-in kinds: labkit.resources.k8s (loaded when asked for), or ``from_openapi`` at run time.
Needs the standard library only. Decisions: docs/decisions/0030-typed-resources.md; requirements with their tests:
tests/resources/requirements.toml.
"""

from labkit.resources.apiobject import APIObject
from labkit.resources.containers import List, Map, Object, Opaque, Struct
from labkit.resources.declaring import declare, fields
from labkit.resources.emission import cel, column, crd
from labkit.resources.errors import DeclarationError, ResourceError, SpecPathError
from labkit.resources.objects import Resource
from labkit.resources.openapi import from_openapi
from labkit.resources.reading import from_crd
from labkit.resources.scalars import Bool, Int, IntOrStr, Num, Quantity, Str, Time
from labkit.resources.strictness import strict
from labkit.resources.unions import JSON, SchemaOrArray, SchemaOrBool, SchemaOrStringArray

__all__ = [
    "JSON",
    "APIObject",
    "Bool",
    "DeclarationError",
    "Int",
    "IntOrStr",
    "List",
    "Map",
    "Num",
    "Object",
    "Opaque",
    "Quantity",
    "Resource",
    "ResourceError",
    "SchemaOrArray",
    "SchemaOrBool",
    "SchemaOrStringArray",
    "SpecPathError",
    "Str",
    "Struct",
    "Time",
    "cel",
    "column",
    "crd",
    "declare",
    "fields",
    "from_crd",
    "from_openapi",
    "strict",
]
