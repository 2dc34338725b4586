"""An exercise's folder held to what it says of itself: every answer in it, played on a real server."""

from __future__ import annotations

from dataclasses import astuple

from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises.checks import check_all
from labkit.exercises.model import Exercise, variants
from labkit.grading.linting import linted

__all__ = ["expect_as_the_folder_says", "expect_plain_checks_agree"]


def expect_as_the_folder_says(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    """Every solution, starter, right and wrong answer, in states that are put back by their bytes."""
    bad = [f"{tried.what}: {tried.why}" for tried in linted(exercise, cluster) if not tried.good]
    assert bad == []


def expect_plain_checks_agree(exercise: Exercise, cluster: EmbeddedCluster) -> None:
    """The solution and a wrong answer as students check, and authors elsewhere."""
    _, wrong = next(variants(exercise, "wrong"))
    right, failed = check_all(exercise, (exercise.solution or "", wrong), cluster, hidden=True)
    assert right.passed, right
    task, _, words = wrong.partition("\n")[0].removeprefix("# fails: ").partition(": ")
    (mine,) = (one for one in failed.tasks if one.task == task)
    assert not mine.passed
    assert " ".join(words.split()) in " ".join(" ".join(map(str, astuple(one))) for one in mine.findings), mine
