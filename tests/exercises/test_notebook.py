"""The notebook is what the folders say, has nbgrader's cells, and works from answer to zip in a real kernel."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import notebook as course
from labkit.course.environment import kernel_environment
from labkit.course.kernel import CellRun, CourseKernel
from labkit.errors import CourseError
from labkit.exercises import model, notebook

from . import sample


def _cells(text: str) -> dict[str, Any]:
    return {cell["id"]: cell for cell in json.loads(text)["cells"]}


def test_the_courses_notebook_is_as_the_folders_say() -> None:
    path = sample.REPOSITORY / "notebooks" / notebook.NAME
    assert path.read_text(encoding="utf-8") == notebook.text(model.load_all(sample.REPOSITORY)), (
        "make it again: labkit exercises notebook"
    )


def test_each_exercise_has_four_cells_with_nbgraders_metadata(tmp_path: Path) -> None:
    one = model.load(sample.make(tmp_path))
    cells = _cells(notebook.text([one]))
    assert list(cells) == [
        "exercises-head",
        "exercises-begin",
        "limit-prompt",
        "limit",
        "limit-check",
        "limit-hint",
    ]
    prompt, answer, check = (cells[name]["metadata"]["nbgrader"] for name in ("limit-prompt", "limit", "limit-check"))
    assert (prompt["locked"], prompt["grade"], prompt["solution"], prompt["grade_id"]) == (
        True,
        False,
        False,
        "limit-prompt",
    )
    assert (answer["locked"], answer["grade"], answer["solution"], answer["grade_id"]) == (False, False, True, "limit")
    assert (check["locked"], check["grade"], check["points"], check["grade_id"]) == (True, True, 3, "limit-check")
    assert {part["schema_version"] for part in (prompt, answer, check)} == {3}
    assert "".join(cells["limit"]["source"]) == f"%%answer limit\n{one.starter.strip()}"
    assert "".join(cells["limit-check"]["source"]) == 'lab.check("limit")'
    assert all(not cell.get("outputs") for cell in cells.values())
    assert "Too many workers are refused (2 points)" in "".join(cells["limit-prompt"]["source"])


def test_the_notebook_holds_no_answer_unless_it_is_the_instructors(tmp_path: Path) -> None:
    one = model.load(sample.make(tmp_path))
    assert one.secrets[0] not in notebook.text([one])
    source = "".join(_cells(notebook.text([one], solutions=True))["limit"]["source"])
    assert source.startswith("%%answer limit\n### BEGIN SOLUTION\n")
    assert source.endswith("\n### END SOLUTION")
    assert one.secrets[0] in source
    (one.folder / "solution.yaml").unlink()
    with pytest.raises(CourseError, match="has no solution here"):
        notebook.text([one], solutions=True)


def test_it_is_begun_but_not_played(tmp_path: Path) -> None:
    one = model.load(sample.make(tmp_path))
    (tmp_path / notebook.NAME).write_text(notebook.text([one]))
    path, begin = course.find("exercises", [tmp_path])
    assert (path.name, begin.definition) == (notebook.NAME, None)
    assert notebook.NAME in course.EXERCISES.values()
    assert "exercises" not in {played.section for played in course.load_all(sample.REPOSITORY / "notebooks")}


@pytest.fixture
def kernel(tmp_path: Path, cluster: EmbeddedCluster) -> Iterator[CourseKernel]:
    sample.make(tmp_path)
    (tmp_path / "notebooks").mkdir()
    path = tmp_path / "notebooks" / notebook.NAME
    path.write_text(notebook.text(model.load_all(tmp_path)))
    one = CourseKernel(cwd=path.parent, environ=kernel_environment(cluster))
    yield one
    one.stop()


def _text(run: CellRun) -> str:
    return "".join(
        output.get("text", "") or output.get("evalue", "") or output.get("data", {}).get("text/plain", "")
        for output in run.outputs
    )


def test_a_students_way_from_answer_to_zip(kernel: CourseKernel, tmp_path: Path) -> None:
    for cell in _cells((tmp_path / "notebooks" / notebook.NAME).read_text()).values():
        if cell["cell_type"] == "code" and cell["id"] != "limit-hint":
            last = _text(kernel.run("".join(cell["source"])))
    assert "A limit on workers: 1 of 3 points" in last
    assert "not yet: five workers and one replica — expected: refused; the server accepted it" in last
    assert "With your answer as it is, five workers" in _text(kernel.run('lab.hint("limit")'))
    assert "hint 1 of 2" in _text(kernel.run('lab.hint("limit")'))
    assert "not begun" in _text(kernel.run("lab.progress()"))
    kept = _text(kernel.run(f"%%answer limit\n{sample.solution()}"))
    assert kept == 'kept in answers/limit.yaml; next: lab.check("limit")\n'
    assert "3 of 3 points" in _text(kernel.run('lab.check("limit")'))
    assert "passed" in _text(kernel.run("lab.progress()"))
    submitted = _labkit(tmp_path, "submit", "-o", "mine.zip")
    assert (submitted.returncode, "empty" in submitted.stdout) == (0, False), submitted
    with zipfile.ZipFile(tmp_path / "mine.zip") as archive:
        assert archive.read("answers/limit.yaml").decode().strip() == sample.solution().strip()
        assert notebook.NAME in archive.namelist()
    assert "the answer is the starter again" in _text(kernel.run('lab.reset("limit")'))
    answer = tmp_path / "notebooks" / "answers" / "limit.yaml"
    assert answer.read_text() == sample.starter()
    assert "empty: limit" in _labkit(tmp_path, "submit").stdout


def test_what_a_student_mistypes_is_told_in_a_line(kernel: CourseKernel) -> None:
    kernel.run('import labkit\nlab = labkit.begin("exercises")')
    assert "no exercise 'nix'" in _text(kernel.run("%%answer nix\nx"))
    assert "usage: %%answer ID" in _text(kernel.run("%%answer\nx"))
    assert "there is no answer to limit yet" in _text(kernel.run('lab.check("limit")'))
    kernel.run("%%answer limit\nx")
    kernel.run('import os\nos.environ["NBGRADER_EXECUTION"] = "autograde"')
    credited = kernel.run('lab.check("limit")')
    assert credited.outputs[-1]["data"]["text/plain"] == "0"


def _labkit(cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from labkit.cli import main; main()", *argv]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)


def test_the_verbs_write_check_and_refuse(tmp_path: Path) -> None:
    sample.make(tmp_path)
    for place in (tmp_path, tmp_path.parent):
        refused = _labkit(place, "submit")
        assert (refused.returncode, refused.stdout) == (1, "")
    assert "no course here" in refused.stderr
    assert _labkit(tmp_path, "exercises", "notebook", "--check", "-o", "n.ipynb").returncode == 1
    assert not (tmp_path / "n.ipynb").exists()
    assert "written" in _labkit(tmp_path, "exercises", "notebook", "-o", "n.ipynb").stdout
    assert _labkit(tmp_path, "exercises", "notebook", "--check", "-o", "n.ipynb").returncode == 0
    assert _labkit(tmp_path, "exercises", "notebook", "--solutions").returncode == 2
    refused = _labkit(tmp_path, "exercises", "check", "nix")
    assert (refused.returncode, "no exercise 'nix'" in refused.stderr) == (1, True)


def test_the_linters_verb_prints_a_table_and_exits_with_one_when_something_is_wrong(tmp_path: Path) -> None:
    folder = sample.make(tmp_path, files={"right/other-way-round.yaml": None, "hidden/1-more.yaml": None})
    good = _labkit(tmp_path, "exercises", "check")
    assert (good.returncode, "all good" in good.stdout) == (0, True), good
    (folder / "stray.txt").write_text("x")
    wrong = _labkit(tmp_path, "exercises", "check", "limit")
    assert (wrong.returncode, "nobody reads stray.txt" in wrong.stdout) == (1, True), wrong
