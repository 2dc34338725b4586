"""What the API server refuses about defaults: unknown fields, and values that their own schema refuses.

The steps and texts are those of apiextensions-apiserver 1.37 (``pkg/apiserver/schema/defaulting/validation.go``) and of
the validator of kube-openapi. Formats other than date-time, and rules in CEL, are the server's to judge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labkit.resources import coercions
from labkit.resources.errors import Refusal
from labkit.resources.options import EMBEDDED, ENVELOPE, PRESERVE
from labkit.resources.patterns import PatternError, PatternUnknown, compile_pattern
from labkit.resources.values import INT64_MAX, INT64_MIN

__all__ = ["default_problems", "invalid", "unsupported"]

Found = Iterator[tuple[str, str]]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_PYTHON_TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and INT64_MIN <= value <= INT64_MAX and value == int(value),
    "number": _is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def invalid(value: Any, text: str) -> str:
    """The server's words for a wrong value."""
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"Invalid value: {shown}: {text}"


def unsupported(value: Any, known: Any) -> str:
    """The server's words for a value that is none of *known*."""
    shown = ", ".join(json.dumps(one if isinstance(one, str) else json.dumps(one)) for one in known)
    return f"Unsupported value: {json.dumps(value, ensure_ascii=False)}: supported values: {shown}"


def default_problems(schema: Mapping[str, Any], base: str) -> Found:
    """Every problem of a default in the root *schema*, whose path on the server is *base*.

    Defaults below additionalProperties and in logic are not looked at, as on the server.
    """
    pending: list[tuple[Any, str, bool]] = [({**schema, EMBEDDED: True}, base, False)]
    while pending:
        node, path, meta = pending.pop()
        embedded = node.get(EMBEDDED) is True
        meta = meta and not embedded
        if node.get("default") is not None:
            yield from _default(node["default"], node, f"{path}.default", meta=meta)
        if isinstance(node.get("items"), Mapping):
            pending.append((node["items"], f"{path}.items", meta))
        for key, child in (node.get("properties") or {}).items():
            if isinstance(child, Mapping):
                pending.append((child, f"{path}.properties[{key}]", meta or (embedded and key in ENVELOPE)))


def _default(value: Any, node: Mapping[str, Any], path: str, *, meta: bool) -> Found:
    if not meta and _prunes(value, node):
        yield path, invalid(value, "must not have unknown fields")
    without = [] if meta else list(_not_embeddable(value, node, path))
    yield from without
    if not without:
        yield from ((f"{path}{where}", text) for where, text in _misfits(value, node, ""))


def _prunes(value: Any, node: Any) -> bool:
    """Whether pruning would take something out of *value*."""
    if not isinstance(node, Mapping):
        return False
    if isinstance(value, dict):
        properties, extra = node.get("properties") or {}, node.get("additionalProperties")
        for key, one in value.items():
            if node.get(EMBEDDED) is True and key in ENVELOPE:
                continue
            if key in properties or isinstance(extra, Mapping):
                if _prunes(one, properties.get(key, extra)):
                    return True
            elif node.get(PRESERVE) is not True and not isinstance(extra, bool):
                return True
    return isinstance(value, list) and any(_prunes(one, node.get("items")) for one in value)


def _not_embeddable(value: Any, node: Any, path: str) -> Found:
    """Objects in *value* that must say what they are, and do not."""
    if not isinstance(node, Mapping):
        return
    if isinstance(value, dict):
        for key in ("apiVersion", "kind") if node.get(EMBEDDED) is True else ():
            if key not in value:
                yield f"{path}.{key}", "Required value"
        properties, extra = node.get("properties") or {}, node.get("additionalProperties")
        for key, one in value.items():
            at = f"{path}.{key}" if key in properties else f"{path}[{key}]"
            yield from _not_embeddable(one, properties.get(key, extra), at)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _not_embeddable(one, node.get("items"), f"{path}[{number}]")


def _misfits(value: Any, node: Any, name: str) -> Found:
    """Places below the default, and the server's texts. *name* is the place as its validator spells it."""
    where = _where(name)
    if not isinstance(node, Mapping) or (value is None and node.get("nullable")):
        return
    kind = str(node.get("type") or "")
    fits = _PYTHON_TYPES.get(kind)
    if fits is not None and not fits(value):
        found = _found_kind(value)
        yield where, invalid(found, f"{name} in body must be of type {kind}: {json.dumps(found)}")
        if found == "number":
            yield where, invalid("", f"Checked value must be of type integer (default format) in {name}")
    if "enum" in node and value not in node["enum"]:
        yield where, unsupported(value, node["enum"])
    if isinstance(value, str):
        yield from ((where, text) for text in _text_misfits(value, node, name))
    elif _is_number(value):
        yield from ((where, text) for text in _number_misfits(value, node, name))
    elif isinstance(value, (dict, list)):
        yield from ((where, text) for text in _sizes(value, node, name))
        yield from _misfits_inside(value, node, name)
    yield from _logic_misfits(value, node, name, where)


def _text_misfits(value: str, node: Mapping[str, Any], name: str) -> Iterator[str]:
    least, most = node.get("minLength"), node.get("maxLength")
    if most is not None and len(value) > most:
        yield f"Too long: may not be more than {most} byte{'' if most == 1 else 's'}"
    if least is not None and len(value) < least:
        yield invalid(value, f"{name} in body should be at least {least} chars long")
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        try:
            if not compile_pattern(pattern).found_in(value):
                yield invalid(value, f"{name} in body should match '{pattern}'")
        except (PatternError, PatternUnknown):
            pass
    if node.get("format") == "date-time":
        try:
            coercions.time(value)
        except Refusal:
            yield invalid(value, f"{name} in body must be of type date-time: {json.dumps(value)}")


def _number_misfits(value: float, node: Mapping[str, Any], name: str) -> Iterator[str]:
    for option, sign, text in (("minimum", 1, "greater"), ("maximum", -1, "less")):
        bound = node.get(option)
        if bound is None:
            continue
        edge = math.trunc(bound) if isinstance(value, int) else bound  # as the server compares integers
        if node.get(f"exclusive{option.capitalize()}") is True:
            if sign * (value - edge) <= 0:
                yield invalid(value, f"{name} in body should be {text} than {edge}")
        elif sign * (value - edge) < 0:
            yield invalid(value, f"{name} in body should be {text} than or equal to {edge}")
    factor = node.get("multipleOf")
    if factor and abs(value / factor - round(value / factor)) > 1e-9:
        yield invalid(value, f"{name} in body should be a multiple of {factor}")


def _sizes(value: Any, node: Mapping[str, Any], name: str) -> Iterator[str]:
    noun = "items" if isinstance(value, list) else "properties"
    least, most = node.get(f"min{noun.capitalize()}"), node.get(f"max{noun.capitalize()}")
    if least is not None and len(value) < least:
        yield invalid(len(value), f"{name} in body should have at least {least} {noun}")
    if most is not None and len(value) > most:
        yield f"Too many: {len(value)}: must have at most {most} item{'' if most == 1 else 's'}"


def _where(name: str) -> str:
    return f".{name.removeprefix('.')}" if name else ""


def _misfits_inside(value: Any, node: Mapping[str, Any], name: str) -> Found:
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _misfits(one, node.get("items"), f"{name}[{number}]")
        return
    properties, extra = node.get("properties") or {}, node.get("additionalProperties")
    for key, one in value.items():
        if key in properties:
            yield from _misfits(one, properties[key], f"{name}.{key}" if name else key)
        elif extra is False:
            yield _where(name), invalid(key, f"{name}.{key} in body is a forbidden property")
        else:
            yield from _misfits(one, extra, f"{name}.{key}")
    for key in node.get("required") or ():
        if key not in value:
            yield f"{_where(name)}.{key}", "Required value"


def _logic_misfits(value: Any, node: Mapping[str, Any], name: str, where: str) -> Found:
    shown = json.dumps(name)
    results = {
        junctor: [list(_misfits(value, one, name)) for one in node.get(junctor) or ()]
        for junctor in ("anyOf", "allOf", "oneOf")
    }
    if results["anyOf"] and all(results["anyOf"]):
        yield where, invalid("", f"{shown} must validate at least one schema (anyOf)")
        yield from min(results["anyOf"], key=len)
    valid = sum(not one for one in results["oneOf"])
    if results["oneOf"] and valid != 1:
        how = f"Found {valid} valid alternatives" if valid else "Found none valid"
        yield where, invalid("", f"{shown} must validate one and only one schema (oneOf). {how}")
        if not valid:
            yield from min(results["oneOf"], key=len)
    if any(results["allOf"]):
        none = ". None validated" if all(results["allOf"]) else ""
        yield where, invalid("", f"{shown} must validate all the schemas (allOf){none}")
        yield from (problem for one in results["allOf"] for problem in one)
    if isinstance(node.get("not"), Mapping) and not any(_misfits(value, node["not"], name)):
        yield where, invalid("", f"{shown} must not validate the schema (not)")


def _found_kind(value: Any) -> str:
    if value is None:
        return "null"
    return next((kind for kind in sorted(_PYTHON_TYPES) if _PYTHON_TYPES[kind](value)), type(value).__name__)
