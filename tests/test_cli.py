"""The verbs of the installed ``labkit``, run as a person runs them, on one cluster started and stopped by command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from labkit.cli import cli
from labkit.cluster import Etcd, choose, places
from labkit.course.handout import without_outputs
from labkit.course.report import AS_RECORDED, PlayReport, StepResult
from labkit.machine import jupyter
from tests.conftest import OURS
from tests.course import building

LABKIT = Path(sys.executable).parent / "labkit"
MINIMAL = Path(__file__).parents[1] / "crd" / "01-colis-minimal.yaml"
COLIS = "colis.cours.example.com"


@dataclass(frozen=True)
class Shell:
    """A shell of a person who has set *environ*, with labkit's programs not on its PATH."""

    environ: dict[str, str]
    cwd: Path

    def run(self, *argv: str, code: int = 0) -> str:
        """What ``labkit ARGV…`` prints on standard output; it must end with *code*."""
        return self.both(*argv, code=code)[0]

    def both(self, *argv: str, code: int = 0) -> tuple[str, str]:
        """Its standard output and its standard error."""
        return self.of([str(LABKIT), *argv], code)

    def of(self, argv: list[str], code: int = 0) -> tuple[str, str]:
        done = subprocess.run(
            argv, env=self.environ, cwd=self.cwd, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == code, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr


def _shell(place: Path, **more: str) -> Shell:
    given = {name: value for name, value in os.environ.items() if name not in OURS}
    own = {"HOME": str(place), "LABKIT_HOME": str(place / "labkit-home"), "PATH": "/usr/bin:/bin"}
    return Shell({**given, **own, **more}, place)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell in which ``labkit start`` was said, and in the end ``labkit stop``."""
    shell = _shell(tmp_path_factory.mktemp("person"), LABKIT_CLUSTER="embedded")
    try:
        said = shell.run("start")
        assert "embedded cluster, Kubernetes v" in said
        assert said.splitlines()[-1].startswith('next: eval "$(labkit env)"')
        yield shell
    finally:
        said = shell.run("stop")
    assert said == "embedded cluster: stopped\n"
    assert not (shell.cwd / "labkit-home" / "clusters" / "started").exists()
    assert not (shell.cwd / ".kube").exists(), "kubectl has used the person's own files"


def _ready(shell: Shell) -> dict[str, Any]:
    """What the started cluster's control plane has said of itself."""
    record = shell.cwd / "labkit-home" / "clusters" / "started" / "cluster.json"
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def alone(tmp_path: Path) -> Shell:
    """A shell without any cluster."""
    return _shell(tmp_path, LABKIT_CLUSTER="embedded")


# -- clusters --------------------------------------------------------------------------------------------------------


def test_after_eval_of_env_a_plain_kubectl_talks_to_the_started_cluster(started: Shell) -> None:
    script = (
        f'env -0 > before; eval "$({LABKIT} env)"; env -0 > after; command -v kubectl; kubectl get namespace default'
        " -o name; kubectl config view -o jsonpath='{.clusters[0].cluster.server}'"
    )
    out, _ = started.of(["bash", "-euc", script])
    program, answer, server = out.splitlines()
    assert Path(program).is_file()
    assert (answer, server) == ("namespace/default", _ready(started)["server"])
    before, after = ({*(started.cwd / name).read_text().split("\0")} for name in ("before", "after"))
    changed = {line.partition("=")[0] for line in before ^ after}
    assert {"KUBECONFIG", "KUBECACHEDIR"} <= changed
    assert all(name == "PATH" or name.startswith("KUBE") for name in changed)


def test_a_second_start_joins_the_running_cluster(started: Shell) -> None:
    assert str(_ready(started)["server"]) in started.run("start")


def test_kubectl_passes_options_and_exit_codes_through(started: Shell) -> None:
    named = json.loads(started.run("kubectl", "get", "namespace", "default", "-o", "json"))
    assert named["metadata"]["name"] == "default"
    _, refused = started.both("kubectl", "get", "namespace", "nobody", code=1)
    assert refused == 'Error from server (NotFound): namespaces "nobody" not found\n'
    assert "kubectl controls the Kubernetes cluster manager" in started.run("kubectl", "--help")


def test_etcd_get_prints_what_etcdctl_prints_byte_for_byte(started: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_HOME", started.environ["LABKIT_HOME"])
    there = Etcd(choose.attach(choose.resolve(f"embedded:{places.started()}")))
    key = "/registry/namespaces/default"
    done = subprocess.run(
        [str(LABKIT), "etcd", "get", key], env=started.environ, capture_output=True, timeout=60, check=True
    )
    assert done.stdout == key.encode() + b"\n" + there.get(key).kvs[0].value + b"\n"
    keys = started.run("etcd", "get", "--prefix", "--keys-only", "/registry/namespaces/").split()
    assert key in keys
    assert all(found.startswith("/registry/namespaces/") for found in keys)


def test_reset_takes_what_the_course_made_off_the_cluster_and_nothing_else(started: Shell) -> None:
    started.run("kubectl", "create", "configmap", "mine")
    started.run("kubectl", "apply", "-f", str(MINIMAL))
    assert started.run("reset") == "the course's objects and definitions are gone\n"
    assert started.run("kubectl", "get", "crd", "--ignore-not-found", COLIS) == ""
    assert started.run("kubectl", "get", "configmap", "mine", "-o", "name") == "configmap/mine\n"


def test_without_a_cluster_a_verb_says_so_and_what_to_do(alone: Shell) -> None:
    for verb in (("env",), ("kubectl", "get", "pods"), ("etcd", "get", "/x"), ("reset",)):
        out, err = alone.both(*verb, code=1)
        assert (out, err.splitlines()[0]) == ("", "labkit: no cluster runs"), verb
        assert "labkit start" in err
    assert alone.run("stop") == "embedded cluster: none was running\n"


def test_a_wrong_command_line_is_exit_code_2_and_a_wrong_spelling_names_the_legal_ones(alone: Shell) -> None:
    _, err = alone.both("start", "--cluster", "minikube", "--keep", "somewhere", code=2)
    assert "--keep" in err
    _, err = alone.both("stop", "--cluster", "kubeconfig:/somebody/config", code=2)
    assert "not labkit's to stop" in err
    _, err = alone.both("env", "--cluster", "cloud", code=1)
    assert "embedded:STATE_DIR" in err


# -- the course ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", ["no-such-folder/report.json", "."])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_played(alone: Shell, report: str) -> None:
    out, err = alone.both("play", "--cluster", "embedded", "--report", report, code=1)
    assert out == "" and err.startswith(f"labkit: the report cannot be written: {report}: ")


def test_a_terminal_that_lacks_a_sign_shows_another_for_it(alone: Shell) -> None:
    out = replace(alone, environ={**alone.environ, "PYTHONIOENCODING": "ascii"}).run("doctor")
    assert "? conda install" in out, "minikube is not needed, and how to get it is said"


def test_notebooks_without_any_recorded_output_are_not_played(alone: Shell) -> None:
    books = alone.cwd / "edition" / "notebooks"
    books.mkdir(parents=True)
    (alone.cwd / "edition" / "crd").mkdir()
    source = MINIMAL.parents[1] / "notebooks" / "02-schema.ipynb"
    (books / source.name).write_bytes(without_outputs(source.name, source.read_bytes()))
    _, err = replace(alone, cwd=books.parent).both("play", "--cluster", "embedded", code=1)
    assert "the notebooks here have no recorded outputs to compare with" in err
    assert "open them: labkit lab" in err


def test_record_writes_outputs_in_place_and_leaves_a_recorded_notebook_as_it_was(alone: Shell) -> None:
    cells = [*building.opening("cel"), building.code("%kubectl get namespace ch54 -o name", step="cel/name")]
    path = building.write(alone.cwd, "cel", cells)
    shell = Shell({**alone.environ, "PYTHONPATH": str(building.REPOSITORY)}, alone.cwd)
    assert shell.run("record", str(path)) == f"{path.name}: written\n"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert recorded["cells"][-1]["outputs"][0]["text"] == ["namespace/ch54\n"]


def test_parity_is_good_of_equal_reports_and_names_the_step_that_differs(alone: Shell) -> None:
    def write(name: str, text: str) -> str:
        step = StepResult("cel/one", "One", "%kubectl get colis", text, AS_RECORDED, 0.1)
        PlayReport("embedded", "v1.37.2", 1.0, (step,)).write(alone.cwd / name)
        return name

    one, same, other = write("one", "colis"), write("same", "colis"), write("other", "lettre")
    assert alone.run("parity", one, same) == "Both say the same in every step.\n"
    said = alone.run("parity", one, other, code=1)
    assert said.startswith("cel/one: One\n")
    assert said.endswith("1 step not the same.\n")
    alone.both("parity", one, "absent", code=2)


def test_lab_ends_as_jupyter_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyter, "open_lab", lambda **_: 7)
    with pytest.raises(SystemExit) as ended:
        cli.main(["lab"])
    assert ended.value.code == 7


# -- the machine -----------------------------------------------------------------------------------------------------


def test_doctor_finds_the_started_cluster_and_nothing_missing(started: Shell) -> None:
    said = started.run("doctor")
    assert "labkit-home/clusters/started" in said
