"""Typed objects on a cluster: what labkit.resources builds, sent; what the server has, as typed objects.

labkit.resources knows no cluster, and the API no classes. This thin layer joins them: it writes the wire form, reads
into the class without refusing or changing anything, and turns a refusal into a Refused with its field paths.

    with Api(cluster) as api:
        server = Typed(api)
        colis = server.read(Colis, "principal", "ch54")
        server.replace(colis.spec_set("worker.max", 7))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from labkit.cluster.api import Api, ApiResponse
from labkit.cluster.refusal import Refused, refusal_of
from labkit.errors import ManifestError
from labkit.languages import translate
from labkit.resources import APIObject
from labkit.resources.apiextensions import CustomResourceDefinition
from labkit.resources.errors import Refusal as ValueRefusal
from labkit.resources.errors import ResourceError
from labkit.waiting import Seen, wait_for

__all__ = ["Typed"]

K = TypeVar("K", bound=APIObject)

_APPLY = "application/apply-patch+yaml"
_JSON = "application/json"
_MERGE = "application/merge-patch+json"
_PATIENCE_S = 30.0


class Typed:
    """Typed objects over one Api. *manager* is the field manager of every write.

    Every method raises Refused (an ApiError) when the server says no, ApiError when it has no such type, ClusterGone
    when nobody answers. With *dry_run* the server does all but store. An object without a namespace is looked for in
    ``default``, if its type has namespaces.
    """

    def __init__(self, api: Api, *, manager: str = "labkit") -> None:
        self._api = api
        self._manager = manager

    def read(self, cls: type[K], name: str, namespace: str | None = None) -> K | None:
        """The object as the server has it, or None when there is none.

        Nothing is checked, dropped, filled in or put in order on the way: what the server holds may be older than the
        class. So ``to_dict()`` equals what was sent, keys in the same order.
        """
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        path = self._api.path_of({"apiVersion": cls.api_version, "kind": cls.kind, "metadata": metadata})
        answer = self._api.settled("GET", path)
        if answer.code == 404 and answer.status.get("details"):
            return None
        return _taken(cls, self._accepted(answer, f"to read {cls.kind} {name}"))

    def apply(self, obj: K, *, force: bool = True, dry_run: bool = False) -> K:
        """Server-side apply: create the object, or make the fields it has what it says; the object as it is now.

        Without *force* a field that another manager has set otherwise is a conflict. Server-side apply refuses a field
        that the schema does not know, and names it.
        """
        body = _body(obj)
        body["metadata"].pop("managedFields", None)  # the server's to write; in a request to apply it is an error
        return self._write("PATCH", obj, body, _APPLY, force=str(force).lower(), dryRun=_dry(dry_run))

    def replace(self, obj: K, *, dry_run: bool = False) -> K:
        """Put the whole object in place of the one there, which must be the version that *obj* was read from.

        Unknown fields are sent with it, and left out by a server whose schema does not know them.
        """
        return self._write("PUT", obj, _body(obj), _JSON, dryRun=_dry(dry_run))

    def create(self, obj: K, *, dry_run: bool = False, strict: bool = False) -> K:
        """A new object; with *strict*, a field that the schema does not know is refused instead of left out."""
        validation = "Strict" if strict else "Warn"
        return self._write("POST", obj, _body(obj), _JSON, fieldValidation=validation, dryRun=_dry(dry_run))

    def patch(self, obj: K, changes: Mapping[str, Any], *, dry_run: bool = False) -> K:
        """A JSON merge patch of the object of that name: *changes* is merged in, and null takes a field away.

        What *obj* itself holds is not sent. The object as it is now.
        """
        return self._write("PATCH", obj, dict(changes), _MERGE, dryRun=_dry(dry_run))

    def delete(self, obj: APIObject) -> bool:
        """Ask for its deletion; False when there is none."""
        return self._api.delete(self._api.path_of(_body(obj)))

    def register(self, definition: CustomResourceDefinition) -> CustomResourceDefinition:
        """Apply a definition, and wait until objects of its type can be written; the definition as it is then.

        Raises WaitTimeout, with the condition seen last, if the server does not establish it.
        """
        applied = self.apply(definition)
        path = self._api.path_of(_body(applied))

        def look() -> Seen[dict[str, Any]]:
            now = self._api.get(path) or {}
            conditions = (now.get("status") or {}).get("conditions") or []
            met = {one["type"]: one["status"] for one in conditions}
            spec = now.get("spec") or {}
            served = [version["name"] for version in spec.get("versions") or () if version.get("served")]
            urls = [f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1" for version in served]
            ready = met.get("Established") == "True" and all(self._api.raw("GET", url).ok for url in urls)
            return Seen(ready, translate("conditions {met}", met=met), now)

        name = applied.metadata.name if applied.metadata is not None else None
        now = wait_for(translate("{name} to be established", name=name), look, limit_s=_PATIENCE_S)
        return _taken(CustomResourceDefinition, now or {})

    def _write(self, method: str, obj: K, body: dict[str, Any], content_type: str, **query: Any) -> K:
        sent = _body(obj)
        path = self._api.path_of(sent)
        if method == "POST":
            path = path.rpartition("/")[0]
        said = {name: str(value) for name, value in query.items() if value is not None}
        asked = urlencode({"fieldManager": self._manager, **said})
        answer = self._api.settled(method, f"{path}?{asked}", body, content_type)
        return _taken(type(obj), self._accepted(answer, f"{type(obj).kind} {sent['metadata']['name']}"))

    def _accepted(self, answer: ApiResponse, what: str) -> dict[str, Any]:
        if not answer.ok:
            raise Refused(f"the API server refused {what}", refusal_of(answer))
        return cast(dict[str, Any], answer.json)


def _dry(run: bool) -> str | None:
    return "All" if run else None


def _body(obj: APIObject) -> dict[str, Any]:
    """The wire form; raises ManifestError for an object without a name, which has no URL."""
    body = obj.to_dict()
    if not (body.get("metadata") or {}).get("name"):
        raise ManifestError(
            translate("a {kind} without a name cannot be sent", kind=type(obj).kind),
            next_act=translate("give it metadata.name"),
        )
    return body


def _taken(cls: type[K], document: dict[str, Any]) -> K:
    """*document* as an object, as it is; raises ResourceError if it is of another kind or version."""
    try:
        return cast(K, cls._read(document))
    except ValueRefusal as refusal:
        raise ResourceError(cls.__name__, refusal.problems) from None
