"""Which names are the course's, and the right to change them.

On a cluster that labkit started everything may be changed. On any other the course is a guest: it needs a yes, it
takes a fixed set of names that nobody has taken before it, writes them into an annotation of its namespace, and from
then on changes and deletes those names only. The claim ends with the namespace (``labkit``'s clean-up, or the
chapter's own last step).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labkit.cluster.api import Api
from labkit.cluster.base import Cluster
from labkit.errors import ApiError, ClaimRefused
from labkit.languages import translate

__all__ = [
    "ANNOTATION",
    "CHECK_NAME",
    "COST_DEFINITIONS",
    "COST_GROUP",
    "COST_LIMIT",
    "COURSE_GROUPS",
    "COURSE_NAMES",
    "DEFINITIONS",
    "DEFINITION_KEYS",
    "NAMESPACE",
    "CourseName",
    "claim",
    "claimed_names",
    "cost_plural",
    "record",
]

NAMESPACE = "ch54"
COURSE_GROUP = "cours.example.com"
COST_GROUP = "cout.example.com"
COURSE_GROUPS = (COURSE_GROUP, COST_GROUP)
ANNOTATION = "labkit.example/claimed"
"""On namespace ch54: a JSON list of the claimed names, spelled as ``str(CourseName)``."""

CHECK_NAME = "labkit-check"
"""Of the roles and the account that an exercise's check makes for its own time."""

COST_LIMIT = 500
"""How many definitions the cost measurement may make."""


def cost_plural(number: int) -> str:
    """Plural of the *number*-th type of the cost measurement, 1 to COST_LIMIT: "type-01"."""
    return f"type-{number:02}"


COST_DEFINITIONS = tuple(f"{cost_plural(number)}.{COST_GROUP}" for number in range(1, COST_LIMIT + 1))

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION_KEYS = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
"""With what the keys of definitions begin in etcd."""

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@dataclass(frozen=True)
class CourseName:
    """A name the course takes: *collection* is the URL path of its type, *name* an object's, or "*.GROUP" for the
    definitions of a whole group. ``str`` gives "customresourcedefinitions/*.cours.example.com".
    """

    collection: str
    name: str

    def __str__(self) -> str:
        return f"{self.collection.rpartition('/')[2]}/{self.name}"

    def covers(self, name: str) -> bool:
        """Whether an object's name falls under this one."""
        return name.endswith(self.name[1:]) if self.name.startswith("*") else name == self.name

    def taken(self, api: Api) -> tuple[str, ...]:
        """URL paths of what is there under this name; nothing when the type itself is not served."""
        if not self.name.startswith("*"):
            path = f"{self.collection}/{self.name}"
            return () if api.get(path) is None else (path,)
        names = (item["metadata"]["name"] for item in api.list(self.collection))
        return tuple(f"{self.collection}/{name}" for name in names if self.covers(name))


COURSE_NAMES = (
    CourseName("/api/v1/namespaces", NAMESPACE),
    CourseName(DEFINITIONS, f"*.{COURSE_GROUP}"),
    CourseName(DEFINITIONS, f"*.{COST_GROUP}"),
    CourseName(f"{_RBAC}/clusterroles", "colis-lecture"),
    CourseName(f"{_RBAC}/clusterroles", "colis-ecriture"),
    CourseName(f"{_RBAC}/clusterroles", CHECK_NAME),
    CourseName(f"{_RBAC}/clusterrolebindings", CHECK_NAME),
    CourseName("/apis/storagemigration.k8s.io/v1/storageversionmigrations", "colis-vers-v1"),
    CourseName(f"{_ADMISSION}/mutatingadmissionpolicies", "colis-retire-max"),
    CourseName(f"{_ADMISSION}/mutatingadmissionpolicybindings", "colis-retire-max"),
)
"""Everything the course makes outside ch54, and ch54 itself."""


def claim(cluster: Cluster, yes: bool) -> tuple[CourseName, ...]:
    """Make sure that the course may change its names on *cluster*, and return them.

    A cluster of labkit's own needs nothing; one that is claimed already is recognised, whatever *yes* says. Otherwise
    *yes* is the person's consent: without it, or when a name is taken, ClaimRefused says which names, and nothing is
    changed.
    """
    if cluster.owned:
        return COURSE_NAMES
    with Api(cluster) as api:
        already = _recorded(api)
        if already:
            return already
        if not yes:
            raise ClaimRefused(
                translate("this cluster was not started by labkit, and nobody said yes to use it"),
                evidence=translate("the course would make and delete {listed}", listed=_listed(COURSE_NAMES)),
                next_act=translate("--yes, or LABKIT_CLAIM=1 in a notebook, lets it; --cluster embedded needs no yes"),
            )
        _refuse_taken(api)
        record(api, COURSE_NAMES)
    return COURSE_NAMES


def claimed_names(cluster: Cluster) -> tuple[CourseName, ...]:
    """The names the course may change on *cluster*: all on labkit's own, those of the claim on another, else none."""
    if cluster.owned:
        return COURSE_NAMES
    with Api(cluster) as api:
        return _recorded(api)


def _recorded(api: Api) -> tuple[CourseName, ...]:
    """The names in the annotation, as far as they are the course's: a changed annotation widens nothing."""
    namespace: dict[str, Any] = api.get(f"/api/v1/namespaces/{NAMESPACE}") or {}
    text = namespace.get("metadata", {}).get("annotations", {}).get(ANNOTATION, "[]")
    try:
        names = json.loads(text)
    except ValueError:
        return ()
    return tuple(name for name in COURSE_NAMES if isinstance(names, list) and str(name) in names)


def _refuse_taken(api: Api) -> None:
    taken = [path for name in COURSE_NAMES for path in name.taken(api)]
    if taken:
        raise ClaimRefused(
            translate("the course's names are already taken on this cluster"),
            evidence=", ".join("/".join(path.rsplit("/", 2)[1:]) for path in taken),
            next_act=translate("delete them if they are yours to delete, or use another cluster (--cluster embedded)"),
        )


def record(api: Api, names: Iterable[CourseName]) -> None:
    """Make ch54 with the claim on *names*. Raises ApiError when it is there already or may not be made."""
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "annotations": {ANNOTATION: json.dumps([str(name) for name in names])}},
    }
    answer = api.raw("POST", "/api/v1/namespaces", body)
    if not answer.ok:
        raise ApiError(
            translate("namespace {namespace} cannot be made on this cluster", namespace=NAMESPACE),
            code=answer.code,
            reason=answer.status.get("reason", ""),
            evidence=answer.status.get("message", answer.text.strip()[:300]),
            next_act=translate("choose a cluster where you may create namespaces and definitions"),
        )


def _listed(names: Iterable[CourseName]) -> str:
    return ", ".join(str(name) for name in names)
