"""What the API server refuses about a definition as a whole: names, versions, columns, subresources, selectable fields.

Paths are the server's own. It moves what is equal in all versions (trivially, with one) from the versions to the spec
before it looks, and its paths and one odd refusal come from that: equal selectable fields with schemas that differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from labkit.resources.default_checks import invalid, unsupported
from labkit.resources.errors import Problem, ServerPath
from labkit.resources.schema_checks import field_at, schema_problems

__all__ = ["problems_of"]

Found = Iterator[tuple[str, str]]

_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
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


def _names(document: Mapping[str, Any]) -> Found:
    spec = document["spec"]
    group, given = spec.get("group") or "", spec["names"]
    kind = given.get("kind", "")
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **given}  # the server's own defaults
    expected = f"{names['plural']}.{group}"
    if not _SUBDOMAIN.fullmatch(expected):
        yield "metadata.name", invalid(expected, _SUBDOMAIN_TEXT)
    if document["metadata"].get("name") != expected:
        yield "metadata.name", invalid(document["metadata"].get("name"), 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield "spec.group", "Required value"
    elif not _SUBDOMAIN.fullmatch(group):
        yield "spec.group", invalid(group, _SUBDOMAIN_TEXT)
    elif "." not in group:
        yield "spec.group", invalid(group, "should be a domain with at least one dot")
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield "spec.scope", unsupported(spec.get("scope"), ("Cluster", "Namespaced"))
    yield from _words(names)
    protected = group in _PROTECTED or group.endswith(tuple(f".{one}" for one in _PROTECTED))
    if protected and _APPROVED not in document["metadata"].get("annotations", {}):
        text = f'protected groups must have approval annotation "{_APPROVED}", see {_APPROVAL}'
        yield f"metadata.annotations[{_APPROVED}]", f"Required value: {text}"
    yield from _conversion(spec.get("conversion"))


def _label(name: str) -> str:
    """What is wrong with *name* as a DNS label, in the server's words; empty if nothing is."""
    long = ["must be no more than 63 characters"] if len(name) > 63 else []
    return ",".join(long if _DNS_LABEL.fullmatch(name) else [*long, _DNS_TEXT])


def _conversion(conversion: Any) -> Found:
    if conversion is None:
        return
    webhook = conversion.get("webhook") or {}
    if not isinstance(webhook, Mapping):
        yield "spec.conversion.webhook", invalid(webhook, "must be an object")
        return
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    at, of_versions = "spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"
    if conversion.get("strategy") != "Webhook":
        if conversion.get("strategy") != "None":
            yield "spec.conversion.strategy", unsupported(conversion.get("strategy"), ("None", "Webhook"))
        for path in ([at] if client is not None else []) + ([of_versions] if versions else []):
            yield path, "Forbidden: should not be set when strategy is not set to Webhook"
        return
    if client is None:
        yield at, "Required value: required when strategy is set to Webhook"
    elif (client.get("url") is None) == (client.get("service") is None):
        yield at, "Required value: exactly one of url or service is required"
    elif client.get("url") is not None:
        yield from _url(client["url"], f"{at}.url")
    else:
        for key in ("name", "namespace"):
            if not client["service"].get(key):
                yield f"{at}.service.{key}", "Required value"
        port = client["service"].get("port", 443)
        if not 1 <= port <= 65535:
            yield f"{at}.service.port", invalid(port, "port is not valid: must be between 1 and 65535, inclusive")
    yield from _review_versions(versions, of_versions)


def _review_versions(versions: list[str], at: str) -> Found:
    if not versions:
        yield at, "Required value"
    for number, version in enumerate(versions):
        if version in versions[:number]:
            yield f"{at}[{number}]", invalid(version, "duplicate version")
        elif wrong := _label(version):
            yield f"{at}[{number}]", invalid(version, wrong)
    if versions and not {"v1", "v1beta1"} & set(versions):
        yield at, invalid(versions, "must include at least one of v1, v1beta1")


def _url(url: str, at: str) -> Found:
    parts = urlsplit(url)
    form = "; desired format: https://host[/path]"
    if parts.scheme != "https":
        yield at, invalid(parts.scheme, f"'https' is the only allowed URL scheme{form}")
    if not parts.netloc.rpartition("@")[2]:
        yield at, invalid(parts.netloc, f"host must be specified{form}")
    if "@" in parts.netloc:
        yield at, invalid(parts.netloc.rpartition("@")[0], "user information is not permitted in the URL")
    if parts.fragment:
        yield at, invalid(parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield at, invalid(parts.query, "query parameters are not permitted in the URL")


def _words(names: Mapping[str, Any]) -> Found:
    for key in ("plural", "singular"):
        if wrong := _label(str(names.get(key, ""))):
            yield f"spec.names.{key}", invalid(names.get(key), wrong)
    for key in ("kind", "listKind"):
        if wrong := _label(str(names.get(key, "")).lower()):
            text = f"may have mixed case, but should otherwise match: {wrong}"
            yield f"spec.names.{key}", invalid(names.get(key), text)
    for key in ("shortNames", "categories"):
        for number, name in enumerate(names.get(key, ())):
            if wrong := _label(str(name)):
                yield f"spec.names.{key}[{number}]", invalid(name, wrong)
    if names["kind"] == names["listKind"]:
        yield "spec.names.listKind", invalid(names["listKind"], "kind and listKind may not be the same")


def _versions(versions: list[dict[str, Any]]) -> Found:
    if sum(version.get("storage") is True for version in versions) != 1:
        yield (
            "spec.versions",
            invalid(
                [version["name"] for version in versions], "must have exactly one version marked as storage version"
            ),
        )
    for number, version in enumerate(versions):
        at = f"spec.versions[{number}]"
        if wrong := _label(version["name"]):
            yield f"{at}.name", invalid(version["name"], wrong)
        for text in _warning(version.get("deprecationWarning"), deprecated=bool(version.get("deprecated"))):
            yield f"{at}.deprecationWarning", invalid(version["deprecationWarning"], text)
    moved = {
        key: versions[0].get(key) is not None and all(version.get(key) == versions[0].get(key) for version in versions)
        for key in _MOVED
    }
    with_status = ["status" in (version.get("subresources") or {}) for version in versions]
    for number, version in enumerate(versions):
        places = {
            key: f"spec.{name}" if moved[key] else f"spec.versions[{number}].{key}" for key, name in _MOVED.items()
        }
        status = any(with_status) if moved["schema"] else with_status[number]
        yield from _version(version, places, first=number == 0, moved=moved, status=status)


def _warning(warning: str | None, *, deprecated: bool) -> Iterator[str]:
    """What the server says of a deprecation warning; it counts bytes."""
    if warning is None:
        return
    if not deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode()) > 256:
        yield "must be <= 256 characters long"
    if not warning:
        yield "must not be an empty string"
    odd = next((number for number, char in enumerate(warning) if not char.isprintable()), None)
    if odd is not None:
        index = len(warning[:odd].encode())
        yield f"must only contain printable UTF-8 characters; non-printable character found at index {index}"


def _version(
    version: dict[str, Any], at: dict[str, str], *, first: bool, moved: dict[str, bool], status: bool
) -> Found:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if first or not moved["schema"]:
        if not isinstance(schema, Mapping):
            yield f"{at['schema']}.openAPIV3Schema", "Required value"
        else:
            yield from schema_problems(schema, f"{at['schema']}.openAPIV3Schema", status=status)
    if first or not moved["subresources"]:
        yield from _subresources(version.get("subresources") or {}, at["subresources"])
    if first or not moved["additionalPrinterColumns"]:
        for number, column in enumerate(version.get("additionalPrinterColumns") or ()):
            yield from _column(column, f"{at['additionalPrinterColumns']}[{number}]")
    selectable = version.get("selectableFields")
    if not selectable or not (first or not moved["selectableFields"]):
        return
    if moved["selectableFields"] and not moved["schema"]:
        yield at["selectableFields"], invalid("", "may only be set when validations.schema is included")
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
        if not path:
            if key != "labelSelectorPath":
                yield f"{at}.scale.{key}", "Required value"
        elif not path.startswith("."):
            yield f"{at}.scale.{key}", invalid(path, "must be a simple json path starting with .")
        elif not path.startswith(tuple(f"{one}." for one in below)):
            noun = "should be a json path under" + (" either" if len(below) > 1 else "")
            yield f"{at}.scale.{key}", invalid(path, f"{noun} {' or '.join(below)}")


def _column(column: Any, at: str) -> Found:
    if not isinstance(column, Mapping):
        yield at, "Required value: a column is an object"
        return
    if not column.get("name"):
        yield f"{at}.name", "Required value"
    if column.get("type") not in _COLUMN_TYPES:
        text = f"must be one of {','.join(_COLUMN_TYPES)}"
        yield f"{at}.type", f"Required value: {text}" if not column.get("type") else invalid(column["type"], text)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield f"{at}.format", invalid(column["format"], f"must be one of {','.join(_COLUMN_FORMATS)}")
    path = column.get("jsonPath")
    if not path:
        yield f"{at}.JSONPath", "Required value"
    elif not path.startswith("."):
        yield f"{at}.JSONPath", invalid(path, "must be a simple json path starting with .")


def _selectable(selectable: list[Any], schema: Mapping[str, Any], at: str) -> Found:
    seen: set[str] = set()
    for number, one in enumerate(selectable):
        path, where = one.get("jsonPath"), f"{at}[{number}].jsonPath"
        if not isinstance(path, str) or not path:
            yield where, "Required value"
            continue
        found = field_at(schema, path, brackets=False)
        if isinstance(found, str):
            yield where, invalid(path, f"is an invalid path: {found}")
            continue
        if path == ".metadata" or path.startswith(".metadata."):
            yield where, invalid(path, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            text = "must point to a field of type string, boolean or integer."
            yield where, invalid(path, f"{text} Enum string fields and strings with formats are allowed.")
        if path in seen:
            yield where, f"Duplicate value: {json.dumps(path)}"
        seen.add(path)
    if len(seen) > _MOST_SELECTABLE:
        yield at, f"Too many: {len(seen)}: must have at most {_MOST_SELECTABLE} items"
