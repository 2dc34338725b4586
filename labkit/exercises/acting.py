"""A step done: the request it makes, as kubectl would make it, and what the server did, as a value.

Nothing here judges. A refusal is kept with its reasons (field, station, rule), an acceptance with the object the server
then has, an access review with its yes or no, a script with what it printed, all in one shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from labkit.cluster import Api, ApiResponse
from labkit.cluster.claim import DEFINITIONS, NAMESPACE
from labkit.cluster.refusal import Refusal, refusal_of
from labkit.course import manifests
from labkit.course.begin import APPLY_MANAGER, PATCH_MANAGER
from labkit.errors import ApiError, ManifestError, WaitTimeout
from labkit.exercises import access, commands
from labkit.exercises.answers import objects_of
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.definitions import TABLE, apply_definition, apply_definitions
from labkit.exercises.model import Exercise
from labkit.exercises.probes import Step
from labkit.exercises.sandbox import Run, Runner
from labkit.exercises.territory import Territory
from labkit.languages import translate
from labkit.observe.fields import collection
from labkit.observe.reasons import Reason, reasons
from labkit.observe.verdict import apply_patch, ask, schema_of

__all__ = ["Actor", "Did"]

_MERGE = "application/merge-patch+json"
_VALIDATION = {"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}


@dataclass(frozen=True)
class Did:
    """What came of a step. *outcome* is one of ``probes.EXPECTATIONS`` (or "exitN", "stopped"); *words* say it.

    *outcomes* has all of a verdict's. *value* is the object the server then has, or a table row; *run* what a script
    did. *tool* says that it was not the server that said no: the answer could not be sent to it. *notes* are for the
    report, whatever the verdict: commands of the answer that were refused. *missing* says that what the step is about
    is not there.
    """

    outcome: str
    words: str
    reasons: tuple[Reason, ...] = ()
    message: str = ""
    value: Mapping[str, Any] | None = None
    outcomes: tuple[str, ...] = ()
    run: Run | None = None
    tool: bool = False
    notes: tuple[str, ...] = ()
    missing: bool = False


class Actor:
    """Does the steps of one exercise in one cluster's *states*, with one answer."""

    def __init__(self, states: Beginnings, exercise: Exercise, answer: str, runner: Runner) -> None:
        self._states = states
        cluster = states.cluster
        self._cluster = cluster
        self._exercise = exercise
        self._answer = answer
        self._runner = runner
        self._stack = ExitStack()
        self.api = self._stack.enter_context(Api(cluster))
        self.territory = Territory(cluster, self.api)
        self._users: dict[str, Api] = {}
        self._kubeconfig: Path | None = None
        self._runs: dict[tuple[str, ...], Run] = {}
        """By arguments: a script may only read, so until something else is done it would say the same again."""

    def __enter__(self) -> Actor:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def do(self, step: Step) -> Did:
        """Do one step. Raises ClusterGone, ApiError for what labkit itself must be able to do."""
        actions: Mapping[str, Callable[[Step], Did]] = {
            "answer": lambda _: self._answered(),
            "apply": self._apply,
            "create": self._create,
            "replace": self._replace,
            "patch": self._patch,
            "scale": self._scale,
            "delete": self._delete,
            "read": self._read,
            "ask": self._ask,
            "can-i": self._can_i,
            "run": self._run,
        }
        if step.do != "run":
            self._runs.clear()
        try:
            return actions[step.do](step)
        except ApiError as error:
            if error.code != 404:
                raise
            return Did("refused", error.state, message=error.evidence, missing=True)

    def forget_state(self) -> None:
        """A fresh state has begun: credentials made in the old one are gone."""
        self._kubeconfig = None
        self._runs.clear()

    # -- the answer -----------------------------------------------------------------------------------------------

    def _answered(self) -> Did:
        text = self._answer
        if self._exercise.answer == "txt":
            return self._played(text)
        if self._exercise.answer == "py":
            run = self._runner(text, (), None)
            if run.exit_code != 0:
                return Did("refused", _ended(run), message=run.complaint, run=run, tool=True)
            text = run.stdout
        try:
            objects = objects_of(text)
        except ManifestError as error:
            script = self._exercise.answer == "py"
            empty = translate("the script printed nothing") if script else translate("the answer is empty")
            said = empty if not text.strip() else error.state
            return Did("refused", said, message=error.evidence, tool=True)
        did = Did("accepted", translate("accepted it"))
        for obj in objects:
            try:
                did = self._apply_answer(obj)
            except ApiError as error:
                did = Did("refused", error.state, message=error.evidence)
            if did.outcome != "accepted":
                return did
        if any(str(obj["apiVersion"]).startswith("rbac.authorization.k8s.io/") for obj in objects):
            access.wait_in_force(self.api, cluster_wide=any(obj["kind"].startswith("Cluster") for obj in objects))
        return did

    def _played(self, text: str) -> Did:
        """A command that is refused is no refused answer: the next may mend it. It is told in a note."""
        try:
            done = commands.play(self._cluster, text, self._exercise.root)
        except (commands.CommandRefused, WaitTimeout) as error:
            return Did("refused", error.state, message=error.next_act or error.evidence, tool=True)
        notes = tuple(f"{one.command}: {one.complaint}" for one in done if one.complaint)
        return Did("accepted", translate("played it"), notes=notes)

    def _apply_answer(self, obj: Mapping[str, Any]) -> Did:
        """As kubectl would: an object that names no namespace goes into the one called default."""
        name = f"{obj['kind']} {obj['metadata'].get('name', '')}".strip()
        place, space = collection(self.api, dict(obj), "default")
        path = f"{place}/{quote(str(obj['metadata']['name']), safe='')}"
        if self.territory.mine(path):
            return self._applied(obj, place, "Strict")
        if self.territory.free(path):
            return self._applied(self.territory.labelled(obj), place, "Strict")
        if space:
            why = translate("it names no namespace, and kubectl takes default then")
            if obj["metadata"].get("namespace"):
                why = translate("it names the namespace {namespace}", namespace=space)
            words = translate("{name} would not be in {namespace}", name=name, namespace=NAMESPACE)
            return Did("refused", words, message=why, tool=True)
        why = translate("it is neither in ch54 nor one of the names the course may use on this cluster")
        return Did("refused", translate("{name} is not made by a check", name=name), message=why, tool=True)

    def _applied(self, obj: Mapping[str, Any], place: str, validation: str) -> Did:
        name = str(obj["metadata"]["name"])
        if place == DEFINITIONS:
            try:
                return self._seen(apply_definition(self.api, obj, validation), obj, place)
            except WaitTimeout as error:
                return Did("refused", f"{error.state}", message=error.evidence)
        query = urlencode({"fieldValidation": validation, "fieldManager": APPLY_MANAGER})
        path = f"{place}/{quote(name, safe='')}"
        there = self.api.get(path)
        applied = manifests.as_applied(dict(obj))
        if there is None:
            return self._seen(self.api.settled("POST", f"{place}?{query}", applied), obj, place)
        answer = self.api.settled("PATCH", f"{path}?{query}", apply_patch(there, applied), _MERGE)
        return self._seen(answer, obj, place)

    # -- writes ---------------------------------------------------------------------------------------------------

    def _apply(self, step: Step) -> Did:
        obj = dict(step.object or {})
        did = Did("accepted", translate("accepted it"))
        copies = [obj]
        if step.copies > 1:
            text = json.dumps(obj)
            copies = [json.loads(text.replace("{n}", f"{number:03}")) for number in range(1, step.copies + 1)]
            if obj["kind"] == "CustomResourceDefinition" and self._all_mine(DEFINITIONS, copies):
                return self._seen(apply_definitions(self.api, copies, _VALIDATION[step.validate]), obj, DEFINITIONS)
        for one in copies:
            place, _ = collection(self.api, one, step.namespace or NAMESPACE)
            if step.user:
                return self._sent(step, "PATCH", f"{place}/{one['metadata']['name']}", one, _MERGE)
            if not self.territory.mine(f"{place}/{one['metadata']['name']}"):
                raise ManifestError(f"{step.where}: its object is not one of the course's names", evidence=place)
            did = self._applied(one, place, _VALIDATION[step.validate])
            if did.outcome != "accepted":
                return did
        return did

    def _all_mine(self, place: str, objects: list[dict[str, Any]]) -> bool:
        return all(self.territory.mine(f"{place}/{one['metadata']['name']}") for one in objects)

    def _create(self, step: Step) -> Did:
        path, obj = self._target(step)
        return self._sent(step, "POST", path, obj)

    def _replace(self, step: Step) -> Did:
        path, obj = self._target(step)
        there = self.api.get(path) or {"metadata": {}}
        version = {key: value for key, value in there["metadata"].items() if key == "resourceVersion"}
        return self._sent(step, "PUT", path, {**obj, "metadata": {**obj["metadata"], **version}})

    def _patch(self, step: Step) -> Did:
        path, _ = self._target(step)
        return self._sent(step, "PATCH", path, step.merge, _MERGE, manager=PATCH_MANAGER)

    def _scale(self, step: Step) -> Did:
        path, _ = self._target(step)
        body = {"spec": {"replicas": step.replicas}}
        return self._sent(step, "PATCH", path, body, _MERGE, manager="kubectl", sub="scale")

    def _delete(self, step: Step) -> Did:
        path, _ = self._target(step)
        return self._sent(step, "DELETE", path, None)

    def _sent(  # noqa: PLR0913  (a request has these parts)
        self,
        step: Step,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        content_type: str = "application/json",
        *,
        manager: str = APPLY_MANAGER,
        sub: str = "",
    ) -> Did:
        """Send a write. What is not the course's to change is sent as a dry run: rights are judged all the same."""
        query = {"fieldManager": manager, "fieldValidation": _VALIDATION[step.validate]} if method != "DELETE" else {}
        if not self.territory.mine(path):
            query["dryRun"] = "All"
        place, _, _ = path.rpartition("/")
        sub = sub or step.subresource
        url = place if method == "POST" else f"{path}/{sub}" if sub else path
        url = f"{url}?{urlencode(query)}" if query else url
        answer = self._as(step.user).settled(method, url, dict(body) if body is not None else None, content_type)
        return self._seen(answer, step.object or _type_of(step), place)

    def _target(self, step: Step) -> tuple[str, dict[str, Any]]:
        """URL path of the object a step is about, and the object as far as the step has it."""
        if step.object is not None:
            obj = dict(step.object)
            place, _ = collection(self.api, obj, step.namespace or NAMESPACE)
            return f"{place}/{quote(str(obj['metadata']['name']), safe='')}", obj
        *group_version, plural, name = step.target.split("/")
        root = f"/apis/{'/'.join(group_version)}" if len(group_version) == 2 else f"/api/{group_version[0]}"
        space = NAMESPACE if step.namespace is None else step.namespace
        inside = f"/namespaces/{space}" if space else ""
        return f"{root}{inside}/{plural}/{quote(name, safe='')}", {"metadata": {"name": name}}

    # -- looking --------------------------------------------------------------------------------------------------

    def _read(self, step: Step) -> Did:
        path, _ = self._target(step)
        if step.subresource:
            path = f"{path}/{step.subresource}"
        if step.selector:
            return self._selected(step, path)
        accept = TABLE if step.table else "application/json"
        answer = self._as(step.user).raw("GET", path, accept=accept)
        did = self._seen(answer, step.object or _type_of(step), path.rpartition("/")[0])
        if did.outcome == "accepted" and step.table:
            table = answer.json
            names = [column["name"] for column in table["columnDefinitions"]]
            return Did(
                "accepted", translate("printed it"), value=dict(zip(names, table["rows"][0]["cells"], strict=True))
            )
        return Did(did.outcome, translate("has it"), value=did.value) if did.outcome == "accepted" else did

    def _selected(self, step: Step, path: str) -> Did:
        place, _, name = path.rpartition("/")
        answer = self._as(step.user).raw("GET", f"{place}?{urlencode({'fieldSelector': step.selector})}")
        if not answer.ok:
            return self._seen(answer, _type_of(step), place)
        names = [item["metadata"]["name"] for item in answer.json["items"]]
        if name in names:
            return Did("accepted", translate("found {names}", names=name))
        words = translate("found {names}", names=", ".join(names)) if names else translate("found nothing")
        return Did("refused", words, message=translate("{name} is not among what it found", name=name))

    def _ask(self, step: Step) -> Did:
        verdict = ask(self.api, step.object or {}, checking=step.validate)
        words = translate("refused it")
        if verdict.outcome != "refused":
            words = translate("took it ({outcomes})", outcomes=translate(" and ").join(verdict.outcomes))
        return Did(verdict.outcome, words, reasons=verdict.reasons, message=verdict.message, outcomes=verdict.outcomes)

    def _can_i(self, step: Step) -> Did:
        said = {
            f"{verb} {resource}": access.allowed(self.api, step.user, verb, resource, step.namespace)
            for verb in step.verbs
            for resource in step.resources
        }
        wrong = [what for what, yes in said.items() if yes != (step.expect == "yes")]
        if not wrong:
            return Did(step.expect, translate("said yes") if step.expect == "yes" else translate("said no"))
        rights = ", ".join(wrong)
        if step.expect == "yes":
            return Did("no", translate("said no to {rights}", rights=rights))
        return Did("yes", translate("said yes to {rights}", rights=rights))

    def _run(self, step: Step) -> Did:
        if self._kubeconfig is None:
            self._kubeconfig = self._states.reading_kubeconfig(self.api, self._stack)
        if step.argv not in self._runs:
            self._runs[step.argv] = self._runner(self._answer, step.argv, self._kubeconfig)
        run = self._runs[step.argv]
        outcome = "stopped" if run.exit_code is None else f"exit{run.exit_code}"
        return Did(outcome, _ended(run), message=run.complaint, run=run)

    # -- the server's answer --------------------------------------------------------------------------------------

    def _as(self, user: str) -> Api:
        if not user:
            return self.api
        if user not in self._users:
            self._users[user] = self._stack.enter_context(Api(self._cluster, as_user=user))
        return self._users[user]

    def _seen(self, answer: ApiResponse, obj: Mapping[str, Any], place: str) -> Did:
        if answer.ok:
            decoded = answer.json
            return Did("accepted", translate("accepted it"), value=decoded if isinstance(decoded, dict) else None)
        refusal = refusal_of(answer)
        custom = "/apis/" in place and place != DEFINITIONS and "apiVersion" in obj
        schema = schema_of(self.api, obj, place) if custom else None
        if refusal.code == 404:
            return Did("refused", translate("does not have it"), message=refusal.message, missing=True)
        return Did("refused", translate("refused it"), reasons=reasons(refusal, schema), message=_in_order(refusal))


def _in_order(refusal: Refusal) -> str:
    """The server's sentence; several complaints in it are in the order of the causes, since its own is random."""
    head, several, _ = refusal.message.partition(": [")
    if not several or len(refusal.causes) < 2:
        return refusal.message
    return f"{head}: [{', '.join(map(str, refusal.causes))}]"


def _ended(run: Run) -> str:
    if run.exit_code is None:
        return translate("the script was still running at its limit and was stopped")
    if run.died:
        return translate("the script died of an error, with exit code {code}", code=run.exit_code)
    return translate("the script ended with exit code {code}", code=run.exit_code)


def _type_of(step: Step) -> dict[str, Any]:
    if step.object is not None or not step.target:
        return {}
    *group_version, _, _ = step.target.split("/")
    return {"apiVersion": "/".join(group_version)}
