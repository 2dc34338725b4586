"""Recording: one normal form, old bytes where nothing is new, and never half a notebook."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import notebook
from labkit.course.player import play
from labkit.course.record import WIDGET, normalised, record
from labkit.errors import CourseError

from .building import REPOSITORY, code, opening, printed, prose, write

SCHEMA = {"definition": "crd/02-colis-schema.yaml", "objects": [{"file": "crd/objects/principal.yaml"}]}

pytestmark = pytest.mark.usefixtures("no_kernel_folder_left")


def outputs(path: Path, cell: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"][cell]["outputs"]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        "cel",
        [
            *opening("cel"),
            code("%kubectl -n ch54 get colis", step="cel/get", needs=["v1"]),
            code("import sys\nprint('a')\nprint('e', file=sys.stderr)\nprint('b')", step="cel/streams"),
            code("from IPython.display import HTML\nHTML('<b>x</b>')", step="cel/html", tags=["wide"]),
            prose("The *end*."),
        ],
        begin=SCHEMA,
    )


def test_what_is_recorded_plays_as_recorded_and_is_recorded_once(path: Path, cluster: EmbeddedCluster) -> None:
    path.chmod(0o640)
    heard: list[str] = []
    assert record(path, cluster, progress=heard.append)
    assert heard == ["cel/begin", "cel/get", "cel/streams", "cel/html"]
    recorded = path.read_bytes()
    assert b"principal   " in recorded and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not record(path, cluster)
    assert path.read_bytes() == recorded
    assert play(cluster, [notebook.load(path)]).good()
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_the_normal_form_is_a_valid_notebook_with_nothing_of_the_run_in_it(
    path: Path, cluster: EmbeddedCluster
) -> None:
    record(path, cluster)
    content = path.read_text(encoding="utf-8")
    nbformat.validate(nbformat.reads(content, as_version=4))
    data = json.loads(content)
    assert content == json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    cells = data["cells"]
    ids = [cell["id"] for cell in cells]
    assert ids == ["cell-01", "cel-begin", "cel-get", "cel-streams", "cel-html", "cell-06"]
    assert [cell.get("execution_count") for cell in cells] == [None, 1, 2, 3, 4, None]
    assert cells[4]["metadata"] == {"labkit": {"step": "cel/html"}, "tags": ["wide"]}
    assert cells[4]["outputs"][0]["execution_count"] == 4
    assert sorted(one["name"] for one in outputs(path, 3)) == ["stderr", "stdout"]
    assert {one["name"]: one["text"] for one in outputs(path, 3)}["stdout"] == ["a\n", "b\n"]
    assert set(data["metadata"]) == {"kernelspec", "labkit", "language_info"}
    assert data["metadata"]["labkit"]["begin"] == SCHEMA


def test_an_output_that_says_something_new_replaces_the_old(path: Path, cluster: EmbeddedCluster) -> None:
    record(path, cluster)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["cells"][2]["outputs"][0]["text"] = ["NAME        AGE\n", "secondaire   77m\n"]
    data["cells"][3]["metadata"]["execution"] = {"iopub.status.busy": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps(data), encoding="utf-8")
    assert record(path, cluster)
    assert "principal" in outputs(path, 2)[0]["text"][1]
    assert "iopub.status.busy" not in path.read_text(encoding="utf-8")


def test_an_output_that_only_looks_new_keeps_its_bytes(path: Path, cluster: EmbeddedCluster) -> None:
    record(path, cluster)
    content = path.read_text(encoding="utf-8")
    line = next(line for line in content.splitlines() if "principal   " in line)
    path.write_text(content.replace(line, '      "principal   77m\\n"'), encoding="utf-8")
    assert not record(path, cluster)
    assert "principal   77m" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("source", ["1 / 0", "import os; os._exit(1)"])
def test_a_notebook_that_fails_is_left_as_it_was(tmp_path: Path, cluster: EmbeddedCluster, source: str) -> None:
    path = write(tmp_path, "cel", [*opening("cel"), code(source, step="cel/fails")])
    before = path.read_bytes()
    with pytest.raises(CourseError) as failed:
        record(path, cluster)
    assert "cel/fails" in str(failed.value)
    assert path.read_bytes() == before


def test_an_exception_that_is_the_lesson_is_recorded(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    path = write(tmp_path, "cel", [*opening("cel"), code("1 / 0", step="cel/fails", tags=["raises-exception"])])
    assert record(path, cluster)
    assert outputs(path, 2)[0]["ename"] == "ZeroDivisionError"
    assert not record(path, cluster)


def test_a_picture_is_kept_while_the_rest_says_the_same() -> None:
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "AAAA", "text/plain": "<Figure>"}}
    data = {"cells": [code("x", step="cel/x", outputs=[picture])], "metadata": {"labkit": {}}}
    kept = json.loads(normalised(data, {0: "cel/x"}))["cells"][0]["outputs"]
    assert kept == [{**picture, "data": {"image/png": ["AAAA"], "text/plain": ["<Figure>"]}}]


def test_a_widget_is_recorded_by_its_text_and_html(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    mimes = {"text/plain": "x", "text/html": "<b>x</b>", WIDGET: {"model_id": "gone", "version_major": 2}}
    source = f"from IPython.display import display\ndisplay({mimes!r}, raw=True)"
    path = write(tmp_path, "cel", [*opening("cel"), code(source, step="cel/widget")])
    assert record(path, cluster)
    assert outputs(path, 2)[0]["data"] == {"text/plain": ["x"], "text/html": ["<b>x</b>"]}
    assert not record(path, cluster)


def test_the_courses_own_notebooks_are_in_the_normal_form() -> None:
    for course in notebook.load_all(REPOSITORY / "notebooks"):
        content = course.path.read_text(encoding="utf-8")
        steps = {step.index: step.id for step in course.steps}
        assert content == normalised(json.loads(content), steps), f"labkit record {course.path.name}"


def test_streams_are_merged_in_the_normal_form() -> None:
    cell = code("x", step="cel/x", outputs=[printed("a\n"), printed("b\n")])
    data = {"cells": [cell], "metadata": {"labkit": {}}}
    assert json.loads(normalised(data, {0: "cel/x"}))["cells"][0]["outputs"][0]["text"] == ["a\n", "b\n"]
