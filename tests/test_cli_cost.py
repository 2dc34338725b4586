"""``labkit cost`` as a person runs it, ends it in the middle, or asks too much of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from labkit.cluster import Api
from labkit.cluster.claim import COST_DEFINITIONS, DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.observe import load
from labkit.waiting import Seen, wait_for
from tests.conftest import OURS

LABKIT = Path(sys.executable).parent / "labkit"
LIMIT_S = 600
"""Of anything: the whole takes half a minute, and ten times as long on a very busy machine."""
HELD = {"metadata": {"finalizers": ["cours.example.com/inventaire"]}}


def environment(home: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OURS} | {"LABKIT_HOME": str(home)}


def run(home: Path, *argv: str, code: int = 0) -> tuple[str, str]:
    done = subprocess.run(
        [str(LABKIT), "cost", *argv],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == code, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@contextmanager
def measuring(home: Path, *argv: str) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; killed at the end if it still does."""
    process = subprocess.Popen(
        [str(LABKIT), "cost", *argv],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_present(api: Api, least: int) -> None:
    def look() -> Seen[None]:
        there = len(load.present(api))
        return Seen(there >= least, f"{there} definitions")

    wait_for(f"{least} definitions of the measurement", look, limit_s=LIMIT_S)


def wait_deleting(api: Api) -> None:
    def look() -> Seen[None]:
        deleting = [obj for obj in load.present(api) if "deletionTimestamp" in obj["metadata"]]
        return Seen(bool(deleting), f"{len(deleting)} being deleted")

    wait_for("the removal to begin", look, limit_s=LIMIT_S)


def test_the_default_measures_three_loads_and_saves_what_it_is_told_to(home: Path, tmp_path: Path) -> None:
    out, err = run(
        home, "--cluster", "embedded", "--csv", str(tmp_path / "numbers"), "--plots", str(tmp_path / "new/p")
    )
    assert out.startswith("1, 10 and 50 definitions, sent through the API, 3 rounds each on a new cluster\n")
    numbers = pd.read_csv(tmp_path / "numbers" / "definitions.csv")
    assert sorted(set(numbers["definitions"])) == [0, 1, 10, 50]
    assert set(numbers["round"]) == {1, 2, 3}
    assert (tmp_path / "new" / "p" / "definitions.png").read_bytes().startswith(b"\x89PNG")
    written = [line.removeprefix("written: ") for line in out.splitlines() if line.startswith("written: ")]
    assert all(Path(file).is_file() for file in written) and len(written) == 3
    assert "\x1b" not in out + err and "\r" not in out + err, "no terminal, nothing garbled"
    assert err.startswith("1, 10 and 50 definitions: 0%, round 1 of 3: ")
    assert not list((home / "clusters").glob("held*")), "no cluster is left"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_nothing_is_left_when_it_is_interrupted(home: Path, cluster: EmbeddedCluster, number: signal.Signals) -> None:
    with Api(cluster) as api, measuring(home, "--cluster", f"embedded:{cluster.state_dir}") as process:
        wait_present(api, 5)
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert out == ""
        assert err.splitlines()[-1] == "labkit: interrupted"
        assert "Traceback" not in err
        assert load.present(api) == ()
        assert api.get("/apis/cout.example.com") is None
    assert cluster.gone() is None


def test_what_an_interrupted_removal_leaves_is_said_by_name(home: Path, cluster: EmbeddedCluster) -> None:
    held = f"{DEFINITIONS}/{COST_DEFINITIONS[0]}"
    with Api(cluster) as api, measuring(home, "--cluster", f"embedded:{cluster.state_dir}") as process:
        wait_present(api, 1)
        try:
            api.patch(held, HELD)
            process.send_signal(signal.SIGINT)
            wait_deleting(api)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 130
            first, second = err.splitlines()[-2:]
            assert first == "labkit: interrupted"
            assert second.startswith("  left on the cluster: ") and "type-01.cout.example.com" in second
            assert second.endswith(("; labkit reset removes it", "; labkit reset removes them"))
        finally:
            api.patch(held, {"metadata": {"finalizers": None}})
            load.remove(api)


def test_an_interrupt_ends_the_cluster_that_was_started_for_it(home: Path) -> None:
    with measuring(home, "--cluster", "embedded") as process:
        assert process.stderr is not None
        process.stderr.readline()
        records = home / "clusters"

        def look() -> Seen[list[int]]:
            found = [json.loads(path.read_text(encoding="utf-8"))["pid"] for path in records.glob("*/cluster.json")]
            return Seen(bool(found), "no record yet", found)

        (pid,) = wait_for("the cluster to run", look, limit_s=LIMIT_S) or []
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert not Path(f"/proc/{pid}").exists()
        assert not list(records.glob("*/cluster.json"))


@pytest.mark.parametrize("spelled", ["minikube", "kubeconfig:/somebody/config"])
def test_the_full_measurement_is_refused_elsewhere_than_on_an_embedded_cluster(home: Path, spelled: str) -> None:
    out, err = run(home, "--full", "--cluster", spelled, code=1)
    assert out == ""
    assert err.startswith("labkit: more than 50 definitions, and objects, are measured on an embedded cluster only: ")
    assert len(err.splitlines()) == 2


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out, err = run(home, "--cluster", "embedded", "--csv", str(tmp_path / "file"), code=1)
    assert out == "" and err.startswith(f"labkit: the results cannot be saved: {tmp_path / 'file'}: ")
    assert not (home / "clusters").exists()
