"""What the API server refuses about the structure of a schema, found before it is sent.

The rules and texts are those of apiextensions-apiserver 1.37 (``pkg/apiserver/schema`` and ``pkg/apis/apiextensions``):
each node says its type, arrays have items, lists of type map have keys that are there, patterns are RE2, defaults fit.
Rules in CEL are only looked at as text; whether they compile, and what they cost, is the server's to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labkit.resources.patterns import PatternError, PatternUnknown, compile_pattern

__all__ = ["schema_problems"]

Found = Iterator[tuple[str, str]]  # the server's path and text

TYPES = ("array", "boolean", "integer", "number", "object", "string")
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
PRESERVE = "x-kubernetes-preserve-unknown-fields"
_FORBIDDEN = ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id")
_ROOT_META = ("name", "generateName")
_PYTHON_TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def schema_problems(schema: Mapping[str, Any], base: str) -> Found:
    """Every structural problem of the root *schema*, whose path on the server is *base*."""
    if schema.get("type") != "object":
        text = (
            "Required value: must not be empty at the root"
            if not schema.get("type")
            else _invalid(schema["type"], "must be object at the root")
        )
        yield f"{base}.type", text
    if schema.get("nullable"):
        yield f"{base}.nullable", "Forbidden: nullable cannot be true at the root"
    if "additionalProperties" in schema:
        yield f"{base}.additionalProperties", "Forbidden: must not be used at the root"
    metadata = (schema.get("properties") or {}).get("metadata")
    if isinstance(metadata, Mapping):
        extra = set(metadata.get("properties") or ()) - set(_ROOT_META)
        if extra or set(metadata) - {"type", "properties", "description", "required"}:
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            yield f"{base}.properties[metadata]", f"Forbidden: {text}"
    yield from _node(schema, base, "root")


def _node(node: Mapping[str, Any], path: str, place: str) -> Found:
    pending: list[tuple[Any, str, str]] = [(node, path, place)]
    while pending:
        node, path, place = pending.pop()
        if not isinstance(node, Mapping):
            continue
        yield from _type(node, path, place)
        yield from _keywords(node, path)
        yield from _lists(node, path)
        yield from _rules(node, path)
        if "default" in node:
            yield from _default(node["default"], node, path)
        properties = node.get("properties") or {}
        children = [
            (child, f"{path}.properties[{key}]", "for specified object fields") for key, child in properties.items()
        ]
        if "items" in node:
            children.append((node["items"], f"{path}.items", "for specified array items"))
        if isinstance(node.get("additionalProperties"), Mapping):
            children.append(
                (node["additionalProperties"], f"{path}.additionalProperties", "for specified object fields")
            )
        pending.extend(reversed(children))


def _type(node: Mapping[str, Any], path: str, place: str) -> Found:
    kind = node.get("type")
    loose = node.get("x-kubernetes-int-or-string") is True or node.get(PRESERVE) is True
    if not kind and not loose and place != "root":
        yield f"{path}.type", f"Required value: must not be empty {place}"
    elif kind and kind not in TYPES:
        yield f"{path}.type", _unsupported(kind, TYPES)
    if kind == "array" and not isinstance(node.get("items"), Mapping):
        yield f"{path}.items", "Required value: must be specified"
    if node.get("x-kubernetes-int-or-string") is True and node.get(PRESERVE) is True:
        yield f"{path}.{PRESERVE}", _invalid(True, "must be false if x-kubernetes-int-or-string is true")
    if node.get(PRESERVE) is False:
        yield f"{path}.{PRESERVE}", _invalid(False, "must be true or undefined")
    if node.get("x-kubernetes-embedded-resource") is True:
        if kind != "object":
            yield f"{path}.type", _invalid(kind or "", "must be object if x-kubernetes-embedded-resource is true")
        if not node.get("properties") and node.get(PRESERVE) is not True:
            text = f"must not be empty if x-kubernetes-embedded-resource is true without {PRESERVE}"
            yield f"{path}.properties", f"Required value: {text}"


def _keywords(node: Mapping[str, Any], path: str) -> Found:
    for keyword in _FORBIDDEN:
        if node.get(keyword):
            yield f"{path}.{keyword}", f"Forbidden: {keyword} is not supported"
    if node.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield f"{path}.uniqueItems", f"Forbidden: {text}"
    if node.get("properties") and node.get("additionalProperties"):
        yield f"{path}.additionalProperties", "Forbidden: additionalProperties and properties are mutual exclusive"
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        try:
            compile_pattern(pattern)
        except PatternError as reason:
            yield f"{path}.pattern", _invalid(pattern, f"must be a valid regular expression, but isn't: {reason}")
        except PatternUnknown:
            pass


def _lists(node: Mapping[str, Any], path: str) -> Found:
    kind = node.get("x-kubernetes-list-type")
    keys = node.get("x-kubernetes-list-map-keys")
    if kind is not None and node.get("type") != "array":
        yield f"{path}.type", _invalid(node.get("type") or "", "must be array if x-kubernetes-list-type is set")
    if kind is not None and kind not in ("atomic", "set", "map"):
        yield f"{path}.x-kubernetes-list-type", _unsupported(kind, ("atomic", "map", "set"))
    if keys and kind != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield f"{path}.x-kubernetes-list-type", f"Required value: {text}" if kind is None else _invalid(kind, text)
    map_type = node.get("x-kubernetes-map-type")
    if map_type is not None and map_type not in ("atomic", "granular"):
        yield f"{path}.x-kubernetes-map-type", _unsupported(map_type, ("atomic", "granular"))
    if map_type is not None and node.get("type") != "object":
        yield f"{path}.type", _invalid(node.get("type") or "", "must be object if x-kubernetes-map-type is specified")
    if kind == "map":
        yield from _map_keys(node, keys, path)


def _map_keys(node: Mapping[str, Any], keys: Any, path: str) -> Found:
    items = node.get("items") if isinstance(node.get("items"), Mapping) else {}
    assert isinstance(items, Mapping)  # noqa: S101  (decided on the line above)
    if not keys:
        yield f"{path}.x-kubernetes-list-map-keys", "Required value: must not be empty if x-kubernetes-list-type is map"
    if items.get("type") != "object":
        yield (
            f"{path}.items.type",
            _invalid(items.get("type") or "", "must be object if parent array's x-kubernetes-list-type is map"),
        )
    properties = items.get("properties") or {}
    seen = set()
    for number, key in enumerate(keys or ()):
        at = f"{path}.x-kubernetes-list-map-keys[{number}]"
        if key in seen:
            yield at, f"Duplicate value: {json.dumps(key)}"
        seen.add(key)
        if key not in properties:
            yield at, _invalid(key, "entries must all be names of item properties")
            continue
        inner = properties[key]
        inside = f"{path}.items.properties[{key}]"
        if inner.get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield f"{inside}.type", _invalid(inner["type"], text)
        if inner.get("nullable"):
            text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            yield f"{inside}.nullable", f"Forbidden: {text}"
        if "default" not in inner and key not in (items.get("required") or ()):
            text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            yield f"{inside}.default", f"Required value: {text}"


def _rules(node: Mapping[str, Any], path: str) -> Found:
    for number, rule in enumerate(node.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{number}]"
        if not isinstance(rule, Mapping):
            yield at, "Required value: a rule is an object"
            continue
        text, message = str(rule.get("rule") or ""), rule.get("message")
        if not text.strip():
            yield f"{at}.rule", "Required value: rule is not specified"
        if isinstance(message, str) and not message.strip():
            yield f"{at}.message", _invalid(message, "message must be non-empty if specified")
        elif isinstance(message, str) and "\n" in message.strip():
            yield f"{at}.message", _invalid(message, "message must not contain line breaks")
        elif message is None and "messageExpression" not in rule and "\n" in text.strip():
            yield f"{at}.message", "Required value: message must be specified if rule contains line breaks"
        expression = rule.get("messageExpression")
        if isinstance(expression, str) and not expression.strip():
            yield f"{at}.messageExpression", "Required value: messageExpression must be non-empty if specified"
        if rule.get("reason") is not None and rule["reason"] not in REASONS:
            yield f"{at}.reason", _unsupported(rule["reason"], REASONS)
        field_path = rule.get("fieldPath")
        if field_path is not None and not _leads_somewhere(node, str(field_path)):
            yield f"{at}.fieldPath", _invalid(field_path, "fieldPath must be a valid path")


def _leads_somewhere(node: Any, path: str) -> bool:
    """Whether a path such as ``.a.b['c']`` names a property below *node*."""
    rest = path
    while rest:
        if rest.startswith("['") and "']" in rest:
            key, _, rest = rest[2:].partition("']")
        elif rest.startswith("."):
            key = rest[1:].split(".", 1)[0].split("[", 1)[0]
            rest = rest[1 + len(key) :]
        else:
            return False
        properties = node.get("properties") if isinstance(node, Mapping) else None
        if isinstance(properties, Mapping) and key in properties:
            node = properties[key]
        elif isinstance(node, Mapping) and isinstance(node.get("additionalProperties"), Mapping):
            node = node["additionalProperties"]
        else:
            return False
    return bool(path)


def _default(value: Any, node: Mapping[str, Any], path: str) -> Found:
    """What the server refuses about a default: unknown fields, and values its schema refuses."""
    if _prunes(value, node):
        yield f"{path}.default", _invalid(value, "must not have unknown fields")
    yield from ((f"{path}.default{where}", text) for where, text in _misfits(value, node, ""))


def _prunes(value: Any, node: Any) -> bool:
    if not isinstance(node, Mapping):
        return False
    if isinstance(value, dict):
        properties, extra = node.get("properties") or {}, node.get("additionalProperties")
        free = node.get(PRESERVE) is True or extra is True or node.get("x-kubernetes-embedded-resource") is True
        for key, one in value.items():
            if key in properties:
                if _prunes(one, properties[key]):
                    return True
            elif isinstance(extra, Mapping):
                if _prunes(one, extra):
                    return True
            elif not free:
                return True
    if isinstance(value, list):
        return any(_prunes(one, node.get("items")) for one in value)
    return False


def _misfits(value: Any, node: Any, where: str) -> Found:
    """The server's texts, in which the path starts at the default and has no leading dot."""
    name = where.lstrip(".")
    if not isinstance(node, Mapping) or (value is None and node.get("nullable")):
        return
    kind = node.get("type")
    fits = _PYTHON_TYPES.get(str(kind))
    if fits is not None and not fits(value):
        found = _found_kind(value)
        yield where, _invalid(found, f"{name} in body must be of type {kind}: {json.dumps(found)}")
        return
    if "enum" in node and value not in node["enum"]:
        yield where, _unsupported(value, node["enum"])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in node and value < node["minimum"]:
            yield where, _invalid(value, f"{name} in body should be greater than or equal to {node['minimum']}")
        if "maximum" in node and value > node["maximum"]:
            yield where, _invalid(value, f"{name} in body should be less than or equal to {node['maximum']}")
    if isinstance(value, str) and isinstance(node.get("pattern"), str):
        try:
            if not compile_pattern(node["pattern"]).found_in(value):
                yield where, _invalid(value, f"{name} in body should match '{node['pattern']}'")
        except (PatternError, PatternUnknown):
            pass
    yield from _misfits_inside(value, node, where)


def _misfits_inside(value: Any, node: Mapping[str, Any], where: str) -> Found:
    if isinstance(value, dict):
        properties, extra = node.get("properties") or {}, node.get("additionalProperties")
        for key, one in value.items():
            yield from _misfits(one, properties.get(key, extra), f"{where}.{key}")
        for key in node.get("required") or ():
            if key not in value:
                yield f"{where}.{key}", "Required value"
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _misfits(one, node.get("items"), f"{where}[{number}]")


def _found_kind(value: Any) -> str:
    if value is None:
        return "null"
    for kind in ("boolean", "integer", "number", "string", "array", "object"):
        if _PYTHON_TYPES[kind](value):
            return kind
    return type(value).__name__


def _invalid(value: Any, text: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"Invalid value: {shown}: {text}"


def _unsupported(value: Any, known: Any) -> str:
    shown = ", ".join(json.dumps(one, ensure_ascii=False) for one in known)
    return f"Unsupported value: {json.dumps(value, ensure_ascii=False)}: supported values: {shown}"
