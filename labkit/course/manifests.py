"""Manifests read as kubectl reads them, and written as ``kubectl apply -f`` writes them.

A section begins with objects that a later ``kubectl apply -f`` of the same file must find ``unchanged``. kubectl
decides that by the annotation it leaves on what it applied, so this module makes the same bytes: the whole object as
Go's JSON encoder prints it (keys sorted, ``<``, ``>`` and ``&`` escaped), with an ``annotations`` map even when it is
empty, and a newline at the end (kubectl 1.37, ``pkg/util/apply.go``; a test compares with the real kubectl).
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import yaml

from labkit.cluster.kubectl import LAST_APPLIED
from labkit.errors import ManifestError
from labkit.languages import translate

__all__ = ["as_applied", "collection_path", "documents", "parsed", "read", "with_version"]

_PLACE = re.compile(r'in "<(?:unicode|byte) string>", (line \d+, column \d+)')
"""How PyYAML says where; of a text, it says "string" for a name."""
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # libyaml's loader where it is built, else the Python one
    """YAML as kubectl understands it: an unquoted timestamp is a string, since JSON has no other form for it."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


def documents(path: Path) -> tuple[dict[str, Any], ...]:
    """The objects of a manifest file in order. Raises ManifestError with the file (and the line, when it has one)."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ManifestError(
            translate("{name}: cannot be read", name=path), evidence=error.strerror or str(error)
        ) from error
    except UnicodeDecodeError as error:
        raise ManifestError(translate("{name}: not YAML", name=path), evidence=str(error)) from error
    return read(text, str(path))


def read(text: str, name: str) -> tuple[dict[str, Any], ...]:
    """The objects of a manifest's text in order; *name* is what its errors call it. Raises ManifestError."""
    found = parsed(text, name)
    for one in found:
        if not isinstance(one, dict) or not {"apiVersion", "kind", "metadata"} <= one.keys():
            raise ManifestError(
                translate("{name}: not a manifest", name=name),
                evidence=translate("an object needs apiVersion, kind and metadata"),
            )
    if not found:
        raise ManifestError(translate("{name}: no object in it", name=name))
    return found


def parsed(text: str, name: str) -> tuple[Any, ...]:
    """The YAML documents of a text that are not empty, whatever they are. Raises ManifestError with the line."""
    try:
        return tuple(one for one in yaml.load_all(text, Loader=_Loader) if one is not None)
    except Exception as error:  # PyYAML raises whatever Python's types do for "!!int x" and the like
        said = _PLACE.sub(r"(\1)", " ".join(str(error).split()))
        raise ManifestError(translate("{name}: not YAML", name=name), evidence=said) from error


def last_applied(manifest: dict[str, Any]) -> str:
    """The text kubectl writes into the annotation for this manifest."""
    bare = copy.deepcopy(manifest)
    annotations = bare["metadata"].setdefault("annotations", {})
    annotations.pop(LAST_APPLIED, None)
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text + "\n"


def as_applied(manifest: dict[str, Any]) -> dict[str, Any]:
    """The object that ``kubectl apply`` sends when it creates it."""
    applied = copy.deepcopy(manifest)
    applied["metadata"].setdefault("annotations", {})[LAST_APPLIED] = last_applied(manifest)
    return applied


def with_version(manifest: dict[str, Any], version: str | None) -> dict[str, Any]:
    """The manifest with another version of the same group; unchanged for None."""
    if version is None:
        return manifest
    group = manifest["apiVersion"].rpartition("/")[0]
    return {**manifest, "apiVersion": f"{group}/{version}" if group else version}


def collection_path(manifest: dict[str, Any], plural: str | None = None) -> str:
    """The API path of the manifest's collection, in its namespace when it has one.

    Without *plural* the resource name is guessed from the kind by the rule of client-go's
    ``meta.UnsafeGuessKindToResource``, which is right for every built-in kind the course uses.
    """
    version = manifest["apiVersion"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = manifest["metadata"].get("namespace")
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{plural or _guess(manifest['kind'])}"


def _guess(kind: str) -> str:
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}s"
