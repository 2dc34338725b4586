"""From the API server's own description to classes: ``from_openapi(document, "apps/v1", "Deployment")``.

A server publishes one OpenAPI v3 document a group and version (``/openapi/v3/apis/apps/v1``), in which types refer to
each other by name. Each type becomes one class, so that a template in a Deployment and a template in a Job read from
the same document are the same. The classes of labkit.resources.k8s are these classes, written down by a generator.

As with from_crd, the classes are lenient: what a server sent is taken as it is, ``required`` is only in the schema, and
what a person writes is checked. Prose is left out: ``kubectl explain`` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.resources import apiextensions, meta, names
from labkit.resources.apiobject import APIObject
from labkit.resources.containers import Object, Opaque
from labkit.resources.errors import Problem, ResourceError, outermost
from labkit.resources.node import Node
from labkit.resources.objects import Resource, new_class
from labkit.resources.scalars import IntOrStr, Quantity, Time
from labkit.resources.schemas import Plan, SchemaReader
from labkit.resources.unions import JSON, SchemaOrArray, SchemaOrBool, SchemaOrStringArray

__all__ = ["META", "UNIONS", "Reader", "from_openapi"]

APIMACHINERY = "io.k8s.apimachinery.pkg"
META = f"{APIMACHINERY}.apis.meta.v1."
APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

UNIONS: Mapping[str, type[Node]] = {
    f"{APIEXTENSIONS}JSON": JSON,
    f"{APIEXTENSIONS}JSONSchemaPropsOrArray": SchemaOrArray,
    f"{APIEXTENSIONS}JSONSchemaPropsOrBool": SchemaOrBool,
    f"{APIEXTENSIONS}JSONSchemaPropsOrStringArray": SchemaOrStringArray,
}
SHARED: Mapping[str, type[Node]] = {
    **UNIONS,
    f"{APIEXTENSIONS}JSONSchemaProps": apiextensions.JSONSchemaProps,  # what the unions hold
    f"{META}ObjectMeta": meta.ObjectMeta,
    f"{META}OwnerReference": meta.OwnerReference,
    f"{META}ManagedFieldsEntry": meta.ManagedFieldsEntry,
}
"""Types that have one class for all documents."""

_SCALARS: Mapping[str, type[Plan]] = {
    f"{APIMACHINERY}.util.intstr.IntOrString": IntOrStr,
    f"{META}Time": Time,
    f"{META}MicroTime": Time,
}
_QUANTITY = f"{APIMACHINERY}.api.resource.Quantity"
_GVK = "x-kubernetes-group-version-kind"
_REF = "#/components/schemas/"


@outermost
def from_openapi(document: Mapping[str, Any], api_version: str, kind: str) -> type[APIObject]:
    """The class of one kind, from the OpenAPI v3 document of its group and version.

    *document* is that document as a dict (``kubectl get --raw /openapi/v3/apis/apps/v1``), *api_version* as in a
    manifest ("v1", "apps/v1"). The types it refers to become classes too; ObjectMeta and the four unions are those of
    this package. Plural and scope come from the document's paths, and the plural is empty if there are none.

    Raises ResourceError if the document has no such kind, or refers to what it has not.
    """
    return Reader(document).kind(api_version, kind)


class Reader(SchemaReader):
    """One document; every type in it becomes one class, made when it is first asked for.

    *shared* has the types whose classes are not to be made. Raises ResourceError if *document* has no schemas.
    """

    def __init__(self, document: Mapping[str, Any], shared: Mapping[str, type[Node]] = SHARED) -> None:
        components = document.get("components") if isinstance(document, Mapping) else None
        schemas = components.get("schemas") if isinstance(components, Mapping) else None
        if not isinstance(schemas, Mapping):
            raise _wrong(("components", "schemas"), "is missing, or no object: this is no OpenAPI v3 document")
        self._schemas = schemas
        self._paths = document.get("paths") or {}
        self._shared = shared
        self.made: dict[str, type[Any]] = {}

    def kind(self, api_version: str, kind: str) -> type[APIObject]:
        """The class of a kind; raises ResourceError if there is none."""
        group, _, version = api_version.rpartition("/")
        wanted = {"group": group, "version": version, "kind": kind}
        for name in self._schemas:
            if wanted in (self._schema(name).get(_GVK) or ()):
                if name not in self.made:
                    self._make(name, APIObject, {**wanted, **self._served(wanted)})
                return self.made[name]
        has = sorted({one["kind"] for schema in self._schemas.values() for one in schema.get(_GVK) or ()})
        raise _wrong((), f"has no kind {kind} in {api_version}; it has {', '.join(has) or 'none'}")

    def part(self, name: str) -> type[Any]:
        """The class of a type by its name in the document (``io.k8s.api.core.v1.PodSpec``)."""
        if name in self._shared:
            return self._shared[name]
        if name not in self.made:
            self._make(name, Resource, {})
        return self.made[name]

    def _served(self, gvk: Mapping[str, str]) -> dict[str, str]:
        """Plural and scope, from the path under which one object is read."""
        for path, item in self._paths.items():
            get = (item or {}).get("get") or {}
            if get.get(_GVK) == gvk and get.get("x-kubernetes-action") == "get" and path.endswith("/{name}"):
                scope = "Namespaced" if "{namespace}" in path else "Cluster"
                return {"plural": path.split("/")[-2], "scope": scope}
        return {}

    def _make(self, name: str, base: type[Any], facts: dict[str, Any]) -> None:
        schema = self._schema(name)
        short = facts.get("kind") or name.rpartition(".")[2]
        if schema.get("x-kubernetes-map-type"):
            facts["map_type"] = schema["x-kubernetes-map-type"]
        doc = f"The API's type {name}."
        cls: Any = new_class(base, short, qualname=short, module=__name__, doc=doc, lenient=True, **facts)
        self.made[name] = cls  # before its fields: a type may contain itself
        self.declare(cls, schema)

    def _schema(self, name: str) -> Mapping[str, Any]:
        schema = self._schemas.get(name)
        if not isinstance(schema, Mapping):
            raise _wrong(("components", "schemas", name), "is not there, or no object")
        return schema

    def reference(self, node: Mapping[str, Any], key: str, owner: type[Any]) -> Plan | None:
        name = _referred(node)
        if name is None:
            return None
        if name in _SCALARS:
            return _SCALARS[name]()
        if name == _QUANTITY:
            return Quantity(int_or_string=True)
        if name in self._shared or self._schema(name).get("properties"):
            return Object(self.part(name))
        schema = self._schema(name)
        return SchemaReader().typed(schema, key, owner) if schema.get("type") not in (None, "object") else Opaque()

    def finish(self, plan: Plan, bound: Plan, node: Mapping[str, Any], *, always: bool) -> None:
        """Leave out prose, and defaults that only say what Go has in a field nobody set: they are never filled in."""
        if "." in bound.owner.__qualname__:  # written in place: no type of Go, but a part of a definition
            super().finish(plan, bound, node, always=always)
            return
        plan.options.pop("description", None)
        if plan.options.get("default", ...) in ("", 0, {}) and (always or _referred(node) is not None):
            del plan.options["default"]


def _referred(node: Mapping[str, Any]) -> str | None:
    """The name of the type that a node is, where it is one: ``$ref``, or the only one in ``allOf``."""
    reference = node.get("$ref")
    every = node.get("allOf")
    if reference is None and isinstance(every, list) and len(every) == 1:
        reference = every[0].get("$ref")
    return reference.removeprefix(_REF) if isinstance(reference, str) else None


def _wrong(path: tuple[str, ...], message: str) -> ResourceError:
    return ResourceError("OpenAPI", [Problem(path, message)])


def _built_in(name: str) -> type[Node] | None:
    """The generated class of a short name such as ``core/v1/PodSpec``; they are loaded by the first such name."""
    if name.count("/") != 2:
        return None
    from labkit.resources import k8s

    found: type[Node] | None = k8s.NAMES.get(name)
    return found


names.add_source(_built_in)
