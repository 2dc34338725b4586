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
from typing import Any

import psutil
import pytest

from labkit.waiting import Seen, wait_for
from tests.machine.conftest import gone

ROOT = Path(__file__).resolve().parents[2]

OPEN = """
import sys
from pathlib import Path
from labkit.machine import jupyter
from labkit.machine.checkout import Checkout

jupyter.Checkout.here = classmethod(lambda _: Checkout(Path(sys.argv[1])))
sys.exit(jupyter.open_lab(("--no-browser", "--ServerApp.port=" + sys.argv[2], "--IdentityProvider.token=t")))
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
        return [child.pid for child in psutil.Process(self.process.pid).children(recursive=True)]


@pytest.fixture
def opened(tmp_path: Path, home: Path) -> Iterator[OpenLab]:
    root = tmp_path / "course"
    for folder in ("crd", "notebooks"):
        shutil.copytree(ROOT / folder, root / folder)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    log = tmp_path / "log"
    environ = {**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", OPEN, str(root), str(port)], cwd=ROOT, env=environ, stdout=out, stderr=out
        )
    lab = OpenLab(process, root, port)
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
