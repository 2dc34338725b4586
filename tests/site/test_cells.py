"""What becomes of a notebook's cells and of an exercise on a page, without Sphinx."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.course.notebook import SECTIONS
from labkit.exercises import model
from labkit.exercises.editions import files_in
from labkit.languages import speaking
from labkit.site import boxes, cells
from labkit.site.tryit import Changes, InForce, Manifests, mentioned

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


def test_the_answers_after_a_question_are_folded_with_the_words_that_explain_them(manifests: Manifests) -> None:
    made = shown(manifests, code("a", "%kubectl a", "no", surprise=True), code("b", "%kubectl b", "so"),
                 words("None, because it is so.\n\nLook again:"), code("c", "%kubectl c", "yes"))  # fmt: skip
    sources = [cell["source"] for cell in made]
    opened = [at for at, source in enumerate(sources) if source.startswith("<details")]
    closed = [at for at, source in enumerate(sources) if source == "</details>"]
    assert len(opened) == len(closed) == 2
    inside = [cell for at, cell in enumerate(made) if any(a < at < b for a, b in zip(opened, closed, strict=True))]
    assert ["".join(cell["outputs"][0]["text"]) for cell in inside if cell["cell_type"] == "code"] == ["no", "so"]
    assert [cell["source"] for cell in inside if cell["cell_type"] == "markdown"] == ["None, because it is so."]
    assert closed[-1] < sources.index("Look again:") < sources.index("%kubectl c")
    assert [sources[at].rpartition("<summary>")[2] for at in opened] == [
        "What the server answers</summary>",
        "What the server answers, and why</summary>",
    ]


@pytest.mark.parametrize(
    ("text", "leads", "told", "rest"),
    [
        ("No.\n\nAs said.", True, "No.\n\nAs said.", ""),
        ("No.\n\n## Next\n\nMore.", True, "No.", "## Next\n\nMore."),
        ("No.\n\nNow that. **Is it so?**\n\nSay it.", True, "No.", "Now that. **Is it so?**\n\nSay it."),
        ("**Is it so?** Look:", True, "", "**Is it so?** Look:"),
        ("No. It is 1.5 times that. We put it back:", True, "No. It is 1.5 times that.", "We put it back:"),
        ("In short:", True, "", "In short:"),
        (
            "No:\n\n```yaml\n# a\n\nb: **c?**\n```\n\nSo it is:",
            True,
            "No:\n\n```yaml\n# a\n\nb: **c?**\n```",
            "So it is:",
        ),
        ("No:", False, "No:", ""),
    ],
)
def test_words_that_lead_on_or_ask_are_not_folded(text: str, leads: bool, told: str, rest: str) -> None:
    assert cells.explained(text, leads=leads) == (told, rest)


def test_every_surprise_of_the_chapter_has_its_words_folded_in_both_languages() -> None:
    french = dict(files_in("fr", ROOT))
    seen = 0
    for name in SECTIONS.values():
        texts = (ROOT / "notebooks" / name).read_text("utf-8"), french[f"notebooks/{name}"].decode()
        both = list(zip(*(json.loads(text)["cells"] for text in texts), strict=True))
        for (cell, _), after in pairwise(both):
            if cell["metadata"].get("labkit", {}).get("surprise") and after[0]["cell_type"] == "markdown":
                told = [tuple(map(bool, cells.explained("".join(one["source"]), leads=True))) for one in after]
                assert told[0] == told[1], "".join(after[1]["source"])
                assert told[0][0], "".join(after[0]["source"])
                seen += 1
    assert seen > 20


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


# -- manifests that a cell changes -------------------------------------------------------------------------------------


def opened_by(cell: dict[str, Any]) -> dict[str, str]:
    """The texts that the first link of a line of manifests brings to the playground."""
    packed = re.findall(r"#try=([\w-]+)", cell["source"])[0]
    texts = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS)
    return dict(json.loads(texts))


def test_a_manifest_that_a_cell_changes_is_tried_as_changed_and_the_link_says_so(manifests: Manifests) -> None:
    plain = code("a", "%kubectl apply -f crd/objects/mini.yaml", "x created", expect="accepted")
    load = code("b", 'seven = lab.load("crd/objects/mini.yaml")\nseven["metadata"] |= {"name": "sept"}', "")
    more = code(
        "c", '# crd/objects/mini.yaml\nseven["spec"]["worker"] = {"min": 7}\nlab.kubectl("apply", stdin=seven)', "no"
    )
    lines = [cell for cell in shown(manifests, plain, load, more) if "labkit-manifests" in cell["source"]]
    assert ["as changed here" in cell["source"] for cell in lines] == [False, True, False]
    told = [yaml.safe_load(opened_by(cell)["object"])["metadata"]["name"] for cell in lines]
    assert told == ["mini", "sept", "mini"]


def test_a_definition_that_a_cell_changes_and_sends_is_in_force_afterwards(manifests: Manifests) -> None:
    send = ('new = lab.load("crd/06-colis-v1-seul.yaml")\nnew["spec"]["names"]["shortNames"] = ["cls"]\n'
            'lab.kubectl("apply", "-f", "-", stdin=new)')  # fmt: skip
    look, back = "%kubectl apply -f crd/objects/principal.yaml", "%kubectl apply -f crd/06-colis-v1-seul.yaml"
    made = shown(manifests, code("a", send, "done", expect="accepted"), code("b", look, "", expect="refused"),
                 code("c", back, "", expect="accepted"), code("d", look, "", expect="refused"))  # fmt: skip
    lines = [cell for cell in made if "labkit-manifests" in cell["source"]]
    short = [yaml.safe_load(opened_by(cell)["definition"])["spec"]["names"]["shortNames"] for cell in lines]
    assert short == [["cls"], ["cls"], ["cl"], ["cl"]]


def test_only_what_is_about_loaded_manifests_is_run(manifests: Manifests) -> None:
    changes = Changes(manifests)
    for source in ("raise_ = boom()", "import os", "x = lab.kubectl('get')", "print(1)", "y = open('/etc/passwd')",
                   "%kubectl get ns", "%%kubectl apply -f -\na: [", "z = os.environ"):  # fmt: skip
        assert changes.after(source) == ({}, "")
    assert changes.after('a = lab.load("crd/objects/mini.yaml")\nb = a | {"kind": len(a)}') == ({}, "")


def test_the_chapters_changed_manifests_are_opened_as_the_server_got_them(manifests: Manifests) -> None:
    changed = {}
    for name in SECTIONS.values():
        changes = Changes(manifests)
        for cell in json.loads((ROOT / "notebooks" / name).read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                told, sent = changes.after("".join(cell["source"]))
                for text in told.values():
                    document = yaml.safe_load(text)
                    changed[cell["metadata"]["labkit"]["step"]] = document["metadata"]["name"], bool(sent)
    assert changed == {
        "schema/ratchet-new-object": ("mauvais-2", False),
        "path/predict": ("mauvais-2", False),
        "path/in-force": ("mute", False),
        "cel/unwritten-field": ("sept", False),
        "versions/renamed-field": ("colis.cours.example.com", True),
        "cost/create-refused": ("mini", False),
    }
