"""The metadata of every object, as Kubernetes' apimachinery defines it (meta/v1 of Kubernetes 1.37)."""

from __future__ import annotations

from labkit.resources.containers import List, Map, Object, Opaque
from labkit.resources.names import register
from labkit.resources.objects import Resource
from labkit.resources.scalars import Bool, Int, Str, Time

__all__ = ["ManagedFieldsEntry", "ObjectMeta", "OwnerReference"]


class OwnerReference(Resource):
    """An object that this one belongs to; the garbage collector reads it."""

    apiVersion = Str(required=True)  # noqa: N815
    kind = Str(required=True)
    name = Str(required=True)
    uid = Str(required=True)
    controller = Bool()
    blockOwnerDeletion = Bool()  # noqa: N815


class ManagedFieldsEntry(Resource):
    """Which fields one manager of the object owns; written by the server."""

    manager = Str()
    operation = Str()
    apiVersion = Str()  # noqa: N815
    time = Time()
    fieldsType = Str()  # noqa: N815
    fieldsV1 = Opaque()  # noqa: N815
    subresource = Str()


class ObjectMeta(Resource):
    """``metadata``; everything from ``uid`` on is the server's to set."""

    name = Str()
    generateName = Str()  # noqa: N815
    namespace = Str()
    labels = Map(Str)
    annotations = Map(Str)
    finalizers = List(Str)
    ownerReferences = List(Object(OwnerReference))  # noqa: N815
    selfLink = Str()  # noqa: N815
    uid = Str()
    resourceVersion = Str()  # noqa: N815
    generation = Int()
    creationTimestamp = Time(nullable=True)  # noqa: N815  (old objects carry it as null)
    deletionTimestamp = Time()  # noqa: N815
    deletionGracePeriodSeconds = Int()  # noqa: N815
    managedFields = List(Object(ManagedFieldsEntry))  # noqa: N815


register("meta/v1/ObjectMeta", ObjectMeta)
register("meta/v1/OwnerReference", OwnerReference)
register("meta/v1/ManagedFieldsEntry", ManagedFieldsEntry)
