"""The cases played on a real API server, all of them in a few phases.

A definition takes some milliseconds to be served, and a create in its first two seconds sleeps for two more. So the
definitions are registered all at once, and each phase (register, old objects, changed definitions, the cases, what
lies in etcd) is done for all cases before the next begins: one wait each, not one a case.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from labkit import waiting
from labkit.cluster import Api
from labkit.cluster.api import ApiResponse
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from tests.cluster.helpers import put_over, remove_definitions

from .cases import Case, Json, Type, storage

JSON_TEXT = " application/json"
"""With a space before it, which HTTP takes away, the official client sends a text as it is."""
YOUNG_S = 2.1
"""How long the server makes the creates of a new definition wait (customresource_handler.go, justCreated)."""
_SET_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_MARK = "Second"


@dataclass(frozen=True)
class Outcome:
    """What came of a case, comparable: lines and warnings sorted, metadata that only a server sets taken away.

    *status* is code and reason of a refusal; *causes* the field, reason and text of each of its errors; *facts* what
    an accepted definition amounts to.
    """

    verdict: str
    status: tuple[int, str] = (0, "")
    lines: tuple[str, ...] = ()
    causes: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    stored: Json = None
    read: Json = None
    facts: Json = None


@dataclass(frozen=True)
class Played:
    """A case with the server's outcome, and with what was there before it: the bytes in etcd, or the definition."""

    case: Case
    outcome: Outcome
    before: str | None = None


def plain(text: str) -> str:
    """*text* without the random number in the name that CEL gives to a type."""
    return re.sub(r"selfType\d+", "selfType", text)


def cleaned(obj: Json) -> Json:
    """*obj* without the metadata that only a server sets."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        return obj
    kept = {key: value for key, value in obj["metadata"].items() if key not in _SET_BY_SERVER}
    return {**obj, "metadata": kept}


def refusal(status: Mapping[str, Json], warnings: Iterable[str] = ()) -> Outcome:
    """The outcome of a Status that refuses."""
    causes = (status.get("details") or {}).get("causes") or []
    told = sorted({(one.get("field", ""), one.get("reason", ""), plain(one.get("message", ""))) for one in causes})
    invalid = status.get("reason") == "Invalid"
    lines = sorted({f"{where}: {words}" for where, _, words in told}) if invalid else [plain(status.get("message", ""))]
    return Outcome(
        verdict="refused",
        status=(int(status.get("code", 0)), str(status.get("reason", ""))),
        lines=tuple(lines),
        causes=tuple(told),
        warnings=tuple(sorted(map(plain, warnings))),
    )


def facts(definition: Json) -> Json:
    """What a definition amounts to, by the server's answer."""
    spec = definition["spec"]
    return {
        "name": definition["metadata"]["name"],
        "group": spec["group"],
        "kind": spec["names"]["kind"],
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "versions": [
            {"deprecated": False} | {key: one[key] for key in ("name", "served", "storage", "deprecated") if key in one}
            for one in spec["versions"]
        ],
        "storedVersions": definition["status"]["storedVersions"],
        "conversion": (spec.get("conversion") or {}).get("strategy", "None"),
    }


@dataclass
class Server:
    """The API server, and the types that were registered on it."""

    cluster: EmbeddedCluster
    api: Api
    registered: dict[str, Type] = field(default_factory=dict)
    _youngest: float = 0.0

    def play(self, cases: Iterable[Case]) -> Iterator[Played]:
        """Play all *cases*. Raises AssertionError when one cannot be played (its old object is refused …)."""
        todo = list(cases)
        self.register({case.type.name: case.type for case in todo if not case.defines})
        befores = [Type(f"{case}", case.old) for case in todo if case.defines and case.old is not None]
        self.register({kind.name: kind for kind in befores})
        self.wait()
        with_old = [case for case in todo if case.old is not None and not case.defines]
        lives = {str(case): self.create_old(case) for case in with_old}
        lying = self.in_etcd()
        self.change({case.type.name: case.type for case in with_old if case.type.first})
        played = [self._one(case, lives.get(str(case)), lying) for case in todo]
        lying = self.in_etcd()
        for one in played:
            yield _with_stored(one, lying)

    def register(self, types: Mapping[str, Type]) -> None:
        """Register the definitions of *types* that are not yet (the first one where there are two)."""
        for name, kind in types.items():
            if name not in self.registered:
                answer = self.api.raw("POST", DEFINITIONS, kind.first or kind.document)
                assert answer.ok, f"{name}: {answer.text}"
                self.registered[name] = kind
                self._youngest = time.monotonic()

    def wait(self) -> None:
        """Until all registered types are served, and old enough not to make a create wait."""
        for kind in self.registered.values():
            self._until(kind, marked=False)
        waiting.let_pass(max(0.0, self._youngest + YOUNG_S - time.monotonic()))

    def change(self, types: Mapping[str, Type]) -> None:
        """Put the second definition of each type in the place of the first, and wait until it is in force.

        A column of its own, which touches no object, tells that it is.
        """
        for kind in types.values():
            path = f"{DEFINITIONS}/{kind.document['metadata']['name']}"
            _, answer = put_over(self.api, path, functools.partial(_marked, kind.document))
            assert answer.ok, f"{kind.name}: {answer.text}"
        for kind in types.values():
            self._until(kind, marked=True)

    def create_old(self, case: Case) -> Json:
        """The old object, as the server has it once it is created."""
        assert case.old is not None
        version = case.old["apiVersion"].partition("/")[2]
        path = f"{case.type.collection(version)}?fieldValidation=Strict"
        answer = self.api.raw("POST", path, case.old)
        assert answer.ok, f"{case}: the old object is refused: {answer.text}"
        return answer.json

    def in_etcd(self) -> dict[str, str]:
        """What lies in etcd for the types of this suite, by key."""
        groups = {kind.group for kind in self.registered.values()}
        found = {}
        for group in sorted(groups):
            for one in self.cluster.etcd_range(f"/registry/{group}/", prefix=True):
                found[one.key] = one.value.decode()
        return found

    def clean_up(self) -> None:
        """Delete all that was registered, and wait until it is gone."""
        for key, text in self.in_etcd().items():
            if '"finalizers"' in text:  # nobody else would take them away
                self._release(key, json.loads(text))
        remove_definitions(self.api, *(kind.document["metadata"]["name"] for kind in self.registered.values()))
        self.registered.clear()

    def _release(self, key: str, obj: Json) -> None:
        _, _, _, plural, *_, name = key.split("/")
        kind = next(one for one in self.registered.values() if one.plural == plural and key == one.key(name))
        version = obj["apiVersion"].partition("/")[2]
        answer = self.api.raw(
            "PATCH",
            f"{kind.collection(version)}/{name}",
            {"metadata": {"finalizers": None}},
            "application/merge-patch+json",
        )
        assert answer.ok, answer.text

    def write(self, case: Case, body: Json, *, dry: bool = False) -> ApiResponse:
        """The request of a case that creates or updates."""
        collection = case.type.collection(case.version)
        creates = case.operation == "create"
        path = collection if creates else f"{collection}/{case.name}"
        path += f"?fieldValidation={case.field_validation}{'&dryRun=All' if dry else ''}"
        media = "application/yaml" if case.media == "yaml" else JSON_TEXT
        return self.api.raw("POST" if creates else "PUT", path, body, media)

    def read(self, case: Case, name: str) -> ApiResponse:
        return self.api.raw("GET", f"{case.type.collection(case.read_version)}/{name}")

    def define(self, case: Case) -> Played:
        """The registration of a case's definition, or its change, as a dry run."""
        before = None
        query = f"?dryRun=All&fieldValidation={case.field_validation}"
        if case.old is None:
            answer = self.api.raw("POST", f"{DEFINITIONS}{query}", case.body)
        else:
            path = f"{DEFINITIONS}/{case.old['metadata']['name']}"
            tries = 1 if _names_version(case.body) else 10  # a conflict that the case is about stays one
            live, answer = put_over(self.api, path, functools.partial(with_version, case.body), query, tries)
            before = json.dumps(live)
        if not answer.ok:
            return Played(case, refusal(answer.status or {"message": answer.text}, answer.warnings), before)
        warnings = tuple(sorted(map(plain, answer.warnings)))
        return Played(case, Outcome("accepted", warnings=warnings, facts=facts(answer.json)), before)

    def create(self, case: Case) -> tuple[Played, Json]:
        """A case that creates, on its own; with the object as the server answered it (None if it is refused)."""
        answer = self.write(case, body_of(case, None))
        played = self._written(case, answer, None)
        key = case.type.key(case.name)
        lying = {one.key: one.value.decode() for one in self.cluster.etcd_range(key)} if answer.ok else {}
        return _with_stored(played, lying), answer.json if answer.ok else None

    def try_update(self, case: Case, before: str, live: Json) -> Played:
        """A case that updates, as a dry run: nothing is stored, and what is read is what the request answers."""
        answer = self.write(case, body_of(case, live), dry=True)
        if not answer.ok:
            return self._written(case, answer, before)
        warnings = tuple(sorted(map(plain, answer.warnings)))
        return Played(case, Outcome("accepted", warnings=warnings, read=cleaned(answer.json)), before)

    def _one(self, case: Case, live: Json | None, lying: Mapping[str, str]) -> Played:
        if case.defines:
            return self.define(case)
        before = lying[case.type.key(live["metadata"]["name"])] if live is not None else None
        if case.operation != "read":
            return self._written(case, self.write(case, body_of(case, live)), before)
        assert live is not None
        answer = self.read(case, live["metadata"]["name"])
        assert answer.ok, f"{case}: {answer.text}"
        warnings = tuple(sorted(answer.warnings))
        return Played(case, Outcome("accepted", warnings=warnings, read=cleaned(answer.json)), before)

    def _written(self, case: Case, answer: ApiResponse, before: str | None) -> Played:
        if not answer.ok:
            return Played(case, refusal(answer.status or {"message": answer.text}, answer.warnings), before)
        read = self.read(case, case.name)
        assert read.ok, f"{case}: {read.text}"
        warnings = tuple(sorted(map(plain, answer.warnings)))
        return Played(case, Outcome("accepted", warnings=warnings, read=cleaned(read.json)), before)

    def _until(self, kind: Type, *, marked: bool) -> None:
        path = kind.collection(storage(kind.document if marked else kind.first or kind.document))

        def look() -> waiting.Seen[None]:
            answer = self.api.raw("GET", f"{path}?limit=1", accept=_TABLE)
            columns = [one["name"] for one in answer.json["columnDefinitions"]] if answer.ok else []
            return waiting.Seen(answer.ok and (not marked or _MARK in columns), f"HTTP {answer.code} {columns}")

        waiting.wait_for(f"{kind.name} to be served", look, limit_s=300)


def with_version(document: Json, live: Json) -> Json:
    """*document* as an update of *live*: with its resourceVersion, unless it says another."""
    if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
        return document
    return {**document, "metadata": {"resourceVersion": live["metadata"]["resourceVersion"], **document["metadata"]}}


def _names_version(document: Json) -> bool:
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return isinstance(metadata, dict) and "resourceVersion" in metadata


def body_of(case: Case, live: Json | None) -> str:
    """The text a case sends, over the *live* object if there is one."""
    if isinstance(case.body, str):
        return case.body
    return json.dumps(case.body if live is None else with_version(case.body, live))


def _marked(document: Json, live: Json) -> Json:
    mark = {"name": _MARK, "type": "string", "jsonPath": ".metadata.name"}
    versions = [{**one, "additionalPrinterColumns": [mark]} for one in document["spec"]["versions"]]
    return with_version({**document, "spec": {**document["spec"], "versions": versions}}, live)


def _with_stored(played: Played, lying: Mapping[str, str]) -> Played:
    case = played.case
    if case.defines or case.operation == "read" or played.outcome.verdict != "accepted":
        return played
    stored = cleaned(json.loads(lying[case.type.key(case.name)]))
    return replace(played, outcome=replace(played.outcome, stored=stored))
