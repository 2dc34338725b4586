"""How the API server judges a definition: its conditions, the names it accepted, its versions.

A definition is an order, not a type: the type exists when the condition Established says so, and under the names in
``status.acceptedNames``, which are those asked for only while no other definition of the group has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import DEFINITIONS
from labkit.errors import ApiError
from labkit.languages import translate

__all__ = ["AcceptedNames", "Condition", "DefinedVersion", "Definition", "conditions_of", "get", "look"]


@dataclass(frozen=True)
class Condition:
    """One condition: *status* is "True", "False" or "Unknown"; *since* its lastTransitionTime (RFC 3339, or "")."""

    type: str
    status: str
    reason: str
    message: str
    since: str = ""


@dataclass(frozen=True)
class AcceptedNames:
    """The names the type is served under; "" and () where the server has accepted none."""

    plural: str
    singular: str
    kind: str
    list_kind: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]


@dataclass(frozen=True)
class DefinedVersion:
    """One entry of ``spec.versions``; *warning* is the deprecation warning it sets itself, or ""."""

    name: str
    served: bool
    storage: bool
    deprecated: bool
    warning: str


@dataclass(frozen=True)
class Definition:
    """A definition as the server has it.

    *conditions* and *versions* are in the server's order; *stored_versions* are the versions objects in etcd may be
    written in; *conversion* is "None" or "Webhook"; *finalizers* hold back its removal.
    """

    name: str
    group: str
    plural: str
    namespaced: bool
    accepted_names: AcceptedNames
    conditions: tuple[Condition, ...]
    versions: tuple[DefinedVersion, ...]
    stored_versions: tuple[str, ...]
    conversion: str
    finalizers: tuple[str, ...]

    @property
    def established(self) -> bool:
        return any(c.type == "Established" and c.status == "True" for c in self.conditions)

    @property
    def storage_version(self) -> str:
        """The version new writes are stored in (the server insists on exactly one)."""
        return next(version.name for version in self.versions if version.storage)

    @property
    def served_versions(self) -> tuple[str, ...]:
        return tuple(version.name for version in self.versions if version.served)


def conditions_of(obj: dict[str, Any]) -> tuple[Condition, ...]:
    """The conditions of any object, in its order; a new definition has null there, which means none yet."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return tuple(
        Condition(
            type=c["type"],
            status=c["status"],
            reason=c.get("reason", ""),
            message=c.get("message", ""),
            since=c.get("lastTransitionTime") or "",
        )
        for c in conditions
    )


def look(cluster: Cluster, name: str) -> Definition:
    """The definition *name*: its full name ("colis.cours.example.com"), or a plural, singular, kind or short name.

    Raises ApiError with code 404 where there is none.
    """
    with Api(cluster) as api:
        return get(api, name)


def get(api: Api, name: str) -> Definition:
    """As ``look``, over a connection that is already there."""
    found = api.get(f"{DEFINITIONS}/{name}") if "." in name else _called(api, name)
    if found is None:
        raise ApiError(
            translate("no definition {name} on this cluster", name=name),
            code=404,
            reason="NotFound",
            evidence=translate("looked in {names}", names=DEFINITIONS),
            next_act=translate("apply its manifest first, or see `kubectl get crd` for those there are"),
        )
    return _read(found)


def _called(api: Api, word: str) -> dict[str, Any] | None:
    """The first definition, by name, that answers to *word* in what kubectl would accept for it."""
    for obj in sorted(api.list(DEFINITIONS), key=lambda item: item["metadata"]["name"]):
        names = obj["spec"]["names"]
        if word in (names["plural"], names.get("singular"), names["kind"], *(names.get("shortNames") or ())):
            return obj
    return None


def _read(obj: dict[str, Any]) -> Definition:
    spec, status = obj["spec"], obj.get("status") or {}
    names = status.get("acceptedNames") or {}
    return Definition(
        name=obj["metadata"]["name"],
        group=spec["group"],
        plural=spec["names"]["plural"],
        namespaced=spec["scope"] == "Namespaced",
        accepted_names=AcceptedNames(
            plural=names.get("plural", ""),
            singular=names.get("singular", ""),
            kind=names.get("kind", ""),
            list_kind=names.get("listKind", ""),
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
        ),
        conditions=conditions_of(obj),
        versions=tuple(
            DefinedVersion(
                name=version["name"],
                served=version["served"],
                storage=version["storage"],
                deprecated=version.get("deprecated", False),
                warning=version.get("deprecationWarning") or "",
            )
            for version in spec["versions"]
        ),
        stored_versions=tuple(status.get("storedVersions") or ()),
        conversion=(spec.get("conversion") or {}).get("strategy", "None"),
        finalizers=tuple(obj["metadata"].get("finalizers") or ()),
    )
