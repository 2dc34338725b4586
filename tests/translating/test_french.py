"""The French edition is whole, is the same course, and speaks French wherever a student reads.

What the server says is the same in both languages, to the byte, after sanitizing; what labkit says is not.
"""

from __future__ import annotations

import html
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import notebook
from labkit.course.environment import kernel_environment
from labkit.course.kernel import CourseKernel
from labkit.course.outputs import comparable, text
from labkit.exercises import model
from labkit.exercises.editions import files_in
from labkit.exercises.edits import edited
from labkit.release import release, release_instructors
from labkit.translating import wrongs

ROOT = Path(__file__).resolve().parents[2]
LABKIT = str(Path(sys.executable).with_name("labkit"))
PAGE = "03-path.ipynb"
SCHEMA = model.find(ROOT, "schema")
NARROW, WIDE = "\u202f", "\u00a0"

LABKITS_OWN = {
    "path/trace-request": "valeurs par défaut",
    "path/request": "serait stocké",
    "path/predict": "Que fera l'API server",
    "path/trace-read": "lu dans etcd",
    "path/in-force": "en vigueur",
    "path/trace-rule": "satisfaites",
    "path/trace-forgiven": "pardonné",
}
"""Steps whose whole output is labkit's words about what the server did, and some of these words."""


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made whole, so it is translated whole, and no answer is in it in either language."""
    return release(ROOT, tmp_path_factory.mktemp("edition") / "fr", lang="fr").root


@pytest.fixture(scope="module")
def kernel(edition: Path, cluster: EmbeddedCluster) -> Iterator[CourseKernel]:
    """Where a student of the edition works."""
    one = CourseKernel(cwd=edition / "notebooks", environ=kernel_environment(cluster))
    yield one
    one.stop()


def test_every_text_is_translated_and_keeps_its_code_its_links_and_its_numbers() -> None:
    assert [one.line for one in wrongs(ROOT, "fr")] == []


def test_both_editions_have_the_same_files_and_the_same_code(edition: Path) -> None:
    english = dict(files_in("en", ROOT))
    french = {path.relative_to(edition).as_posix(): path for path in edition.rglob("*") if path.is_file()}
    assert english.keys() < french.keys()
    books = [name for name in english if name.endswith(".ipynb")]
    assert len(books) == 10
    for name in books:
        ours, theirs = json.loads(french[name].read_text(encoding="utf-8")), json.loads(english[name])
        assert (ours["metadata"]["labkit"]["lang"], _without_prose(ours)) == ("fr", _without_prose(theirs)), name
        prose = [_source(one) for one in ours["cells"] if one["cell_type"] == "markdown"]
        told = {_source(one) for one in theirs["cells"] if one["cell_type"] == "markdown"}
        assert prose and not told & set(prose), name
    for name, content in english.items():
        if name.startswith("crd/"):
            assert french[name].read_bytes() == content


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _without_prose(book: Mapping[str, Any]) -> list[object]:
    """Of each cell its id and metadata, and its code, but for starters, which have remarks."""
    return [
        (cell["id"], cell["metadata"], _source(cell) if _is_code(cell) else "")
        for cell in book["cells"]
    ]  # fmt: skip


def _is_code(cell: Mapping[str, Any]) -> bool:
    return bool(cell["cell_type"] == "code") and not _source(cell).startswith("%%answer")


def test_its_page_is_french(edition: Path) -> None:
    page = (edition / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# Vos propres types dans Kubernetes\n")
    assert "- [03-path.ipynb](notebooks/03-path.ipynb): Le trajet d'un objet\n" in page
    assert "l'outil du cours" in page
    assert "the " not in page.replace("the versions that", "")


def test_the_source_of_an_assignment_is_french_and_has_the_solutions(tmp_path: Path) -> None:
    root = release_instructors(ROOT, tmp_path / "nbgrader", lang="fr").root
    (assignment,) = (root / "source").iterdir()
    ours = json.loads((assignment / "10-exercises.ipynb").read_text(encoding="utf-8"))
    prose = "".join(_source(one) for one in ours["cells"] if one["cell_type"] == "markdown")
    assert prose.startswith("# Exercices\n") and f"Ce qui est jugé{WIDE}:" in prose and "What is judged" not in prose
    assert sum("### BEGIN SOLUTION" in _source(one) for one in ours["cells"]) == len(model.load_all(ROOT))
    assert "# Votre réponse. " in (root / "nbgrader_config.py").read_text(encoding="utf-8")


def test_a_page_played_says_what_the_server_said_and_the_rest_in_french(edition: Path, kernel: CourseKernel) -> None:
    ours, theirs = (notebook.load(folder / "notebooks" / PAGE) for folder in (edition, ROOT))
    assert [step.id for step in ours.steps] == [step.id for step in theirs.steps]
    said, alike = {}, set()
    for step, recorded in zip(ours.steps, theirs.steps, strict=True):
        run = kernel.run(step.source)
        assert run.error is None, step.id
        said[step.id] = text(run.outputs)
        if comparable(run.outputs) == comparable(recorded.outputs):
            alike.add(step.id)
    assert said["path/begin"].endswith(f"{WIDE}: au début de «{WIDE}path{WIDE}»")
    servers = {step.id for step in ours.steps if "lab." not in step.source or "lab.kubectl" in step.source}
    assert len(servers) >= 5
    assert servers - {"path/begin"} <= alike
    assert not alike & LABKITS_OWN.keys()
    assert {name: words in said[name] for name, words in LABKITS_OWN.items()} == dict.fromkeys(LABKITS_OWN, True)


def test_an_answer_is_checked_handed_in_and_graded_in_french(
    edition: Path, kernel: CourseKernel, tmp_path: Path
) -> None:
    def run(source: str) -> str:
        done = kernel.run(source)
        assert done.error is None, done.error
        return text(done.outputs)

    assert SCHEMA.solution is not None
    edits = (SCHEMA.folder / "wrong" / "forty-excluded.edits.yaml").read_text(encoding="utf-8")
    run('import labkit\nlab = labkit.begin("exercises")')
    kept = run(f"%%answer schema\n{edited(SCHEMA.solution, edits, 'wrong')}")
    assert kept.startswith(f"enregistré dans answers/schema.yaml{NARROW}; ensuite{WIDE}: lab.check")
    told = run('lab.check("schema")')
    assert f"{WIDE}: 7/10 points" in told.splitlines()[0]
    assert f"— attendu{WIDE}: accepté{NARROW}; l'API server l'a refusé" in told
    assert "Avec votre réponse actuelle" in run('lab.hint("schema")')

    class_folder = tmp_path / "class"
    class_folder.mkdir()
    submitted = _labkit("submit", "-o", str(class_folder / "ada.zip"), cwd=edition)
    assert "c'est ce seul fichier que vous rendez" in submitted
    assert submitted.count(f"vide{WIDE}:") == len(model.load_all(ROOT)) - 1
    grades = tmp_path / "grades"
    graded = ("grade", str(class_folder), "-o", str(grades), "--jobs", "1", "--exercise", "schema", "--lang", "fr")
    _labkit(*graded, cwd=ROOT)
    (page,) = grades.glob("*/feedback.html")
    feedback = html.unescape(page.read_text(encoding="utf-8"))
    assert '<html lang="fr">' in feedback
    assert "7/10 points" in feedback
    assert "Votre réponse, telle qu'elle a été jugée" in feedback
    assert "l'API server l'a refusé" in feedback
    assert f"answers/schema.yaml diffère de la cellule de schema{NARROW}; c'est le fichier qui compte" in feedback
    assert not [word for word in ("expected", "the server", "points of", "task", "Your answer") if word in feedback]


def _labkit(*argv: str, cwd: Path) -> str:
    done = subprocess.run([LABKIT, *argv], cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
