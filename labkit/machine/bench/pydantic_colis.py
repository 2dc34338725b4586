"""The course's type once more, as pydantic models: what ``labkit.machine.bench.objects`` measures against.

Field by field the same as the classes there: the same types, bounds, patterns and enums, unknown fields kept, every
assignment validated.
"""

# ruff: noqa: N815  (the names are those of the documents)

from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

__all__ = ["PydanticColis"]


class Model(BaseModel):
    model_config = ConfigDict(extra="allow", validate_assignment=True)


class OwnerReference(Model):
    apiVersion: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None


class ObjectMeta(Model):
    name: str | None = None
    generateName: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resourceVersion: str | None = None
    generation: int | None = None
    creationTimestamp: AwareDatetime | None = None
    deletionTimestamp: AwareDatetime | None = None
    deletionGracePeriodSeconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    ownerReferences: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    managedFields: list[dict[str, Any]] | None = None
    selfLink: str | None = None


class Api(Model):
    replicas: int | None = Field(None, ge=1, le=10)


class Worker(Model):
    min: int | None = Field(None, ge=0)
    max: int | None = Field(None, ge=1, le=20)


class Base(Model):
    taille: str | None = Field(None, pattern=r"^[0-9]+(Mi|Gi)$")
    classe: Literal["standard", "csi-hostpath-sc"] | None = None


class Spec(Model):
    version: str = Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")
    api: Api | None = None
    worker: Worker | None = None
    base: Base | None = None
    web: Api | None = None


class StatusApi(Model):
    replicas: int | None = None


class Condition(Model):
    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: AwareDatetime | None = None


class Status(Model):
    observedGeneration: int | None = None
    selecteur: str | None = None
    api: StatusApi | None = None
    conditions: list[Condition] | None = None


class PydanticColis(Model):
    apiVersion: Literal["cours.example.com/v1"]
    kind: Literal["Colis"]
    metadata: ObjectMeta | None = None
    spec: Spec
    status: Status | None = None
