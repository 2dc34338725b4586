"""The command lines of the chapter's exercises, played on a server: each answer is what the chapter says it is.

They are answers, so no notebook and no student's file has them; the manifests they need lie in ``essais/``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.cluster import Cluster, Kubectl, tools
from labkit.cluster.kubectl import environment
from labkit.course.begin import begin
from labkit.course.notebook import Begin, BeginObject

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("essais") / "versions_crd.py"
SCENES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("exercise-lines.yaml").read_text(encoding="utf-8")
)["scenes"]


@pytest.fixture
def begun(cluster: Cluster, scene: dict[str, Any]) -> Iterator[Cluster]:
    """The cluster at the scene's beginning; the course's names are free again afterwards."""
    wanted = scene["begin"]
    objects = tuple(BeginObject(one["file"], one.get("version")) for one in wanted.get("objects", []))
    begin(cluster, Begin(definition=wanted["definition"], objects=objects), root=ROOT)
    yield cluster
    begin(cluster, Begin(), root=ROOT)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: str(scene["id"]))
def test_the_exercises_answers_are_what_the_server_does(scene: dict[str, Any], begun: Cluster) -> None:
    for line in scene["lines"]:
        code, told = run_script(begun, line["script"]) if "script" in line else run_kubectl(begun, line["kubectl"])
        where = f"{line.get('line', line.get('kubectl'))}\n{told}"
        if line["verdict"] == "shown":
            assert "rror" not in told, where  # "no" of auth can-i has exit code 1, and is an answer
        else:
            assert (code == 0) == (line["verdict"] == "accepted"), where
        if "exactly" in line:
            assert told.strip() == line["exactly"], where
            continue
        assert line["says"], where
        missing = [text for text in line["says"] if narrow(text) not in narrow(told)]
        assert not missing, where


def run_kubectl(cluster: Cluster, argv: list[str]) -> tuple[int, str]:
    result = Kubectl(cluster).run(argv, cwd=ROOT)
    return result.exit_code, result.text


def run_script(cluster: Cluster, argv: list[str]) -> tuple[int, str]:
    folder = str(tools.find_kubectl().parent)
    environ = environment(cluster) | {"PYTHONIOENCODING": "utf-8"}
    environ["PATH"] = folder + os.pathsep + environ.get("PATH", os.defpath)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *argv],
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def narrow(text: str) -> str:
    """Lines with every run of blanks as one: column widths are the script's own affair."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
