"""From the schema of a node to the field of a class, for definitions and for the server's own description alike.

A schema can say more than the options of a field. Whatever has no option, or is an option that means nothing where it
stands, stays on its node word for word, so that the classes emit the schema they were read from.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from labkit.resources.apiobject import APIObject
from labkit.resources.coercions import QUANTITY
from labkit.resources.containers import List, Map, Object, Opaque
from labkit.resources.declaring import declare_field
from labkit.resources.emission import Wire, class_schema, field_schema
from labkit.resources.errors import DeclarationError
from labkit.resources.field import Field
from labkit.resources.names import inner_name
from labkit.resources.objects import Resource, new_class
from labkit.resources.options import EITHER, ELEMENT, EMBEDDED, ENVELOPE, KEYWORDS, PRESERVE
from labkit.resources.scalars import Bool, Int, IntOrStr, Num, Quantity, Str, Time
from labkit.resources.state import state_of

__all__ = ["Plan", "SchemaReader", "keep_rest"]

Plan = Field[Any, Any]
_SIMPLE: Mapping[Any, type[Plan]] = {"integer": Int, "number": Num, "boolean": Bool}


class SchemaReader:
    """Reads schemas in which every type is written in place; a subclass resolves references."""

    def reference(self, node: Mapping[str, Any], key: str, owner: type[Any]) -> Plan | None:  # noqa: ARG002
        """The plan of a node that names another type; None for one that says itself what it is."""
        return None

    def declare(self, cls: type[Any], schema: Mapping[str, Any]) -> None:
        """Declare on *cls* the properties of its schema, but for the envelope of a kind."""
        properties, required = schema.get("properties"), schema.get("required")
        listed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
        for key, node in properties.items() if isinstance(properties, Mapping) else ():
            if key not in ENVELOPE or not issubclass(cls, APIObject):
                plan = self.plan(node, key, cls, always=key in listed)
                if key in listed:
                    plan.options["required"] = "schema"
                declare_field(cls, key, plan)

    def plan(self, node: Any, key: str, owner: type[Any], *, always: bool) -> Plan:
        """The plan of a node; *always* tells that what it describes is never absent."""
        if not isinstance(node, Mapping):
            plan: Plan = Opaque()
            plan.whole = node
            return plan
        plan = self.reference(node, key, owner) or self.typed(node, key, owner)
        plan.options.update(_options(node, plan))
        while True:
            try:
                bound = plan.bind(owner, key, key, lenient=True)
                break
            except DeclarationError as refused:  # an option that means nothing here: its keyword is kept as it is
                if refused.option not in plan.options:
                    raise
                del plan.options[refused.option]
        self.finish(plan, bound, node, always=always)
        return plan

    def finish(self, plan: Plan, bound: Plan, node: Mapping[str, Any], *, always: bool) -> None:  # noqa: ARG002
        """Note on *plan* in what its node differs from what *bound*, the plan in place, would emit."""
        read_apart = {Object: "properties", List: "items", Map: "additionalProperties"}.get(type(plan), "")
        plan.wire_difference = Wire.between(field_schema(bound), node, skip=(read_apart,))

    def typed(self, node: Mapping[str, Any], key: str, owner: type[Any]) -> Plan:  # noqa: PLR0911  (a table)
        """The plan of a node by its type, without options."""
        kind = node.get("type")
        if node.get(EITHER) is True:
            return Quantity(int_or_string=True) if node.get("pattern") == QUANTITY else IntOrStr()
        if kind == "string":
            if node.get("format") == "date-time":
                return Time()
            return Quantity() if node.get("pattern") == QUANTITY else Str()
        if isinstance(kind, str) and kind in _SIMPLE:
            return _SIMPLE[kind]()
        if kind == "array" and isinstance(node.get("items"), Mapping):
            return List(self.plan(node["items"], key, owner, always=True))
        if kind == "object":
            if isinstance(node.get("properties"), Mapping) and node["properties"]:
                return Object(self._inner(node, key, owner))
            if isinstance(node.get("additionalProperties"), Mapping):
                return Map(self.plan(node["additionalProperties"], key, owner, always=True))
        return Opaque()

    def _inner(self, node: Mapping[str, Any], key: str, owner: type[Any]) -> type[Resource]:
        name = inner_name(key)
        while name in owner.__dict__:
            name += "_"
        only = {keyword: node[keyword] for keyword in ("type", "properties", "required") if keyword in node}
        place = {"qualname": f"{owner.__qualname__}.{name}", "module": owner.__module__}
        cls = new_class(Resource, name, **place, lenient=True)
        self.declare(cls, only)
        keep_rest(cls, only)
        type.__setattr__(owner, name, cls)
        return cls


def keep_rest(cls: type[Any], schema: Mapping[str, Any]) -> None:
    """Note on *cls* in what its schema differs from what it would emit."""
    skip = ("properties",) if schema.get("properties") else ()
    state_of(cls).facts["wire"] = Wire.between(class_schema(cls), schema, skip=skip)


def _options(node: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
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
        ("preserve_unknown", PRESERVE),
        ("embedded", EMBEDDED),
    ):
        if node.get(keyword) is True:
            options[option] = True
    if "rules" in options and not isinstance(options["rules"], list):
        del options["rules"]
    return options
