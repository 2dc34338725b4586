"""The types of apiextensions.k8s.io/v1: a definition and its schema as typed objects (fields of Kubernetes 1.37)."""

# ruff: noqa: N815  (fields carry the API's own names)

from __future__ import annotations

from labkit.resources.apiobject import APIObject
from labkit.resources.containers import List, Map, Object, Opaque
from labkit.resources.names import register
from labkit.resources.objects import Resource
from labkit.resources.scalars import Bool, Int, Num, Str, Time
from labkit.resources.unions import JSON, SCHEMA, SchemaOrArray, SchemaOrBool, SchemaOrStringArray

__all__ = [
    "CustomResourceColumnDefinition",
    "CustomResourceConversion",
    "CustomResourceDefinition",
    "CustomResourceDefinitionCondition",
    "CustomResourceDefinitionNames",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionStatus",
    "CustomResourceDefinitionVersion",
    "CustomResourceSubresourceScale",
    "CustomResourceSubresources",
    "CustomResourceValidation",
    "ExternalDocumentation",
    "JSONSchemaProps",
    "SelectableField",
    "ServiceReference",
    "ValidationRule",
    "WebhookClientConfig",
    "WebhookConversion",
]


class ExternalDocumentation(Resource):
    """A link from a schema to a text elsewhere."""

    description = Str()
    url = Str()


class ValidationRule(Resource):
    """One rule in CEL; ``cel()`` makes it as a dict."""

    rule = Str(required=True)
    message = Str()
    messageExpression = Str()
    reason = Str()
    fieldPath = Str()
    optionalOldSelf = Bool(nullable=True)


class JSONSchemaProps(Resource):
    """A schema, with the keywords that apiextensions knows; others stay in the bag."""

    id = Str()
    _schema = Str(key="$schema")
    _ref = Str(key="$ref", nullable=True)
    description = Str()
    type = Str()
    format = Str()
    title = Str()
    default = Object(JSON, nullable=True)
    maximum = Num()
    exclusiveMaximum = Bool()
    minimum = Num()
    exclusiveMinimum = Bool()
    maxLength = Int()
    minLength = Int()
    pattern = Str()
    maxItems = Int()
    minItems = Int()
    uniqueItems = Bool()
    multipleOf = Num()
    enum = List(Object(JSON, nullable=True))
    maxProperties = Int()
    minProperties = Int()
    required = List(Str)
    items = Object(SchemaOrArray)
    allOf = List(Object("JSONSchemaProps"))
    oneOf = List(Object("JSONSchemaProps"))
    anyOf = List(Object("JSONSchemaProps"))
    not_ = Object("JSONSchemaProps", key="not")
    properties = Map(Object("JSONSchemaProps"))
    additionalProperties = Object(SchemaOrBool)
    patternProperties = Map(Object("JSONSchemaProps"))
    dependencies = Map(Object(SchemaOrStringArray))
    additionalItems = Object(SchemaOrBool)
    definitions = Map(Object("JSONSchemaProps"))
    externalDocs = Object(ExternalDocumentation)
    example = Object(JSON, nullable=True)
    nullable = Bool()
    x_kubernetes_preserve_unknown_fields = Bool(key="x-kubernetes-preserve-unknown-fields", nullable=True)
    x_kubernetes_embedded_resource = Bool(key="x-kubernetes-embedded-resource")
    x_kubernetes_int_or_string = Bool(key="x-kubernetes-int-or-string")
    x_kubernetes_list_map_keys = List(Str, key="x-kubernetes-list-map-keys")
    x_kubernetes_list_type = Str(key="x-kubernetes-list-type", nullable=True)
    x_kubernetes_map_type = Str(key="x-kubernetes-map-type", nullable=True)
    x_kubernetes_validations = List(Object(ValidationRule), key="x-kubernetes-validations")


class CustomResourceColumnDefinition(Resource):
    """One column of ``kubectl get``."""

    name = Str(required=True)
    type = Str(required=True)
    format = Str()
    description = Str()
    priority = Int()
    jsonPath = Str(required=True)


class CustomResourceDefinitionNames(Resource):
    """The names of a kind."""

    plural = Str(required=True)
    singular = Str()
    shortNames = List(Str)
    kind = Str(required=True)
    listKind = Str()
    categories = List(Str)


class SelectableField(Resource):
    """A field that a field selector may name."""

    jsonPath = Str(required=True)


class CustomResourceValidation(Resource):
    """Where a version keeps its schema."""

    openAPIV3Schema = Object(JSONSchemaProps)


class CustomResourceSubresourceScale(Resource):
    """Where an object has what ``scale`` reads and writes."""

    specReplicasPath = Str(required=True)
    statusReplicasPath = Str(required=True)
    labelSelectorPath = Str()


class CustomResourceSubresources(Resource):
    """The subresources of a version."""

    status = Opaque()
    scale = Object(CustomResourceSubresourceScale)


class CustomResourceDefinitionVersion(Resource):
    """One version of a kind."""

    name = Str(required=True)
    served = Bool(required=True)
    storage = Bool(required=True)
    deprecated = Bool()
    deprecationWarning = Str()
    schema = Object(CustomResourceValidation)
    subresources = Object(CustomResourceSubresources)
    additionalPrinterColumns = List(Object(CustomResourceColumnDefinition))
    selectableFields = List(Object(SelectableField))


class ServiceReference(Resource):
    """The Service that a webhook is behind."""

    namespace = Str(required=True)
    name = Str(required=True)
    path = Str()
    port = Int()


class WebhookClientConfig(Resource):
    """How the server reaches a webhook."""

    url = Str()
    service = Object(ServiceReference)
    caBundle = Str()


class WebhookConversion(Resource):
    """A conversion by webhook."""

    clientConfig = Object(WebhookClientConfig)
    conversionReviewVersions = List(Str, required=True)


class CustomResourceConversion(Resource):
    """How objects get from one version to another."""

    strategy = Str(required=True)
    webhook = Object(WebhookConversion)


class CustomResourceDefinitionSpec(Resource):
    """What a definition says."""

    group = Str(required=True)
    names = Object(CustomResourceDefinitionNames, required=True)
    scope = Str(required=True)
    versions = List(Object(CustomResourceDefinitionVersion), required=True)
    conversion = Object(CustomResourceConversion)
    preserveUnknownFields = Bool()


class CustomResourceDefinitionCondition(Resource):
    """What the server says of a definition."""

    type = Str(required=True)
    status = Str(required=True)
    lastTransitionTime = Time(nullable=True)
    reason = Str()
    message = Str()
    observedGeneration = Int()


class CustomResourceDefinitionStatus(Resource):
    """What became of a definition; written by the server."""

    conditions = List(Object(CustomResourceDefinitionCondition), nullable=True)
    acceptedNames = Object(CustomResourceDefinitionNames)
    storedVersions = List(Str, nullable=True)
    observedGeneration = Int()


class CustomResourceDefinition(
    APIObject, group="apiextensions.k8s.io", version="v1", plural="customresourcedefinitions", scope="Cluster"
):
    """A definition: what ``crd()`` gives."""

    spec = Object(CustomResourceDefinitionSpec, required=True)
    status = Object(CustomResourceDefinitionStatus)


register(SCHEMA, JSONSchemaProps)
for _name in __all__:
    register(f"apiextensions/v1/{_name}", globals()[_name])
