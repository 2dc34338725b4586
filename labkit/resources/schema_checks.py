"""What the API server refuses about the structure of a schema, found before it is sent.

The rules and texts are those of apiextensions-apiserver 1.37 (``pkg/apiserver/schema``: validation.go, complete.go;
``pkg/apis/apiextensions/validation/validation.go``): each node says its type, logic (anyOf, not …) adds no structure,
arrays have items, lists of type map have keys that are there, patterns are RE2, defaults fit. Rules in CEL are only
looked at as text; whether they compile, and what they cost, is the server's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from labkit.resources.default_checks import default_problems, invalid, unsupported
from labkit.resources.options import EITHER, EMBEDDED, ENVELOPE, PRESERVE, RULES
from labkit.resources.patterns import PatternError, PatternUnknown, compile_pattern

__all__ = ["field_at", "schema_problems"]

Found = Iterator[tuple[str, str]]  # the server's path and text

TYPES = ("array", "boolean", "integer", "number", "object", "string")
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
KEYS = "x-kubernetes-list-map-keys"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_JUNCTORS = ("anyOf", "allOf", "oneOf")
# What may stand at the root where status is a subresource: its part of the schema is taken out and used alone.
_AT_ROOT = {
    *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items"),
    *("properties", "externalDocs", "example", PRESERVE, RULES),
}
_PLACES = {"root": "at the root", "items": "for specified array items", "field": "for specified object fields"}
# What logic must not say, and how the server puts it.
_NOT_IN_LOGIC = {
    "type": "empty",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    PRESERVE: "false",
    EMBEDDED: "false",
    EITHER: "false",
    KEYS: "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    RULES: "empty",
}
_STEP = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+")


def schema_problems(schema: Mapping[str, Any], base: str, *, status: bool = False) -> Found:
    """Every structural problem of the root *schema*, whose path on the server is *base*.

    *status* tells whether the version has status as a subresource, which narrows what may stand at the root.
    """
    if status:
        yield from _narrow_root(schema, base)
    if schema.get("nullable"):
        yield f"{base}.nullable", "Forbidden: nullable cannot be true at the root"
    validity = list(_validity(schema, base, root=True))
    unread = next((why for node in _all_nodes(schema) if (why := _unread(node))), "")
    if not unread:
        structure = [*_structure(schema, base, "root"), *_completeness(schema, schema, base, base)]
        yield from structure or default_problems(schema, base)
    elif not validity:
        yield base, invalid("", unread)
    yield from validity


def _narrow_root(schema: Mapping[str, Any], base: str) -> Found:
    if schema.get("type") != "object":
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        yield f"{base}.type", invalid(schema.get("type", ""), text)
    elif other := next((key for key in schema if key not in _AT_ROOT and (schema[key] or key == "default")), ""):
        text = f"'{other}' is not allowed at the root of the schema if the status subresource is enabled"
        yield base, f"Invalid value: {text}"


def _unread(node: Mapping[str, Any]) -> str:
    """Why the server cannot read a node as structure at all."""
    for key in ("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions"):
        if node.get(key):
            return f"OpenAPIV3Schema '{key.removeprefix('$') if key == '$schema' else key}' is not supported"
    if "additionalItems" in node:
        return "OpenAPIV3Schema 'additionalItems' is not supported"
    if node.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    return "OpenAPIV3Schema 'items' must be a schema, but is an array" if isinstance(node.get("items"), list) else ""


def _below(node: Mapping[str, Any], path: str) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """The structural children of a node: schema, path, and the keyword they stand under."""
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), Mapping):
            yield node[key], f"{path}.{key}", "items" if key == "items" else "field"
    for key, child in (node.get("properties") or {}).items():
        if isinstance(child, Mapping):
            yield child, f"{path}.properties[{key}]", "field"


def _logic(node: Mapping[str, Any], path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The schemas that logic combines: not, and the elements of anyOf, allOf, oneOf."""
    if isinstance(node.get("not"), Mapping):
        yield node["not"], f"{path}.not"
    for junctor in _JUNCTORS:
        for number, one in enumerate(node.get(junctor) or ()):
            if isinstance(one, Mapping):
                yield one, f"{path}.{junctor}[{number}]"


def _all_nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    pending = [schema]
    while pending:
        node = pending.pop()
        yield node
        pending += [one[0] for one in _below(node, "")] + [one[0] for one in _logic(node, "")]


def _structure(node: Mapping[str, Any], path: str, place: str) -> Found:
    """validateStructuralInvariants."""
    kind, embedded = node.get("type") or "", node.get(EMBEDDED) is True
    loose = node.get(EITHER) is True or node.get(PRESERVE) is True
    if kind == "array" and "items" not in node:
        yield f"{path}.items", "Required value: must be specified"
    for child, at, below in _below(node, path):
        yield from _structure(child, at, below)
    if place == "root" and "additionalProperties" in node:
        yield f"{path}.additionalProperties", "Forbidden: must not be used at the root"
    for keyword in (PRESERVE, EMBEDDED):
        if node.get(EITHER) is True and node.get(keyword) is True:
            yield f"{path}.{keyword}", invalid(True, f"must be false if {EITHER} is true")
    yield from _values(node, path)
    if embedded and kind != "object":
        text = f"must be object if {EMBEDDED} is true"
        yield f"{path}.type", invalid(kind, text) if kind else f"Required value: {text}"
    elif not kind and not loose:
        yield f"{path}.type", f"Required value: must not be empty {_PLACES[place]}"
    if embedded and "additionalProperties" in node:
        yield f"{path}.additionalProperties", f"Forbidden: must not be used if {EMBEDDED} is set"
    if place == "root" and kind and kind != "object":
        yield f"{path}.type", invalid(kind, "must be object at the root")
    if place == "root" or embedded:
        yield from _envelope(node.get("properties") or {}, path, root=place == "root")
    if embedded and node.get(PRESERVE) is not True and not node.get("properties"):
        yield f"{path}.properties", f"Required value: must not be empty if {EMBEDDED} is true without {PRESERVE}"


def _envelope(properties: Mapping[str, Any], path: str, *, root: bool) -> Found:
    for key, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        one = properties.get(key)
        if isinstance(one, Mapping) and one.get("type") != kind:
            yield f"{path}.properties[{key}].type", invalid(one.get("type") or "", f"must be {kind}")
    metadata = properties.get("metadata")
    if root and isinstance(metadata, Mapping):
        only = set(metadata.get("properties") or ()) <= {"name", "generateName"}
        if not only or any(value for key, value in metadata.items() if key not in ("type", "properties", "default")):
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            yield f"{path}.properties[metadata]", f"Forbidden: {text}"


def _values(node: Mapping[str, Any], path: str, *, skip: bool = False) -> Found:
    """validateValueValidation; *skip* leaves out the anyOf of an int-or-string inside allOf."""
    first = (node.get("allOf") or [{}])[0]
    for one, at in _logic(node, path):
        if at.startswith(f"{path}.anyOf[") and (skip or node["anyOf"] == _INT_OR_STRING):
            continue
        either = one is first and isinstance(first, Mapping) and first.get("anyOf") == _INT_OR_STRING
        yield from _nested(one, at, skip=either)
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        try:
            compile_pattern(pattern)
        except PatternError as reason:
            yield f"{path}.pattern", invalid(pattern, f"must be a valid regular expression, but isn't: {reason}")
        except PatternUnknown:
            pass


def _nested(node: Mapping[str, Any], path: str, *, skip: bool = False) -> Found:
    """validateNestedValueValidation: logic restricts values, and must not say anything about structure."""
    yield from _values(node, path, skip=skip)
    for child, at, _ in _below(node, path):
        if not at.endswith(".additionalProperties"):
            yield from _nested(child, at)
    for keyword, what in _NOT_IN_LOGIC.items():
        if node.get(keyword) or (what == "undefined" and node.get(keyword) is not None):
            yield f"{path}.{keyword}", f"Forbidden: must be {what} to be structural"
    if node.get("additionalProperties") not in (None, False):
        yield f"{path}.additionalProperties", "Forbidden: must be undefined to be structural"
    if "metadata" in (node.get("properties") or {}):
        yield f"{path}.properties[metadata]", "Forbidden: must not be specified in a nested context"


def _completeness(node: Mapping[str, Any], whole: Any, at: str, said: str) -> Found:
    """What logic speaks of must be there outside of logic: validateValueValidationCompleteness."""
    for one, path in _logic(node, said):
        yield from _specified(one, whole, at, path)


def _specified(node: Mapping[str, Any], whole: Any, at: str, said: str) -> Found:
    if not isinstance(whole, Mapping):
        yield at, f"Required value: because it is defined in {said}"
        return
    yield from _completeness(node, whole, at, said)
    if isinstance(node.get("items"), Mapping):
        yield from _specified(node["items"], whole.get("items"), f"{at}.items", f"{said}.items")
    for key, child in (node.get("properties") or {}).items():
        there = (whole.get("properties") or {}).get(key)
        yield from _specified(child, there, f"{at}.properties[{key}]", f"{said}.properties[{key}]")


def _validity(  # noqa: PLR0912  (one question after the other, as the server asks them)
    node: Mapping[str, Any], path: str, *, root: bool = False, meta: bool = False, no_default: str = ""
) -> Found:
    """ValidateCustomResourceDefinitionOpenAPISchema. *meta*: inside metadata; *no_default*: where none may be."""
    kind = node.get("type") or ""
    if kind and kind not in TYPES:
        yield f"{path}.type", unsupported(kind, TYPES)
    if kind == "null":
        yield f"{path}.type", "Forbidden: type cannot be set to null, use nullable as an alternative"
    if no_default and node.get("default") is not None:
        yield f"{path}.default", f"Forbidden: must not be set {no_default}"
    for keyword in _UNSUPPORTED:
        if node.get(keyword) or (keyword in ("additionalItems", "dependencies", "$ref") and keyword in node):
            yield f"{path}.{keyword}", f"Forbidden: {keyword} is not supported"
    if isinstance(node.get("items"), list):
        yield f"{path}.items", "Forbidden: items must be a schema object and not an array"
    if meta and node.get(EMBEDDED) is True:
        yield f"{path}.{EMBEDDED}", "Forbidden: must not be used inside of resource meta"
    if node.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield f"{path}.uniqueItems", f"Forbidden: {text}"
    if node.get("properties") and node.get("additionalProperties", True) is not True:
        yield f"{path}.additionalProperties", "Forbidden: additionalProperties and properties are mutual exclusive"
    for child, at, _ in _below(node, path):
        forbidden = no_default
        if meta and at.endswith(".additionalProperties"):
            forbidden = "inside additionalProperties applying to object metadata"
        key = at[len(path) + len(".properties[") : -1] if at.endswith("]") else ""
        inside = key in ENVELOPE and (root or node.get(EMBEDDED) is True)
        forbidden = f"in top-level {key}" if inside and root else forbidden
        yield from _validity(child, at, meta=meta or inside, no_default=forbidden)
    for child, at in _logic(node, path):
        yield from _validity(child, at, meta=meta, no_default=no_default)
    if node.get(PRESERVE) is False:
        yield f"{path}.{PRESERVE}", invalid(False, "must be true or undefined")
    yield from _lists(node, path)
    yield from _rules(node, path)


def _lists(node: Mapping[str, Any], path: str) -> Found:
    kind, list_type, keys = node.get("type") or "", node.get("x-kubernetes-list-type"), node.get(KEYS)
    map_type = node.get("x-kubernetes-map-type")
    items = node.get("items")
    for keyword, needed, value in (("map", "object", map_type), ("list", "array", list_type)):
        if value is not None and kind != needed:
            text = f"must be {needed} if x-kubernetes-{keyword}-type is specified"
            yield f"{path}.type", invalid(kind, text) if kind else f"Required value: {text}"
    if map_type is not None and map_type not in ("atomic", "granular"):
        yield f"{path}.x-kubernetes-map-type", unsupported(map_type, ("atomic", "granular"))
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        yield f"{path}.x-kubernetes-list-type", unsupported(list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        text = f"must be map if {KEYS} is non-empty"
        yield (
            f"{path}.x-kubernetes-list-type",
            f"Required value: {text}" if list_type is None else invalid(list_type, text),
        )
    if isinstance(items, Mapping) and list_type == "set" and kind == "array":
        for of, keyword in (("array", "x-kubernetes-list-type"), ("object", "x-kubernetes-map-type")):
            if items.get("type") == of and items.get(keyword, "atomic" if of == "array" else None) != "atomic":
                text = "must be atomic as item of a list with x-kubernetes-list-type=set"
                yield f"{path}.items.{keyword}", invalid(items.get("x-kubernetes-list-type"), text)
    if isinstance(items, Mapping) and list_type in ("set", "map") and items.get("nullable"):
        yield f"{path}.items.nullable", f"Forbidden: cannot be nullable when x-kubernetes-list-type is {list_type}"
    if list_type == "map":
        yield from _map_keys(items, keys or [], path)


def _map_keys(items: Any, keys: list[Any], path: str) -> Found:
    if not keys:
        yield f"{path}.{KEYS}", "Required value: must not be empty if x-kubernetes-list-type is map"
    if not isinstance(items, Mapping):
        if items is None:
            yield f"{path}.items", "Required value: must have a schema if x-kubernetes-list-type is map"
        return
    if items.get("type") != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        yield f"{path}.items.type", invalid(items.get("type") or "", text)
    properties = items.get("properties") or {}
    for number, key in enumerate(keys):
        inner, inside = properties.get(key), f"{path}.items.properties[{key}]"
        if items.get("type") == "object":
            if inner is None:
                yield f"{path}.{KEYS}", invalid(keys, "entries must all be names of item properties")
            elif inner.get("type") in ("array", "object"):
                text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                yield f"{inside}.type", invalid("object", text)
            if key in keys[:number]:
                yield f"{path}.{KEYS}", invalid(keys, "must not contain duplicate entries")
        if inner is None:
            continue
        of_keys = f"this property is in {KEYS}, so it"
        if inner.get("default") is None and key not in (items.get("required") or ()):
            yield f"{inside}.default", f"Required value: {of_keys} must have a default or be a required property"
        if inner.get("nullable"):
            yield f"{inside}.nullable", f"Forbidden: {of_keys} cannot be nullable"


def _rules(node: Mapping[str, Any], path: str) -> Found:
    for number, rule in enumerate(node.get(RULES) or ()):
        at = f"{path}.{RULES}[{number}]"
        if not isinstance(rule, Mapping):
            yield at, "Required value: a rule is an object"
            continue
        text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
        if not text:
            yield f"{at}.rule", "Required value: rule is not specified"
        elif message and not message.strip():
            yield f"{at}.message", invalid(message, "must be non-empty if specified")
        elif _has_newlines(message.strip()):
            yield f"{at}.message", invalid(message, "must not contain line breaks")
        elif _has_newlines(text) and not message.strip():
            yield f"{at}.message", "Required value: message must be specified if rule contains line breaks"
        expression = str(rule.get("messageExpression") or "")
        if expression and not expression.strip():
            yield f"{at}.messageExpression", "Required value: messageExpression must be non-empty if specified"
        if rule.get("reason") is not None and rule["reason"] not in REASONS:
            yield f"{at}.reason", unsupported(rule["reason"], REASONS)
        field_path = str(rule.get("fieldPath") or "")
        if field_path and not field_path.strip():
            yield f"{at}.fieldPath", invalid(field_path, "must be non-empty if specified")
        if _has_newlines(field_path):
            yield f"{at}.fieldPath", invalid(field_path, "must not contain line breaks")
        if field_path and not any(map(_unread, _all_nodes(node))) and isinstance(field_at(node, field_path), str):
            yield f"{at}.fieldPath", invalid(field_path, "must be a valid path")


def _has_newlines(text: str) -> bool:
    return "\n" in text or "\r" in text


def field_at(  # noqa: PLR0911  (a small parser)
    schema: Any, path: str, *, brackets: bool = True
) -> Mapping[str, Any] | str:
    """The schema that a path such as ``.a.b['c']`` leads to from *schema*, or why it leads nowhere (ValidFieldPath)."""
    steps = _STEP.findall(path)
    node: Any = schema
    while steps:
        mark = steps.pop(0)
        if mark not in (".", "["):
            return f"expected [ or . but got: {mark}"
        if mark == "[" and not brackets:
            return "array notation is not allowed"
        if not steps:
            return "unexpected end of JSON path"
        key = steps.pop(0)
        if mark == "[":
            if len(key) < 2 or key[0] != "'":
                return f"expected single quoted string but got {key}"
            key = re.sub(r"\\(.)", r"\1", key[1:-1])
            if not steps:
                return "unexpected end of JSON path"
            if (end := steps.pop(0)) != "]":
                return f"expected ] but got {end}"
        properties = node.get("properties") or {}
        extra = node.get("additionalProperties")
        node = properties.get(key) if properties else extra
        if not isinstance(node, Mapping):
            return "does not refer to a valid field"
    return node  # type: ignore[no-any-return]
