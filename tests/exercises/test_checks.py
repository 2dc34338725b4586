"""A check judges an answer by what the server does, says what it did, and leaves no trace."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from labkit.cluster import Api, Kubectl
from labkit.cluster.claim import COURSE_NAMES, DEFINITIONS, claim
from labkit.cluster.cleaning import reset
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.course.begin import begin
from labkit.errors import CapabilityMissing, ClaimRefused
from labkit.exercises import model
from labkit.exercises.acting import Did
from labkit.exercises.checks import check
from labkit.exercises.judging import judge
from labkit.exercises.model import Exercise
from labkit.exercises.probes import Step
from labkit.exercises.report import Report
from labkit.observe.reasons import Reason

from . import sample

COLIS = f"{DEFINITIONS}/colis.cours.example.com"
OBJECTS = "/apis/cours.example.com/v1/namespaces/ch54/colis"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def limit(tmp_path: Path) -> Exercise:
    return model.load(sample.make(tmp_path))


# -- right and wrong --------------------------------------------------------------------------------------------------

RIGHT = [
    "self.worker.max <= 4 * self.api.replicas",
    '"!(self.worker.max > self.api.replicas * 4)"',
    "self.api.replicas * 4 - self.worker.max >= 0",
    '"has(self.worker) && has(self.api) ? self.worker.max <= 4 * self.api.replicas : true"',
]


@pytest.mark.parametrize("rule", RIGHT)
def test_right_answers_pass_however_they_are_written(rule: str, limit: Exercise, cluster: EmbeddedCluster) -> None:
    report = check(limit, sample.with_rule(rule), cluster, hidden=True)
    assert report.passed
    assert report.points == 3


def test_a_rule_at_the_root_is_as_good(limit: Exercise, cluster: EmbeddedCluster) -> None:
    place = "          description: Une"
    rule = "- rule: self.spec.worker.max <= 4 * self.spec.api.replicas"
    at_root = sample.starter().replace(
        place,
        f"          x-kubernetes-validations:\n          {rule}\n          description: Une",
    )
    assert at_root != sample.starter()
    assert check(limit, at_root, cluster).passed


def test_a_wrong_answer_is_told_what_was_expected_what_the_server_did_and_what_to_do(
    limit: Exercise, cluster: EmbeddedCluster
) -> None:
    report = check(limit, limit.starter, cluster)
    assert (report.points, [one.passed for one in report.tasks]) == (1, [False, True])
    first = sample.findings(report, "refuses")[0]
    assert first.probe == "five workers and one replica"
    assert (first.expected, first.got) == ("refused", "the server accepted it")
    assert first.next_act.startswith("Add a rule where both numbers can be seen")


def test_what_an_earlier_refusal_keeps_from_being_tried_is_said_to_be_that(
    limit: Exercise, cluster: EmbeddedCluster
) -> None:
    """Eight workers are refused, so nothing is there to be scaled; that the rule is not run is not the cause."""
    report = check(limit, sample.with_rule("self.worker.max < 4 * self.api.replicas"), cluster)
    (scaled,) = sample.findings(report, "refuses")
    assert (scaled.expected, scaled.got, scaled.next_act) == (
        "refused by a rule in CEL",
        "could not be tried: f was refused above",
        "",
    )
    assert sample.findings(report, "accepts")[0].next_act == "Four for each replica are allowed."


def test_what_a_write_that_was_refused_would_have_changed_is_not_told_as_a_mistake_of_its_own(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    target = "target: cours.example.com/v1/colis/principal"
    probes = f"""
- {{do: scale, task: it, name: kubectl scale, {target}, replicas: 99, otherwise: Scale it.}}
- {{do: read, task: it, name: the number, {target}, shows: {{spec.api.replicas: 99}}, otherwise: It went elsewhere.}}
- {{do: read, task: it, name: the version, {target}, otherwise: It is there.}}
- {{do: read, task: it, name: another, target: cours.example.com/v1/colis/autre, otherwise: It is not there.}}
"""
    scaled, number, another = sample.findings(
        check(sample.one_task(tmp_path, probes, begin=sample.BEGIN, applied="false"), "", cluster)
    )
    assert scaled.next_act == "Scale it."
    assert (number.got, number.next_act) == ("could not be tried: kubectl scale was refused above", "")
    assert (another.probe, another.next_act) == ("another", "It is not there.")


def test_a_refusal_for_another_reason_is_not_the_one_asked_for(limit: Exercise, cluster: EmbeddedCluster) -> None:
    lower = limit.starter.replace("minimum: 1\n", "minimum: 2\n", 1)
    report = check(limit, lower, cluster)
    first = sample.findings(report, "refuses")[0]
    assert first.expected == "refused at spec or the whole object by a rule in CEL"
    assert (first.field, first.rule) == ("spec.api.replicas", "minimum")
    assert "spec.api.replicas" in first.got


def test_hidden_probes_are_played_in_grading_only_and_marked(limit: Exercise, cluster: EmbeddedCluster) -> None:
    only_small = sample.with_rule("self.worker.max <= 4 * self.api.replicas || self.api.replicas > 3")
    assert check(limit, only_small, cluster).passed
    graded = check(limit, only_small, cluster, hidden=True)
    assert not graded.passed
    assert [one.hidden for one in sample.findings(graded, "refuses")] == [True]


BROKEN = {
    "": "the answer is empty",
    "\n# nothing but a word\n": "the answer: no object in it",
    "kind: [": "the answer: not YAML",
    "- a\n- b\n": "the answer: not a manifest",
    "just words": "the answer: not a manifest",
    "a: &a [*a]": "the answer: not",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n": "would not be in ch54",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n": "no namespace",
    "apiVersion: v1\nkind: Nonsense\nmetadata: {name: a, namespace: ch54}\n": "no type Nonsense",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ch54}\n": "metadata.name",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: 3\n": "the answer",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ch54, labels: 3}\n": "the answer: not a manifest",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 3, namespace: ch54}\n": "the answer: not a manifest",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ..}\n": "the answer: not a manifest",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ..}\n": "the answer: not a manifest",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a/b}\n": "the answer: not a manifest",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%2f, namespace: ch54}\n": "the answer: not a manifest",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: a, in: *a}\n": "the answer: not a manifest",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ch54, 2026-01-01: 1, x: 1}": "unknown field",
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: mine}\n": "is not made by a check",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ch54}\nnope: 1\n": "unknown field",
}


@pytest.mark.parametrize("answer", BROKEN)
def test_what_cannot_be_applied_is_a_finding_of_every_task_never_an_exception(
    answer: str, limit: Exercise, cluster: EmbeddedCluster
) -> None:
    report = check(limit, answer, cluster)
    assert report.points == 0
    for task in report.tasks:
        assert BROKEN[answer] in task.findings[0].got, task.findings
        assert task.findings[0].next_act


def test_a_definition_that_the_server_refuses_is_told_with_its_field(limit: Exercise, cluster: EmbeddedCluster) -> None:
    report = check(limit, sample.with_rule("self.nope < 3"), cluster)
    first = sample.findings(report, "accepts")[0]
    assert "undefined field 'nope'" in first.got
    assert first.field.endswith("x-kubernetes-validations[0].rule")
    assert "kubectl apply of your answer says the same" in first.next_act


def test_a_long_refusal_begins_with_the_field_and_one_for_its_cost_names_who_tells_costs(
    limit: Exercise, cluster: EmbeddedCluster
) -> None:
    report = check(limit, sample.with_rule('"!self.version.contains(self.version)"'), cluster)
    (found,) = sample.findings(report, "refuses")
    assert "exceeds budget" in found.got
    assert found.field.endswith("x-kubernetes-validations[0].rule"), (
        "not the schema as a whole, of which it is said too"
    )
    assert found.next_act.startswith("`labkit cel-cost FILE` says")
    head = 'CustomResourceDefinition.apiextensions.k8s.io "colis.cours.example.com" is invalid: '
    blamed = Reason("spec.versions[0]", "validation", (), "exceeds budget")
    did = Did(
        "refused", "refused it", (blamed,), f"{head}[{'metadata.name: x, ' * 30}spec.versions[0]: exceeds budget]"
    )
    told = judge(Step("answer", "", "accepted"), did)
    assert told is not None
    assert told.got == "the server refused it: spec.versions[0]: exceeds budget"


def test_the_same_answer_gives_the_same_report(limit: Exercise, cluster: EmbeddedCluster) -> None:
    answers = [limit.starter, sample.solution(), sample.with_rule("self.nope < 3"), "kind: ["]
    first = [check(limit, one, cluster, hidden=True) for one in answers]
    again = [check(limit, one, cluster, hidden=True) for one in reversed(answers)]
    assert first == again[::-1]
    assert [Report.from_json(one.to_json()) for one in first] == first


# -- what a check leaves ----------------------------------------------------------------------------------------------


def test_the_cluster_is_at_the_exercises_beginning_after_a_check(limit: Exercise, cluster: EmbeddedCluster) -> None:
    with Api(cluster) as api:
        for answer in (sample.solution(), "kind: ["):
            check(limit, answer, cluster)
            assert api.list(OBJECTS) == []
            versions = (api.get(COLIS) or {})["spec"]["versions"]
            assert [one["name"] for one in versions] == ["v1"]
            rules = versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["x-kubernetes-validations"]
            assert len(rules) == 1
            assert "labkit-check" not in str(versions)


def test_an_interrupted_check_leaves_the_beginning(
    limit: Exercise, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labkit.exercises import acting

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(acting.Actor, "_scale", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(limit, sample.solution(), cluster)
    with Api(cluster) as api:
        assert api.list(OBJECTS) == []
        assert "4 * self.api.replicas" not in str(api.get(COLIS))


WIDE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: labkit-test-wide}
rules: [{apiGroups: [cours.example.com], resources: [colis], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: wide, namespace: ch54}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: labkit-test-wide}
subjects: [{kind: ServiceAccount, name: operateur, namespace: ch54}]
"""
CAN_LIST = """
- do: can-i
  task: it
  name: listing
  as: system:serviceaccount:ch54:operateur
  verb: list
  resource: colis.cours.example.com
  expect: yes
  otherwise: Bind it.
- do: can-i
  task: it
  name: writing
  as: system:serviceaccount:ch54:operateur
  verb: [patch, update]
  resource: [colis.cours.example.com, colis.cours.example.com/scale]
  expect: no
  otherwise: Only reading.
- do: patch
  task: it
  name: a real patch
  as: system:serviceaccount:ch54:operateur
  target: cours.example.com/v1/colis/principal
  merge: {spec: {api: {replicas: 3}}}
  expect: refused
  by: rbac
  otherwise: Only reading.
- do: read
  task: it
  name: a real list
  as: system:serviceaccount:ch54:operateur
  target: cours.example.com/v1/colis/principal
  selector: metadata.name=principal
  otherwise: It must be able to list.
"""


def test_rights_are_judged_once_they_count_and_a_role_of_the_cluster_is_gone_afterwards(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = sample.one_task(tmp_path, CAN_LIST, begin=sample.BEGIN)
    with Api(cluster) as api:
        for _ in range(3):
            assert check(one, WIDE, cluster).passed
            assert api.get(f"{RBAC}/clusterroles/labkit-test-wide") is None
            assert not sample.findings(check(one, WIDE.replace("[list]", '["*"]'), cluster))[0].got.startswith(
                "the server said yes to list"
            )


def test_a_role_that_was_there_before_is_not_touched(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = sample.one_task(tmp_path, CAN_LIST, begin=sample.BEGIN)
    found = sample.findings(check(one, WIDE.replace("labkit-test-wide", "view"), cluster))
    assert "ClusterRole view is not made by a check" in found[0].got
    with Api(cluster) as api:
        assert "labkit.example/check" not in str(api.get(f"{RBAC}/clusterroles/view"))


# -- clusters of somebody else ----------------------------------------------------------------------------------------


def test_nothing_is_done_on_a_cluster_that_nobody_claimed(limit: Exercise, cluster: EmbeddedCluster) -> None:
    reset(cluster)
    with pytest.raises(ClaimRefused):
        check(limit, sample.solution(), ExistingCluster(cluster.kubeconfig, None))
    with Api(cluster) as api:
        assert api.get(COLIS) is None


def test_on_a_claimed_cluster_only_claimed_names_are_changed(
    limit: Exercise, cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    reset(cluster)
    foreign = ExistingCluster(cluster.kubeconfig, None)
    claim(foreign, yes=True)
    try:
        assert check(limit, sample.solution(), foreign).passed
        rights = sample.one_task(tmp_path, CAN_LIST, begin=sample.BEGIN)
        found = sample.findings(check(rights, WIDE, foreign))
        assert "ClusterRole labkit-test-wide is not made by a check" in found[0].got
        with Api(cluster) as api:
            assert api.get(f"{RBAC}/clusterroles/labkit-test-wide") is None
            left = {path for name in COURSE_NAMES for path in name.taken(api)}
        assert left == {"/api/v1/namespaces/ch54", COLIS}
    finally:
        reset(cluster)


def test_what_the_cluster_lacks_is_said_before_anything_is_done(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = sample.one_task(tmp_path, "- {do: answer, task: it, name: it, otherwise: x}\n", needs='["nodes"]')
    with pytest.raises(CapabilityMissing, match="cannot be checked on this cluster"):
        check(one, "", cluster)


# -- each act ---------------------------------------------------------------------------------------------------------

ACTS = """
- {do: apply, file: crd/objects/principal.yaml, task: it, name: v1alpha1, expect: refused, otherwise: x}
- do: replace
  task: it
  name: replaced
  object: {apiVersion: cours.example.com/v1, kind: Colis, metadata: {name: principal}, spec: {version: 3.0.0}}
  shows: {spec.version: 3.0.0, "spec.api.replicas": 2, spec.nix: null}
  otherwise: x
- {do: scale, target: cours.example.com/v1/colis/principal, replicas: 3, task: it, name: scaled, otherwise: x}
- do: read
  target: &principal cours.example.com/v1/colis/principal
  table: true
  shows: {Version: 3.0.0, API: 3}
  task: it
  name: columns
  otherwise: x
- {do: read, target: *principal, selector: spec.version=3.0.0, task: it, name: s, otherwise: x}
- {do: read, target: *principal, selector: spec.version=2.0.0, expect: refused, task: it, name: s, otherwise: x}
- do: patch
  task: it
  name: status
  target: cours.example.com/v1/colis/principal
  subresource: status
  merge: {status: {observedGeneration: 2}}
  shows: {status: {observedGeneration: 2}}
  otherwise: x
- do: ask
  task: it
  name: pruned
  validate: ignore
  expect: pruned
  object: {apiVersion: cours.example.com/v1, kind: Colis, metadata: {name: neu}, spec: {version: 3.0.0, nix: 1}}
  otherwise: x
- do: create
  task: it
  name: unknown field
  expect: refused
  by: decoding
  field: spec.nix
  object: {apiVersion: cours.example.com/v1, kind: Colis, metadata: {name: neu}, spec: {version: 3.0.0, nix: 1}}
  otherwise: x
- {do: delete, target: cours.example.com/v1/colis/principal, task: it, name: deleted, otherwise: x}
- {do: read, target: cours.example.com/v1/colis/principal, expect: refused, task: it, name: gone, otherwise: x}
- do: read
  task: it
  name: the definition
  target: apiextensions.k8s.io/v1/customresourcedefinitions/colis.cours.example.com
  namespace: ""
  shows: {"status.storedVersions[0]": v1}
  matches: {spec.group: "^cours"}
  otherwise: x
- do: apply
  copies: 12
  task: it
  name: many definitions
  object:
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: "essai{n}.cout.example.com"}
    spec:
      group: cout.example.com
      scope: Namespaced
      names: {kind: "Essai{n}", plural: "essai{n}"}
      versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
  otherwise: x
"""


def test_every_act_does_what_kubectl_does(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = sample.one_task(tmp_path, ACTS, begin=sample.BEGIN, applied="false")
    report = check(one, "", cluster)
    assert report.passed, report
    with Api(cluster) as api:
        names = [found["metadata"]["name"] for found in api.list(DEFINITIONS)]
    assert names == ["colis.cours.example.com"]


def test_set_up_that_fails_fails_the_tasks_after_it(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    probes = "- {do: apply, file: crd/objects/principal.yaml}\n" + ACTS
    one = sample.one_task(tmp_path, probes, begin=sample.BEGIN, applied="false")
    (found,) = sample.findings(check(one, "", cluster))
    assert found.probe == "applied"
    assert "v1alpha1" in found.got


def test_a_definition_counts_from_the_moment_its_apply_has_returned(limit: Exercise, cluster: EmbeddedCluster) -> None:
    """The server's answer to an update comes before its handlers know of it; twenty changes in a row show it."""
    from labkit.course import manifests
    from labkit.exercises.definitions import apply_definition

    begin(cluster, limit.begin, root=limit.root)
    kubectl = Kubectl(cluster)
    with Api(cluster) as api:
        five = {"apiVersion": "cours.example.com/v1", "kind": "Colis", "metadata": {"name": "e", "namespace": "ch54"}}
        five["spec"] = {"version": "3.0.0", "api": {"replicas": 1}, "worker": {"max": 5}}  # type: ignore[assignment]
        for number in range(20):
            text = sample.solution() if number % 2 else sample.starter()
            (definition,) = manifests.read(text, "it")
            assert apply_definition(api, definition, "Strict").ok
            answer = api.raw("POST", f"{OBJECTS}?dryRun=All", five)
            assert answer.ok is not bool(number % 2), (number, answer.text)
    assert kubectl.run(["get", "colis", "-n", "ch54"]).ok


def test_a_check_takes_no_more_than_five_seconds(limit: Exercise, cluster: EmbeddedCluster) -> None:
    """Processor time, since a machine may be busy with other things: the server's and this process's."""
    import psutil

    server = psutil.Process(cluster.ready.pid)

    def spent() -> float:
        own = time.process_time()
        times = server.cpu_times()
        return own + times.user + times.system

    before = spent()
    check(limit, sample.solution(), cluster)
    assert spent() - before < 5
