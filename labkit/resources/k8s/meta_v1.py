"""Generated from Kubernetes v1.37.2 by ``make kinds``; not to be edited.

The types of meta/v1; ``kubectl explain`` has their prose.
"""

# ruff: noqa: N815  (fields carry the API's own names)

from __future__ import annotations

from labkit.resources import List, Map, Object, Resource, Str

__all__ = ["LabelSelector", "LabelSelectorRequirement"]


class LabelSelectorRequirement(Resource, lenient=True):
    """The API's type io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement."""

    key = Str(required="schema")
    operator = Str(required="schema")
    values = List(Str, list_type="atomic")


class LabelSelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector."""

    matchExpressions = List(Object(LabelSelectorRequirement), list_type="atomic")
    matchLabels = Map(Str)
