"""The working copy: no outputs, brought up to date, and never at the cost of a student's work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labkit.course.handout import without_outputs
from labkit.errors import MachineError, NotebookError
from labkit.machine.lab_copy import make_copy


def _notebook(*sources: str) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {"labkit": {"step": f"cel/{number}"}, "execution": {"iopub": 1}},
            "source": [source],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["accepted\n"]}],
            "execution_count": number,
        }
        for number, source in enumerate(sources)
    ]
    cells.append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["Taille d’un colis"]})
    return {"cells": cells, "metadata": {"widgets": {"state": {}}}, "nbformat": 4, "nbformat_minor": 5}


def _save(path: Path, *sources: str) -> None:
    path.write_text(json.dumps(_notebook(*sources)), encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "notebooks" / ".ipynb_checkpoints").mkdir(parents=True)
    (root / "notebooks" / "figures").mkdir()
    (root / "crd" / "objects").mkdir(parents=True)
    _save(root / "notebooks" / "04-cel.ipynb", "%kubectl get colis")
    _save(root / "notebooks" / ".ipynb_checkpoints" / "04-cel-checkpoint.ipynb", "old")
    (root / "notebooks" / "figures" / "path.svg").write_text("<svg/>", encoding="utf-8")
    (root / "crd" / "01-colis-minimal.yaml").write_text("kind: A\n", encoding="utf-8")
    (root / "crd" / "objects" / "principal.yaml").write_text("kind: B\n", encoding="utf-8")
    return root


NAMES = (
    "notebooks/04-cel.ipynb",
    "notebooks/figures/path.svg",
    "crd/01-colis-minimal.yaml",
    "crd/objects/principal.yaml",
)


def test_holds_the_notebooks_their_figures_and_the_manifests_and_nothing_hidden(course: Path, tmp_path: Path) -> None:
    copy = make_copy(course, tmp_path / "lab")
    assert copy.written == NAMES
    found = {path.relative_to(copy.root).as_posix() for path in copy.root.rglob("*") if path.is_file()}
    assert found == {*NAMES, ".labkit-copy.json"}


def test_an_exercise_is_copied_without_what_answers_it(course: Path, tmp_path: Path) -> None:
    folder = course / "exercises" / "01-limit"
    folder.mkdir(parents=True)
    for name in ("prompt.md", "starter.yaml", "solution.yaml", "solution.md", "judge.py"):
        (folder / name).write_text("x\n", encoding="utf-8")
    (folder / "exercise.toml").write_text('id = "limit"\nsecrets = ["four"]\n', encoding="utf-8")
    copy = make_copy(course, tmp_path / "lab")
    assert sorted(name for name in copy.written if name.startswith("exercises/")) == [
        "exercises/01-limit/exercise.toml",
        "exercises/01-limit/prompt.md",
        "exercises/01-limit/starter.yaml",
    ]
    assert (copy.root / "exercises/01-limit/exercise.toml").read_text(encoding="utf-8") == 'id = "limit"\n'


def test_a_notebook_has_no_outputs_but_keeps_its_cells_and_their_steps(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    text = (tmp_path / "lab" / "notebooks" / "04-cel.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert "accepted" not in text
    assert "Taille d’un colis" in text
    code = notebook["cells"][0]
    assert (code["outputs"], code["execution_count"]) == ([], None)
    assert code["metadata"] == {"labkit": {"step": "cel/0"}}
    assert notebook["metadata"] == {}


def test_a_second_copy_writes_nothing(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    again = make_copy(course, tmp_path / "lab")
    assert (again.written, again.kept, again.same) == ((), (), NAMES)


def test_what_the_student_did_not_touch_follows_the_course(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    (course / "crd" / "01-colis-minimal.yaml").write_text("kind: New\n", encoding="utf-8")
    again = make_copy(course, tmp_path / "lab")
    assert again.written == ("crd/01-colis-minimal.yaml",)
    assert (tmp_path / "lab" / "crd" / "01-colis-minimal.yaml").read_text(encoding="utf-8") == "kind: New\n"


def test_running_a_notebook_does_not_count_as_changing_it(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    _save(tmp_path / "lab" / "notebooks" / "04-cel.ipynb", "%kubectl get colis")  # with outputs
    assert make_copy(course, tmp_path / "lab").written == ()
    _save(course / "notebooks" / "04-cel.ipynb", "%kubectl get colis -A")
    assert make_copy(course, tmp_path / "lab").written == ("notebooks/04-cel.ipynb",)


def test_a_students_work_is_kept_and_said_to_be(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    mine = tmp_path / "lab" / "notebooks" / "04-cel.ipynb"
    _save(mine, "my own")
    assert make_copy(course, tmp_path / "lab").kept == ()  # the course has nothing newer
    _save(course / "notebooks" / "04-cel.ipynb", "newer")
    for _ in range(2):
        copy = make_copy(course, tmp_path / "lab")
        assert copy.kept == ("notebooks/04-cel.ipynb",)
        assert "kept yours: notebooks/04-cel.ipynb" in copy.text
        assert "my own" in mine.read_text(encoding="utf-8")


def test_a_file_of_the_students_with_a_name_of_the_courses_is_kept(course: Path, tmp_path: Path) -> None:
    mine = tmp_path / "lab" / "crd" / "01-colis-minimal.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n", encoding="utf-8")
    assert make_copy(course, tmp_path / "lab").kept == ("crd/01-colis-minimal.yaml",)
    assert mine.read_text(encoding="utf-8") == "mine\n"


def test_a_file_the_student_brought_back_to_the_courses_follows_it_again(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    mine = tmp_path / "lab" / "crd" / "01-colis-minimal.yaml"
    mine.write_text("mine\n", encoding="utf-8")
    (course / "crd" / "01-colis-minimal.yaml").write_text("two\n", encoding="utf-8")
    assert make_copy(course, tmp_path / "lab").kept
    mine.write_text("two\n", encoding="utf-8")
    make_copy(course, tmp_path / "lab")
    (course / "crd" / "01-colis-minimal.yaml").write_text("three\n", encoding="utf-8")
    assert make_copy(course, tmp_path / "lab").written == ("crd/01-colis-minimal.yaml",)


def test_a_deleted_file_comes_back(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    (tmp_path / "lab" / "crd" / "01-colis-minimal.yaml").unlink()
    assert make_copy(course, tmp_path / "lab").written == ("crd/01-colis-minimal.yaml",)


def test_a_lost_record_costs_nobody_anything(course: Path, tmp_path: Path) -> None:
    make_copy(course, tmp_path / "lab")
    (tmp_path / "lab" / ".labkit-copy.json").write_text("{", encoding="utf-8")
    (tmp_path / "lab" / "crd" / "01-colis-minimal.yaml").write_text("mine\n", encoding="utf-8")
    again = make_copy(course, tmp_path / "lab")
    assert again.kept == ("crd/01-colis-minimal.yaml",)
    assert again.written == ()


def test_a_target_that_is_a_file_or_the_course_itself_is_refused(course: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for target in (tmp_path / "file", course, course / "notebooks"):
        with pytest.raises(MachineError):
            make_copy(course, target)


def test_a_target_that_cannot_be_written_is_named(course: Path, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "crd").write_text("a file where the folder must be", encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        make_copy(course, tmp_path / "lab")
    assert str(tmp_path / "lab" / "crd") in caught.value.evidence


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"cells": {}}', b'{"cells": [], "nbformat": 3}'])
def test_what_is_no_notebook_is_named(content: bytes) -> None:
    with pytest.raises(NotebookError, match=r"^notebooks/x\.ipynb is not a notebook"):
        without_outputs("notebooks/x.ipynb", content)
