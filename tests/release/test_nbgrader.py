"""nbgrader's own commands take the instructors' source as it is, without a warning."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises import model
from labkit.release import release_instructors
from labkit.scan import read_answers, scan

REPOSITORY = Path(__file__).resolve().parents[2]
NBGRADER = Path(sys.executable).parent / "nbgrader"


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_instructors(REPOSITORY, tmp_path_factory.mktemp("nbgrader") / "course").root


def _nbgrader(cwd: Path, *argv: str, limit: float = 120, **more: str) -> str:
    """What it printed on both streams; it must end with 0 and warn of nothing."""
    home = {"HOME": str(cwd), "JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(cwd / ".ipython")}
    home["PATH"] = f"{NBGRADER.parent}{os.pathsep}{os.environ['PATH']}"  # it starts alembic
    done = subprocess.run(
        [str(NBGRADER), *argv], cwd=cwd, env={**os.environ, **home, **more}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False, timeout=limit,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert not re.search(r"App \| (WARNING|ERROR|CRITICAL)\]", done.stdout), done.stdout
    return done.stdout


def _cells(path: Path) -> dict[str, dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}


def test_generate_assignment_takes_the_solutions_out(class_folder: Path) -> None:
    source = _cells(class_folder / "source" / "ch54" / "10-exercises.ipynb")
    _nbgrader(class_folder, "generate_assignment", "ch54")
    released = class_folder / "release" / "ch54"
    told = _cells(released / "10-exercises.ipynb")
    exercises = model.load_all(REPOSITORY)
    for one in exercises:
        assert one.solution is not None
        assert one.solution.strip() in "".join(source[one.id]["source"])
        assert "".join(told[one.id]["source"]).splitlines()[0] == f"%%answer {one.id}"
        assert "".join(told[f"{one.id}-check"]["source"]) == f'lab.check("{one.id}")'
        assert told[f"{one.id}-check"]["metadata"]["nbgrader"]["points"] == one.points
    found = scan(read_answers(REPOSITORY), [released])
    assert found.clean, found.text


def test_validate_runs_the_solutions_and_finds_nothing_to_say(class_folder: Path, cluster: EmbeddedCluster) -> None:
    """Every check is played on a cluster, so this is also the proof that the assignment is complete."""
    said = _nbgrader(
        class_folder, "validate", "source/ch54/10-exercises.ipynb", limit=400,
        LABKIT_CLUSTER=f"embedded:{cluster.state_dir}",
    )  # fmt: skip
    assert "Success! Your notebook passes all the tests." in said
