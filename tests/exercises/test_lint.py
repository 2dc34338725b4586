"""The linter finds what is wrong with an exercise, and adding a folder is adding an exercise."""

from __future__ import annotations

from pathlib import Path

from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises import lint, model, views
from labkit.exercises.lint import Tried
from labkit.show import render_text

from . import sample

TIGHTER = sample.with_rule("self.worker.max <= 3 * self.api.replicas")
RIGHT_OTHERWISE = sample.with_rule("self.worker.max <= self.api.replicas * 4")


def _linted(root: Path, cluster: EmbeddedCluster, files: dict[str, str | None]) -> dict[str, Tried]:
    return {one.what: one for one in lint.lint(model.load(sample.make(root, files=files)), cluster)}


def test_one_new_folder_is_a_new_exercise_and_lints(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    found = _linted(tmp_path, cluster, {})
    assert list(found) == [
        "files",
        "solution.md",
        "secrets",
        "solution",
        "starter",
        "right/other-way-round",
        "wrong/five",
    ]
    assert all(one.good for one in found.values()), found
    assert "7 looked at, all good" in render_text.render(views.lint_document(found.values()))
    assert [one.id for one in model.load_all(tmp_path)] == ["limit"]


def test_everything_that_is_wrong_is_told(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    files = {
        "notes.txt": "left over",
        "solution.md": None,
        "prompt.md": sample.PROMPT + "The answer is 4 * self.api.replicas.\n",
        "exercise.toml": sample.TOML.replace('replicas"]', 'replicas", "not there at all"]').replace(
            "starter_passes", "#"
        ),
        "solution.yaml": TIGHTER.replace("3 *", "4 * self.api.replicas - 1 *", 1),
        "right/other-way-round.yaml": None,
        "right/none.yaml": TIGHTER,
        "wrong/five.yaml": "# fails: refuses: words that nobody says\n" + sample.starter(),
        "wrong/no-head.yaml": sample.starter(),
        "wrong/other-task.yaml": "# fails: nothing: x\n" + sample.starter(),
        "wrong/right.yaml": "# fails: refuses: x\n" + RIGHT_OTHERWISE,
    }
    found = _linted(tmp_path, cluster, files)
    wrong = {what: one.why for what, one in found.items() if not one.good}
    assert wrong["files"] == "nobody reads notes.txt"
    assert "it is missing" in wrong["solution.md"]
    assert "'4 * self.api.replicas' is in prompt.md" in wrong["secrets"]
    assert "'not there at all' is not in the solution" in wrong["secrets"]
    assert wrong["solution"].startswith("refuses: refused by a rule in CEL")
    assert "accepts: passed; if that must be, starter_passes says why" in wrong["starter"]
    assert wrong["right/none"].startswith("refuses: refused by a rule in CEL")
    assert '"words that nobody says" is not in what is told' in wrong["wrong/five"]
    assert wrong["wrong/no-head"].startswith("its first line must be")
    assert wrong["wrong/other-task"] == "there is no task 'nothing'"
    assert wrong["wrong/right"] == "refuses: passed"
    assert "not as they must be" in render_text.render(views.lint_document(found.values()))


def test_edits_that_do_not_fit_are_told(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    found = _linted(tmp_path, cluster, {"wrong/nix.edits.yaml": "- {replace: nothing of the kind, with: x}\n"})
    assert "must be there once" in found["right and wrong answers"].why


def test_the_student_edition_is_not_linted_as_if_it_were_whole(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    found = _linted(tmp_path, cluster, {"solution.yaml": None})
    assert found["solution"].why == "solution.yaml is missing"


def test_a_report_never_shows_what_is_hidden(tmp_path: Path, cluster: EmbeddedCluster) -> None:
    from labkit.exercises.checks import check
    from labkit.show import render_html

    one = model.load(sample.make(tmp_path))
    small = sample.with_rule("self.worker.max <= 4 * self.api.replicas || self.api.replicas > 3")
    report = check(one, small, cluster, hidden=True)
    document = views.report_document(report)
    for shown in (render_text.render(document), render_html.render(document)):
        assert "seventeen workers" not in shown
        assert "More was tried in grading" in shown
