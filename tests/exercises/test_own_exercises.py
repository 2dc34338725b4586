"""The project's own exercises, one for each section that has none in the chapter: held to what they say of themselves.

The linter plays the solution, the starter, each other right answer and each wrong one on a real server, hidden probes
included; what is right is decided there. Here it is made sure that there is enough to play, that the forms differ, and
that a check leaves no trace.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from labkit.cluster import Api, Cluster, Kubectl
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.kubectl import forget_discovery
from labkit.course.begin import begin
from labkit.exercises import definitions
from labkit.exercises.checks import check
from labkit.exercises.model import Exercise, load, variants
from tests.exercises import playing, transcripts

ROOT = Path(__file__).parents[2]
OWN = ("05-schema", "06-display", "07-migration", "08-typed")


@pytest.fixture(params=OWN)
def exercise(request: pytest.FixtureRequest) -> Exercise:
    return load(ROOT / "exercises" / request.param)


def test_everything_is_as_the_folder_says(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    playing.expect_as_the_folder_says(exercise, cluster)


def test_plain_checks_agree(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    playing.expect_plain_checks_agree(exercise, cluster)


def test_at_least_five_other_right_answers_and_five_wrong_ones_are_played(exercise: Exercise) -> None:
    right = [text for _, text in variants(exercise, "right")]
    wrong = [text for _, text in variants(exercise, "wrong")]
    assert len(right) >= 5
    assert len(wrong) >= 5
    assert len({*right, *wrong, exercise.solution, exercise.starter}) == len(right) + len(wrong) + 2


def test_every_task_has_a_wrong_answer_that_fails_it(exercise: Exercise) -> None:
    named = {text.removeprefix("# fails: ").partition(":")[0] for _, text in variants(exercise, "wrong")}
    assert named == {task.id for task in exercise.tasks}


def test_no_hint_shows_a_line_of_the_solution(exercise: Exercise) -> None:
    given = "\n".join(text for steps in exercise.hints.values() for text in steps)
    lines = {line.strip() for line in (exercise.solution or "").splitlines()} - {""}
    known = {line.strip() for line in exercise.starter.splitlines()}
    assert [line for line in lines - known if len(line) > 15 and line in given] == []


def test_the_transcript_of_the_solution_is_what_the_server_says_today(
    exercise: Exercise, cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    lines = transcripts.recorded((exercise.folder / "solution.md").read_text(encoding="utf-8"))
    assert len(lines) >= 6
    begin(cluster, exercise.begin, root=ROOT)
    transcripts.prepare(exercise, tmp_path)
    for name, text in variants(exercise, "wrong"):
        (tmp_path / "answers" / f"{name}.{exercise.answer}").write_text(text, encoding="utf-8")
    try:
        for line in lines:
            assert steady(played(line.command, cluster, tmp_path)) == steady(line.answer), line.command
    finally:
        begin(cluster, exercise.begin, root=ROOT)


def played(command: str, cluster: Cluster, folder: Path) -> str:
    """What a command prints; ``echo TEXT`` or a script may be before a ``|``. A definition is waited for."""
    forget_discovery(cluster)
    before, _, last = command.rpartition(" | ")
    given: str | None
    if before.startswith("echo "):
        given = shlex.split(before)[1]
    else:
        given = transcripts.played(before, cluster, folder).removesuffix("exit code 0") if before else None
    said = Kubectl(cluster).run(shlex.split(last)[1:], stdin=given, cwd=folder).text.strip()
    applied = re.match(r"customresourcedefinition\.apiextensions\.k8s\.io/(\S+) (created|configured)", said)
    if applied:
        with Api(cluster) as api:
            definitions.settle(api, f"{DEFINITIONS}/{applied[1]}")
    return said


def steady(answer: str) -> str:
    """Without what differs from run to run: ages, and revisions of the store."""
    return re.sub(r"\b\d+s\b", "1s", re.sub(r"revision=\d+", "revision=1", answer))


def test_the_same_answer_gives_the_same_report_and_leaves_the_beginning(cluster: EmbeddedCluster) -> None:
    schema = load(ROOT / "exercises" / "05-schema")
    answer = dict(variants(schema, "wrong"))["pattern-not-tied"]
    first = check(schema, answer, cluster, hidden=True)
    assert check(schema, answer, cluster, hidden=True) == first
    assert [task.task for task in first.tasks if not task.passed] == ["values"]
    with Api(cluster) as api:
        assert api.get("/apis/cours.example.com") is None


def test_objects_that_no_version_can_read_any_more_do_not_outlive_their_check(cluster: EmbeddedCluster) -> None:
    migration = load(ROOT / "exercises" / "07-migration")
    report = check(migration, dict(variants(migration, "wrong"))["nothing-written"], cluster)
    assert "request to convert CR from an invalid group/version" in report.tasks[0].findings[0].got
    with Api(cluster) as api:
        names = [one["metadata"]["name"] for one in api.list("/apis/cours.example.com/v1alpha1/colis")]
    assert sorted(names) == ["mini", "principal"]


def test_a_refused_command_is_told_in_a_note(cluster: EmbeddedCluster) -> None:
    migration = load(ROOT / "exercises" / "07-migration")
    report = check(migration, "kubectl apply -f crd/06-colis-v1-seul.yaml\n", cluster)
    assert len(report.notes) == 1
    assert report.notes[0].startswith("kubectl apply -f crd/06-colis-v1-seul.yaml: ")
    assert "v1alpha1 was previously a storage version" in report.notes[0]
