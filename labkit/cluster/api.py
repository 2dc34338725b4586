"""The API server, asked directly: what labkit itself wants to know or to change.

kubectl runs where the course shows a command. Waiting, resetting, checking and observing need the answer's parts
instead (status code, object, warnings), without a process each. This is a thin layer on the official client: its
kubeconfig handling and its connection, plain paths and JSON on top, since the course's types have no generated classes.
"""

from __future__ import annotations

import json
import re
import ssl
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlencode

from labkit.cluster.base import Cluster
from labkit.errors import ApiError, ClusterGone, ClusterStartError, WaitTimeout
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["AGGREGATED_DISCOVERY", "Api", "ApiResponse", "Resource", "why_unanswered"]

AGGREGATED_DISCOVERY = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)
"""Accept header with which ``/api`` and ``/apis`` answer all groups, versions and resources at once."""

_PAGE = 500
_PROBE_LIMIT_S = 5.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_VERDICT_LIMIT_S = 15.0
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class ApiResponse:
    """An answer of the API server: HTTP status *code*, body as *text*, the *warnings* it sent along."""

    code: int
    text: str
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return 200 <= self.code < 300

    @property
    def json(self) -> Any:
        """The body decoded. Raises ValueError when it is not JSON ("404 page not found")."""
        return json.loads(self.text)

    @property
    def status(self) -> dict[str, Any]:
        """The ``Status`` object of a refusal (or of a delete); empty when the body is none."""
        try:
            decoded = self.json
        except ValueError:
            return {}
        return decoded if isinstance(decoded, dict) and decoded.get("kind") == "Status" else {}


@dataclass(frozen=True)
class Resource:
    """One served resource of discovery. *group* is "" for the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str] = field(default_factory=frozenset)

    @property
    def group_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """URL path of the collection, or of the object when *name* is given."""
        parts = ["/apis" if self.group else "/api", self.group_version]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        return "/".join(parts)


class Api:
    """Requests to one cluster. Raises ClusterGone when nobody answers, ApiError on a refusal (``raw`` excepted)."""

    def __init__(
        self, cluster: Cluster, *, timeout_s: float = 30.0, diagnose: bool = True, as_user: str | None = None
    ) -> None:
        """With *diagnose*, an unanswered request asks the cluster itself why it is gone. Requests are made as
        *as_user*, as ``kubectl --as`` makes them, where one is given.
        """
        self._as_user = as_user
        self._cluster = cluster
        self._diagnose = diagnose
        self._timeout_s = timeout_s
        self._client: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cluster(self) -> Cluster:
        """The one that is asked."""
        return self._cluster

    @property
    def server(self) -> str:
        """The server's URL, as the kubeconfig has it."""
        return str(self._connected().configuration.host)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        *,
        accept: str = "application/json",
    ) -> ApiResponse:
        """One request, any answer. *path* may have a query; *body* is JSON, or text of another *content_type*."""
        import urllib3.exceptions
        from kubernetes.client.exceptions import ApiException

        client = self._connected()
        headers = {"Accept": accept} | ({"Content-Type": content_type} if body is not None else {})
        method, url, headers, body, _ = client.param_serialize(
            method, path, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        try:
            answer = client.call_api(method, url, headers, body, _request_timeout=self._timeout_s)
            text = answer.read().decode("utf-8", "replace")
        except (urllib3.exceptions.HTTPError, ApiException, OSError) as cause:
            raise self._unanswered(method, path, cause) from cause
        # http.client decodes headers as Latin-1; the server writes UTF-8.
        sent = ", ".join(answer.headers.getlist("Warning")).encode("latin-1").decode("utf-8", "replace")
        found = _WARNING.findall(sent)
        return ApiResponse(answer.status, text, tuple(re.sub(r"\\(.)", r"\1", warning) for warning in found))

    def get(self, path: str) -> dict[str, Any] | None:
        """The object, or None when the server says 404."""
        answer = self.settled("GET", path)
        if answer.code == 404:
            return None
        return self._object(answer, "GET", path)

    def list(self, path: str, *, selector: str | None = None) -> list[dict[str, Any]]:
        """All objects of a collection; empty when the type is not served. *selector* is one of labels."""
        return [item for page in self.pages(path, selector=selector) for item in page.get("items") or ()]

    def pages(self, path: str, *, limit: int = _PAGE, selector: str | None = None) -> Iterator[dict[str, Any]]:
        """The lists that make up a collection, at most *limit* objects each; none when the type is not served."""
        query = {"limit": str(limit)} | ({"labelSelector": selector} if selector else {})
        while True:
            answer = self.settled("GET", f"{path}?{urlencode(query)}")
            if answer.code == 404:
                return
            page = self._object(answer, "GET", path)
            yield page
            onward = page["metadata"].get("continue")
            if not onward:
                return
            query = query | {"continue": onward}

    def post(self, path: str, body: Mapping[str, Any], *, manager: str = "labkit") -> dict[str, Any]:
        """Create an object in the collection *path*; as the server now has it. A field it does not know is refused."""
        query = urlencode({"fieldManager": manager, "fieldValidation": "Strict"})
        answer = self.settled("POST", f"{path}?{query}", dict(body))
        return self._object(answer, "POST", path)

    def apply(self, obj: Mapping[str, Any], *, manager: str = "labkit", path: str | None = None) -> dict[str, Any]:
        """Server-side apply (creates when absent, takes other managers' fields over); the object as the server now has
        it. *path* is the object's, where it is known already.
        """
        path = path or self.path_of(obj)
        query = urlencode({"fieldManager": manager, "force": "true"})
        answer = self.settled("PATCH", f"{path}?{query}", dict(obj), "application/apply-patch+yaml")
        return self._object(answer, "PATCH", path)

    def patch(self, path: str, body: Mapping[str, Any], *, manager: str = "labkit") -> dict[str, Any]:
        """JSON merge patch; the object as the server now has it."""
        query = urlencode({"fieldManager": manager})
        answer = self.settled("PATCH", f"{path}?{query}", dict(body), "application/merge-patch+json")
        return self._object(answer, "PATCH", path)

    def delete(self, path: str, *, grace_s: int | None = None) -> bool:
        """Ask for a deletion (of an object, or of all of a collection); false when there was nothing (404)."""
        query = {"propagationPolicy": "Background"}
        if grace_s is not None:
            query["gracePeriodSeconds"] = str(grace_s)
        answer = self.settled("DELETE", f"{path}?{urlencode(query)}")
        if answer.code == 404:
            return False
        self._object(answer, "DELETE", path)
        return True

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """URL path of an object by its apiVersion, kind, namespace and name (namespace "default" when it has none)."""
        metadata = obj.get("metadata", {})
        resource = self.resource_of(str(obj.get("apiVersion")), str(obj.get("kind")))
        return resource.path(metadata.get("namespace", "default"), metadata["name"])

    def resource_of(self, api_version: str, kind: str) -> Resource:
        """The served resource of a type. Raises ApiError with code 404 that names what the version has instead."""
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        served = (self.get(root) or {}).get("resources") or ()
        for entry in served:
            if entry["kind"] == kind and "/" not in entry["name"]:
                group, _, version = api_version.rpartition("/")
                return Resource(group, version, entry["name"], kind, entry["namespaced"], frozenset(entry["verbs"]))
        raise ApiError(
            translate("the server has no type {kind} in {api_version}", kind=kind, api_version=api_version),
            code=404,
            reason="NotFound",
            evidence=translate(
                "{root} lists {names}",
                root=root,
                names=", ".join(sorted(e["kind"] for e in served)) or translate("nothing"),
            ),
            next_act=translate("correct apiVersion or kind; a type of a definition is there once that is Established"),
        )

    def resources(self) -> tuple[Resource, ...]:
        """All served resources, of all versions, from aggregated discovery."""
        found: list[Resource] = []
        for root in ("/api", "/apis"):
            answer = self.raw("GET", root, accept=AGGREGATED_DISCOVERY)
            found += _resources(self._object(answer, "GET", root))
        return tuple(found)

    def version(self) -> str:
        """The server's gitVersion."""
        answer = self.settled("GET", "/version")
        return str(self._object(answer, "GET", "/version")["gitVersion"])

    def settled(self, method: str, path: str, *body: Any) -> ApiResponse:
        """As ``raw``, but a server that says "later" (429: a type's storage is being set up) is asked again."""

        def look() -> Seen[ApiResponse]:
            answer = self.raw(method, path, *body)
            return Seen(answer.code != 429, answer.text.strip()[:200], answer)

        answer = wait_for(
            translate("{method} {path} to be answered", method=method, path=path), look, limit_s=self._timeout_s
        )
        assert answer is not None  # noqa: S101 (each look gives one)
        return answer

    def _connected(self) -> Any:
        if self._client is None:
            from kubernetes.config.config_exception import ConfigException

            try:
                self._client = _client(self._cluster)
                if self._as_user is not None:
                    self._client.set_default_header("Impersonate-User", self._as_user)
            except (ConfigException, OSError) as cause:
                raise ClusterStartError(
                    translate("the cluster's kubeconfig cannot be used"),
                    evidence=f"{self._cluster.kubeconfig}: {cause}",
                    next_act="labkit doctor",
                ) from cause
        return self._client

    def _unanswered(self, method: str, path: str, cause: Exception) -> ClusterGone:
        known = why_unanswered(self._cluster) if self._diagnose else None
        return known or ClusterGone(
            translate("the API server did not answer"),
            evidence=f"{method} {path}: {cause}",
            next_act=translate("try once more"),
        )

    def _object(self, answer: ApiResponse, method: str, path: str) -> dict[str, Any]:
        if not answer.ok:
            status = answer.status
            raise ApiError(
                translate("the API server refused {method} {path}", method=method, path=path),
                code=answer.code,
                reason=status.get("reason", ""),
                evidence=status.get("message") or answer.text.strip()[:500] or f"HTTP {answer.code}",
            )
        decoded: dict[str, Any] = answer.json
        return decoded


_loading = threading.Lock()


def _client(cluster: Cluster) -> Any:
    """The official client on the cluster's kubeconfig.

    It writes inline certificates and keys to files and reads them at each connection; a killed kernel would leave
    them. Here they are read once, into memory, and the files are gone before the first request.
    """
    from kubernetes import client, config

    settings: Any = client.Configuration()
    load: Any = config.load_kube_config
    # The client remembers, for the whole process, files that are gone after this block: threads take turns.
    with _loading, tempfile.TemporaryDirectory(prefix="labkit-") as files:
        load(str(cluster.kubeconfig), cluster.context, settings, persist_config=False, temp_file_path=files)
        identity = ssl.create_default_context(cafile=settings.ssl_ca_cert)
        if settings.cert_file:
            identity.load_cert_chain(settings.cert_file, settings.key_file)
    if not settings.verify_ssl:
        identity.check_hostname = False
    settings.ssl_ca_cert = settings.cert_file = settings.key_file = None
    if urllib.parse.urlsplit(settings.host).hostname in _LOOPBACK:
        settings.proxy = None  # as kubectl does: no proxy leads to this machine
    settings.retries = False
    made = client.ApiClient(settings)
    made.rest_client.pool_manager.connection_pool_kw["ssl_context"] = identity
    made.user_agent = "labkit"
    return made


def why_unanswered(cluster: Cluster) -> ClusterGone | None:
    """After a request that got no answer: why the cluster is gone, or None when it answers (again).

    A server that is dying refuses connections before its process has ended, so this waits until one or the other is
    certain, for some seconds at most.
    """

    def look() -> Seen[ClusterGone]:
        gone = cluster.gone()
        if gone is not None:
            return Seen(True, "gone", gone)
        try:
            with Api(cluster, timeout_s=_PROBE_LIMIT_S, diagnose=False) as api:
                answer = api.raw("GET", "/readyz")
        except ClusterGone as unanswered:
            return Seen(False, unanswered.evidence)
        return Seen(answer.ok, translate("not ready: {answer}", answer=answer.text.strip()[:200]))

    try:
        return wait_for(translate("the cluster to answer"), look, limit_s=_VERDICT_LIMIT_S)
    except WaitTimeout as cause:
        return ClusterGone(
            translate("the API server does not answer"),
            evidence=cause.evidence,
            next_act=translate("try once more; labkit doctor shows what runs"),
        )


def _resources(discovery: dict[str, Any]) -> Iterator[Resource]:
    for group in discovery.get("items", ()):
        for version in group.get("versions", ()):
            for entry in version.get("resources", ()):
                yield Resource(
                    group=group["metadata"].get("name", ""),
                    version=version["version"],
                    plural=entry["resource"],
                    kind=entry["responseKind"]["kind"],
                    namespaced=entry["scope"] == "Namespaced",
                    verbs=frozenset(entry["verbs"]),
                )
