"""An exercise in another language is the same exercise: in a check, in the files of an edition, in the notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.course.catalogues import Catalogue
from labkit.course.handout import student_files
from labkit.exercises import model, notebook, texts
from labkit.languages import speaking

REPOSITORY = Path(__file__).resolve().parents[2]
EXERCISES = {one.id: one for one in model.load_all(REPOSITORY)}


class _Marked(Catalogue):
    """Says every text with a mark, and something YAML and TOML must quote."""

    def __init__(self) -> None:
        super().__init__({})

    def text(self, context: str, english: str) -> str:
        if not english.strip():
            return english
        return f'« {context}: "{english.strip()}" # »' + ("\n" if english.endswith("\n") else "")


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of students, every text of the exercises marked."""
    root = tmp_path_factory.mktemp("edition")
    for name, content in student_files(REPOSITORY):
        folder, *inside = name.split("/")
        if folder == "exercises":
            one = next(one for one in EXERCISES.values() if one.folder.name == inside[0])
            content = texts.file_in(name, content, one, _Marked())  # noqa: PLW2901
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


@pytest.mark.parametrize("name", EXERCISES)
def test_the_files_of_an_edition_say_what_a_check_by_catalogue_says(name: str, edition: Path) -> None:
    whole = EXERCISES[name]
    told = model.load(edition / "exercises" / whole.folder.name)
    wanted = texts._said(whole, _Marked().text)
    assert (told.title, told.tasks, told.prompt, told.hints) == (
        wanted.title,
        wanted.tasks,
        wanted.prompt,
        wanted.hints,
    )
    steps = [[replace(step, where="") for probe in one.probes for step in probe.steps] for one in (told, wanted)]
    assert steps[0] == steps[1]
    assert told.starter == wanted.starter
    assert told.title.startswith("« title: ")


@pytest.mark.parametrize("name", EXERCISES)
def test_only_remarks_of_a_starter_change(name: str) -> None:
    one = EXERCISES[name]
    said = texts._said(one, lambda context, text: text.upper() if context == "starter" else text).starter
    assert said.lower() == one.starter.lower()
    manifest = (REPOSITORY / "crd" / "06-colis-v1-seul.yaml").read_text(encoding="utf-8")
    for line in set(one.starter.splitlines()) & set(manifest.splitlines()):
        assert line in said.splitlines()


def test_what_is_hidden_is_not_among_the_texts() -> None:
    for one in EXERCISES.values():
        known = {text for _, text in texts.texts(one)}
        open_steps = {step.name for probe in one.probes for step in probe.steps}
        hidden = {step.name for probe in one.hidden for step in probe.steps} - open_steps - {""}
        assert not known & hidden


def test_a_notebook_in_french_differs_in_words_and_says_its_language() -> None:
    english, french = (json.loads(notebook.text(EXERCISES.values(), lang=lang)) for lang in ("en", "fr"))
    assert french["metadata"]["labkit"].pop("lang") == "fr"
    assert french["metadata"] == english["metadata"]
    for one, other in zip(english["cells"], french["cells"], strict=True):
        assert (one["id"], one["metadata"], one["cell_type"]) == (other["id"], other["metadata"], other["cell_type"])
    prompts = {cell["id"]: "".join(cell["source"]) for cell in french["cells"]}
    assert "## Une règle entre deux branches" in prompts["rule-prompt"]
    assert "(`x-kubernetes-validations`)" in prompts["rule-prompt"]


def test_the_notebook_of_the_repository_is_english_whatever_is_spoken() -> None:
    there = (REPOSITORY / "notebooks" / notebook.NAME).read_text(encoding="utf-8")
    with speaking("fr"):
        assert notebook.text(EXERCISES.values()) == there
