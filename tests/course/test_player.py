"""The player: what is as recorded, what differs, what failed and what cannot be shown; and what dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from labkit.cluster import ClusterInfo, Owner
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import notebook
from labkit.course.kernel import CourseKernel
from labkit.course.notebook import CourseNotebook
from labkit.course.player import play
from labkit.course.report import PlayReport, StepResult
from labkit.waiting import Seen, wait_for

from .building import REPOSITORY, Cell, code, opening, printed, prose, write

BEGUN = f'embedded cluster, Kubernetes {KUBERNETES_VERSION}: at the beginning of "cel"\n'
SCHEMA = {"definition": "crd/02-colis-schema.yaml", "objects": [{"file": "crd/objects/principal.yaml"}]}

pytestmark = pytest.mark.usefixtures("no_kernel_folder_left")


def begun(section: str) -> list[Cell]:
    cells = opening(section)
    cells[1]["outputs"] = [printed(BEGUN.replace("cel", section))]
    return cells


def course(root: Path, *cells: Cell, section: str = "cel", begin: Any = None) -> CourseNotebook:
    return notebook.load(write(root, section, [*begun(section), *cells], begin=SCHEMA if begin is None else begin))


def verdicts(report: PlayReport) -> dict[str, str]:
    return {step.id: step.verdict for step in report.steps}


def by_id(report: PlayReport) -> dict[str, StepResult]:
    return {step.id: step for step in report.steps}


def test_a_course_is_played_on_a_real_cluster_and_each_step_is_judged(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    heard: list[str] = []
    one = course(
        tmp_path,
        code("%kubectl -n ch54 get colis", step="cel/get", outputs=[printed("NAME        AGE\nprincipal   99m\n")]),
        code(
            '%kubectl -n ch54 patch colis principal --type=merge -p \'{"spec":{"version":"x"}}\'',
            step="cel/refused",
            outputs=[printed("accepted\n")],
        ),
        code("1 / 0", step="cel/error"),
        code("print('after')", step="cel/after", outputs=[printed("after\n")]),
    )
    report = play(
        cluster, [one], report=lambda result: heard.append(result.id), starting=lambda step: heard.append(f"→{step.id}")
    )
    assert verdicts(report) == {
        "cel/begin": "as recorded",
        "cel/get": "as recorded",
        "cel/refused": "differs",
        "cel/error": "failed",
        "cel/after": "as recorded",
    }
    assert heard == [f"{arrow}{step.id}" for step in report.steps for arrow in ("→", "")]
    refused = by_id(report)["cel/refused"]
    assert 'The Colis "principal" is invalid: spec.version' in refused.text
    assert refused.difference[:2] == ("--- recorded", "+++ played")
    assert "-accepted" in refused.difference
    assert by_id(report)["cel/error"].reason == "ZeroDivisionError: division by zero"
    assert report.cluster == f"embedded:{cluster.state_dir}" and report.version == KUBERNETES_VERSION
    assert all(step.seconds > 0 for step in report.steps) and not report.good()


def test_a_recorded_exception_is_as_recorded(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "x", "traceback": []}
    one = course(
        tmp_path, code("raise ValueError('x')", step="cel/x", outputs=[error], tags=["raises-exception"]), begin={}
    )
    assert play(cluster, [one]).good()


def test_a_step_whose_need_is_lacking_is_not_shown_and_says_why(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = course(
        tmp_path,
        code("print('etcd')", step="cel/etcd", needs=["etcd"], outputs=[printed("etcd\n")]),
        code("1 / 0", step="cel/pods", needs=["nodes"]),
        code("1 / 0", step="cel/api", needs=["storagemigration.k8s.io/v9", "controllers:job"]),
        begin={},
    )
    report = play(cluster, [one])
    assert verdicts(report) == {
        "cel/begin": "as recorded",
        "cel/etcd": "as recorded",
        "cel/pods": "not shown",
        "cel/api": "not shown",
    }
    assert by_id(report)["cel/pods"].reason == "not shown, because this cluster has no nodes"
    assert by_id(report)["cel/api"].reason == (
        f"not shown, because this cluster ({KUBERNETES_VERSION}) does not serve storagemigration.k8s.io/v9 "
        "and this cluster runs no job controller"
    )
    assert not report.good() and report.good(allow_skipped=True)


def test_a_cluster_whose_etcd_cannot_be_read_shows_the_rest(
    tmp_path: Path, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_etcd(
        self: EmbeddedCluster, told: Callable[[EmbeddedCluster], ClusterInfo] = EmbeddedCluster.info
    ) -> ClusterInfo:
        info = told(self)
        return replace(info, capabilities=info.capabilities - {"etcd"})

    monkeypatch.setattr(EmbeddedCluster, "info", without_etcd)
    one = course(tmp_path, code("%etcd get /registry --prefix", step="cel/etcd", needs=["etcd"]), begin={})
    assert play(cluster, [one]).steps[1].reason == "not shown, because this cluster's etcd cannot be read"


def test_a_kernel_that_dies_ends_its_notebook_at_once_and_only_that(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    notebooks = [
        course(tmp_path, code("import os; os._exit(1)", step="cel/dies"), code("1", step="cel/rest"), begin={}),
        course(tmp_path, code("print(1)", step="display/next", outputs=[printed("1\n")]), section="display", begin={}),
    ]
    began = time.monotonic()
    report = play(cluster, notebooks)
    assert time.monotonic() - began < 30
    assert verdicts(report) == {
        "cel/begin": "as recorded",
        "cel/dies": "failed",
        "cel/rest": "failed",
        "display/begin": "as recorded",
        "display/next": "as recorded",
    }
    assert by_id(report)["cel/dies"].reason.startswith("the kernel died")
    assert by_id(report)["cel/rest"].reason == "not played: the kernel died in cel/dies"


def test_a_section_that_cannot_be_begun_is_not_played(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = course(tmp_path, code("1", step="cel/rest"), begin={"definition": "crd/none.yaml"})
    report = play(cluster, [one])
    assert verdicts(report) == {"cel/begin": "failed", "cel/rest": "failed"}
    assert (
        report.steps[0].reason.startswith("ManifestError: ") and "none.yaml: cannot be read" in report.steps[0].reason
    )
    assert report.steps[1].reason == "not played: the section could not be begun"


def test_a_cluster_that_dies_in_the_middle_of_a_step_ends_the_play_with_the_cause(tmp_path: Path) -> None:
    mortal = EmbeddedCluster(tmp_path / "mortal", owner=Owner.HELD)
    mortal.start()
    kill = (
        "import json, os, signal\nfrom pathlib import Path\n"
        "os.kill(json.loads((lab.cluster.kubeconfig.parent / 'cluster.json').read_text())['pid'], signal.SIGKILL)\n"
        "%kubectl get namespaces"
    )
    notebooks = [
        course(tmp_path, code(kill, step="cel/killed", outputs=[printed("x\n")]), code("1", step="cel/rest"), begin={}),
        course(tmp_path, code("1", step="display/next"), section="display", begin={}),
    ]
    try:
        began = time.monotonic()
        report = play(mortal, notebooks)
        assert time.monotonic() - began < 30
    finally:
        mortal.stop()
    killed, *rest = report.steps[1:]
    assert killed.verdict == "failed" and "SIGKILL" in killed.reason
    assert {step.verdict for step in rest} == {"failed"}
    assert [step.id for step in rest] == ["cel/rest", "display/begin", "display/next"]
    assert len({step.reason for step in rest}) == 1 and rest[0].reason.startswith("not played: ")


def labkit_play(root: Path, *arguments: str, environ: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from labkit.cli import main; main()", "play", "--cluster", "embedded", *arguments],
        cwd=root,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_an_interrupt_stops_kernels_and_cluster_and_is_exit_code_130(
    number: signal.Signals, tmp_path: Path, home: Path, no_kernel_folder_left: Path
) -> None:
    endless = "%kubectl wait --for=jsonpath='{.x}'=1 --timeout=100s namespace/default"
    course(tmp_path, code(endless, step="cel/endless"), begin={})
    own = no_kernel_folder_left  # short enough for the kernels' folders to lie in it
    process = labkit_play(
        tmp_path, environ={"TMPDIR": str(own), "LABKIT_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
    )
    try:

        def look() -> Seen[None]:
            assert process.poll() is None, process.communicate()
            line = process.stdout.readline() if process.stdout else ""
            return Seen("cel/begin" in line, line)

        wait_for("the section to be begun", look, limit_s=60)

        def look_below() -> Seen[Sequence[psutil.Process]]:
            there = psutil.Process(process.pid).children(recursive=True)
            return Seen("kubectl" in [one.name() for one in there], str(there), there)

        below = wait_for("kubectl to run", look_below, limit_s=30) or ()
        assert len(below) >= 3, "a control plane, a kernel and kubectl"
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, (out, err)
    assert err.splitlines()[-1] == "labkit: interrupted"
    assert "Traceback" not in err
    wait_for("all it started to be gone", lambda: Seen(not psutil.wait_procs(below, 0)[1], str(below)), limit_s=10)
    assert list(own.iterdir()) == []
    assert not (home / "clusters").exists() or list((home / "clusters").iterdir()) == []


def test_the_command_plays_a_section_writes_the_report_and_tells_by_its_exit_code(tmp_path: Path, home: Path) -> None:
    course(tmp_path, code("print(1)", step="cel/one", outputs=[printed("1\n")]), begin={})
    course(tmp_path, code("print(2)", step="display/two", outputs=[printed("1\n")]), section="display", begin={})
    environ = {"LABKIT_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
    file = tmp_path / "report.json"
    out, err = (
        process := labkit_play(tmp_path, "--section", "cel", "--report", str(file), environ=environ)
    ).communicate()
    assert process.returncode == 0, (out, err)
    assert list(verdicts(PlayReport.read(file))) == ["cel/begin", "cel/one"]
    assert "✔ as recorded" in out and "Every step behaved as recorded" in out
    out, err = (process := labkit_play(tmp_path, environ=environ)).communicate()
    assert process.returncode == 1, (out, err)
    assert "≠ display/two" in out


def test_the_titles_and_sources_of_a_report_are_the_notebooks(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    one = course(tmp_path, prose("## Next"), code("print(1)", step="cel/one", outputs=[printed("1\n")]), begin={})
    (_, step) = play(cluster, [one]).steps
    assert (step.title, step.source, step.text) == ("Next", "print(1)", "1")


def test_a_kernel_that_does_not_start_fails_its_own_section_only(
    tmp_path: Path, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What starts the first kernel is broken: a preload that ends it. The second section has a kernel of its own."""
    preloads = iter(["import os; os._exit(3)", "pass"])
    original = CourseKernel.preload
    monkeypatch.setattr(CourseKernel, "preload", lambda kernel, _: original(kernel, next(preloads)))
    first = course(tmp_path, begin={})
    second = course(tmp_path, section="display", begin={})
    assert verdicts(play(cluster, [first, second])) == {"cel/begin": "failed", "display/begin": "as recorded"}
