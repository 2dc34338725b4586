"""What the API server makes of an object: accepted as it is, completed, pruned, or refused, and why.

An exercise asks for the fate of an object before it is applied; a check wants to know the same afterwards. Both need
the server's own answer as a value. So the object is sent the way ``kubectl apply`` sends it (a create, or a patch of
the object that is there; strict about unknown fields unless told otherwise), as a dry run that stores nothing, and the
outcome is read off the answer.

Of an object that is there already, what counts is what this write does: the manifest merged into that object is
compared with what would be stored. Mistakes that are let through because they are older than the write are found by
asking once more, for a new object with the same content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from labkit.cluster import Api, ApiResponse, Cluster
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.kubectl import LAST_APPLIED
from labkit.cluster.refusal import Refusal, refusal_of
from labkit.errors import ApiError, ManifestError
from labkit.languages import translate
from labkit.observe import fieldpaths
from labkit.observe.changes import ABSENT, Change, Json, leaves
from labkit.observe.fields import changes_between, collection
from labkit.observe.reasons import KEYWORDS, UNCHECKED, UNKNOWN_FIELD, Reason, Schema, cel_rules, reasons, schema_at

__all__ = [
    "GRAVEST_FIRST",
    "Checking",
    "Choices",
    "Outcome",
    "Verdict",
    "apply_patch",
    "ask",
    "checking",
    "choices",
    "choices_in",
    "merge_patch",
    "outcomes_of",
    "pruned_in_metadata",
    "refused",
    "schema_in",
    "schema_of",
]

Outcome: TypeAlias = Literal["accepted as is", "completed", "pruned", "refused"]
"""What may become of an object.

"refused": nothing is stored. "pruned": accepted, but a field that was sent is gone. "completed": accepted, and there
are fields that were not sent, or other values than those sent. "accepted as is": stored as it was sent, apart from
metadata. An object may be pruned and completed at once.
"""

GRAVEST_FIRST: tuple[Outcome, ...] = ("refused", "pruned", "completed", "accepted as is")

Checking: TypeAlias = Literal["strict", "warn", "ignore"]
"""kubectl's ``--validate``: what an unknown field is. "strict" is its default, "ignore" is ``--validate=false``."""

_HEADER: Mapping[Checking, str] = {"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}


@dataclass(frozen=True)
class Verdict:
    """The server's answer on one object; nothing was stored.

    *outcomes* are the things that happened, the gravest first; never empty. *changes* lead from what was sent to what
    would be stored, metadata apart, though unknown fields of metadata are among them; empty for a refusal. *reasons*
    are a refusal's; with *unchecked*, mistakes of the schema kept the server from running the rules in CEL. *defaults*
    are the fields near a broken rule that the manifest leaves out and the schema fills in before the rule looks.
    *forgiven* are mistakes of an accepted update that a new object would be refused for. *message* is the server's.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    checking: Checking
    sent_as: Literal["new", "update"]
    outcomes: tuple[Outcome, ...]
    changes: tuple[Change, ...] = ()
    reasons: tuple[Reason, ...] = ()
    unchecked: bool = False
    defaults: tuple[str, ...] = ()
    forgiven: tuple[Reason, ...] = ()
    warnings: tuple[str, ...] = ()
    code: int = 0
    message: str = ""

    @property
    def outcome(self) -> Outcome:
        """The gravest of the outcomes: the one to name where only one can be."""
        return self.outcomes[0]


@dataclass(frozen=True)
class Choices:
    """What a person may choose from who predicts: *fields* that could be spoken of, *rules* that could refuse."""

    fields: tuple[str, ...] = ()
    rules: tuple[str, ...] = field(default=(UNKNOWN_FIELD,))


def checking(validate: str | bool) -> Checking:
    """kubectl's ``--validate`` in any of its spellings. Raises ManifestError for one it has not."""
    words: dict[str, Checking] = {
        "true": "strict",
        "strict": "strict",
        "warn": "warn",
        "false": "ignore",
        "ignore": "ignore",
    }
    found = words.get(str(validate).lower())
    if found is None:
        raise ManifestError(
            translate("validate={validate} is not known", validate=repr(validate)),
            next_act=translate("one of {known}", known="True, False, 'strict', 'warn', 'ignore'"),
        )
    return found


def ask(
    cluster: Cluster | Api, manifest: Mapping[str, Any], *, checking: Checking = "strict", namespace: str = "ch54"
) -> Verdict:
    """Send *manifest* as a dry run; *namespace* is used where it names none and its type has them. Who asks more often
    gives an ``Api``, whose connection is used again.

    A type the server does not have is a refusal too (kubectl finds no URL to send the object to). Raises ManifestError
    when it is no object with a name, ClusterGone, ApiError.
    """
    sent = dict(manifest)
    with nullcontext(cluster) if isinstance(cluster, Api) else Api(cluster) as api:
        try:
            place, space = collection(api, sent, namespace)
        except ApiError as error:
            if error.code != 404:
                raise
            return _no_such_type(sent, checking, str(error))
        return _Asked(api, sent, place, space, checking).verdict()


def choices(cluster: Cluster, manifest: Mapping[str, Any], *, namespace: str = "ch54") -> Choices:
    """What can be chosen from for *manifest*: of its own fields and its type's, and of its type's rules. No request
    judges the object, so nothing of the verdict is in the choices. Raises as ``ask``.
    """
    sent = dict(manifest)
    with Api(cluster) as api:
        try:
            place, _ = collection(api, sent, namespace)
        except ApiError as error:
            if error.code != 404:
                raise
            return Choices(tuple(sorted(set(_own_fields(sent)))))
        schema = schema_of(api, sent, place)
    return choices_in(sent, schema)


def choices_in(sent: Mapping[str, Any], schema: Schema | None) -> Choices:
    """What can be chosen from for the object *sent* whose type has *schema*; no server is asked."""
    return Choices(
        tuple(sorted({*_own_fields(sent), *_known_fields(schema or {})})),
        tuple(dict.fromkeys([UNKNOWN_FIELD, *_keywords(schema or {}), *cel_rules(schema or {})])),
    )


class _Asked:
    """The requests about one object."""

    def __init__(self, api: Api, sent: dict[str, Any], place: str, space: str, checking: Checking) -> None:
        self._api = api
        self._sent = sent
        self._place = place
        self._space = space
        self._checking: Checking = checking
        self._name = str(sent["metadata"]["name"])
        self._path = f"{place}/{quote(self._name, safe='')}"
        self._there = api.get(self._path)

    def verdict(self) -> Verdict:
        answer = self._send(_HEADER[self._checking])
        schema = schema_of(self._api, self._sent, self._place)
        common: dict[str, Any] = {
            "api_version": self._sent["apiVersion"],
            "kind": self._sent["kind"],
            "namespace": self._space,
            "name": self._name,
            "checking": self._checking,
            "sent_as": "new" if self._there is None else "update",
            "warnings": answer.warnings,
        }
        if not answer.ok:
            refusal = refusal_of(answer)
            return refused(refusal, schema, self._sent, common)
        changes = self._changes(answer)
        forgiven = () if self._there is None else tuple(self._forgiven(answer.json, schema))
        return Verdict(**common, outcomes=outcomes_of(changes), changes=changes, forgiven=forgiven, code=answer.code)

    def _send(self, validation: str) -> ApiResponse:
        query = f"dryRun=All&fieldValidation={validation}&fieldManager=labkit"
        if self._there is None:
            return self._api.settled("POST", f"{self._place}?{query}", self._sent)
        patch = apply_patch(self._there, self._sent)
        return self._api.settled("PATCH", f"{self._path}?{query}", patch, "application/merge-patch+json")

    def _changes(self, answer: ApiResponse) -> tuple[Change, ...]:
        """With "ignore" the server says nothing of unknown fields; it is asked again to name them."""
        asked_again = self._checking == "ignore"
        warnings = self._send("Warn").warnings if asked_again else answer.warnings
        sent = self._sent if self._there is None else merge_patch(self._there, apply_patch(self._there, self._sent))
        return (*changes_between(sent, answer.json, warnings), *pruned_in_metadata(self._sent, warnings))

    def _forgiven(self, made: dict[str, Any], schema: Schema | None) -> Iterator[Reason]:
        """What a new object like the one *made* would be refused for; rules about a change need an old object."""
        fresh = {key: value for key, value in made.items() if key != "status"}
        fresh["metadata"] = {
            "generateName": "labkit-",
            **{key: made["metadata"][key] for key in ("namespace", "labels", "annotations") if key in made["metadata"]},
        }
        answer = self._api.settled("POST", f"{self._place}?dryRun=All&fieldManager=labkit", fresh)
        if answer.code == 422:
            for reason in reasons(refusal_of(answer), schema):
                if not any("oldSelf" in rule for rule in reason.rules):
                    yield reason


def apply_patch(there: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What ``kubectl apply`` of *manifest* would patch the object that is *there* with: the manifest, and null for
    what the last one had and this has not.

    Values that are there already are not left out as kubectl does: they change nothing.
    """
    told = (there["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        last = json.loads(told) if told else {}
    except ValueError:
        last = {}
    return _with_removals(last if isinstance(last, dict) else {}, manifest)


# -- reading the answer ---------------------------------------------------------------------------------------------


def pruned_in_metadata(sent: Json, warnings: Iterable[str]) -> Iterator[Change]:
    """The unknown fields of metadata that *warnings* name: what the server sets itself there is no change."""
    for warning in warnings:
        if warning.startswith('unknown field "metadata.'):
            steps = fieldpaths.parse(warning.partition('"')[2].rstrip('"'))
            yield Change(steps, "pruned", _at(sent, steps), ABSENT)


def outcomes_of(changes: tuple[Change, ...]) -> tuple[Outcome, ...]:
    """What happened to an object that was accepted with *changes*, the gravest first."""
    happened: set[Outcome] = {"pruned" if change.after is ABSENT else "completed" for change in changes}
    return tuple(one for one in GRAVEST_FIRST if one in happened) or ("accepted as is",)


def refused(refusal: Refusal, schema: Schema | None, sent: Mapping[str, Any], common: Mapping[str, Any]) -> Verdict:
    """The verdict of a refusal of *sent*; *common* has what every verdict has, whatever the answer."""
    found = reasons(refusal, schema)
    broken = [reason for reason in found if reason.station == "cel"]
    defaults = [path for reason in broken for path in _defaults(schema or {}, sent, reason.steps)]
    return Verdict(
        **common,
        outcomes=("refused",),
        reasons=found,
        unchecked=any(UNCHECKED in cause.message for cause in refusal.causes),
        defaults=tuple(dict.fromkeys(defaults)),
        code=refusal.code,
        message=refusal.message,
    )


def _no_such_type(sent: dict[str, Any], checking: Checking, message: str) -> Verdict:
    return Verdict(
        api_version=sent["apiVersion"],
        kind=sent["kind"],
        namespace=str(sent["metadata"].get("namespace", "")),
        name=str(sent["metadata"]["name"]),
        checking=checking,
        sent_as="new",
        outcomes=("refused",),
        reasons=(Reason("apiVersion", "request", (), message.partition("\n")[0]),),
        code=404,
        message=message,
    )


def _with_removals(last: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """*wanted* as a merge patch that also takes away what *last* had."""
    patch: dict[str, Any] = dict.fromkeys(last.keys() - wanted.keys())
    for key, value in wanted.items():
        before = last.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        patch[key] = _with_removals(before, value) if both and before is not None else value
    return patch


def merge_patch(base: Json, patch: Json) -> Json:
    """A JSON merge patch (RFC 7386), applied."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(base) if isinstance(base, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge_patch(made.get(key), value)
    return made


def _at(value: Json, steps: fieldpaths.Steps) -> Json:
    for step in steps:
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value


# -- reading the definition -----------------------------------------------------------------------------------------


def schema_of(api: Api, sent: Mapping[str, Any], place: str) -> Schema | None:
    """The schema of the object's version; None for a type without a definition. *place* is its collection's URL."""
    group = str(sent["apiVersion"]).rpartition("/")[0]
    definition = api.get(f"{DEFINITIONS}/{place.rpartition('/')[2]}.{group}") if group else None
    return schema_in(definition or {}, str(sent["apiVersion"]))


def schema_in(definition: Mapping[str, Any], api_version: str) -> Schema | None:
    """The schema that a definition has for a version ("GROUP/VERSION"); None where it has no such version."""
    for one in definition.get("spec", {}).get("versions", ()):
        if one["name"] == api_version.rpartition("/")[2]:
            found: Schema = (one.get("schema") or {}).get("openAPIV3Schema") or {}
            return found
    return None


def _defaults(schema: Schema, sent: Json, steps: fieldpaths.Steps) -> Iterator[str]:
    """Fields at or under *steps* that *sent* leaves out and the schema has a default for, each at its highest path."""
    node: Schema | None = schema
    value: Json = sent
    path = ""
    for step in steps:
        node = schema_at(node or {}, (step,))
        path = f"{path}.{step}" if path else step
        value = value.get(step, ABSENT) if isinstance(value, Mapping) else ABSENT
        if node is None or value is ABSENT:
            if node is not None and "default" in node:
                yield path
            return
    yield from _missing(node or {}, value, path)


def _missing(schema: Schema, value: Json, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    for name, child in sorted((schema.get("properties") or {}).items()):
        below = f"{path}.{name}" if path else name
        if name in value:
            yield from _missing(child, value[name], below)
        elif "default" in child:
            yield below


def _own_fields(sent: Mapping[str, Any]) -> Iterator[str]:
    """The fields of a manifest and the objects that hold them, apart from those every object has."""
    for path, _ in leaves({key: value for key, value in sent.items() if key not in ("apiVersion", "kind", "metadata")}):
        for length in range(1, len(path) + 1):
            yield ".".join(str(step) for step in path[:length])


def _known_fields(schema: Schema, path: str = "") -> Iterator[str]:
    for name, child in sorted((schema.get("properties") or {}).items()):
        if path or name not in ("apiVersion", "kind", "metadata"):
            below = f"{path}.{name}" if path else name
            yield below
            yield from _known_fields(child, below)


def _keywords(schema: Schema) -> Iterator[str]:
    """The keywords by which some part of the schema can refuse."""
    there: set[str] = set()
    waiting: list[Schema] = [schema]
    while waiting:
        node = waiting.pop()
        there |= node.keys()
        waiting += (node.get("properties") or {}).values()
        waiting += [node[word] for word in ("items", "additionalProperties") if isinstance(node.get(word), Mapping)]
    yield from (keyword for keyword in KEYWORDS if keyword in there)
