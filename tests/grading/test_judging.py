"""The judge says what a plain check says, and nothing that an answer leaves reaches the next one."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster, attach
from labkit.cluster.store import Store
from labkit.errors import ClusterGone
from labkit.exercises.checks import check, check_all
from labkit.exercises.model import Exercise, load_all, variants
from labkit.exercises.report import Report
from labkit.exercises.sandbox import Run, run_script
from labkit.grading.judging import CannotJudge, Judge

ROOT = Path(__file__).parents[2]
WRONG = {
    "predict": (),
    "rule": ("other-side",),
    "operator": ("whole-cluster", "writes-roles"),
    "inventory": ("only-served",),
    "schema": ("spec-may-be-missing",),
    "display": ("no-scale",),
    "migration": (),
    "typed": (),
}
DELETES = """kubectl delete crd colis.cours.example.com
kubectl apply -f crd/06-colis-v1-seul.yaml
"""


@cache
def exercises() -> dict[str, Exercise]:
    """All of them; of the inventory's states, which cost most, two, one of them hidden."""
    found = {one.id: one for one in load_all(ROOT)}
    inventory = found["inventory"]
    found["inventory"] = dataclasses.replace(inventory, probes=inventory.probes[1:2], hidden=inventory.hidden[1:2])
    return found


def answers(exercise: Exercise) -> tuple[str, ...]:
    """The solution, the starter, and some of the wrong ones: the first, and those above."""
    wrong = dict(variants(exercise, "wrong"))
    named = [text for name, text in wrong.items() if name in WRONG[exercise.id]]
    first = [] if named else list(wrong.values())[:1]
    return (exercise.solution or "", exercise.starter, *named, *first)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as one:
        yield one


def pid_of(judge: Judge) -> int:
    return judge._running(lambda _: None).cluster.ready.pid


@pytest.mark.parametrize("name", sorted(WRONG))
def test_its_reports_are_those_of_a_plain_check(judge: Judge, cluster: EmbeddedCluster, name: str) -> None:
    exercise = exercises()[name]
    texts = answers(exercise)
    plain = check_all(exercise, texts, cluster, hidden=True)
    before = pid_of(judge)
    assert [judge.judge(exercise, text) for text in reversed(texts)] == list(reversed(plain))
    assert pid_of(judge) == before, "an ordinary answer must not cost a control plane"


def test_the_order_of_submissions_does_not_matter(judge: Judge) -> None:
    found = exercises()
    turns = [
        (found[name], text)
        for name in ("predict", "rule", "operator", "schema", "typed")
        for text in answers(found[name])
    ]
    first = [judge.judge(exercise, text) for exercise, text in turns]
    order = list(range(len(turns)))
    random.Random(54).shuffle(order)  # noqa: S311 (an order, and no secret)
    again: dict[int, Report] = {number: judge.judge(*turns[number]) for number in order}
    assert [again[number] for number in range(len(turns))] == first


def test_an_answer_that_deletes_the_definition_harms_no_other(judge: Judge, cluster: EmbeddedCluster) -> None:
    migration, rule = exercises()["migration"], exercises()["rule"]
    before = judge.judge(rule, rule.solution or "")
    assert judge.judge(migration, DELETES) == check(migration, DELETES, cluster, hidden=True)
    assert judge.judge(rule, rule.solution or "") == before
    assert judge.judge(migration, migration.solution or "").passed


ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
HOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "nobody-passes"},
    "webhooks": [
        {
            "name": "nobody.passes.example",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["colis"]}],
        }
    ],
}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "none"},
    "spec": {"hard": {"count/colis.cours.example.com": "0"}},
}


def leave_hook(api: Api) -> None:
    api.post(f"{ADMISSION}/validatingwebhookconfigurations", HOOK)


def delete_namespace(api: Api) -> None:
    api.delete("/api/v1/namespaces/ch54")


@pytest.mark.parametrize("leave", [leave_hook, delete_namespace])
def test_what_cannot_be_undone_for_sure_costs_the_control_plane(judge: Judge, leave: Any) -> None:
    rule = exercises()["rule"]
    before, old = judge.judge(rule, rule.solution or ""), pid_of(judge)
    with Api(judge._running(lambda _: None).cluster) as api:
        leave(api)
    assert judge.judge(rule, rule.solution or "") == before
    assert pid_of(judge) != old


def test_rights_that_an_answer_gave_are_gone(judge: Judge) -> None:
    operator = exercises()["operator"]
    before, old = judge.judge(operator, operator.starter), pid_of(judge)
    account = {"kind": "ServiceAccount", "name": "operateur", "namespace": "ch54"}
    admin = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    kinds = {"clusterrolebindings": "ClusterRoleBinding", "namespaces/ch54/rolebindings": "RoleBinding"}
    with Api(judge._running(lambda _: None).cluster) as api:
        for plural, kind in kinds.items():
            binding = {"kind": kind, "metadata": {"name": "all"}, "subjects": [account], "roleRef": admin}
            api.post(f"{RBAC}/{plural}", {"apiVersion": "rbac.authorization.k8s.io/v1", **binding})
    assert judge.judge(operator, operator.starter) == before
    assert pid_of(judge) == old


class Killing:
    """A runner that kills the judge's control plane first, *times* times."""

    def __init__(self, times: int) -> None:
        self.judge: Judge | None = None
        self.times = times

    def __call__(self, script: str, argv: tuple[str, ...], kubeconfig: Path | None) -> Run:
        assert self.judge is not None
        self.times -= 1
        if self.times >= 0:
            self.act(self.judge)
        return run_script(script, argv, kubeconfig)

    def act(self, judge: Judge) -> None:
        os.kill(pid_of(judge), signal.SIGKILL)


class Unanswered(Killing):
    def act(self, _judge: Judge) -> None:
        raise ClusterGone("the API server did not answer", evidence="GET /x: Read timed out")


class Leaving(Killing):
    def act(self, judge: Judge) -> None:
        with Api(judge._running(lambda _: None).cluster) as api:
            api.apply(QUOTA, path="/api/v1/namespaces/ch54/resourcequotas/none")


def test_a_control_plane_that_dies_once_is_made_up_for_and_twice_leaves_no_mark(cluster: EmbeddedCluster) -> None:
    typed, script = exercises()["typed"], Killing(3)
    with Judge(script) as judge:
        script.judge = judge
        with pytest.raises(CannotJudge, match=r"died of it twice[^\n]*SIGKILL"):
            judge.judge(typed, typed.starter)
        assert judge.judge(typed, typed.starter) == check(typed, typed.starter, cluster, hidden=True)
    assert script.times < 0


def test_a_control_plane_that_does_not_answer_is_not_said_to_be_dead() -> None:
    typed, script = exercises()["typed"], Unanswered(2)
    with Judge(script) as judge:
        script.judge = judge
        with pytest.raises(CannotJudge, match="did not answer, also a second one: GET /x: Read timed out"):
            judge.judge(typed, typed.starter)


def test_an_answer_that_makes_every_state_unclean_is_judged_all_the_same(cluster: EmbeddedCluster) -> None:
    typed, script = exercises()["typed"], Leaving(9)
    with Judge(script) as judge:
        script.judge = judge
        assert judge.judge(typed, typed.solution or "") == check(typed, typed.solution or "", cluster, hidden=True)
    assert script.times < 8, "it was run more than once"


def test_a_cluster_that_is_not_held_here_is_not_written_to(cluster: EmbeddedCluster) -> None:
    with pytest.raises(ValueError, match="not this process's"):
        Store(attach(cluster.state_dir))
