"""What a check makes of a script that it runs, and of a prediction: both only look at the cluster."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises.checks import check
from labkit.exercises.model import ExerciseError
from labkit.exercises.sandbox import Run, run_script

from . import sample

RBAC = "/apis/rbac.authorization.k8s.io/v1"

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
    one = sample.one_task(tmp_path, RUN, answer="py", begin=sample.BEGIN)
    report = check(one, SCRIPT, cluster)
    assert report.passed, report
    with Api(cluster) as api:
        assert api.get(f"{RBAC}/clusterrolebindings/labkit-check") is None


def test_a_script_that_fails_is_told_by_its_last_line(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = sample.one_task(tmp_path, RUN, answer="py", begin=sample.BEGIN)
    (found,) = sample.findings(check(one, "raise ValueError('so not')", cluster))
    assert found.expected == "exit code 0"
    assert found.got == ("the script died of an error, with exit code 1: ValueError: so not")
    (found,) = sample.findings(check(one, "print('colis 2')", cluster))
    assert found.got == "the script printed colis 2"
    (found,) = sample.findings(check(one, "import sys; print('colis 2'); print('so not', file=sys.stderr)", cluster))
    assert found.got == "the script printed colis 2, and complained: so not"


def test_a_script_that_dies_is_told_as_dead_also_where_its_exit_code_is_the_one_expected(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = sample.one_task(tmp_path, RUN.replace("exit0", "exit1"), answer="py", begin=sample.BEGIN)
    (found,) = sample.findings(check(one, "print('colis 2')\nraise ValueError('so not')", cluster))
    assert found.expected == "an end by itself"
    assert found.got == "the script died of an error, with exit code 1: ValueError: so not"
    ended = "import sys, traceback; print('colis 2'); print('Traceback of mine', file=sys.stderr); sys.exit(1)"
    (found,) = sample.findings(check(one, ended, cluster))
    assert found.got == "the script printed colis 2, and complained: Traceback of mine"
    assert check(one, "print('colis 1')\nraise ValueError('so not')", cluster).passed, "marks are what they were"


def test_a_script_that_dies_is_told_as_dead_before_what_its_table_lacks(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    probes = RUN.replace("prints: ^colis 1$", "judge: meaning").replace("exit0", "any")
    one = sample.one_task(tmp_path, probes, answer="py", begin=sample.BEGIN)
    judge = "from labkit.exercises.report import Finding\ndef meaning(run, api, step, hidden):\n"
    (one.folder / "judge.py").write_text(judge + "    yield Finding('right', run.stdout.strip(), probe=step.name)\n")
    found = sample.findings(check(one, "print('x')\nraise ValueError('so not')", cluster))
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

    one = sample.one_task(tmp_path, RUN, answer="py", begin=sample.BEGIN)
    report = check(one, "print('\\x1b[31m<script>x</script>\\x07')", cluster)
    document = report_document(report)
    assert "\x1b" not in render_text.render(document)
    assert "<script>" in render_text.render(document)
    assert "<script>" not in render_html.render(document)


def test_a_judge_that_students_do_not_have_is_noted_and_the_rest_is_judged(
    tmp_path: Path, cluster: EmbeddedCluster
) -> None:
    one = sample.one_task(tmp_path, RUN.replace("prints: ^colis 1$", "judge: meaning"), answer="py", begin=sample.BEGIN)
    report = check(one, "print('x')", cluster)
    assert report.passed
    (note,) = report.notes
    assert note.startswith("What the script prints is judged only when it is graded: passed means here")
    judge = "from labkit.exercises.report import Finding\ndef meaning(run, api, step, hidden):\n"
    judge += "    if run.stdout != 'right\\n':\n        yield Finding('right', run.stdout.strip(), probe=step.name)\n"
    (one.folder / "judge.py").write_text(judge)
    assert [found.got for found in sample.findings(check(one, "print('x')", cluster))] == ["x"]
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
    one = sample.one_task(tmp_path, RUN, answer="py", begin=sample.BEGIN)
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
    one = sample.one_task(tmp_path, PREDICT, begin=sample.BEGIN)
    found = sample.findings(check(one, answer, cluster))
    assert PREDICTED[answer] in " ".join(part.got for part in found)
    assert bool(found) == bool(PREDICTED[answer])
