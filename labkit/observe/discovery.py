"""What a client learns of a group before it asks for an object: versions, the preferred one, types and their verbs.

This is the list behind ``kubectl get colis``: without it no client knows the URL. It is read here as clients without
the aggregated form read it, one document for the group and one for each version, because those are the URLs the
chapter shows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import DEFINITIONS
from labkit.errors import WaitTimeout
from labkit.languages import translate
from labkit.observe.definition import conditions_of
from labkit.waiting import Seen, wait_for

__all__ = ["Group", "GroupVersion", "ServedType", "Subresource", "look"]

FOLLOWS_LIMIT_S = 30.0


@dataclass(frozen=True)
class Subresource:
    """A URL below an object's own: "status", "scale"; *kind* is what it speaks ("Scale" of "autoscaling/v1")."""

    name: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True)
class ServedType:
    """A type in one version, as discovery names it; verbs in the server's order."""

    plural: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    subresources: tuple[Subresource, ...]


@dataclass(frozen=True)
class GroupVersion:
    version: str
    types: tuple[ServedType, ...]


@dataclass(frozen=True)
class Group:
    """A group and its served versions, the preferred first (the server's order); no versions: it is not served."""

    name: str
    preferred: str | None
    versions: tuple[GroupVersion, ...]

    @property
    def served(self) -> bool:
        return bool(self.versions)


def look(cluster: Cluster, group: str) -> Group:
    """The group *group* ("cours.example.com", "apps"). A group nobody serves is an answer, not an error.

    Discovery follows the definitions by some milliseconds; what is told is a discovery that has followed, unless it
    takes longer than FOLLOWS_LIMIT_S: then it is told as it is.
    """
    with Api(cluster) as api:
        seen = [_read(api, group)]

        def once() -> Seen[None]:
            seen[0] = _read(api, group)
            wanted = _defined(api, group)
            return Seen(wanted is None or wanted == _told(seen[0]), translate("discovery is of an earlier definition"))

        with suppress(WaitTimeout):
            wait_for(
                translate("discovery of {group} to follow its definitions", group=group), once, limit_s=FOLLOWS_LIMIT_S
            )
        return seen[0]


def _read(api: Api, group: str) -> Group:
    found = api.get(f"/apis/{group}")
    if found is None:
        return Group(group, preferred=None, versions=())
    versions = tuple(_version(api, group, entry["version"]) for entry in found["versions"])
    return Group(group, preferred=found["preferredVersion"]["version"], versions=versions)


_Entry: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...], frozenset[str]]
"""Version, plural, short names, categories, subresources: what a definition decides of a type in discovery."""


def _defined(api: Api, group: str) -> frozenset[_Entry] | None:
    """What the group's definitions ask discovery to tell; None where the group has no definition (built-in types)."""
    found = [obj for obj in api.list(DEFINITIONS) if obj["spec"]["group"] == group]
    if not found:
        return None
    entries: set[_Entry] = set()
    for obj in found:
        if not any(c.type == "Established" and c.status == "True" for c in conditions_of(obj)):
            continue
        names = obj["status"]["acceptedNames"]
        short, categories = tuple(names.get("shortNames") or ()), tuple(names.get("categories") or ())
        for version in obj["spec"]["versions"]:
            if version["served"]:
                below = frozenset(version.get("subresources") or ())
                entries.add((version["name"], names["plural"], short, categories, below))
    return frozenset(entries)


def _told(group: Group) -> frozenset[_Entry]:
    entries: set[_Entry] = set()
    for version in group.versions:
        if not version.types:  # still in the group's document, while its own is gone: not yet a discovery to tell
            entries.add((version.version, "", (), (), frozenset()))
        for served in version.types:
            below = frozenset(sub.name for sub in served.subresources)
            entries.add((version.version, served.plural, served.short_names, served.categories, below))
    return frozenset(entries)


def _version(api: Api, group: str, version: str) -> GroupVersion:
    # A version withdrawn between the two requests answers 404: it serves nothing, which is what is then said.
    resources = (api.get(f"/apis/{group}/{version}") or {}).get("resources") or []
    types = []
    for resource in resources:
        plural = resource["name"]
        if "/" in plural:
            continue
        below = [r for r in resources if r["name"].startswith(f"{plural}/")]
        types.append(
            ServedType(
                plural=plural,
                singular=resource.get("singularName", ""),
                kind=resource["kind"],
                namespaced=resource["namespaced"],
                verbs=tuple(resource["verbs"]),
                short_names=tuple(resource.get("shortNames") or ()),
                categories=tuple(resource.get("categories") or ()),
                subresources=tuple(
                    Subresource(r["name"].removeprefix(f"{plural}/"), r["kind"], tuple(r["verbs"])) for r in below
                ),
            )
        )
    return GroupVersion(version, tuple(types))
