"""The chapter's command lines against the notebooks: each has its step, and the step says what the chapter says.

``chapter.yaml`` is the table (its head explains the columns). What is compared is the *recorded* output, which nbval
and the player in turn compare with what a server answers; so the chain from the chapter to the server has no gap.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.course import notebook, outputs
from labkit.course.notebook import Step

ROOT = Path(__file__).parents[2]
TABLE: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("chapter.yaml").read_text(encoding="utf-8")
)
COMMANDS = TABLE["commands"]
SURPRISES = TABLE["surprises"]
PRINTED_LINES = 76
"""Command lines that the chapter prints, those of its exercises included (exercise-lines.yaml). More are implied."""

REFUSAL = re.compile(r"^(error:|Error from server|The \S+ .*is invalid: ?|The request is invalid: )", re.MULTILINE)
WHY = re.compile(r"\b(because|why|reasons?|makes\s+sense)\b|,\s+since\b", re.IGNORECASE)
"""A "since" counts behind a comma only: "stable since 1.33" tells when."""


@cache
def notebooks() -> dict[str, tuple[Path, tuple[Step, ...]]]:
    """File name → path and steps, in file order."""
    return {one.path.name: (one.path, one.steps) for one in notebook.load_all(ROOT / "notebooks")}


@cache
def steps() -> dict[str, Step]:
    return {step.id: step for _, found in notebooks().values() for step in found}


def said(step: Step) -> str:
    return outputs.text(step.outputs)


def command_id(command: dict[str, Any]) -> str:
    return str(command["step"])


@pytest.mark.parametrize("command", COMMANDS, ids=command_id)
def test_every_line_of_the_chapter_has_a_step_with_its_verdict(command: dict[str, Any]) -> None:
    step = steps().get(command["step"])
    assert step is not None, f"no step {command['step']} for: {command['line']}"
    assert step.expect == command["verdict"]


@pytest.mark.parametrize("command", COMMANDS, ids=command_id)
def test_a_step_says_what_the_chapter_says(command: dict[str, Any]) -> None:
    step = steps()[command["step"]]
    told = said(step)
    if "exactly" in command:
        assert told == command["exactly"]
        return
    assert command["says"], "an answer is expected by its text, never by the fact"
    missing = [text for text in command["says"] if text not in told]
    assert not missing, f"not in the recorded output:\n{told}"


@pytest.mark.parametrize("command", COMMANDS, ids=command_id)
def test_a_refusal_is_told_by_its_text_and_nothing_else_is_refused(command: dict[str, Any]) -> None:
    refused = REFUSAL.search(said(steps()[command["step"]]))
    if command["verdict"] == "refused":
        assert refused, "the recorded output is no refusal"
    else:
        assert not refused, f"the recorded output is a refusal: {refused[0] if refused else ''}"


def test_the_table_has_all_lines_of_the_chapter() -> None:
    scenes = yaml.safe_load(Path(__file__).with_name("exercise-lines.yaml").read_text(encoding="utf-8"))["scenes"]
    of_exercises = [line for scene in scenes for line in scene["lines"] if "line" in line]
    printed = [line for line in [*COMMANDS, *of_exercises] if not line.get("implied")]
    assert len(printed) == PRINTED_LINES


def test_no_step_id_is_there_twice() -> None:
    ids = [step.id for _, found in notebooks().values() for step in found]
    assert len(ids) == len(set(ids))
    table = [command["step"] for command in COMMANDS]
    assert len(table) == len(set(table)), "two lines of the chapter share a step"


def test_the_notebooks_play_the_lines_in_the_chapters_order() -> None:
    places = {step_id: place for place, step_id in enumerate(steps())}
    table = [command["step"] for command in COMMANDS if command["step"] in places and "moved" not in command]
    assert table == sorted(table, key=places.__getitem__)


def test_no_notebook_plays_a_line_of_the_exercises() -> None:
    sources = "\n".join(step.source for step in steps().values())
    for answer in ("essai-", "operateur", "versions-crd", "versions_crd"):
        assert answer not in sources


def test_every_manifest_of_the_course_is_used_by_a_step_or_a_beginning() -> None:
    used = ""
    for path, _ in notebooks().values():
        used += path.read_text(encoding="utf-8")
    manifests = [path.relative_to(ROOT).as_posix() for path in (ROOT / "crd").rglob("*.yaml")]
    unused = [manifest for manifest in sorted(manifests) if Path(manifest).name not in used]
    assert not unused


# -- surprises: a question before, a why after -----------------------------------------------------------------------


def surprising_steps() -> list[str]:
    marked = [step.id for step in steps().values() if step.surprise]
    return sorted({*marked, *(surprise["step"] for surprise in SURPRISES)})


def test_the_chapter_has_eighteen_surprises() -> None:
    assert len(SURPRISES) == 18
    assert len({surprise["step"] for surprise in SURPRISES}) == 18


@pytest.mark.parametrize("surprise", SURPRISES, ids=lambda surprise: str(surprise["step"]))
def test_a_surprise_of_the_chapter_is_marked_on_its_step(surprise: dict[str, str]) -> None:
    assert surprise["step"] in steps(), f"no step for: {surprise['what']}"
    assert steps()[surprise["step"]].surprise


@pytest.mark.parametrize("step_id", surprising_steps())
def test_a_surprise_has_a_question_before_and_a_why_after(step_id: str) -> None:
    before, after = around(step_id)
    assert re.search(r"\?\*{0,2}(\s|$|\))", before), f"no question before {step_id}:\n{before}"
    assert WHY.search(after), f"no why after {step_id}:\n{after}"


def around(step_id: str) -> tuple[str, str]:
    """The Markdown straight before a step, and the next Markdown after it (other cells may stand between)."""
    for path, found in notebooks().values():
        step = next((one for one in found if one.id == step_id), None)
        if step is None:
            continue
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        before, after = step.index - 1, step.index + 1
        while cells[before]["cell_type"] != "markdown" and not cells[before]["metadata"]["labkit"].get("surprise"):
            before -= 1
        while cells[after]["cell_type"] != "markdown":
            after += 1
        return text_of(cells[before]), text_of(cells[after])
    raise AssertionError(f"no step {step_id}")


def text_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
