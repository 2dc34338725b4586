"""Where a reader finds what the chapter's claims rest on: pages of Kubernetes' own documentation, by section."""

from __future__ import annotations

from labkit.languages import translate

__all__ = ["READING", "further"]

_DOCS = "https://kubernetes.io/docs"
_CRD = f"{_DOCS}/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
_REFERENCE = f"{_DOCS}/reference"

READING: dict[str, tuple[tuple[str, str], ...]] = {
    "a-new-type": (
        ("Custom Resources", f"{_DOCS}/concepts/extend-kubernetes/api-extension/custom-resources/"),
        ("Extend the Kubernetes API with CustomResourceDefinitions", _CRD),
        ("The Kubernetes API: discovery", f"{_DOCS}/concepts/overview/kubernetes-api/"),
    ),
    "schema": (
        ("Specifying a structural schema", f"{_CRD}#specifying-a-structural-schema"),
        ("Field pruning", f"{_CRD}#field-pruning"),
        ("Validation", f"{_CRD}#validation"),
        ("Validation ratcheting", f"{_CRD}#validation-ratcheting"),
        ("Field validation", f"{_REFERENCE}/using-api/api-concepts/#field-validation"),
    ),
    "path": (
        ("Defaulting", f"{_CRD}#defaulting"),
        ("Defaulting and nullable", f"{_CRD}#defaulting-and-nullable"),
        ("Mutating Admission Policy", f"{_REFERENCE}/access-authn-authz/mutating-admission-policy/"),
        ("Dry run", f"{_REFERENCE}/using-api/api-concepts/#dry-run"),
    ),
    "cel": (
        ("Validation rules", f"{_CRD}#validation-rules"),
        ("Transition rules", f"{_CRD}#transition-rules"),
        ("Resource use by validation functions", f"{_CRD}#resource-use-by-validation-functions"),
        ("Common Expression Language in Kubernetes", f"{_REFERENCE}/using-api/cel/"),
    ),
    "display": (
        ("Additional printer columns", f"{_CRD}#additional-printer-columns"),
        ("Status subresource", f"{_CRD}#status-subresource"),
        ("Scale subresource", f"{_CRD}#scale-subresource"),
        ("Categories", f"{_CRD}#categories"),
        ("Selectable fields for custom resources", f"{_CRD}#crd-selectable-fields"),
    ),
    "versions": (
        ("Versions in CustomResourceDefinitions", f"{_CRD.removesuffix('s/')}-versioning/"),
        ("Migrate Kubernetes Objects Using Storage Version Migration",
         f"{_DOCS}/tasks/manage-kubernetes-objects/storage-version-migration/"),
    ),
    "rbac": (
        ("Using RBAC Authorization", f"{_REFERENCE}/access-authn-authz/rbac/"),
        ("Aggregated ClusterRoles", f"{_REFERENCE}/access-authn-authz/rbac/#aggregated-clusterroles"),
        ("Checking API access", f"{_REFERENCE}/access-authn-authz/authorization/#checking-api-access"),
    ),
    "cost": (
        ("Finalizers", f"{_DOCS}/concepts/overview/working-with-objects/finalizers/"),
        ("Delete a CustomResourceDefinition", f"{_CRD}#delete-a-customresourcedefinition"),
        ("Operating etcd clusters for Kubernetes", f"{_DOCS}/tasks/administer-cluster/configure-upgrade-etcd/"),
    ),
    "typed-resources": (
        ("CustomResourceDefinition v1", f"{_REFERENCE}/kubernetes-api/extend-resources/custom-resource-definition-v1/"),
        ("Client libraries", f"{_REFERENCE}/using-api/client-libraries/"),
    ),
}  # fmt: skip
"""Section → title (Kubernetes' pages are English) and address of each page, most important first."""


def further(section: str) -> str:
    """The end of a section's page, as Markdown; "" where there is nothing to read."""
    pages = READING.get(section, ())
    lines = [f"- [{title}]({address})" for title, address in pages]
    return "\n".join([f"## {translate('In the documentation of Kubernetes')}", "", *lines]) if lines else ""
