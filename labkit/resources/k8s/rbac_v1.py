"""Generated from Kubernetes v1.37.2 by ``make kinds``; not to be edited.

The types of rbac/v1; ``kubectl explain`` has their prose.
"""

# ruff: noqa: N815  (fields carry the API's own names)

from __future__ import annotations

from labkit.resources import APIObject, List, Object, Resource, Str
from labkit.resources.k8s.meta_v1 import LabelSelector

__all__ = [
    "AggregationRule",
    "ClusterRole",
    "ClusterRoleBinding",
    "PolicyRule",
    "Role",
    "RoleBinding",
    "RoleRef",
    "Subject",
]


class AggregationRule(Resource, lenient=True):
    """The API's type io.k8s.api.rbac.v1.AggregationRule."""

    clusterRoleSelectors = List(Object(LabelSelector), list_type="atomic")


class PolicyRule(Resource, lenient=True):
    """The API's type io.k8s.api.rbac.v1.PolicyRule."""

    apiGroups = List(Str, list_type="atomic")
    nonResourceURLs = List(Str, list_type="atomic")
    resourceNames = List(Str, list_type="atomic")
    resources = List(Str, list_type="atomic")
    verbs = List(Str, required="schema", list_type="atomic")


class ClusterRole(
    APIObject, group="rbac.authorization.k8s.io", version="v1", plural="clusterroles", scope="Cluster", lenient=True
):
    """The API's type io.k8s.api.rbac.v1.ClusterRole."""

    aggregationRule = Object(AggregationRule)
    rules = List(Object(PolicyRule), list_type="atomic")


class RoleRef(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.rbac.v1.RoleRef."""

    apiGroup = Str(default="")
    kind = Str(required="schema")
    name = Str(required="schema")


class Subject(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.rbac.v1.Subject."""

    apiGroup = Str()
    kind = Str(required="schema")
    name = Str(required="schema")
    namespace = Str()


class ClusterRoleBinding(
    APIObject,
    group="rbac.authorization.k8s.io",
    version="v1",
    plural="clusterrolebindings",
    scope="Cluster",
    lenient=True,
):
    """The API's type io.k8s.api.rbac.v1.ClusterRoleBinding."""

    roleRef = Object(RoleRef, required="schema")
    subjects = List(Object(Subject), list_type="atomic")


class Role(APIObject, group="rbac.authorization.k8s.io", version="v1", plural="roles", lenient=True):
    """The API's type io.k8s.api.rbac.v1.Role."""

    rules = List(Object(PolicyRule), list_type="atomic")


class RoleBinding(APIObject, group="rbac.authorization.k8s.io", version="v1", plural="rolebindings", lenient=True):
    """The API's type io.k8s.api.rbac.v1.RoleBinding."""

    roleRef = Object(RoleRef, required="schema")
    subjects = List(Object(Subject), list_type="atomic")
