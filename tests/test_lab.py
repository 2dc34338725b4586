"""The notebook front, in real kernels on a real cluster, and without IPython."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labkit.cluster import Owner, places
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.embedded import EmbeddedCluster, stop_directory
from labkit.course.kernel import CellRun, CourseKernel
from labkit.course.outputs import text

from .course.building import REPOSITORY, opening, write

BEGIN = 'import labkit\nlab = labkit.begin("cel")'
BEGUN = f'embedded cluster, Kubernetes {KUBERNETES_VERSION}: at the beginning of "cel"'
SCHEMA = {"definition": "crd/02-colis-schema.yaml", "objects": [{"file": "crd/objects/principal.yaml"}]}

Run = Callable[[str], str]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one section, ``cel``."""
    return write(tmp_path / "course", "cel", opening("cel"), begin=SCHEMA).parent


@pytest.fixture
def kernels(course: Path) -> Iterator[Callable[..., CourseKernel]]:
    """Starts kernels in the course's folder of notebooks, and stops them."""
    started: list[CourseKernel] = []

    def start(**environ: str) -> CourseKernel:
        started.append(CourseKernel(cwd=course, environ={"PYTHONPATH": str(REPOSITORY), **environ}))
        return started[-1]

    yield start
    for kernel in started:
        kernel.stop()


@pytest.fixture
def run(kernels: Callable[..., CourseKernel], cluster: EmbeddedCluster) -> Run:
    """Runs a cell in a kernel at the section's beginning; what a person reads of it."""
    kernel = kernels(LABKIT_CLUSTER=f"embedded:{cluster.state_dir}")
    assert text(kernel.run(BEGIN).outputs) == BEGUN

    def cell(source: str) -> str:
        return text(kernel.run(source).outputs)

    return cell


def test_commands_print_what_kubectl_printed_and_keep_it_as_a_value(run: Run) -> None:
    listed = run("%kubectl -n ch54 get colis")
    assert re.fullmatch(r"NAME +AGE\nprincipal +\d+s", listed)
    assert run("lab.last.argv, lab.last.exit_code") == "(('kubectl', '-n', 'ch54', 'get', 'colis'), 0)"
    assert run("""%kubectl -n ch54 get colis principal -o jsonpath='{.spec.worker} {"\\n"}'""") == '{"max":5,"min":0} '
    assert run("%kubectl -n ch54 get colis principal -o json\nlab.last.json['kind']").endswith("'Colis'")


def test_a_refusal_is_printed_with_its_causes_sorted_and_never_raised(run: Run) -> None:
    printed = run("%kubectl apply -f crd/objects/invalide.yaml").splitlines()
    assert (
        printed[0] == 'The Colis "invalide" is invalid: ' and printed[1:] == sorted(printed[1:]) and len(printed) == 6
    )
    assert run("lab.last.ok, len(lab.last.errors)") == "(False, 6)"
    assert run("%kubectl get nix") == 'error: the server doesn\'t have a resource type "nix"'
    assert run("%kubectl bogus").startswith("error: unknown command")


def test_a_cells_body_is_applied(run: Run) -> None:
    body = (REPOSITORY / "crd/objects/mini.yaml").read_text(encoding="utf-8")
    assert run(f"%%kubectl apply -f -\n{body}") == "colis.cours.example.com/mini created"


def test_python_objects_are_sent_as_yaml(run: Run) -> None:
    run('a = lab.load("crd/objects/mini.yaml")\nb = {**a, "metadata": {**a["metadata"], "name": "second"}}')
    printed = run('lab.kubectl("apply", "-f", "-", stdin=[a, b])')
    assert printed == "colis.cours.example.com/mini created\ncolis.cours.example.com/second created"
    assert run('x = lab.kubectl("apply", "-f", "-", stdin=a)') == "colis.cours.example.com/mini unchanged"


def test_a_result_is_shown_once_in_its_cell_and_again_when_asked_for(run: Run) -> None:
    once = run('lab.kubectl("get", "colis", "-A", "-o", "name")')
    assert once == "colis.cours.example.com/principal"
    assert run("lab.last") == once
    assert run("lab.last.stdout") == repr(once + "\n")


def test_plain_shell_commands_reach_the_cluster_with_the_fitting_kubectl(run: Run) -> None:
    assert run("!kubectl -n ch54 get colis -o name").split() == ["colis.cours.example.com/principal"]
    minor = json.loads(run("!kubectl version --client -o json"))["clientVersion"]["minor"]
    assert int(minor) in (36, 37, 38)


def test_etcd_is_read_as_text_and_bytes_are_escaped(run: Run) -> None:
    key = "/registry/cours.example.com/colis/ch54/principal"
    stored = json.loads(run(f"%etcd get {key} --print-value-only"))
    assert stored["apiVersion"] == "cours.example.com/v1alpha1" and stored["spec"]["version"] == "2.2.1"
    assert run(f"%etcd get {key} --prefix --keys-only").split() == [key]
    assert run("%etcd get /registry/none") == ""
    run("%kubectl apply -f crd/objects/pod-en-attente.yaml")
    shown = run("%etcd get /registry/pods/ch54/attente --print-value-only")
    assert shown.startswith(r"k8s\x00\n\t\n\x02v1\x12\x03Pod\x12") and r"attente\x12" in shown
    assert re.search(r"… \(\d+ more bytes\)$", shown)
    assert run("lab.last.kvs[0].value[:17], lab.last.kvs[0].encoding") == (
        r"(b'k8s\x00\n\t\n\x02v1\x12\x03Pod\x12\x8e', 'protobuf')"
    )
    assert run(f'lab.etcd("{key}", fields=("apiVersion", "kind"))') == (
        f'{key} {{"apiVersion":"cours.example.com/v1alpha1","kind":"Colis"}}'
    )


def test_the_kernel_moves_to_the_folder_that_holds_crd(run: Run, course: Path) -> None:
    assert run("import os; os.getcwd()") == repr(str(course.parent))
    assert run('lab.load("crd/01-colis-minimal.yaml")["kind"]') == "'CustomResourceDefinition'"
    assert "ManifestError: " in run('lab.load("crd/none.yaml")')


def test_an_error_of_labkits_own_is_shown_without_a_traceback(run: Run) -> None:
    shown = run('lab.stored_and_read("colis", "nobody")')
    assert shown.startswith("ApiError: no colis nobody in namespace ch54") and "Traceback" not in shown


def test_observations_show_themselves(run: Run) -> None:
    assert "Established" in run("lab.conditions()")
    assert "v1alpha1 (preferred)" in run("lab.discovery()")
    assert "READ IN V1ALPHA1" in run('lab.stored_and_read("colis", "principal")').upper()
    assert "spec.wroker" in run('lab.pruned_and_defaulted("crd/objects/mauvais.yaml", "mauvais")')
    assert "no object named 'x'" in run('lab.pruned_and_defaulted("crd/objects/mauvais.yaml", "x")')


def test_a_trace_takes_definition_and_old_object_from_the_cluster_unless_they_are_given(run: Run) -> None:
    told = run('lab.trace("crd/objects/principal.yaml")')
    assert told.startswith("Colis principal in ch54, v1alpha1, sent in place of what is stored: accepted\n")
    assert run('lab.trace("crd/objects/principal.yaml", as_new=True).operation') == "'create'"
    assert run('lab.trace("crd/objects/mini.yaml").operation') == "'create'"
    given = (
        'lab.trace(lab.load("crd/objects/mini.yaml"), lab.load("crd/04-colis-complet.yaml"), "crd/objects/mini.yaml")'
    )
    assert "3 passed; cost 21" in run(given)
    assert run("%kubectl -n ch54 get colis -o name") == "colis.cours.example.com/principal", "nothing was sent"


def test_a_trace_of_a_definition_that_the_cluster_does_not_have(run: Run) -> None:
    other = "crd = lab.load('crd/02-colis-schema.yaml'); crd['spec']['names']['kind'] = 'Lettre'\nobj = "
    other += "lab.load('crd/objects/mini.yaml') | {'kind': 'Lettre'}\n"
    assert run(other + "lab.trace(obj, crd).verdict") == "'accepted'"
    assert run("lab.trace(obj)").startswith("ApiError: no definition of Lettre in cours.example.com: ")


def test_a_traced_read_begins_with_the_bytes_in_etcd(run: Run) -> None:
    told = run('lab.trace_read("colis", "principal")')
    assert told.startswith("Colis principal in ch54, v1alpha1, read from etcd\n") and "spec.base.classe" not in told
    later = 'lab.trace_read("colis", "principal", version="v1", crd="crd/05-colis-v1.yaml").read'
    assert run(f"{later}['apiVersion'], 'web' in {later}['spec']") == "('cours.example.com/v1', False)"
    assert run('lab.trace_read("colis", "nobody")').startswith("ApiError: no colis nobody in namespace ch54: etcd has")
    assert run('lab.trace("crd/none.yaml")').startswith("BadDocument: crd/none.yaml: cannot be read: No such file")


def test_a_trace_is_a_widget_with_html_and_a_text_twin_and_only_then_loads_widgets(run: Run) -> None:
    assert run("import sys; 'ipywidgets' in sys.modules") == "False"
    shown = run(
        'from IPython import get_ipython\ntraced = lab.trace("crd/objects/mini.yaml")\n'
        "sorted(get_ipython().display_formatter.format(traced)[0])"
    )
    assert shown == "['application/vnd.jupyter.widget-view+json', 'text/html', 'text/plain']"


def test_the_cost_is_measured_with_a_bar_and_shows_itself_as_tables_and_plots(
    kernels: Callable[..., CourseKernel], cluster: EmbeddedCluster
) -> None:
    kernel = kernels(LABKIT_CLUSTER=f"embedded:{cluster.state_dir}")
    kernel.run(BEGIN)
    measured = kernel.run("cost = lab.cost([1, 2], repeats=1)")
    assert measured.error is None
    assert text(measured.outputs) == "1 and 2 definitions, 1 round", "the bar is drawn over, and not recorded"
    tables, plots = kernel.run("cost").outputs
    assert "1 and 2 definitions, sent through the API, 1 round on one server" in tables["data"]["text/html"]
    assert set(plots["data"]) == {"text/plain", "image/png"}
    refused = text(kernel.run("lab.cost(1, objects=[5, 1])").outputs)
    assert refused.startswith("ValueError: measure 1 to 500 definitions and 0 to 5000 objects, in growing numbers")
    assert text(kernel.run('lab.kubectl("get", "crd", "-o", "name");').outputs).endswith("/colis.cours.example.com")


def test_an_interrupted_cell_takes_its_definitions_off_the_cluster(
    kernels: Callable[..., CourseKernel], cluster: EmbeddedCluster
) -> None:
    kernel = kernels(LABKIT_CLUSTER=f"embedded:{cluster.state_dir}")
    kernel.run(BEGIN)
    cell = (
        "import os, signal, threading\n"
        "from labkit.cluster import Api\n"
        "from labkit.observe import load\n"
        "from labkit.waiting import Seen, wait_for\n"
        "def interrupt():\n"
        "    with Api(lab.cluster) as api:\n"
        "        wait_for('some', lambda: Seen(len(load.present(api)) > 2, ''), limit_s=60)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "lab.cost(50)"
    )
    assert (kernel.run(cell).error or "").startswith("KeyboardInterrupt")
    assert text(kernel.run("with Api(lab.cluster) as api: print(load.present(api))").outputs) == "()"


def test_the_discovery_cache_is_forgotten_on_purpose(run: Run, cluster: EmbeddedCluster) -> None:
    run("%kubectl get colis -A")
    assert (cluster.cache_dir / "discovery").is_dir()
    assert run("lab.forget_discovery()") == "kubectl's discovery cache is cleared"
    assert not (cluster.cache_dir / "discovery").exists()


def test_explain_waits_until_the_definition_is_described(run: Run) -> None:
    run("%kubectl apply -f crd/04-colis-complet.yaml")
    assert "classe" in run("%kubectl explain colis.spec.base")


def test_beginning_again_in_the_same_kernel_starts_over(run: Run) -> None:
    run("%kubectl apply -f crd/objects/mini.yaml")
    run(BEGIN)
    assert run("%kubectl get colis -A -o name") == "colis.cours.example.com/principal"


def test_a_section_nobody_knows_is_said_with_those_there_are(run: Run) -> None:
    assert "no section 'sel'" in run('labkit.begin("sel")')


def test_a_cluster_that_died_is_told_by_the_next_command(kernels: Callable[..., CourseKernel], tmp_path: Path) -> None:
    mortal = EmbeddedCluster(tmp_path / "mortal", owner=Owner.HELD)
    mortal.start()
    try:
        kernel = kernels(LABKIT_CLUSTER=f"embedded:{mortal.state_dir}")
        assert kernel.run(BEGIN).error is None
        record = json.loads((mortal.state_dir / "cluster.json").read_text(encoding="utf-8"))
        os.kill(record["pid"], signal.SIGKILL)
        for command in ("%kubectl get colis -A", "%etcd get /registry --prefix"):
            run = kernel.run(command)
            assert run.error is None, "printed, not raised"
            assert "control plane died" in text(run.outputs) and "→" in text(run.outputs), text(run.outputs)
    finally:
        mortal.stop()


def test_a_restarted_kernel_finds_its_objects(kernels: Callable[..., CourseKernel], home: Path) -> None:
    lease = places.lease(os.getpid())
    try:
        first = kernels(LABKIT_HOME=str(home))
        begun = text(first.run(BEGIN).outputs)
        assert begun.endswith(BEGUN)
        first.run("%kubectl apply -f crd/objects/mini.yaml")
        assert lease.is_dir()
        first.stop()
        second = kernels(LABKIT_HOME=str(home))
        resumed = second.run("import labkit\nlab = labkit.resume()")
        assert text(resumed.outputs) == f"embedded cluster, Kubernetes {KUBERNETES_VERSION}: as you left it"
        assert text(second.run("%kubectl get colis -A -o name").outputs).split() == [
            f"colis.cours.example.com/{n}" for n in ("mini", "principal")
        ]
        again: CellRun = second.run(BEGIN)
        assert text(again.outputs) == BEGUN, "nothing started"
    finally:
        stop_directory(lease)
    assert not lease.exists()


def test_a_foreign_cluster_needs_a_yes_and_what_it_lacks_is_not_shown(
    kernels: Callable[..., CourseKernel], cluster: EmbeddedCluster
) -> None:
    cluster.reset()
    foreign = f"kubeconfig:{cluster.kubeconfig}"
    refused = text(kernels(LABKIT_CLUSTER=foreign).run(BEGIN).outputs)
    assert refused.startswith("ClaimRefused: ") and "LABKIT_CLAIM=1" in refused
    kernel = kernels(LABKIT_CLUSTER=foreign, LABKIT_CLAIM="1")
    assert text(kernel.run(BEGIN).outputs).endswith('at the beginning of "cel"')
    assert text(kernel.run("%kubectl get colis -A -o name").outputs) == "colis.cours.example.com/principal"
    shown = kernel.run("%etcd get /registry --prefix")
    assert shown.error is None and text(shown.outputs).startswith("not shown, because ")
    cluster.reset()


def test_without_ipython_everything_works_but_the_magics(course: Path, cluster: EmbeddedCluster) -> None:
    script = (
        f"{BEGIN}\nlab.kubectl('get', 'colis', '-A', '-o', 'name')\nimport sys\nprint('IPython' in sys.modules)\n"
        "print(lab.etcd('/registry/none').kvs)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=course, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "LABKIT_CLUSTER": f"embedded:{cluster.state_dir}", "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.stderr == "", done.stderr
    assert done.stdout.splitlines()[1:] == ["colis.cours.example.com/principal", "False", "()"]
