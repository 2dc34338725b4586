"""The notebooks under pytest: nbval with the course's conftest, run as a person would, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import sanitize
from labkit.course.record import record

from .building import REPOSITORY, Cell, code, opening, printed, write

SETTINGS = f"""
[pytest]
addopts =
    --import-mode=importlib
    --nbval --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with={sanitize.CONFIG}
filterwarnings = error
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course without notebooks, with the repository's own conftest for them."""
    place = tmp_path / "course"
    write(place, "cel", opening("cel")).unlink()
    shutil.copy(REPOSITORY / "notebooks" / "conftest.py", place / "notebooks")
    (place / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    return place


def run_pytest(root: Path, *arguments: str) -> tuple[int, str]:
    own = root / "tmp"
    own.mkdir(exist_ok=True)
    environ = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TMPDIR": str(own),
        "PYTEST_DEBUG_TEMPROOT": str(root.parent),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", *arguments],
        cwd=root, env=environ, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert list(own.glob("labkit-*")) == [], "a cluster's folder is left"
    return done.returncode, done.stdout + done.stderr


def unbegun(*cells: Cell) -> list[Cell]:
    """A notebook whose first cell is played but not compared."""
    first, begin = opening("cel")
    begin["metadata"]["tags"] = ["nbval-ignore-output"]
    begin["execution_count"] = 1
    return [first, begin, *cells]


def test_a_recorded_notebook_passes_alone_and_on_workers(root: Path, cluster: EmbeddedCluster) -> None:
    begin = {"definition": "crd/02-colis-schema.yaml", "objects": [{"file": "crd/objects/principal.yaml"}]}
    cells = [*opening("cel"), code("%kubectl -n ch54 get colis", step="cel/get"), code("lab.last", step="cel/last")]
    record(write(root, "cel", cells, begin=begin), cluster)
    assert run_pytest(root, "notebooks")[0] == 0
    status, said = run_pytest(root, "-n", "2", "--dist", "loadfile", "notebooks")
    assert status == 0 and "3 passed" in said, said


def test_another_output_fails(root: Path) -> None:
    write(root, "cel", unbegun(code("print(2)", step="cel/two", outputs=[printed("1\n")])))
    status, said = run_pytest(root, "notebooks")
    assert status == 1 and "1 failed, 1 passed" in said, said


def test_a_kernel_that_dies_fails_its_cell_at_once_and_the_rest(root: Path) -> None:
    write(root, "cel", unbegun(code("import os; os._exit(1)", step="cel/dies"), code("1", step="cel/rest")))
    began = time.monotonic()
    status, said = run_pytest(root, "notebooks")
    assert time.monotonic() - began < 60, "nbval's own wait would take the cell's limit, 120 s"
    assert status == 1 and "2 failed, 1 passed" in said, said
    assert "the kernel died in this cell" in said


def test_spreading_a_notebooks_cells_over_workers_is_refused(root: Path) -> None:
    write(root, "cel", unbegun(code("print(1)", step="cel/one", outputs=[printed("1\n")])))
    status, said = run_pytest(root, "-n", "2", "notebooks")
    assert status == 4 and "use --dist loadfile, loadscope or loadgroup" in said, said


def test_a_worker_given_the_middle_of_a_notebook_says_so(root: Path) -> None:
    write(root, "cel", unbegun(code("print(1)", step="cel/one", outputs=[printed("1\n")])))
    status, said = run_pytest(root, "notebooks/04-cel.ipynb::Cell 1")
    assert status == 1 and "the cells before this one were not run here" in said, said
