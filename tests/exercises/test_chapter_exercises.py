"""The four exercises of the chapter: what is right passes in whatever form, what is wrong fails and is told why.

The linter plays every answer of the folders on a real server, hidden probes included. Here it is made sure that there
is enough to play, that the definitions of the course are the ones that are asked about, that the recorded transcripts
still hold, and that a check leaves nothing behind.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course.begin import begin
from labkit.exercises import access, definitions
from labkit.exercises.checks import check, check_all
from labkit.exercises.model import Exercise, load, variants
from tests.exercises import playing, transcripts

ROOT = Path(__file__).parents[2]
CHAPTER = ("01-predict", "02-rule", "03-operator", "04-inventory")
COLIS = f"{DEFINITIONS}/colis.cours.example.com"


@pytest.fixture(params=CHAPTER)
def exercise(request: pytest.FixtureRequest) -> Exercise:
    return load(ROOT / "exercises" / request.param)


def of(name: str) -> Exercise:
    return load(ROOT / "exercises" / name)


def test_everything_is_as_the_folder_says(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    playing.expect_as_the_folder_says(exercise, cluster)


def test_plain_checks_agree(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    playing.expect_plain_checks_agree(exercise, cluster)


def test_every_task_has_a_wrong_answer_that_fails_it(exercise: Exercise) -> None:
    named = {text.removeprefix("# fails: ").partition(":")[0] for _, text in variants(exercise, "wrong")}
    assert named == {task.id for task in exercise.tasks}


def test_no_two_answers_are_the_same(exercise: Exercise) -> None:
    right = [text for _, text in variants(exercise, "right")]
    wrong = [text for _, text in variants(exercise, "wrong")]
    assert len({*right, *wrong, exercise.solution, exercise.starter}) == len(right) + len(wrong) + 2


def test_no_hint_shows_a_line_of_the_solution(exercise: Exercise) -> None:
    given = "\n".join(text for steps in exercise.hints.values() for text in steps)
    lines = {line.strip() for line in (exercise.solution or "").splitlines()} - {""}
    known = {line.strip() for line in exercise.starter.splitlines()}
    assert [line for line in lines - known if len(line) > 15 and line in given] == []


def test_at_least_ten_forms_of_the_rule_are_right_and_ten_mistakes_are_told() -> None:
    rule = of("02-rule")
    assert len(list(variants(rule, "right"))) >= 10
    assert len(list(variants(rule, "wrong"))) >= 10


def test_the_rule_is_added_to_the_definition_that_is_in_force() -> None:
    rule = of("02-rule")
    in_force = yaml.safe_load((ROOT / "crd" / "06-colis-v1-seul.yaml").read_text(encoding="utf-8"))
    assert yaml.safe_load(rule.starter) == in_force
    solution = yaml.safe_load(rule.solution or "")
    spec = solution["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    added = spec["x-kubernetes-validations"].pop()
    assert solution == in_force
    assert set(added) == {"rule", "messageExpression"}


def test_the_transcript_of_the_solution_is_what_the_server_says_today(
    exercise: Exercise, cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    lines = transcripts.recorded((exercise.folder / "solution.md").read_text(encoding="utf-8"))
    assert len(lines) >= 5
    begin(cluster, exercise.begin, root=ROOT)
    transcripts.prepare(exercise, tmp_path)
    try:
        with Api(cluster) as api:
            for line in lines:
                assert transcripts.played(line.command, cluster, tmp_path) == line.answer, line.command
                if "rolebinding" in line.answer:
                    access.wait_in_force(api, cluster_wide=False)
                if "customresourcedefinition" in line.answer:
                    definitions.settle(api, COLIS)
    finally:
        begin(cluster, exercise.begin, root=ROOT)


def test_a_student_without_the_judge_is_told_what_is_left_for_grading(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    inventory = of("04-inventory")
    folder = tmp_path / "exercises" / "04-inventory"
    (folder / "probes").mkdir(parents=True)
    (tmp_path / "crd").symlink_to(ROOT / "crd", target_is_directory=True)
    for name in ("exercise.toml", "prompt.md", "hints.md", "starter.py"):
        (folder / name).write_bytes((inventory.folder / name).read_bytes())
    (folder / "probes" / "2-one.yaml").write_bytes((inventory.folder / "probes" / "2-one.yaml").read_bytes())
    student = load(folder)
    right, wrong = check_all(student, (inventory.solution or "", inventory.starter), cluster)
    assert right.passed
    assert any("graded" in note for note in right.notes)
    assert not wrong.passed


def test_answers_that_share_a_state_get_the_reports_they_get_alone(cluster: EmbeddedCluster) -> None:
    predict = of("01-predict")
    answers = (predict.solution or "", predict.starter, dict(variants(predict, "wrong"))["rule-at-min"])
    together = check_all(predict, answers, cluster, hidden=True)
    assert together == tuple(check(predict, answer, cluster, hidden=True) for answer in answers)
    assert [report.points for report in together] == [10, 0, 8]


def test_a_check_leaves_no_definition_role_or_account_behind(cluster: EmbeddedCluster) -> None:
    operator = of("03-operator")
    before = names(cluster)
    check(operator, dict(variants(operator, "wrong"))["whole-cluster"], cluster, hidden=True)
    begin(cluster, of("04-inventory").begin, root=ROOT)
    assert names(cluster) - before == set()
    with Api(cluster) as api:
        found = [item["metadata"]["name"] for item in api.list(DEFINITIONS)]
        accounts = [item["metadata"]["name"] for item in api.list("/api/v1/namespaces/ch54/serviceaccounts")]
    assert found == ["colis.cours.example.com"]
    assert set(accounts) <= {"default"}


def names(cluster: EmbeddedCluster) -> set[str]:
    with Api(cluster) as api:
        return {
            f"{kind}/{item['metadata']['name']}"
            for kind in ("clusterroles", "clusterrolebindings")
            for item in api.list(f"/apis/rbac.authorization.k8s.io/v1/{kind}")
            if not item["metadata"]["name"].startswith("system:")
        }
