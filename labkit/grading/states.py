"""The states that answers are judged in, made once and put back by their bytes.

Making a state through the API server takes a quarter of a second and more, twenty times for one submission, and most of
it is the server's own work. Between two answers little of the store differs. So a state is made once, in the way that
every check makes it, and the whole store is remembered; from then on the keys that differ are written to etcd directly.

That is worth something only if it is sure, and three things make it so:

- *Clean is proven, not assumed.* All keys are compared with the remembered ones, before an answer is judged and after
  the state was put back, until nothing differs but what ``_ALONE`` names. What an answer may have changed and what is
  known to leave no trace elsewhere (``_PUT_BACK``) is put back; anything else (a webhook, a namespace, a type that is
  being deleted) makes this cluster ``NotClean``, and whoever judges takes a new one.
- *No answer is judged by the state before.* A definition that differs is not overwritten: it is deleted, the server
  is watched until it no longer serves the type and no longer lists it, then the new one is written, with a uid of its
  own, so that nothing the server keeps by uid can be of the old one, and is waited for in the same two places. Each
  wait sees a change from there to not there or back, so neither can mistake the old for the new. Rights are waited for
  by roles and bindings written after those of the state, each time for another name.
- *One key in one write.* Watchers of the server go on from a revision when they are cut off, and would lose the rest
  of a transaction. Only definitions that serve nothing, of which nobody keeps anything but the list of them in the
  cache next to etcd, are written by the hundred.

Kubernetes 1.37: apiextensions-apiserver, pkg/apiserver/customresource_handler.go (types are served by the definition's
uid) and customresource_discovery_controller.go.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from labkit.cluster import Api
from labkit.cluster.api import AGGREGATED_DISCOVERY
from labkit.cluster.claim import CHECK_NAME, COURSE_GROUPS, DEFINITION_KEYS, NAMESPACE
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.store import CHANGES_AT_ONCE, Store
from labkit.course.begin import begin
from labkit.course.notebook import Begin
from labkit.errors import WaitTimeout
from labkit.exercises import access
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.model import Exercise
from labkit.exercises.probes import Step
from labkit.grading.errors import GradingError
from labkit.observe.migration import MIGRATION_KEYS, MIGRATIONS
from labkit.waiting import Seen, wait_for

__all__ = ["NotClean", "States"]

_GROUPS = "|".join(map(re.escape, COURSE_GROUPS))
_SPACE = f"/registry/namespaces/{NAMESPACE}"
_RBAC = ("/registry/roles/", "/registry/rolebindings/", "/registry/clusterroles/", "/registry/clusterrolebindings/")
_ACCOUNTS = f"/registry/serviceaccounts/{NAMESPACE}/"

_ALONE = re.compile(
    r"/registry/(?:"
    r"leases/|masterleases/|peerserverleases/"  # signs of life, written every few seconds
    r"|events/"  # what happened; nothing acts upon it
    rf"|apiregistration\.k8s\.io/apiservices/[^/]+\.(?:{_GROUPS})$"  # made of the definitions, and taken away with them
    r")"
)
"""Keys that are not compared."""

_PUT_BACK = re.compile(
    rf"{re.escape(DEFINITION_KEYS)}[^/]+\.(?:{_GROUPS})$"
    rf"|/registry/(?:{_GROUPS})/"
    rf"|{re.escape(_SPACE)}$"
    rf"|{re.escape(_ACCOUNTS)}"
    rf"|{'|'.join(map(re.escape, _RBAC))}"
    rf"|{re.escape(MIGRATION_KEYS)}/"
)
"""Keys whose bytes are all there is to them, for an API server that has seen them."""

_AGGREGATED = re.compile(r"/registry/clusterroles/(?:admin|edit|view)$")
"""Written by a controller out of other roles, also after those are put back."""

_SEEN_BY = "labkit-judge"
"""Of the roles and bindings by which it is seen that others count."""

_SEEN_KEYS = frozenset(
    f"{kind}{f'{NAMESPACE}/' if 'cluster' not in kind else ''}{_SEEN_BY}" for kind in _RBAC
)  # by kubernetes 1.37, pkg/registry/rbac
_READER_KEYS = (
    f"{_ACCOUNTS}{CHECK_NAME}",
    f"/registry/clusterroles/{CHECK_NAME}",
    f"/registry/clusterrolebindings/{CHECK_NAME}",
)
_ROUNDS = 5
_LIMIT_S = 30.0
_QUIET_LOOKS = 4

Definition = Mapping[str, Any]


class NotClean(GradingError):
    """What is in the cluster cannot be put back by its bytes, or not surely: take a new one."""


class States(Beginnings):
    """The states of *cluster*, which this process must hold, and which nobody else may use. Close it at the end."""

    cluster: EmbeddedCluster

    def __init__(self, cluster: EmbeddedCluster) -> None:
        """Takes about a second. Raises ClusterGone, ApiError, WaitTimeout."""
        super().__init__(cluster)
        self._known: dict[str, tuple[int, bytes]] = {}
        """What is stored, as far as it was read or written here: revision and value (of a definition that was put
        back: the remembered value, which has another uid)."""
        self._seen_by: dict[str, bytes] = {}
        self._states: dict[str, Mapping[str, bytes]] = {}
        with ExitStack() as stack:
            self._api = stack.enter_context(Api(cluster))
            self._store = stack.enter_context(Store(cluster))
            begin(cluster, Begin(None), root=Path())
            access.make_reader(self._api)
            self._wait_quiet()
            values = (one for one in self._store.values() if not _ALONE.match(one.key))
            self._known = {one.key: (one.mod_revision, one.value) for one in values}
            self._base = self._at_rest()
            self._wait_rights()
            self._stack = stack.pop_all()

    def leave(self) -> None:
        """For whoever uses the cluster afterwards: take away by what rights are seen, which no plain check makes."""
        for key in _SEEN_KEYS:
            self._store.delete(key)
        self._seen_by.clear()

    def close(self) -> None:
        self._stack.close()

    @contextmanager
    def around(self, exercise: Exercise) -> Iterator[None]:
        """What an answer leaves is undone by the next state."""
        del exercise
        yield

    def bring(self, exercise: Exercise, steps: Sequence[Step], play: Callable[[], bool]) -> bool:
        """As ``Beginnings``, the second time by the bytes. Raises NotClean."""
        name = repr((exercise.root, exercise.begin, [replace(step, where="") for step in steps]))
        if name in self._states:
            self._go(self._states[name])
            return True
        self._go(self._base)
        if not super().bring(exercise, steps, play):
            return False
        found = self._at_rest() | {key: self._base[key] for key in _READER_KEYS}
        self._go(found)
        self._states[name] = found
        return True

    def reading_kubeconfig(self, api: Api, stack: ExitStack) -> Path:
        """The account that it names is part of every state."""
        return access.reader_kubeconfig(api, self.cluster, stack)

    # -- comparing ----------------------------------------------------------------------------------------------------

    def _keys(self) -> dict[str, int]:
        return {key: revision for key, revision in self._store.keys().items() if not _ALONE.match(key)}

    def _wait_quiet(self) -> None:
        looks: list[dict[str, int]] = []

        def look() -> Seen[None]:
            looks.append(self._keys())
            return Seen(looks[-_QUIET_LOOKS:] == [looks[-1]] * _QUIET_LOOKS, "it is still writing")

        wait_for("the control plane to be at rest", look, limit_s=_LIMIT_S, longest_pause_s=0.05)

    def _at_rest(self) -> dict[str, bytes]:
        """Everything stored, once nothing has been written for some looks, and what is defined is discovered."""
        self._wait_quiet()
        self._look()
        wait_for("discovery to list what is defined", self._discovered, limit_s=_LIMIT_S)
        return {key: value for key, (_, value) in self._known.items() if key not in _SEEN_KEYS}

    def _look(self) -> None:
        """Read what was written by others since the last time. Raises NotClean for what cannot be put back."""
        now = self._keys()
        for key in now.keys() | self._known.keys():
            if key in self._known and now.get(key) == self._known[key][0]:
                continue
            if not _PUT_BACK.match(key) or _AGGREGATED.match(key):
                raise NotClean("an answer changed what is not put back", evidence=key)
            there = self._store.get(key) if key in now else None
            if there is not None:
                self._check_settled(key, there.value)
                self._known[key] = (there.mod_revision, there.value)
            else:
                self._known.pop(key, None)
            if key == _SPACE and there is None:
                raise NotClean("an answer deleted the namespace", evidence=key)

    def _check_settled(self, key: str, value: bytes) -> None:
        """Raise NotClean where a controller may be at work on what is stored at *key*."""
        if key.startswith(DEFINITION_KEYS) and "deletionTimestamp" in _decoded(value)["metadata"]:
            raise NotClean("an answer left a definition that is being deleted", evidence=key)
        if key == _SPACE and b"Terminating" in value:
            raise NotClean("an answer left the namespace being deleted", evidence=key)
        if key.startswith(f"{MIGRATION_KEYS}/"):
            found = self._api.get(f"{MIGRATIONS}/{key.rpartition('/')[2]}") or {}
            told = (found.get("status") or {}).get("conditions") or ()
            if not any(one["type"] in ("Succeeded", "Failed") and one["status"] == "True" for one in told):
                raise NotClean("an answer left a migration that has not ended", evidence=key)

    def _go(self, state: Mapping[str, bytes]) -> None:
        """Bring the store to *state*, and the server to go by it. Raises NotClean."""
        try:
            for _ in range(_ROUNDS):
                self._look()
                wanted = {**state, **self._seen_by}
                differing = [
                    key
                    for key in self._known.keys() | wanted.keys()
                    if key not in self._known or self._known[key][1] != wanted.get(key)
                ]
                if not differing:
                    return
                self._write(sorted(differing), wanted)
        except WaitTimeout as late:
            raise NotClean(late.state, evidence=late.evidence) from late
        raise NotClean("the store does not come to rest", evidence=", ".join(differing[:3]))

    # -- putting back -------------------------------------------------------------------------------------------------

    def _write(self, keys: Sequence[str], wanted: Mapping[str, bytes]) -> None:
        """Objects before their definitions, both ways: a type that is served has its objects at once."""
        silent = {key for key in keys if key.startswith(DEFINITION_KEYS) and not self._heard_of(key, wanted)}
        self._write_silent(sorted(silent), wanted)
        keys = sorted((key for key in keys if key not in silent), key=lambda key: key.startswith(DEFINITION_KEYS))
        definitions = [key for key in keys if key.startswith(DEFINITION_KEYS)]
        gone = [key for key in keys if key in self._known and (key not in wanted or key in definitions)]
        before = [_decoded(self._known[key][1]) for key in gone if key in definitions]
        for key in gone:
            self._store.delete(key)
            del self._known[key]
        self._wait_served(before, served=False)
        for key in keys:
            if key in wanted:
                value = _made_new(wanted[key]) if key in definitions else wanted[key]
                self._known[key] = (self._store.put(key, value), wanted[key])
        self._wait_served([_decoded(wanted[key]) for key in definitions if key in wanted], served=True)
        if any(key.startswith(_RBAC) for key in keys):
            self._wait_rights()

    def _heard_of(self, key: str, wanted: Mapping[str, bytes]) -> bool:
        """Whether the definition at *key* serves anything, now or when it is as *wanted*."""
        values = [wanted.get(key), self._known[key][1] if key in self._known else None]
        return any(one["served"] for value in values if value for one in _decoded(value)["spec"]["versions"])

    def _write_silent(self, keys: Sequence[str], wanted: Mapping[str, bytes]) -> None:
        for first in range(0, len(keys), CHANGES_AT_ONCE):
            part = keys[first : first + CHANGES_AT_ONCE]
            revision = self._store.change({key: wanted.get(key) for key in part})
            for key in part:
                self._known.pop(key, None)
                if key in wanted:
                    self._known[key] = (revision, wanted[key])

    def _wait_served(self, definitions: Sequence[Definition], *, served: bool) -> None:
        """Wait until all served versions of *definitions* are there, or all are not, and discovery says what is."""
        places = [
            f"/apis/{one['spec']['group']}/{version['name']}/{one['spec']['names']['plural']}?limit=1"
            for one in definitions
            for version in one["spec"]["versions"]
            if version["served"]
        ]
        if not places:
            return

        def look() -> Seen[None]:
            while places:
                code = self._api.raw("GET", places[0]).code
                if code != (200 if served else 404):
                    return Seen(False, f"{places[0]} answers {code}")
                del places[0]
            return self._discovered()

        wait_for("the server to go by the definitions", look, limit_s=_LIMIT_S)

    def _discovered(self) -> Seen[None]:
        """Whether discovery lists of the course's groups what is defined there, and nothing else."""
        listed: set[tuple[Any, ...]] = set()
        for group in self._api.raw("GET", "/apis", accept=AGGREGATED_DISCOVERY).json["items"]:
            if group["metadata"]["name"] in COURSE_GROUPS:
                for version in group["versions"]:
                    for one in version["resources"]:
                        listed.add(_entry(group["metadata"]["name"], version["version"], one))
        defined = [value for key, (_, value) in self._known.items() if key.startswith(DEFINITION_KEYS)]
        wanted = {entry for value in defined for entry in _entries(_decoded(value))}
        return Seen(listed == wanted, f"discovery lists {sorted(one[2] for one in listed)}")

    def _wait_rights(self) -> None:
        access.wait_in_force(self._api, cluster_wide=True, name=_SEEN_BY)
        for key in _SEEN_KEYS:
            there = self._store.get(key)
            if there is not None:
                self._known[key] = (there.mod_revision, there.value)
                self._seen_by[key] = there.value


def _decoded(value: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(value)
    return found


def _made_new(definition: bytes) -> bytes:
    found = _decoded(definition)
    found["metadata"]["uid"] = str(uuid.uuid4())
    return json.dumps(found, ensure_ascii=False).encode()


def _entry(group: str, version: str, resource: Mapping[str, Any]) -> tuple[Any, ...]:
    """What discovery says of one resource that a client goes by."""
    return (
        group,
        version,
        resource["resource"],
        resource["responseKind"]["kind"],
        resource["scope"],
        resource.get("singularResource", ""),
        tuple(resource.get("shortNames", ())),
        tuple(resource.get("categories", ())),
        tuple(one["subresource"] for one in resource.get("subresources", ())),
    )


def _entries(definition: Definition) -> Iterator[tuple[Any, ...]]:
    """The same of a definition, by the names that the server accepted. It is stored in v1beta1, which has what is the
    same in all versions outside of them.
    """
    spec, names = definition["spec"], definition["status"]["acceptedNames"]
    for version in spec["versions"]:
        if version["served"]:
            there = version.get("subresources") or spec.get("subresources") or {}
            yield (
                spec["group"],
                version["name"],
                names["plural"],
                names["kind"],
                spec["scope"],
                names.get("singular", ""),
                tuple(names.get("shortNames") or ()),
                tuple(names.get("categories") or ()),
                tuple(name for name in ("status", "scale") if there.get(name) is not None),
            )
