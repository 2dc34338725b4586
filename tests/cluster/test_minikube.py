"""Every state of minikube has its own sentence and command. minikube is its stand-in here, and says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Owner, choose, places
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.minikube import MinikubeCluster, MinikubeStatus, _last_step, _start_failure, parse_status
from labkit.errors import ClaimRefused, ClusterStartError, CommandError, ToolMissing, ToolUnfit
from tests.cluster.backends import put_standin_on_path

PROFILE = "labkit"


@pytest.fixture
def standin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The stand-in on PATH; what it started is deleted afterwards."""
    put_standin_on_path(monkeypatch, tmp_path / "standin")
    yield tmp_path / "standin"
    monkeypatch.delenv("STANDIN_FAULT", raising=False)
    MinikubeCluster(PROFILE).delete()


def standin_profile(standin: Path, name: str, fault: str = "half") -> None:
    """A profile that minikube knows, though labkit did not make it."""
    config = standin / "minikube" / "profiles" / name / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"Name": name, "fault": fault}))


def test_a_missing_minikube_names_the_way_to_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="minikube is not installed") as caught:
        MinikubeCluster(PROFILE).start()
    assert "conda-forge minikube" in caught.value.next_act
    assert MinikubeCluster(PROFILE).runs() is False


@pytest.mark.usefixtures("standin")
def test_a_profile_is_started_with_progress_found_again_and_deleted_without_a_trace(home: Path) -> None:
    told: list[str] = []
    cluster = MinikubeCluster(PROFILE)
    cluster.start(told.append)
    assert told[0] == "minikube profile labkit: not there yet"
    assert "minikube 8/19: stand-in for minikube: Creating Container" in told
    assert cluster.owned
    assert cluster.kubeconfig == home / "minikube" / PROFILE / "kubeconfig"

    cluster.kubeconfig.unlink()
    found = choose.attach_or_start(choose.resolve(None), owner=Owner.LEASED)
    assert found.info().name == "minikube:labkit", "a running profile of ours is chosen when nothing is named"
    assert cluster.kubeconfig.is_file(), "a lost kubeconfig is written anew"

    cluster.delete()
    cluster.delete()
    assert not (home / "minikube" / PROFILE).exists()
    assert not (home / "kubectl-cache").exists() or not any((home / "kubectl-cache").iterdir())


@pytest.mark.parametrize(
    ("status", "state", "act"),
    [
        (
            MinikubeStatus("Stopped", "Stopped", "Stopped", "Stopped"),
            "the minikube profile labkit is stopped",
            "labkit start --cluster minikube:labkit",
        ),
        (
            MinikubeStatus("Running", "Stopped", "Paused", "Configured"),
            "the minikube profile labkit is paused",
            "minikube unpause -p labkit",
        ),
        (
            MinikubeStatus("Running", "Running", "Stopped", "Configured"),
            "the minikube profile labkit runs only in part",
            "minikube delete -p labkit",
        ),
        (None, "the minikube profile labkit does not exist any more", "labkit start --cluster minikube:labkit"),
    ],
)
def test_what_does_not_run_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, status: MinikubeStatus | None, state: str, act: str
) -> None:
    cluster = MinikubeCluster(PROFILE)
    monkeypatch.setattr(cluster, "status", lambda: status)
    gone = cluster.gone()
    assert gone is not None
    assert gone.state == state
    assert gone.evidence == (status.words if status else "")
    assert act in gone.next_act


@pytest.mark.usefixtures("standin")
def test_a_half_started_profile_is_told_and_a_second_start_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = MinikubeCluster(PROFILE)
    monkeypatch.setenv("STANDIN_FAULT", "half")
    with pytest.raises(ClusterStartError, match="GUEST_START: stand-in for minikube: failed to start node"):
        cluster.start()
    assert cluster.owned, "the half profile is ours to mend or delete"
    half = cluster.gone()
    assert half is not None
    assert half.state == "the minikube profile labkit runs only in part"
    assert "minikube delete -p labkit" in half.next_act
    monkeypatch.delenv("STANDIN_FAULT")
    cluster.start()
    assert cluster.gone() is None


@pytest.mark.parametrize(
    ("fault", "kind", "state", "act"),
    [
        ("no-driver", ToolMissing, "minikube has no driver to make a machine with", "install Docker"),
        ("driver-off", ToolUnfit, "minikube's driver does not work", "Start the Docker service"),
        ("too-new", ToolUnfit, f"this minikube does not know Kubernetes {KUBERNETES_VERSION}", "update minikube"),
    ],
)
@pytest.mark.usefixtures("standin")
def test_what_minikube_lacks_is_told_by_its_own_reason(
    monkeypatch: pytest.MonkeyPatch, fault: str, kind: type[Exception], state: str, act: str
) -> None:
    monkeypatch.setenv("STANDIN_FAULT", fault)
    cluster = MinikubeCluster(PROFILE)
    with pytest.raises(kind) as caught:
        cluster.start()
    assert caught.value.state == state  # type: ignore[attr-defined]
    assert act in caught.value.next_act  # type: ignore[attr-defined]
    assert not cluster.owned, "a profile that never came to be is recorded as ours"


def test_a_profile_of_somebody_else_is_not_touched(standin: Path) -> None:
    standin_profile(standin, PROFILE)
    cluster = MinikubeCluster(PROFILE)
    with pytest.raises(ClaimRefused, match="labkit did not start") as caught:
        cluster.start()
    assert "minikube delete -p labkit" in caught.value.next_act
    assert "kubeconfig:PATH#labkit" in caught.value.next_act
    cluster.stop()
    cluster.delete()
    assert cluster.profiles() == (PROFILE,)
    shutil.rmtree(standin / "minikube" / "profiles")


def test_a_minikube_that_fails_to_stop_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    answers = 'case $1 in status) echo \'{"Host":"Running"}\'; exit 6;; esac'
    (folder / "minikube").write_text(f"#!/bin/sh\n{answers}\necho no >&2\nexit 30\n")
    (folder / "minikube").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    (places.made(places.minikube(PROFILE)) / "started-by-labkit").write_text("")
    with pytest.raises(CommandError, match="minikube stop -p labkit failed: exit status 30: no"):
        MinikubeCluster(PROFILE).stop()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            '{"Name":"labkit","Host":"Running","Kubelet":"Running","APIServer":"Running","Kubeconfig":"Configured"}',
            MinikubeStatus("Running", "Running", "Running", "Configured"),
        ),
        (
            '[{"Name":"a","Host":"Running","Kubelet":"Stopped","APIServer":"Stopped","Kubeconfig":"Stopped"},'
            '{"Name":"a-m02","Host":"Running","Kubelet":"Running","APIServer":"Irrelevant","Worker":true}]',
            MinikubeStatus("Running", "Stopped", "Stopped", "Stopped"),
        ),
        ('{"type":"io.k8s.sigs.minikube.info","data":{"message":"Profile not found"}}', None),
        ("", None),
        ("[]", None),
    ],
)
def test_status_is_read_in_each_of_its_forms(text: str, status: MinikubeStatus | None) -> None:
    assert parse_status(text) == status
    assert status is None or status.runs == (status.apiserver == "Running")


def event(kind: str, **data: str) -> str:
    return json.dumps({"type": f"io.k8s.sigs.minikube.{kind}", "data": data})


def test_the_last_thing_minikube_does_is_one_line() -> None:
    step = event("step", currentstep="5", totalsteps="19", message="Pulling base image")
    progress = event("download.progress", artifact="preload.tar.lz4", progress="0.4213")
    assert _last_step("") == "minikube is starting"
    assert _last_step(f"{step}\nnoise\n") == "minikube 5/19: Pulling base image"
    assert _last_step(f"{step}\n{progress}") == "minikube downloads preload.tar.lz4 42%"
    assert _last_step(event("download", artifact="iso")) == "minikube downloads iso"


def test_a_failure_without_a_reason_shows_what_was_printed() -> None:
    told = _start_failure(80, "", "panic: everything\n")
    assert isinstance(told, ClusterStartError)
    assert told.evidence == "exit status 80: panic: everything"
