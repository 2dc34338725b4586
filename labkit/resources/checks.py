"""What the API server refuses about a definition as a whole: names, versions, columns, subresources, selectable fields.

Paths are the server's own. It moves what is equal in all versions (trivially, with one) from the versions to the spec
before it looks, and its paths and one odd refusal come from that: equal selectable fields with schemas that differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from labkit.resources.errors import Problem, ServerPath
from labkit.resources.schema_checks import schema_problems

__all__ = ["problems_of"]

Found = Iterator[tuple[str, str]]

_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_DNS_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_PROTECTED = ("k8s.io", "kubernetes.io")
_APPROVED = "api-approved.kubernetes.io"
_APPROVAL = "https://github.com/kubernetes/enhancements/pull/1111"
_MOST_SELECTABLE = 8
_MOVED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def problems_of(document: Mapping[str, Any]) -> list[Problem]:
    """Every structural problem of a definition, each with the server's path (``spec.names.kind``)."""
    found = [*_names(document), *_versions(document["spec"]["versions"])]
    return [Problem((ServerPath(path),), text) for path, text in found]


def _invalid(value: Any, text: str) -> str:
    return f"Invalid value: {json.dumps(value, ensure_ascii=False)}: {text}"


def _unsupported(value: Any, known: tuple[str, ...]) -> str:
    shown = ", ".join(json.dumps(one) for one in known)
    return f"Unsupported value: {json.dumps(value, ensure_ascii=False)}: supported values: {shown}"


def _names(document: Mapping[str, Any]) -> Found:
    spec = document["spec"]
    group, given = spec.get("group") or "", spec["names"]
    kind = given.get("kind", "")
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **given}  # the server's own defaults
    expected = f"{names['plural']}.{group}"
    if not _SUBDOMAIN.fullmatch(expected):
        yield "metadata.name", _invalid(expected, _SUBDOMAIN_TEXT)
    if document["metadata"].get("name") != expected:
        yield "metadata.name", _invalid(document["metadata"].get("name"), 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield "spec.group", "Required value"
    elif not _SUBDOMAIN.fullmatch(group):
        yield "spec.group", _invalid(group, _SUBDOMAIN_TEXT)
    elif "." not in group:
        yield "spec.group", _invalid(group, "should be a domain with at least one dot")
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield "spec.scope", _unsupported(spec.get("scope"), ("Cluster", "Namespaced"))
    yield from _words(names)
    protected = group in _PROTECTED or group.endswith(tuple(f".{one}" for one in _PROTECTED))
    if protected and _APPROVED not in document["metadata"].get("annotations", {}):
        text = f'protected groups must have approval annotation "{_APPROVED}", see {_APPROVAL}'
        yield f"metadata.annotations[{_APPROVED}]", f"Required value: {text}"
    conversion = spec.get("conversion")
    if conversion is not None and conversion.get("strategy") not in ("None", "Webhook"):
        yield "spec.conversion.strategy", _unsupported(conversion.get("strategy"), ("None", "Webhook"))
    elif conversion is not None and conversion["strategy"] == "Webhook" and not conversion.get("webhook"):
        yield "spec.conversion.webhookClientConfig", "Required value: required when strategy is set to Webhook"


def _words(names: Mapping[str, Any]) -> Found:
    for key in ("plural", "singular"):
        if not _DNS_LABEL.fullmatch(names.get(key, "")):
            yield f"spec.names.{key}", _invalid(names.get(key), _DNS_TEXT)
    for key in ("kind", "listKind"):
        if not _DNS_LABEL.fullmatch(names.get(key, "").lower()):
            yield (
                f"spec.names.{key}",
                _invalid(names.get(key), f"may have mixed case, but should otherwise match: {_DNS_TEXT}"),
            )
    for key in ("shortNames", "categories"):
        for number, name in enumerate(names.get(key, ())):
            if not isinstance(name, str) or not _DNS_LABEL.fullmatch(name):
                yield f"spec.names.{key}[{number}]", _invalid(name, _DNS_TEXT)
    if names["kind"] == names["listKind"]:
        yield "spec.names.listKind", _invalid(names["listKind"], "kind and listKind may not be the same")


def _versions(versions: list[dict[str, Any]]) -> Found:
    if sum(version.get("storage") is True for version in versions) != 1:
        yield (
            "spec.versions",
            _invalid(
                [version["name"] for version in versions], "must have exactly one version marked as storage version"
            ),
        )
    for number, version in enumerate(versions):
        at = f"spec.versions[{number}]"
        if not _DNS_LABEL.fullmatch(version["name"]):
            yield f"{at}.name", _invalid(version["name"], _DNS_TEXT)
        warning = version.get("deprecationWarning")
        if warning is not None:
            if not version.get("deprecated"):
                yield f"{at}.deprecationWarning", _invalid(warning, "can only be set for deprecated versions")
            if len(warning.encode()) > 256:
                yield f"{at}.deprecationWarning", _invalid(warning, "must be <= 256 characters long")
            elif not warning or not warning.isprintable():
                yield (
                    f"{at}.deprecationWarning",
                    _invalid(warning, "must only contain printable UTF-8 characters, and not be empty"),
                )
    moved = {key: all(version.get(key) == versions[0].get(key) for version in versions) for key in _MOVED}
    for number, version in enumerate(versions):
        places = {
            key: f"spec.{name}" if moved[key] else f"spec.versions[{number}].{key}" for key, name in _MOVED.items()
        }
        yield from _version(version, places, first=number == 0, moved=moved)


def _version(version: dict[str, Any], at: dict[str, str], *, first: bool, moved: dict[str, bool]) -> Found:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if first or not moved["schema"]:
        if not isinstance(schema, Mapping):
            yield f"{at['schema']}.openAPIV3Schema", "Required value"
        else:
            yield from schema_problems(schema, f"{at['schema']}.openAPIV3Schema")
    if first or not moved["subresources"]:
        yield from _subresources(version.get("subresources") or {}, at["subresources"])
    if first or not moved["additionalPrinterColumns"]:
        for number, column in enumerate(version.get("additionalPrinterColumns") or ()):
            yield from _column(column, f"{at['additionalPrinterColumns']}[{number}]")
    selectable = version.get("selectableFields")
    if not selectable or not (first or not moved["selectableFields"]):
        return
    if moved["selectableFields"] and not moved["schema"]:
        yield at["selectableFields"], _invalid("", "may only be set when validations.schema is included")
    elif isinstance(schema, Mapping):
        yield from _selectable(selectable, schema, at["selectableFields"])


def _subresources(given: Mapping[str, Any], at: str) -> Found:
    scale = given.get("scale")
    if not isinstance(scale, Mapping):
        return
    for key, below in (
        ("specReplicasPath", (".spec",)),
        ("statusReplicasPath", (".status",)),
        ("labelSelectorPath", (".spec", ".status")),
    ):
        path = scale.get(key)
        if path is None:
            continue
        if not path.startswith(tuple(f"{one}." for one in below)):
            noun = "should be a json path under" + (" either" if len(below) > 1 else "")
            yield f"{at}.scale.{key}", _invalid(path, f"{noun} {' or '.join(below)}")


def _column(column: Any, at: str) -> Found:
    if not isinstance(column, Mapping):
        yield at, "Required value: a column is an object"
        return
    if not column.get("name"):
        yield f"{at}.name", "Required value"
    if column.get("type") not in _COLUMN_TYPES:
        text = f"must be one of {','.join(_COLUMN_TYPES)}"
        yield f"{at}.type", f"Required value: {text}" if not column.get("type") else _invalid(column["type"], text)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield f"{at}.format", _invalid(column["format"], f"must be one of {','.join(_COLUMN_FORMATS)}")
    path = column.get("jsonPath")
    if not path:
        yield f"{at}.JSONPath", "Required value"
    elif not path.startswith("."):
        yield f"{at}.JSONPath", _invalid(path, "must be a simple json path starting with .")


def _selectable(selectable: list[Any], schema: Mapping[str, Any], at: str) -> Found:
    if len(selectable) > _MOST_SELECTABLE:
        yield at, f"Too many: {len(selectable)}: must have at most {_MOST_SELECTABLE} items"
    seen: set[str] = set()
    for number, one in enumerate(selectable):
        path = one.get("jsonPath", "")
        where = f"{at}[{number}].jsonPath"
        if path in seen:
            yield where, f"Duplicate value: {json.dumps(path)}"
        seen.add(path)
        if "[" in path and "['" not in path:
            yield where, _invalid(path, "is an invalid path: array notation is not allowed")
            continue
        node: Any = schema
        for key in path.lstrip(".").split(".") if path.startswith(".") else ("",):
            node = (node.get("properties") or {}).get(key) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping):
            yield where, _invalid(path, "is an invalid path: does not refer to a valid field")
        elif path == ".metadata" or path.startswith(".metadata."):
            yield where, _invalid(path, "must not point to fields in metadata")
        elif node.get("type") not in ("string", "boolean", "integer"):
            text = "must point to a field of type string, boolean or integer."
            yield where, _invalid(path, f"{text} Enum string fields and strings with formats are allowed.")
