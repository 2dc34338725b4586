"""From classes to a definition: ``crd(Colis)``.

A schema is emitted from the registry alone. What cannot be said with options, because the definition was read from
somewhere and had it, is kept as *wire*: the keywords in which the read node differs from what the class would emit.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labkit.resources import checks
from labkit.resources.apiextensions import CustomResourceDefinition
from labkit.resources.apiobject import APIObject, facts_of
from labkit.resources.containers import Holder, List, Map
from labkit.resources.errors import DeclarationError, ResourceError, class_name, outermost
from labkit.resources.field import Field
from labkit.resources.options import ELEMENT, EMBEDDED, KEYWORDS, PRESERVE, RULES
from labkit.resources.state import ClassState, state_of
from labkit.resources.unions import Union

__all__ = ["Origin", "Wire", "cel", "class_schema", "column", "crd", "definition_of", "field_schema", "version_entry"]


@dataclass(frozen=True)
class Wire:
    """How a node that was read differs from what its class emits: *kept* keywords, *dropped* ones."""

    kept: Mapping[str, Any] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    @classmethod
    def between(cls, emitted: Mapping[str, Any], original: Mapping[str, Any], skip: Iterable[str] = ()) -> Wire:
        """The difference, apart from the keywords in *skip*."""
        skipped = set(skip)
        kept = {
            key: copy.deepcopy(value)
            for key, value in original.items()
            if key not in skipped and (key not in emitted or emitted[key] != value)
        }
        return cls(kept, frozenset(set(emitted) - set(original)))

    def applied(self, emitted: dict[str, Any], listed: Mapping[str, bool] | None = None) -> dict[str, Any]:
        """*emitted* with the difference put back; *listed* says which declared fields are required."""
        for key in self.dropped:
            emitted.pop(key, None)
        for key, value in self.kept.items():
            if key == "required" and listed is not None and isinstance(value, list):
                kept = [name for name in value if listed.get(name, True)]
                emitted[key] = kept + [name for name in emitted.get(key, ()) if name not in kept]
            else:
                emitted[key] = copy.deepcopy(value)
        return emitted


@dataclass(frozen=True)
class Origin:
    """The definition some classes were read from: all of it that belongs to no served version."""

    top: Mapping[str, Any]
    spec: Wire
    order: tuple[str, ...]
    unserved: Mapping[str, Any]
    storage: str


def cel(  # noqa: PLR0913  (the API's own fields)
    rule: str,
    *,
    message: str | None = None,
    message_expression: str | None = None,
    reason: str | None = None,
    field_path: str | None = None,
    optional_old_self: bool | None = None,
) -> dict[str, Any]:
    """A rule in CEL for ``rules=[...]`` of a class or a field, as the schema has it.

    The rule is not run here; the server runs it. *message* or *message_expression* (CEL giving text) is what a person
    reads; *reason* one of FieldValueInvalid, FieldValueForbidden, FieldValueRequired, FieldValueDuplicate.
    """
    given = {
        "rule": rule,
        "message": message,
        "messageExpression": message_expression,
        "reason": reason,
        "fieldPath": field_path,
        "optionalOldSelf": optional_old_self,
    }
    return {key: value for key, value in given.items() if value is not None}


def column(  # noqa: PLR0913  (the API's own fields)
    name: str,
    json_path: str,
    type: str = "string",  # noqa: A002  (the API's word)
    *,
    format: str | None = None,  # noqa: A002
    description: str | None = None,
    priority: int | None = None,
) -> dict[str, Any]:
    """A column of ``kubectl get`` for ``columns=[...]``.

    *type* is one of boolean, date, integer, number, string; columns with a *priority* above 0 show with ``-o wide``.
    """
    given = {"format": format, "description": description, "priority": priority}
    more = {key: value for key, value in given.items() if value is not None}
    return {"name": name, "type": type, **more, "jsonPath": json_path}


def field_schema(one: Field[Any, Any], path: tuple[type[Any], ...] = ()) -> Any:
    """The schema of a field."""
    if one.whole is not ...:
        return one.whole
    node: dict[str, Any]
    listed = None
    if isinstance(one, Holder):
        target = one.resolved()
        if issubclass(target, Union):
            node = {PRESERVE: True}
        elif target in path:  # a class inside itself: schemas have no references
            node = {"type": "object", PRESERVE: True}
        else:
            node = class_schema(target, path)
            listed = {key: inner.listed for key, inner in state_of(target).fields.items()}
    else:
        node = one.schema_parts()
        if one.item is not None and isinstance(one, List):
            node["items"] = field_schema(one.item, path)
        elif one.item is not None:
            node["additionalProperties"] = field_schema(one.item, path)
    _overlay(node, one.options, skip=ELEMENT if isinstance(one, (List, Map)) else ())
    if "default" in one.options:
        node["default"] = one.wire_default()
    if one.nullable:
        node["nullable"] = True
    node.update(copy.deepcopy(dict(one.options.get("verbatim", {}))))
    wire = one.wire_difference
    return wire.applied(node, listed) if isinstance(wire, Wire) else node


def class_schema(cls: type[Any], path: tuple[type[Any], ...] = ()) -> dict[str, Any]:
    """The schema of a class; *path* has the classes around it."""
    state = state_of(cls)
    node: dict[str, Any] = {"type": "object"}
    facts = {name: state.fact(name) for name in state_facts(state)}
    if state.rules:
        facts["rules"] = state.rules
    _overlay(node, facts, skip=())
    fields = {key: one for key, one in state.fields.items() if key not in state.fact("fixed", ())}
    required = [key for key, one in fields.items() if one.listed]
    if required:
        node["required"] = required
    properties = dict(state.fact("envelope_schemas", {}))
    properties.update({key: field_schema(one, (*path, cls)) for key, one in fields.items()})
    if properties:
        node["properties"] = properties
    elif not facts.get("preserve_unknown") and not issubclass(cls, APIObject):
        node["properties"] = {}
    node.update(copy.deepcopy(dict(state.fact("verbatim", {}))))
    wire = state.fact("wire")
    listed = {key: one.listed for key, one in fields.items()}
    return wire.applied(node, listed) if isinstance(wire, Wire) else node


def state_facts(state: ClassState) -> list[str]:
    """The names of the facts that are keywords of a schema."""
    names = ("description", "map_type", "min_properties", "max_properties", "preserve_unknown", "embedded")
    return [name for name in names if state.fact(name) is not None]


def _overlay(node: dict[str, Any], options: Mapping[str, Any], skip: Iterable[str]) -> None:
    for option, keyword in KEYWORDS.items():
        if option in options and option not in skip and option != "rules":
            value = copy.deepcopy(options[option])
            node[keyword] = list(value) if isinstance(value, tuple) else value
    if options.get("rules"):
        node[RULES] = [
            *node.get(RULES, ()),
            *copy.deepcopy(list(options["rules"])),
        ]
    if options.get("preserve_unknown") is True:
        node[PRESERVE] = True
    if options.get("embedded") is True:
        node[EMBEDDED] = True


def version_entry(cls: type[APIObject], *, storage: bool) -> dict[str, Any]:
    """The entry of one class in ``spec.versions``."""
    facts = facts_of(cls)
    entry: dict[str, Any] = {"name": facts["version"], "served": facts["served"], "storage": storage}
    if facts["deprecated"]:
        entry["deprecated"] = True
        if isinstance(facts["deprecated"], str):
            entry["deprecationWarning"] = facts["deprecated"]
    if facts["subresources"]:
        entry["subresources"] = copy.deepcopy(facts["subresources"])
    if facts["columns"]:
        entry["additionalPrinterColumns"] = copy.deepcopy(list(facts["columns"]))
    if facts["selectable"]:
        entry["selectableFields"] = [{"jsonPath": path} for path in facts["selectable"]]
    entry["schema"] = {"openAPIV3Schema": class_schema(cls)}
    wire = state_of(cls).fact("version_wire")
    return wire.applied(entry) if isinstance(wire, Wire) else entry


@outermost
def crd(
    *classes: type[APIObject],
    storage: str | None = None,
    conversion: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    check: bool | None = None,
) -> CustomResourceDefinition:
    """The definition of a kind: one class a version, in that order, as a typed object.

    *storage* names the version that is stored (needed for more than one class); *conversion* is written as given;
    *annotations* go to the definition's metadata (groups under k8s.io need ``api-approved.kubernetes.io``). What the
    API server refuses about the structure of a definition is refused here, all at once, as a ResourceError whose
    problems have the server's own paths; *check* False emits it all the same. Classes that ``from_crd`` read are
    emitted equal to what was read, and unchecked unless *check* is True. Rules are not evaluated.

    Raises DeclarationError if the classes do not make one kind, ResourceError for structural mistakes.
    """
    if not classes:
        raise DeclarationError("crd() needs at least one class")
    for cls in classes:
        if not (isinstance(cls, type) and issubclass(cls, APIObject)):
            raise DeclarationError(f"crd() takes classes of kinds, and {cls!r} is none")
    for option, given in (("conversion", conversion), ("annotations", annotations)):
        if given is not None and not isinstance(given, Mapping):
            raise DeclarationError(f"{option}={given!r} is no dict", option=option)
    facts = [facts_of(cls) for cls in classes]
    _agree(classes, facts)
    origin = _origin(classes)
    storage = storage or (origin.storage if origin else None) or (facts[0]["version"] if len(classes) == 1 else None)
    stored = [one["version"] for one in facts] + list(origin.unserved if origin else ())
    if storage not in stored:
        raise DeclarationError(f"storage={storage!r} names none of the versions {', '.join(stored)}", option="storage")
    entries = {
        one["version"]: version_entry(cls, storage=one["version"] == storage)
        for cls, one in zip(classes, facts, strict=True)
    }
    document = definition_of(facts[0], list(entries.values()), conversion, annotations)
    if origin is not None:
        document = _restored(document, entries, origin)
    if check is True or (check is None and origin is None):
        problems = checks.problems_of(document)
        if problems:
            raise ResourceError(class_name(classes[0]), problems)
    made: CustomResourceDefinition = CustomResourceDefinition._read(document)
    return made


def _agree(classes: tuple[type[APIObject], ...], facts: list[dict[str, Any]]) -> None:
    for fact in ("version", "plural"):
        for cls, one in zip(classes, facts, strict=True):
            if not one[fact]:
                raise DeclarationError(
                    f"class {class_name(cls)} says no {fact}", class_name=class_name(cls), option=fact
                )
    for fact in ("group", "kind", "plural", "scope"):
        if len({one[fact] for one in facts}) > 1:
            said = ", ".join(f"{class_name(cls)} says '{one[fact]}'" for cls, one in zip(classes, facts, strict=True))
            raise DeclarationError(f"the classes do not agree on the {fact}: {said}", option=fact)
    versions = [one["version"] for one in facts]
    if len(set(versions)) < len(versions):
        raise DeclarationError(f"two classes have the same version among {', '.join(versions)}", option="version")


def definition_of(
    facts: dict[str, Any],
    entries: list[dict[str, Any]],
    conversion: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The definition of a kind with these *entries* for its versions."""
    names = {
        "kind": facts["kind"],
        "singular": facts["singular"],
        "plural": facts["plural"],
        "listKind": facts["list_kind"],
    }
    if facts["short_names"]:
        names["shortNames"] = list(facts["short_names"])
    if facts["categories"]:
        names["categories"] = list(facts["categories"])
    metadata: dict[str, Any] = {"name": f"{facts['plural']}.{facts['group']}"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    spec: dict[str, Any] = {"group": facts["group"], "scope": facts["scope"], "names": names}
    if conversion is not None:
        spec["conversion"] = copy.deepcopy(dict(conversion))
    spec["versions"] = entries
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    }


def _origin(classes: tuple[type[APIObject], ...]) -> Origin | None:
    origins = [state_of(cls).fact("origin") for cls in classes]
    first = origins[0]
    return first if isinstance(first, Origin) and all(one is first for one in origins) else None


def _restored(document: dict[str, Any], entries: dict[str, Any], origin: Origin) -> dict[str, Any]:
    """*document* with what the definition it comes from has beside its served versions."""
    spec = origin.spec.applied(document["spec"])
    known = [name for name in origin.order if name in entries or name in origin.unserved]
    new = [name for name in entries if name not in origin.order]
    whole = {**copy.deepcopy(dict(origin.unserved)), **entries}
    spec["versions"] = [whole[name] for name in [*known, *new]]
    restored = copy.deepcopy(dict(origin.top))
    restored["spec"] = spec
    return restored
