"""Rights on the cluster: asked for, waited for, and given to a script that may only read.

The authorizer sees a role some milliseconds after it was made, and a probe that comes earlier would be told "no" to a
right answer, or, worse, to a wrong one that is too wide. So a role and a binding of the check's own are made after the
answer's, and the probes wait until those count: the server learns of objects of one kind in their order.
"""

from __future__ import annotations

import base64
import json
import secrets
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import CHECK_NAME, COURSE_GROUPS, DEFINITIONS, NAMESPACE
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["allowed", "make_reader", "reader_kubeconfig", "reading_kubeconfig", "wait_in_force"]

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_WHO = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
_TOKEN_S = 900
_LIMIT_S = 10.0


def allowed(api: Api, user: str, verb: str, resource: str, namespace: str | None = None) -> bool:
    """Whether the server lets *user* do this; *resource* is "PLURAL[.GROUP][/SUBRESOURCE]", in ch54 by default."""
    named, _, subresource = resource.partition("/")
    plural, _, group = named.partition(".")
    space = NAMESPACE if namespace is None else namespace
    asked = {"verb": verb, "group": group, "resource": plural, "subresource": subresource, "namespace": space}
    body: dict[str, Any] = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": _groups(user), "resourceAttributes": asked},
    }
    return bool(api.post(_REVIEWS, body)["status"].get("allowed"))


def _groups(user: str) -> list[str]:
    """The groups that the server gives a service account (kubernetes 1.37, pkg/serviceaccount/util.go), or whoever
    does not log in (apiserver, pkg/authentication/request/anonymous/anonymous.go).
    """
    if user == "system:anonymous":
        return ["system:unauthenticated"]
    parts = user.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        return ["system:serviceaccounts", f"system:serviceaccounts:{parts[2]}", "system:authenticated"]
    return ["system:authenticated"]


def wait_in_force(api: Api, *, cluster_wide: bool, name: str = CHECK_NAME) -> None:
    """Wait until the authorizer knows every role and binding that was made before this call.

    *name* is that of the check's own ones, which are there already or are made, and stay.
    """
    once = f"seen-{secrets.token_hex(8)}"
    places = {"Role": NAMESPACE} | ({"ClusterRole": ""} if cluster_wide else {})
    for kind, space in places.items():
        _grant(api, kind, space, name, once)

    def look() -> Seen[None]:
        for kind, space in places.items():
            if not allowed(api, _user(kind, once), "get", f"{once}.labkit.example", space):
                return Seen(False, translate("the {kind} {name} does not count yet", kind=kind, name=name))
        return Seen(True, "in force")

    wait_for(translate("the roles of the answer to come into force"), look, limit_s=_LIMIT_S)


def _user(kind: str, once: str) -> str:
    return f"labkit-check-{kind.lower()}-{once}"


def _grant(api: Api, kind: str, namespace: str, name: str, once: str) -> None:
    """A role of this kind and its binding, to a user and on a type that no earlier ones were for."""
    inside = f"/namespaces/{namespace}" if namespace else ""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    rules = [{"apiGroups": ["labkit.example"], "resources": [once], "verbs": ["get"]}]
    _put(api, f"{_RBAC}{inside}/{kind.lower()}s", {"kind": kind, "metadata": metadata, "rules": rules})
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": _user(kind, once)}]
    _bind(api, kind, metadata, inside, subjects)


def _bind(api: Api, kind: str, metadata: dict[str, str], inside: str, subjects: list[dict[str, str]]) -> None:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": metadata["name"]}
    body = {"kind": f"{kind}Binding", "metadata": metadata, "roleRef": reference, "subjects": subjects}
    _put(api, f"{_RBAC}{inside}/{kind.lower()}bindings", body)


def _put(api: Api, place: str, body: dict[str, Any]) -> None:
    whole = {"apiVersion": "rbac.authorization.k8s.io/v1", **body}
    api.apply(whole, path=f"{place}/{body['metadata']['name']}")


def reading_kubeconfig(api: Api, cluster: Cluster, stack: ExitStack) -> Path:
    """A kubeconfig of a service account that may read definitions and the objects of their types, for some minutes.

    The file lies in a folder of its own until *stack* is closed; the account lies in ch54, which a new state empties.
    """
    make_reader(api)
    return reader_kubeconfig(api, cluster, stack)


def make_reader(api: Api) -> None:
    """The account, and its rights."""
    groups = {definition["spec"]["group"] for definition in api.list(DEFINITIONS)} | {*COURSE_GROUPS}
    rules = [
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": _READ},
        {"apiGroups": sorted(groups), "resources": ["*"], "verbs": _READ},
    ]
    _put(api, f"{_RBAC}/clusterroles", {"kind": "ClusterRole", "metadata": {"name": CHECK_NAME}, "rules": rules})
    api.delete(f"{_ACCOUNTS}/{CHECK_NAME}")
    api.post(_ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": CHECK_NAME}})
    subject = {"kind": "ServiceAccount", "name": CHECK_NAME, "namespace": NAMESPACE}
    _bind(api, "ClusterRole", {"name": CHECK_NAME}, "", [subject])


def reader_kubeconfig(api: Api, cluster: Cluster, stack: ExitStack) -> Path:
    """A kubeconfig of the account that ``make_reader`` made, once the server knows it and its rights."""
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": _TOKEN_S}}
    token = api.post(f"{_ACCOUNTS}/{CHECK_NAME}/token", wanted)["status"]["token"]
    user = f"system:serviceaccount:{NAMESPACE}:{CHECK_NAME}"

    def look() -> Seen[None]:
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        if not api.post(_WHO, review)["status"].get("authenticated"):
            return Seen(False, translate("it is not known yet"))
        known = allowed(api, user, "list", "customresourcedefinitions.apiextensions.k8s.io", "")
        return Seen(known, translate("it may not read yet"))

    wait_for(translate("the script's account to be known"), look, limit_s=_LIMIT_S)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-reader-")))
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(_kubeconfig(cluster, api.server, token)), encoding="utf-8")
    return path


_READ = ["get", "list", "watch"]


def _kubeconfig(cluster: Cluster, server: str, token: str) -> dict[str, Any]:
    """The cluster's own entry (its address and authority), with the account's token instead of its user."""
    given = yaml.safe_load(cluster.kubeconfig.read_text(encoding="utf-8"))
    contexts = {one["name"]: one["context"] for one in given["contexts"]}
    context = contexts[cluster.context or given["current-context"]]
    entry = dict(next(one["cluster"] for one in given["clusters"] if one["name"] == context["cluster"]))
    authority = entry.pop("certificate-authority", None)
    if authority is not None:
        content = (cluster.kubeconfig.parent / authority).read_bytes()
        entry["certificate-authority-data"] = base64.b64encode(content).decode()
    entry["server"] = server
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "course", "cluster": entry}],
        "users": [{"name": "reader", "user": {"token": token}}],
        "contexts": [{"name": "course", "context": {"cluster": "course", "user": "reader", "namespace": NAMESPACE}}],
        "current-context": "course",
    }
