"""``make lab``: JupyterLab on the working copy, its kernels led to a cluster that ends with it, however it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

from labkit.cluster import Api, tools
from labkit.cluster.claim import ANNOTATION, NAMESPACE
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course.shared import shared_course
from labkit.errors import MachineError
from labkit.machine import jupyter
from labkit.machine.checkout import Checkout
from labkit.waiting import Seen, wait_for
from tests.cluster.backends import write_kubeconfig
from tests.cluster.helpers import nothing_left
from tests.machine.conftest import gone

ROOT = Path(__file__).resolve().parents[2]

OPEN = """
import sys
from pathlib import Path
from labkit.errors import LabkitError
from labkit.machine import jupyter
from labkit.machine.checkout import Checkout

jupyter.Checkout.here = classmethod(lambda _: Checkout(Path(sys.argv[1])))
sys.executable = sys.argv[2]  # jupyter-lab is the one beside it
try:
    sys.exit(jupyter.open_lab())
except LabkitError as error:
    sys.exit(f"labkit: {error}")
"""

STAND_IN = """#!{python}
import json, os, sys
seen = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "path": os.environ["PATH"]}}
seen |= {{"cluster": os.environ["LABKIT_CLUSTER"], "claim": os.environ["LABKIT_CLAIM"]}}
seen["kubeconfig"] = os.environ["KUBECONFIG"]
with open({seen!r}, "w") as file:
    json.dump(seen, file)
sys.exit(7)
"""


@dataclass
class OpenLab:
    """A running ``make lab`` on the course at *root*."""

    process: subprocess.Popen[bytes]
    root: Path
    port: int

    def ask(self, method: str, path: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/{path}", method=method, headers={"Authorization": "token t"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            body = answer.read()
        return json.loads(body) if body else None

    def wait_open(self, log: Path) -> None:
        def look() -> Seen[None]:
            assert self.process.poll() is None, log.read_text(encoding="utf-8")
            try:
                self.ask("GET", "status")
            except (OSError, urllib.error.URLError) as error:
                return Seen(False, str(error))
            return Seen(True, "open")

        wait_for("JupyterLab to answer", look, limit_s=60)

    def children(self) -> list[int]:
        """All that it started, by parent alone: psutil's ``children`` also compares times, and a clock can go back."""
        parents = {one.pid: one.info["ppid"] for one in psutil.process_iter(["ppid"])}
        found = [self.process.pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found[1:]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = tmp_path / "course"
    for folder in ("crd", "notebooks"):
        shutil.copytree(ROOT / folder, root / folder)
    return root


@pytest.fixture
def opened(course: Path, tmp_path: Path, home: Path) -> Iterator[OpenLab]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    log = tmp_path / "log"
    environ = {**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    settings = {"ServerApp": {"port": port, "open_browser": False}, "IdentityProvider": {"token": "t"}}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", OPEN, str(course), sys.executable], cwd=ROOT, env=environ, stdout=out, stderr=out
        )
    lab = OpenLab(process, course, port)
    try:
        lab.wait_open(log)
        yield lab
    finally:
        process.terminate()
        process.wait(30)
        assert not list((home / "clusters").glob("held-*"))


def test_a_kernel_finds_the_cluster_and_the_manifests_and_all_ends_on_shutdown(opened: OpenLab) -> None:
    names = {entry["name"] for entry in opened.ask("GET", "contents")["content"]}
    assert {"crd", "notebooks"} <= names
    opened.ask("POST", "kernels")
    environs = [psutil.Process(pid).environ() for pid in opened.children()]
    chosen = {environ["LABKIT_CLUSTER"] for environ in environs if "JPY_PARENT_PID" in environ}
    assert len(chosen) == 1
    assert chosen.pop().startswith("embedded:")
    pids = opened.children()
    opened.ask("POST", "shutdown")
    assert opened.process.wait(30) == 0
    assert gone(pids)


def test_the_copy_has_no_output_and_a_terminated_lab_leaves_neither_jupyter_nor_a_cluster(opened: OpenLab) -> None:
    copies = sorted((opened.root / "lab" / "notebooks").glob("*.ipynb"))
    assert copies
    for copy in copies:
        cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells)
    pids = opened.children()
    assert len(pids) >= 2  # the control plane and Jupyter
    opened.process.send_signal(signal.SIGTERM)
    opened.process.wait(30)
    assert gone(pids)


# -- with a jupyter-lab that only notes how it was started, and ends with 7 ------------------------------------------


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """The folder of the stand-in, with what it has seen in ``seen``."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    program = folder / "jupyter-lab"
    program.write_text(STAND_IN.format(python=sys.executable, seen=str(folder / "seen")), encoding="utf-8")
    program.chmod(0o755)
    (folder / "kubectl").symlink_to(tools.find_kubectl())
    return folder


def _open(course: Path, stand_in: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OPEN, str(course), str(stand_in / "python")],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_jupyter_serves_the_copy_on_the_clusters_own_name_and_its_exit_status_is_ours(
    course: Path, stand_in: Path, home: Path
) -> None:
    done = _open(course, stand_in, LABKIT_CLUSTER="embedded")
    assert done.returncode == 7, done.stderr
    seen = json.loads((stand_in / "seen").read_text(encoding="utf-8"))
    assert f"--ServerApp.root_dir={course / 'lab'}" in seen["argv"]
    backend, _, state_dir = seen["cluster"].partition(":")
    assert (backend, seen["claim"]) == ("embedded", "1")
    assert Path(state_dir).parent == home / "clusters"
    assert (seen["cwd"], seen["kubeconfig"]) == (str(course / "lab"), f"{state_dir}/kubeconfig"), "for its terminals"
    assert seen["path"].startswith(f"{stand_in}{os.pathsep}"), "so that kubectl and labkit are the right ones there"
    assert not Path(state_dir).exists(), "the cluster outlives Jupyter"
    nothing_left(Path(state_dir))


def test_an_installed_labkit_opens_the_course_of_the_folder_or_the_one_it_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(_: type[Checkout]) -> NoReturn:
        raise MachineError("labkit was not imported from a checkout of its repository")

    monkeypatch.setattr(Checkout, "here", classmethod(nowhere))
    monkeypatch.chdir(tmp_path)
    assert jupyter._places() == (shared_course(), tmp_path / "lab")
    (tmp_path / "edition" / "crd").mkdir(parents=True)
    (tmp_path / "edition" / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "edition" / "notebooks")
    assert jupyter._places() == (tmp_path / "edition", tmp_path / "edition" / "lab")


def test_a_foreign_cluster_that_nobody_said_yes_to_is_not_opened(
    course: Path, stand_in: Path, cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    with Api(cluster) as api:  # other tests may have said it
        namespace = f"/api/v1/namespaces/{NAMESPACE}"
        if api.get(namespace) is not None:
            api.patch(namespace, {"metadata": {"annotations": {ANNOTATION: None}}})
    foreign = tmp_path / "somebody" / "config"
    write_kubeconfig(foreign, cluster.kubeconfig, context="course")
    named = f"kubeconfig:{foreign}#course"
    done = _open(course, stand_in, LABKIT_CLUSTER=named)
    assert done.returncode == 1
    assert "this cluster was not started by labkit, and nobody said yes to use it" in done.stderr
    assert not (stand_in / "seen").exists()
