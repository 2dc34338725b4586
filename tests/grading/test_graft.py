"""What is run is the instructor's notebook; of a student's there is one source in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import find_comment_markers, find_metadata_tags

from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises.model import load_all
from labkit.grading import graft as graft_module
from labkit.grading.errors import GradingError
from labkit.grading.graft import graft, sources
from labkit.grading.values import Answer
from tests.exercises import sample

SOURCE: dict[str, Any] = {
    "cells": [
        {"cell_type": "code", "id": "exercises-begin", "metadata": {"tags": ["nbval-ignore-output"]}, "source": "1"},
        {
            "cell_type": "code",
            "id": "limit",
            "metadata": {"nbgrader": {"grade_id": "limit"}, "tags": ["nbval-ignore-output"]},
            "source": "%%answer limit\nthe solution",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "kept"}],
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def answer_cell(cell: str | None, text: str | None = None) -> dict[str, Any]:
    grafted = graft(SOURCE, Answer("limit", text, cell))
    assert grafted["cells"][0] == SOURCE["cells"][0]
    found: dict[str, Any] = grafted["cells"][1]
    assert {**found, "source": ""} == {**SOURCE["cells"][1], "source": ""}, "only the source is the student's"
    return found


def test_the_cell_as_it_was_handed_in_takes_the_place_of_the_solution() -> None:
    assert answer_cell("%%answer limit\nmine\n", "other")["source"] == "%%answer limit\nmine\n"
    assert SOURCE["cells"][1]["source"] == "%%answer limit\nthe solution", "the source stays as it is"


def test_an_answers_file_alone_becomes_such_a_cell() -> None:
    assert answer_cell(None, "mine\n")["source"] == "%%answer limit\nmine\n"


@pytest.mark.parametrize(
    "order",
    [
        "# NBVAL_SKIP",
        "#NBVAL_SKIP",
        "   ##  NBVAL_RAISES_EXCEPTION ",
        "# NBVAL_CHECK_OUTPUT\r\n",
        "# NBVAL_IGNORE_OUTPUT",
    ]
    + [f"x = 1{end}# NBVAL_SKIP{end}y = 2" for end in ("\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")]
    + ["# PYTEST_VALIDATE_IGNORE_OUTPUT"],
)
def test_no_line_is_an_order_to_nbval(order: str) -> None:
    cell = answer_cell(f"%%answer limit\na: 1\n{order}\nb: 2 # NBVAL_SKIP")
    with warnings.catch_warnings(action="error"):
        assert dict(find_comment_markers(cell["source"])) == {}
        assert dict(find_metadata_tags(cell["metadata"])) == {"check": False}
    assert cell["source"].startswith("%%answer limit\na: 1\n")
    assert cell["source"].endswith("b: 2 # NBVAL_SKIP")


def test_a_text_that_cannot_be_sent_is_mended() -> None:
    assert answer_cell("%%answer limit\n\ud800")["source"] == "%%answer limit\n?"


def test_sources_are_run_once_for_all_that_they_depend_on(tmp_path: Path, home: Path, cluster: EmbeddedCluster) -> None:
    root = tmp_path / "course"
    folder = sample.make(root)
    opened = []

    @contextmanager
    def opener() -> Iterator[EmbeddedCluster]:
        opened.append(1)
        yield cluster

    first = sources(load_all(root), root, opener)
    (begin, prompt, answer, check) = first["limit"]["cells"]
    assert [cell["id"] for cell in (begin, prompt, answer, check)] == [
        "exercises-begin",
        "limit-prompt",
        "limit",
        "limit-check",
    ]
    assert answer["source"] == f"%%answer limit\n{sample.solution()}"
    assert check["metadata"]["tags"] == ["nbval-check-output"]
    assert check["execution_count"] == 3
    assert "3 of 3" in str(check["outputs"]), "the check is what the solution brings"
    assert sources(load_all(root), root, opener) == first
    assert len(opened) == 1
    (folder / "hidden" / "1-more.yaml").write_text(sample.HIDDEN.replace("17", "18"))
    sources(load_all(root), root, opener)
    assert len(opened) == 1, "what students never see does not count"
    (folder / "solution.yaml").write_text(sample.starter())
    again = sources(load_all(root), root, opener)
    assert len(opened) == 2
    assert again["limit"]["cells"][3]["outputs"] != check["outputs"]
    assert len(list((home / "grading-sources").iterdir())) == 1, "what is out of date is not kept"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where solutions would be run: nothing is."""
    found: list[Path] = []

    def executed(plain: dict[str, Any], _cluster: object, folder: Path) -> dict[str, Any]:
        found.append(folder)
        texts = {path.name: path.read_text(encoding="utf-8") for path in folder.parent.rglob("*.toml")}
        return {**plain, "metadata": {"run": len(found), "texts": texts}}

    monkeypatch.setattr(graft_module, "_executed", executed)
    return found


def test_what_another_process_takes_away_or_left_broken_is_run_anew(
    tmp_path: Path, home: Path, runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.make(tmp_path)
    every = load_all(tmp_path)
    sources(every, tmp_path, nullcontext)  # type: ignore[arg-type]
    (kept,) = (home / "grading-sources").iterdir()
    kept.write_text("{")
    assert sources(every, tmp_path, nullcontext)["limit"]["metadata"]["run"] == 2  # type: ignore[arg-type]
    kept.unlink()
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    assert sources(every, tmp_path, nullcontext)["limit"]["metadata"]["run"] == 3  # type: ignore[arg-type]
    assert len(runs) == 3


def test_a_french_class_is_run_in_the_french_edition(tmp_path: Path, home: Path, runs: list[Path]) -> None:
    sample.make(tmp_path)
    catalogue = tmp_path / "locale" / "fr" / "LC_MESSAGES" / "exercises-01-limit.po"
    every = load_all(tmp_path)

    def told() -> str:
        found = sources(every, tmp_path, nullcontext, lang="fr")  # type: ignore[arg-type]
        return str(found["limit"]["metadata"]["texts"]["exercise.toml"])

    catalogue.parent.mkdir(parents=True)
    for said in ("Une limite", "Un plafond"):
        catalogue.write_text(
            f'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgctxt "title"\n'
            f'msgid "A limit on workers"\nmsgstr "{said}"\n',
            encoding="utf-8",
        )
        assert said in told()
    assert len(runs) == 2
    assert len(list((home / "grading-sources").iterdir())) == 1


def test_an_exercise_without_a_solution_cannot_be_graded(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    (sample.make(tmp_path) / "solution.yaml").unlink()
    with pytest.raises(GradingError, match="exercise limit has no solution here"):
        sources(load_all(tmp_path), tmp_path, lambda: nullcontext(cluster))
