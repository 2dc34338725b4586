"""Reading notebooks as steps, and refusing what would be ignored or ambiguous."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit.course import notebook
from labkit.course.notebook import Begin, BeginObject
from labkit.errors import NotebookError

from .building import REPOSITORY, Cell, code, opening, printed, prose, write


def steps(*cells: Cell) -> list[Cell]:
    return [*opening("cel"), *cells]


def test_a_code_cell_is_a_step_with_the_title_of_the_nearest_heading_above(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "cel",
        steps(
            prose("## Rules\n\nand then\n\n```sh\n# no heading\n```\n### Transition rules ###\n\ntext"),
            code("%kubectl get x", step="cel/get", expect="refused", surprise=True, needs=["etcd", "v1/pods"]),
            prose("no heading here"),
            code("%kubectl get y", step="cel/get-y", outputs=[printed("a\n"), printed("b\n")]),
        ),
    )
    course = notebook.load(path)
    assert [(step.id, step.title, step.index) for step in course.steps] == [
        ("cel/begin", "About cel", 1),
        ("cel/get", "Transition rules", 3),
        ("cel/get-y", "Transition rules", 5),
    ]
    assert course.steps[1].needs == ("etcd", "v1/pods")
    assert course.steps[1].surprise and course.steps[1].expect == "refused"
    assert course.steps[2].expect == "shown" and not course.steps[2].surprise
    assert [output["text"] for output in course.steps[2].outputs] == ["a\n", "b\n"]


def test_a_source_kept_as_lines_is_the_same_as_one_kept_as_text(tmp_path: Path) -> None:
    lines = code("", step="cel/x")
    lines["source"] = ["a\n", "b"]
    assert notebook.load(write(tmp_path, "cel", steps(lines))).steps[1].source == "a\nb"


def test_the_beginning_has_one_patch_or_several(tmp_path: Path) -> None:
    begin = {
        "definition": "crd/02-colis-schema.yaml",
        "namespace": True,
        "objects": [
            {"file": "a.yaml", "merge": {"spec": {"a": 1}}, "status": {"b": 2}, "version": "v1"},
            {"file": "b.yaml", "merge": [{"x": 1}, {"x": 2}]},
            {"file": "c.yaml"},
        ],
        "also": ["crd/07-roles.yaml"],
    }
    assert notebook.load(write(tmp_path, "cel", steps(), begin=begin)).begin == Begin(
        "crd/02-colis-schema.yaml",
        True,
        (
            BeginObject("a.yaml", "v1", ({"spec": {"a": 1}},), {"b": 2}),
            BeginObject("b.yaml", None, ({"x": 1}, {"x": 2})),
            BeginObject("c.yaml"),
        ),
        ("crd/07-roles.yaml",),
    )


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        (code("x", step="cel/x", need=["etcd"]), "key 'need' is not known"),
        (code("x", step="cel/x", surprise="yes"), "surprise: of the wrong type"),
        (code("x", step="display/x"), "'display/x' does not fit"),
        (code("x", step="cel/X_y"), "'cel/X_y' does not fit"),
        (code("x"), "no step id"),
        (code("x", step="cel/begin"), "'cel/begin' is taken"),
        (code("x", step="cel/x", needs=["etdc"]), "need 'etdc' is not known"),
        (code("x", step="cel/x", expect="ok"), "expect 'ok' is not known"),
        (prose("x", step="cel/x"), "belongs to code cells"),
    ],
)
def test_a_cell_that_does_not_fit_is_named_with_its_file(tmp_path: Path, cell: Cell, complaint: str) -> None:
    path = write(tmp_path, "cel", steps(cell))
    with pytest.raises(NotebookError) as refused:
        notebook.load(path)
    assert complaint in refused.value.state
    assert f"{path}: cell 3" in refused.value.state


@pytest.mark.parametrize(
    ("labkit", "complaint"),
    [
        ({"section": "cel"}, "no begin"),
        ({"section": "sel", "begin": {}}, "no section 'sel'"),
        ({"begin": {}}, "no section None"),
        ({"section": "cel", "begin": {}, "tests": 1}, "key 'tests' is not known"),
        ({"section": "cel", "begin": {"definitions": "x"}}, "begin: key 'definitions' is not known"),
        ({"section": "cel", "begin": {"definition": 3}}, "begin.definition: of the wrong type"),
        ({"section": "cel", "begin": {"definition": "d", "objects": [{}]}}, "begin.objects[0]: no file"),
        ({"section": "cel", "begin": {"definition": "d", "objects": ["f"]}}, "objects[0]: "),
        ({"section": "cel", "begin": {"definition": "d", "objects": [{"file": "f", "patch": {}}]}}, "key 'patch'"),
        ({"section": "cel", "begin": {"definition": "d", "objects": [{"file": "f", "merge": [1]}]}}, "merge patch"),
        ({"section": "cel", "begin": {"objects": [{"file": "f"}]}}, "objects need a definition"),
        ({"section": "cel", "begin": {"also": [1]}}, "a list of paths"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(tmp_path: Path, labkit: Any, complaint: str) -> None:
    with pytest.raises(NotebookError) as refused:
        notebook.load(write(tmp_path, "cel", steps(), labkit=labkit))
    assert complaint in refused.value.state


def test_the_first_code_cell_must_begin_its_own_section(tmp_path: Path) -> None:
    path = write(tmp_path, "cel", [prose("# T"), code('labkit.begin("display")', step="cel/x")])
    with pytest.raises(NotebookError, match="must begin the section"):
        notebook.load(path)


def test_a_step_without_a_heading_above_has_no_title(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match="has no title"):
        notebook.load(write(tmp_path, "cel", opening("cel")[1:]))


@pytest.mark.parametrize("content", ["", "[]", '{"cells": 3}', "\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_a_file_that_is_no_notebook_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "04-cel.ipynb"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(NotebookError, match="not a notebook"):
        notebook.load(path)


def test_a_notebook_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match="cannot be read"):
        notebook.load(tmp_path / "04-cel.ipynb")


def test_the_course_is_loaded_in_file_order_and_selected_by_section(tmp_path: Path) -> None:
    for section in ("display", "cel", "path"):
        write(tmp_path, section, opening(section))
    write(tmp_path, "schema", opening("schema"), file="scratch.ipynb")
    course = notebook.load_all(tmp_path / "notebooks")
    assert [one.section for one in course] == ["path", "cel", "display"]
    assert [one.section for one in notebook.select(course, ["display", "path"])] == ["path", "display"]
    assert notebook.select(course, []) == course
    with pytest.raises(NotebookError, match="no section rbac"):
        notebook.select(course, ["cel", "rbac"])


def test_two_notebooks_cannot_be_one_section(tmp_path: Path) -> None:
    write(tmp_path, "cel", opening("cel"))
    write(tmp_path, "cel", opening("cel"), file="05-again.ipynb")
    with pytest.raises(NotebookError, match=r"section 'cel' is taken: by 04-cel\.ipynb"):
        notebook.load_all(tmp_path / "notebooks")


def test_an_empty_folder_has_no_course(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match="no notebook of the course"):
        notebook.load_all(tmp_path)


def test_a_section_is_found_under_its_name_or_another_and_beside_a_broken_notebook(tmp_path: Path) -> None:
    write(tmp_path, "cel", opening("cel"), begin={"namespace": False}, file="04-renamed.ipynb")
    (tmp_path / "notebooks" / "02-schema.ipynb").write_text("half a note", encoding="utf-8")
    path, begin = notebook.find("cel", [tmp_path, tmp_path / "notebooks"])
    assert path.name == "04-renamed.ipynb"
    assert begin == Begin(namespace=False)


def test_a_section_that_is_nowhere_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NotebookError) as refused:
        notebook.find("cel", [tmp_path])
    assert str(tmp_path) in refused.value.evidence
    with pytest.raises(NotebookError, match="no section 'sel'"):
        notebook.find("sel", [tmp_path])


def test_the_root_is_the_nearest_folder_that_holds_crd(tmp_path: Path) -> None:
    write(tmp_path, "cel", opening("cel"))
    assert notebook.find_root(tmp_path / "notebooks") == tmp_path
    with pytest.raises(NotebookError, match="no course here"):
        notebook.find_root(Path("/"))


def test_the_courses_own_notebooks_are_the_sections_that_are_listed() -> None:
    course = notebook.load_all(REPOSITORY / "notebooks")
    assert {one.section: one.path.name for one in course} == notebook.SECTIONS
