"""From a definition to classes: ``from_crd(document)``.

The classes are lenient: a document they read is taken as the server sent it, since nothing is validated on a read and
the stored object may be older than the schema. What a person writes (keywords, assignment, paths) is checked.

A keyword that has no option, or an option that means nothing where it stands, stays on its node word for word, so that
the classes emit the definition they were read from.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from labkit.resources.apiobject import APIObject, facts_of
from labkit.resources.coercions import QUANTITY
from labkit.resources.containers import List, Map, Object, Opaque
from labkit.resources.declaring import declare_field
from labkit.resources.emission import Origin, Wire, class_schema, field_schema, version_entry
from labkit.resources.errors import DeclarationError, Problem, ResourceError, outermost
from labkit.resources.field import Field
from labkit.resources.names import inner_name
from labkit.resources.objects import Resource, ResourceMeta
from labkit.resources.options import ELEMENT, KEYWORDS
from labkit.resources.scalars import Bool, Int, IntOrStr, Num, Quantity, Str, Time
from labkit.resources.state import state_of

__all__ = ["from_crd"]

_ENVELOPE = ("apiVersion", "kind", "metadata")
_CHILDREN = ("properties", "items", "additionalProperties")


@outermost
def from_crd(document: Mapping[str, Any]) -> dict[str, type[APIObject]]:
    """One class for each served version of a definition, by version name, in the definition's order.

    *document* is the definition as a dict (or the typed object's ``to_dict()``). ``crd(*from_crd(document).values())``
    equals *document* as JSON, with its metadata, status and unserved versions. Objects in the schema become classes
    named after their place (``Colis._Spec``); a key that would hide a helper gets an attribute with a ``_`` at the end.

    Raises ResourceError if *document* is no definition. Nothing is made then.
    """
    spec = _definition(document)
    versions = spec["versions"]
    origin = Origin(
        top={key: copy.deepcopy(value) for key, value in document.items() if key != "spec"},
        spec=Wire(),
        order=tuple(version["name"] for version in versions),
        unserved={version["name"]: copy.deepcopy(version) for version in versions if version.get("served") is False},
        storage=next((version["name"] for version in versions if version.get("storage")), ""),
    )
    served = [version for version in versions if version["name"] not in origin.unserved]
    made = {version["name"]: _kind(spec, version) for version in served}
    if made:
        first = next(iter(made.values()))
        emitted = _emitted_spec(first)
        object.__setattr__(origin, "spec", Wire.between(emitted, spec, skip=("versions",)))
    for cls in made.values():
        state_of(cls).facts["origin"] = origin
    return made


def _definition(document: Any) -> dict[str, Any]:
    """The spec of a definition whose parts are where they must be."""

    def wrong(path: tuple[str | int, ...], message: str) -> ResourceError:
        return ResourceError("CustomResourceDefinition", [Problem(path, message)])

    if not isinstance(document, Mapping):
        raise wrong((), f"expected a definition as a dict, got {type(document).__name__}")
    if document.get("kind", "CustomResourceDefinition") != "CustomResourceDefinition":
        raise wrong(("kind",), f"expected CustomResourceDefinition, got {document.get('kind')!r}")
    spec = document.get("spec")
    if not isinstance(spec, Mapping):
        raise wrong(("spec",), "is missing, or no object")
    names = spec.get("names")
    if not isinstance(names, Mapping) or not isinstance(names.get("kind"), str):
        raise wrong(("spec", "names", "kind"), "is missing, or no text")
    versions = spec.get("versions")
    if not isinstance(versions, list) or not versions:
        raise wrong(("spec", "versions"), "is missing, or no list")
    for number, version in enumerate(versions):
        if not isinstance(version, Mapping) or not isinstance(version.get("name"), str):
            raise wrong(("spec", "versions", number), "is no version with a name")
    return dict(spec)


def _emitted_spec(cls: type[APIObject]) -> dict[str, Any]:
    from labkit.resources.emission import _document

    emitted: dict[str, Any] = _document(facts_of(cls), [], None, None)["spec"]
    return emitted


def _kind(spec: Mapping[str, Any], version: Mapping[str, Any]) -> type[APIObject]:
    names = spec["names"]
    facts: dict[str, Any] = {"version": version["name"], "kind": names["kind"]}
    texts = (("plural", names.get("plural")), ("singular", names.get("singular")), ("list_kind", names.get("listKind")))
    for fact, value in (*texts, ("group", spec.get("group")), ("scope", spec.get("scope"))):
        if isinstance(value, str) and (value or fact == "group"):
            facts[fact] = value  # noqa: PERF403  (reads as the loop below)
    lists = (("short_names", names.get("shortNames")), ("categories", names.get("categories")))
    for fact, value in (*lists, ("columns", version.get("additionalPrinterColumns"))):
        if isinstance(value, list):
            facts[fact] = value  # noqa: PERF403
    if isinstance(version.get("subresources"), Mapping):
        facts["subresources"] = dict(version["subresources"])
    selectable = version.get("selectableFields")
    if isinstance(selectable, list) and all(
        isinstance(one, Mapping) and set(one) == {"jsonPath"} for one in selectable
    ):
        facts["selectable"] = [one["jsonPath"] for one in selectable]
    if version.get("deprecated") is True:
        warning = version.get("deprecationWarning")
        facts["deprecated"] = warning if isinstance(warning, str) and warning else True
    holder = version.get("schema")
    schema = holder.get("openAPIV3Schema") if isinstance(holder, Mapping) else None
    cls = _class(names["kind"], APIObject, names["kind"], schema if isinstance(schema, Mapping) else {}, facts)
    storage = version.get("storage") is True
    state_of(cls).facts["version_wire"] = Wire.between(
        version_entry(cls, storage=storage), version, skip=("schema",) if isinstance(schema, Mapping) else ()
    )
    return cls


def _class(
    name: str, base: type[Any], qualname: str, schema: Mapping[str, Any], facts: dict[str, Any] | None = None
) -> type[Any]:
    """The class of an object node. What its fields and *facts* do not say about the node is kept on it."""
    kind = type(base)
    body = ResourceMeta.__prepare__(name, (base,))
    body["__qualname__"] = qualname
    body["__module__"] = __name__
    body["__doc__"] = schema.get("description") if isinstance(schema.get("description"), str) else None
    cls: Any = kind.__new__(kind, name, (base,), body, lenient=True, **(facts or {}))
    state = state_of(cls)
    properties = schema.get("properties")
    required = schema.get("required")
    listed = set(filter(_is_text, required)) if isinstance(required, list) else set()
    envelope = {}
    for key, node in properties.items() if isinstance(properties, Mapping) else ():
        if key in _ENVELOPE and issubclass(cls, APIObject):
            envelope[key] = copy.deepcopy(node)
        else:
            plan = _field(node, key, cls)
            if key in listed:
                plan.options["required"] = "schema"
            declare_field(cls, key, plan)
    if envelope:
        state.facts["envelope_schemas"] = envelope
    state.facts["wire"] = Wire.between(class_schema(cls), schema, skip=("properties",) if properties else ())
    return cls  # type: ignore[no-any-return]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _field(node: Any, key: str, owner: type[Any]) -> Field[Any, Any]:
    """The plan of a node, with its difference to what it would emit."""
    if not isinstance(node, Mapping):
        plan: Field[Any, Any] = Opaque()
        plan.whole = node
        return plan
    plan = _typed(node, key, owner)
    item = plan.item_plan if isinstance(plan, (List, Map)) else None
    options = _options(node, plan)
    plan.options.update(options)
    while True:
        try:
            bound = plan.bind(owner, key, key, lenient=True)
            break
        except DeclarationError as refused:  # an option that means nothing here: its keyword is kept as it is
            if refused.option not in plan.options:
                raise
            del plan.options[refused.option]
    if isinstance(plan, Object):
        skip: tuple[str, ...] = ("properties",)
    else:
        skip = () if item is None else ("items",) if isinstance(plan, List) else ("additionalProperties",)
    plan.wire_difference = Wire.between(field_schema(bound), node, skip=skip)
    return plan


def _typed(node: Mapping[str, Any], key: str, owner: type[Any]) -> Field[Any, Any]:  # noqa: PLR0911  (a table)
    kind = node.get("type")
    if node.get("x-kubernetes-int-or-string") is True:
        return Quantity(int_or_string=True) if node.get("pattern") == QUANTITY else IntOrStr()
    if kind == "string":
        if node.get("format") == "date-time":
            return Time()
        return Quantity() if node.get("pattern") == QUANTITY else Str()
    simple: dict[Any, type[Field[Any, Any]]] = {"integer": Int, "number": Num, "boolean": Bool}
    if isinstance(kind, str) and kind in simple:
        return simple[kind]()
    if kind == "array" and isinstance(node.get("items"), Mapping):
        return List(_field(node["items"], key, owner))
    if kind == "object":
        if isinstance(node.get("properties"), Mapping) and node["properties"]:
            return Object(_inner(node, key, owner))
        if isinstance(node.get("additionalProperties"), Mapping):
            return Map(_field(node["additionalProperties"], key, owner))
    return Opaque()


def _inner(node: Mapping[str, Any], key: str, owner: type[Any]) -> type[Resource]:
    name = inner_name(key)
    while name in owner.__dict__:
        name += "_"
    only = {keyword: node[keyword] for keyword in ("type", "properties", "required") if keyword in node}
    cls = _class(name, Resource, f"{owner.__qualname__}.{name}", only)
    type.__setattr__(owner, name, cls)
    return cls


def _options(node: Mapping[str, Any], plan: Field[Any, Any]) -> dict[str, Any]:
    """The options that the keywords of a node are, where they are of the right shape."""
    options: dict[str, Any] = {}
    of_elements = ELEMENT if isinstance(plan, (List, Map, Object, Opaque)) else ()
    for option, keyword in KEYWORDS.items():
        if keyword in node and node[keyword] is not None and option not in of_elements:
            options[option] = copy.deepcopy(node[keyword])
    if isinstance(plan, (Time, Quantity)):
        implied = {"format": "date-time"} if isinstance(plan, Time) else {"pattern": QUANTITY}
        options = {option: value for option, value in options.items() if implied.get(option) != value}
    if node.get("default") is not None:
        options["default"] = copy.deepcopy(node["default"])
    for option, keyword in (
        ("nullable", "nullable"),
        ("preserve_unknown", "x-kubernetes-preserve-unknown-fields"),
        ("embedded", "x-kubernetes-embedded-resource"),
    ):
        if node.get(keyword) is True:
            options[option] = True
    if "rules" in options and not isinstance(options["rules"], list):
        del options["rules"]
    return options
