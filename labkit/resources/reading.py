"""From a definition to classes: ``from_crd(document)``.

The classes are lenient: a document they read is taken as the server sent it, since nothing is validated on a read and
the stored object may be older than the schema. What a person writes (keywords, assignment, paths) is checked.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from labkit.resources.apiobject import APIObject, facts_of
from labkit.resources.emission import Origin, Wire, definition_of, version_entry
from labkit.resources.errors import Problem, ResourceError, outermost
from labkit.resources.objects import new_class
from labkit.resources.options import ENVELOPE
from labkit.resources.schemas import SchemaReader, keep_rest
from labkit.resources.state import state_of

__all__ = ["from_crd"]


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
        emitted = definition_of(facts_of(first), [])["spec"]
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
    root: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    doc = root.get("description") if isinstance(root.get("description"), str) else None
    cls: Any = new_class(
        APIObject, names["kind"], qualname=names["kind"], module=__name__, doc=doc, lenient=True, **facts
    )
    SchemaReader().declare(cls, root)
    properties = root.get("properties")
    envelope = (
        {key: properties[key] for key in ENVELOPE if key in properties} if isinstance(properties, Mapping) else {}
    )
    if envelope:
        state_of(cls).facts["envelope_schemas"] = copy.deepcopy(envelope)
    keep_rest(cls, root)
    storage = version.get("storage") is True
    state_of(cls).facts["version_wire"] = Wire.between(
        version_entry(cls, storage=storage), version, skip=("schema",) if isinstance(schema, Mapping) else ()
    )
    return cls  # type: ignore[no-any-return]
