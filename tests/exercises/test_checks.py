"""A check judges an answer by what the server does, says what it did, and leaves no trace."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

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
from labkit.exercises.model import Exercise, ExerciseError
from labkit.exercises.probes import Step
from labkit.exercises.report import Finding, Report
from labkit.exercises.sandbox import Run, run_script
from labkit.observe.reasons import Reason

from . import sample

COLIS = f"{DEFINITIONS}/colis.cours.example.com"
OBJECTS = "/apis/cours.example.com/v1/namespaces/ch54/colis"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def limit(tmp_path: Path) -> Exercise:
    return model.load(sample.make(tmp_path))


def _exercise(root: Path, probes: str, **keys: Any) -> Exercise:
    """An exercise with one task, "it", and these probes."""
    answer = keys.pop("answer", "yaml")
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    toml = f'id = "mine"\ntitle = "Mine"\nanswer = "{answer}"\n{lines}'
    toml += '[[tasks]]\nid = "it"\ntitle = "It"\npoints = 1\n'
    texts: dict[str, str | None] = {
        "exercise.toml": toml,
        "hints.md": "## it\n- Try.\n",
        f"starter.{answer}": "",
        f"solution.{answer}": "",
        "probes/1-rule.yaml": probes,
        "hidden/1-more.yaml": None,
        "right/other-way-round.yaml": None,
        "wrong/five.yaml": None,
    }
    return model.load(sample.make(root, slug="02-mine", files=texts))


def _only(report: Report, task: str = "it") -> tuple[Finding, ...]:
    return next(one.findings for one in report.tasks if one.task == task)


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
    first = _only(report, "refuses")[0]
    assert first.probe == "five workers and one replica"
    assert (first.expected, first.got) == ("refused", "the server accepted it")
    assert first.next_act.startswith("Add a rule where both numbers can be seen")


def test_what_an_earlier_refusal_keeps_from_being_tried_is_said_to_be_that(
    limit: Exercise, cluster: EmbeddedCluster
) -> None:
    """Eight workers are refused, so nothing is there to be scaled; that the rule is not run is not the cause."""
    report = check(limit, sample.with_rule("self.worker.max < 4 * self.api.replicas"), cluster)
    (scaled,) = _only(report, "refuses")
    assert (scaled.expected, scaled.got, scaled.next_act) == (
        "refused by a rule in CEL",
        "could not be tried: f was refused above",
        "",
    )
    assert _only(report, "accepts")[0].next_act == "Four for each replica are allowed."


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
    scaled, number, another = _only(check(_exercise(tmp_path, probes, begin=BEGIN, applied="false"), "", cluster))
    assert scaled.next_act == "Scale it."
    assert (number.got, number.next_act) == ("could not be tried: kubectl scale was refused above", "")
    assert (another.probe, another.next_act) == ("another", "It is not there.")


def test_a_refusal_for_another_reason_is_not_the_one_asked_for(limit: Exercise, cluster: EmbeddedCluster) -> None:
    lower = limit.starter.replace("minimum: 1\n", "minimum: 2\n", 1)
    report = check(limit, lower, cluster)
    first = _only(report, "refuses")[0]
    assert first.expected == "refused at spec or the whole object by a rule in CEL"
    assert (first.field, first.rule) == ("spec.api.replicas", "minimum")
    assert "spec.api.replicas" in first.got


def test_hidden_probes_are_played_in_grading_only_and_marked(limit: Exercise, cluster: EmbeddedCluster) -> None:
    only_small = sample.with_rule("self.worker.max <= 4 * self.api.replicas || self.api.replicas > 3")
    assert check(limit, only_small, cluster).passed
    graded = check(limit, only_small, cluster, hidden=True)
    assert not graded.passed
    assert [one.hidden for one in _only(graded, "refuses")] == [True]


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
    first = _only(report, "accepts")[0]
    assert "undefined field 'nope'" in first.got
    assert first.field.endswith("x-kubernetes-validations[0].rule")
    assert "kubectl apply of your answer says the same" in first.next_act


def test_a_long_refusal_begins_with_the_field_and_one_for_its_cost_names_who_tells_costs(
    limit: Exercise, cluster: EmbeddedCluster
) -> None:
    report = check(limit, sample.with_rule('"!self.version.contains(self.version)"'), cluster)
    (found,) = _only(report, "refuses")
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
BEGIN = '{definition = "crd/06-colis-v1-seul.yaml", objects = [{file = "crd/objects/principal.yaml", version = "v1"}]}'


def test_rights_are_judged_once_they_count_and_a_role_of_the_cluster_is_gone_afterwards(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = _exercise(tmp_path, CAN_LIST, begin=BEGIN)
    with Api(cluster) as api:
        for _ in range(3):
            assert check(one, WIDE, cluster).passed
            assert api.get(f"{RBAC}/clusterroles/labkit-test-wide") is None
            assert not _only(check(one, WIDE.replace("[list]", '["*"]'), cluster))[0].got.startswith(
                "the server said yes to list"
            )


def test_a_role_that_was_there_before_is_not_touched(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, CAN_LIST, begin=BEGIN)
    found = _only(check(one, WIDE.replace("labkit-test-wide", "view"), cluster))
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
        rights = _exercise(tmp_path, CAN_LIST, begin=BEGIN)
        found = _only(check(rights, WIDE, foreign))
        assert "ClusterRole labkit-test-wide is not made by a check" in found[0].got
        with Api(cluster) as api:
            assert api.get(f"{RBAC}/clusterroles/labkit-test-wide") is None
            left = {path for name in COURSE_NAMES for path in name.taken(api)}
        assert left == {"/api/v1/namespaces/ch54", COLIS}
    finally:
        reset(cluster)


def test_what_the_cluster_lacks_is_said_before_anything_is_done(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, "- {do: answer, task: it, name: it, otherwise: x}\n", needs='["nodes"]')
    with pytest.raises(CapabilityMissing, match="cannot be checked on this cluster"):
        check(one, "", cluster)


# -- scripts and predictions ------------------------------------------------------------------------------------------

RUN = """
- do: run
  task: it
  name: the script
  expect: exit0
  prints: ^colis 1$
  otherwise: Print it.
"""
SCRIPT = """
import json, os, subprocess, sys
assert "LABKIT_HOME" not in os.environ and os.listdir() == ["answer.py"], os.listdir()
def get(*argv):
    done = subprocess.run(["kubectl", "get", *argv, "-o", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)["items"]
found = get("crd")
denied = subprocess.run(["kubectl", "delete", "crd", "colis.cours.example.com"], capture_output=True, text=True)
assert "forbidden" in denied.stderr, denied
names = [one["spec"]["names"]["plural"] for one in found]
print(names[0], len(get(names[0], "-A")))
"""


def test_a_script_reads_the_cluster_and_can_do_nothing_else(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, RUN, answer="py", begin=BEGIN)
    report = check(one, SCRIPT, cluster)
    assert report.passed, report
    with Api(cluster) as api:
        assert api.get(f"{RBAC}/clusterrolebindings/labkit-check") is None


def test_a_script_that_fails_is_told_by_its_last_line(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, RUN, answer="py", begin=BEGIN)
    (found,) = _only(check(one, "raise ValueError('so not')", cluster))
    assert found.expected == "exit code 0"
    assert found.got == ("the script died of an error, with exit code 1: ValueError: so not")
    (found,) = _only(check(one, "print('colis 2')", cluster))
    assert found.got == "the script printed colis 2"
    (found,) = _only(check(one, "import sys; print('colis 2'); print('so not', file=sys.stderr)", cluster))
    assert found.got == "the script printed colis 2, and complained: so not"


def test_a_script_that_dies_is_told_as_dead_also_where_its_exit_code_is_the_one_expected(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = _exercise(tmp_path, RUN.replace("exit0", "exit1"), answer="py", begin=BEGIN)
    (found,) = _only(check(one, "print('colis 2')\nraise ValueError('so not')", cluster))
    assert found.expected == "an end by itself"
    assert found.got == "the script died of an error, with exit code 1: ValueError: so not"
    ended = "import sys, traceback; print('colis 2'); print('Traceback of mine', file=sys.stderr); sys.exit(1)"
    (found,) = _only(check(one, ended, cluster))
    assert found.got == "the script printed colis 2, and complained: Traceback of mine"
    assert check(one, "print('colis 1')\nraise ValueError('so not')", cluster).passed, "marks are what they were"


def test_a_script_that_dies_is_told_as_dead_before_what_its_table_lacks(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    probes = RUN.replace("prints: ^colis 1$", "judge: meaning").replace("exit0", "any")
    one = _exercise(tmp_path, probes, answer="py", begin=BEGIN)
    judge = "from labkit.exercises.report import Finding\ndef meaning(run, api, step, hidden):\n"
    (one.folder / "judge.py").write_text(judge + "    yield Finding('right', run.stdout.strip(), probe=step.name)\n")
    found = _only(check(one, "print('x')\nraise ValueError('so not')", cluster))
    assert [each.got for each in found] == [
        "the script died of an error, with exit code 1: ValueError: so not",
        "x",
    ]


@pytest.mark.parametrize(
    ("stderr", "code", "died"),
    [
        ('Traceback (most recent call last):\n  File "a", line 1\nKeyError: 1\n', 1, True),
        ('Traceback (most recent call last):\n  File "a", line 1\n\nmod.Own\n', 1, True),
        ('Traceback (most recent call last):\n  File "a", line 1\nKeyError: 1\n', 2, False),
        ("Traceback (most recent call last):\n", 1, False),
        ("so not\n", 1, False),
        ("", None, False),
    ],
)
def test_an_exception_that_nothing_caught_is_told_by_its_traceback(stderr: str, code: int | None, died: bool) -> None:
    assert Run(code, "", stderr).died is died


def test_what_a_script_prints_acts_on_no_terminal_and_no_page(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    from labkit.exercises.views import report_document
    from labkit.show import render_html, render_text

    one = _exercise(tmp_path, RUN, answer="py", begin=BEGIN)
    report = check(one, "print('\\x1b[31m<script>x</script>\\x07')", cluster)
    document = report_document(report)
    assert "\x1b" not in render_text.render(document)
    assert "<script>" in render_text.render(document)
    assert "<script>" not in render_html.render(document)


def test_a_judge_that_students_do_not_have_is_noted_and_the_rest_is_judged(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = _exercise(tmp_path, RUN.replace("prints: ^colis 1$", "judge: meaning"), answer="py", begin=BEGIN)
    report = check(one, "print('x')", cluster)
    assert report.passed
    (note,) = report.notes
    assert note.startswith("What the script prints is judged only when it is graded: passed means here")
    judge = "from labkit.exercises.report import Finding\ndef meaning(run, api, step, hidden):\n"
    judge += "    if run.stdout != 'right\\n':\n        yield Finding('right', run.stdout.strip(), probe=step.name)\n"
    (one.folder / "judge.py").write_text(judge)
    assert [found.got for found in _only(check(one, "print('x')", cluster))] == ["x"]
    assert check(one, "print('right')", cluster).passed
    (one.folder / "judge.py").write_text("")
    with pytest.raises(ExerciseError, match="judge 'meaning' is not there"):
        check(one, "print('x')", cluster)


def test_a_script_ends_at_its_limits_with_all_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    from labkit.exercises import sandbox

    monkeypatch.setattr(sandbox, "LIMIT_S", 1.5)
    loop = "import signal, subprocess, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    loop += "child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
    loop += "print(child.pid, flush=True)\nwhile True: pass"
    began = time.monotonic()
    run = run_script(loop)
    assert run.exit_code is None
    assert time.monotonic() - began < 15
    assert (
        not Path(f"/proc/{run.stdout.strip()}/cmdline").exists()
        or not Path(f"/proc/{run.stdout.strip()}/cmdline").read_bytes()
    )
    endless = run_script("while True: print('x' * 1000)")
    assert endless.exit_code != 0
    assert 0 < len(endless.stdout) <= 200_000


def test_another_runner_may_play_the_scripts(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, RUN, answer="py", begin=BEGIN)
    report = check(one, "anything", cluster, runner=lambda _script, _argv, _kubeconfig: Run(0, "colis 1", ""))
    assert report.passed


PREDICT = """
- do: predict
  task: it
  name: no spec
  key: vide
  asks: [outcome, field, rule]
  object: {apiVersion: cours.example.com/v1, kind: Colis, metadata: {name: vide, namespace: ch54}}
  otherwise: Look at required.
"""
PREDICTED = {
    "vide: {outcome: refused, field: spec, rule: required}": "",
    "vide: {outcome: refused, field: .spec, rule: Required value}": "",
    "vide: refused": "the prediction names no field",
    "vide: {outcome: refused, field: spec}": "the prediction names no rule",
    "vide: accepted": 'the outcome you predicted, "accepted as is", is not',
    "vide: {outcome: accepted, field: spec, rule: required}": 'the outcome you predicted, "accepted as is", is not',
    "vide: {outcome: refused, field: spec.version, rule: required}": "the field you predicted",
    "vide: {outcome: perhaps}": "outcome 'perhaps' is not known",
    "": "there is no prediction for 'vide'",
    "other: refused": "there is no prediction for 'vide'",
    "vide: [": "not YAML",
    "vide: 3": "there is no prediction for 'vide'",
}


@pytest.mark.parametrize("answer", PREDICTED)
def test_predictions_are_held_against_the_real_verdict(answer: str, tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = _exercise(tmp_path, PREDICT, begin=BEGIN)
    found = _only(check(one, answer, cluster))
    assert PREDICTED[answer] in " ".join(part.got for part in found)
    assert bool(found) == bool(PREDICTED[answer])


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
    one = _exercise(tmp_path, ACTS, begin=BEGIN, applied="false")
    report = check(one, "", cluster)
    assert report.passed, report
    with Api(cluster) as api:
        names = [found["metadata"]["name"] for found in api.list(DEFINITIONS)]
    assert names == ["colis.cours.example.com"]


def test_set_up_that_fails_fails_the_tasks_after_it(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    probes = "- {do: apply, file: crd/objects/principal.yaml}\n" + ACTS
    one = _exercise(tmp_path, probes, begin=BEGIN, applied="false")
    (found,) = _only(check(one, "", cluster))
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
