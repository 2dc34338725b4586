"""What becomes of a notebook's cells and of an exercise on a page, without Sphinx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit.exercises import model
from labkit.languages import speaking
from labkit.site import boxes, cells
from labkit.site.tryit import InForce, Manifests, mentioned

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def manifests() -> Manifests:
    return Manifests(ROOT)


def code(name: str, source: str, output: str, **told: Any) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": [output]}]
    labkit = {"step": f"cel/{name}", **told}
    return {"cell_type": "code", "id": f"cel-{name}", "metadata": {"labkit": labkit}, "source": source,
            "execution_count": 1, "outputs": outputs}  # fmt: skip


def words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "words", "metadata": {}, "source": text}


def shown(manifests: Manifests, *given: dict[str, Any]) -> list[dict[str, Any]]:
    notebook = {"cells": list(given), "metadata": {"labkit": {"section": "cel", "begin": {}}}}
    with speaking("en"):
        return list(cells.page(notebook, "en", manifests, lambda *_: None)["cells"])


def test_the_answers_after_a_question_are_folded_until_words_follow(manifests: Manifests) -> None:
    made = shown(manifests, code("a", "%kubectl a", "no", surprise=True), code("b", "%kubectl b", "so"), words("Why."),
                 code("c", "%kubectl c", "yes"))  # fmt: skip
    sources = [cell["source"] for cell in made]
    opened = [at for at, source in enumerate(sources) if source.startswith("<details")]
    closed = [at for at, source in enumerate(sources) if source == "</details>"]
    assert len(opened) == len(closed) == 2
    assert max(closed) < sources.index("Why.") < sources.index("%kubectl c")
    inside = [cell for at, cell in enumerate(made) if any(a < at < b for a, b in zip(opened, closed, strict=True))]
    assert ["".join(cell["outputs"][0]["text"]) for cell in inside] == ["no", "so"]


def test_a_commands_anchor_is_its_cell_and_stands_once(manifests: Manifests) -> None:
    made = shown(manifests, code("a", "%kubectl a", "no"))
    anchors = [cell["metadata"].get("labkit", {}).get("anchor") for cell in made]
    assert [one for one in anchors if one] == ["cel-a"]


def test_headings_in_code_are_none_and_equal_ones_are_told_apart() -> None:
    assert list(cells.headings("# One\n\n```yaml\n# no\n```\n\n## ① Two: *x*\n\n## One")) == ["one", "two-x", "one-2"]


def test_a_definition_is_in_force_once_it_is_applied_and_accepted(manifests: Manifests) -> None:
    in_force = InForce(manifests, "crd/01-colis-minimal.yaml")
    for source, expect in (
        ("%kubectl apply -f crd/03-a-default-vide.yaml", "refused"),
        ("%kubectl apply --dry-run=server -f crd/04-colis-complet.yaml", "accepted"),
        ("%kubectl apply -f crd/objects/mini.yaml", "accepted"),
    ):
        in_force.after(source, expect)
    assert in_force.manifest is not None and in_force.manifest.name == "01-colis-minimal.yaml"
    in_force.after("%kubectl apply -f crd/02-colis-schema.yaml", "accepted")
    assert in_force.text == manifests.by_name["02-colis-schema.yaml"].text


def test_what_the_playground_cannot_judge_has_no_try_it(manifests: Manifests) -> None:
    definition = manifests.by_name["02-colis-schema.yaml"].text
    assert manifests.address(manifests.by_name["objects/mini.yaml"], definition)
    assert manifests.address(manifests.by_name["07-roles.yaml"], definition) is None
    assert [one.name for one in mentioned('Path("crd/objects/mini.yaml") no.yaml', manifests)] == ["objects/mini.yaml"]


@pytest.mark.parametrize("one", model.load_all(ROOT), ids=lambda one: one.id)
def test_a_box_tells_tasks_and_points_and_its_answer_to_instructors_alone(
    one: model.Exercise, manifests: Manifests
) -> None:
    with speaking("en"):
        student = boxes.box(one, "en", manifests, None, instructor=False)
        instructor = boxes.box(one, "en", manifests, None, instructor=True)
    assert all(f"| {task.title} | {task.points} |" in student for task in one.tasks)
    assert one.solution is not None
    assert one.solution.strip() not in student
    assert one.solution.strip() in instructor
