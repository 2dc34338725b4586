"""A report is the same after a file, and a broken one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.course.report import AS_RECORDED, DIFFERS, FAILED, NOT_SHOWN, PlayReport, StepResult, Verdict
from labkit.errors import CourseError


def step(step_id: str, verdict: Verdict = AS_RECORDED, text: str = "out", reason: str = "") -> StepResult:
    difference = ("--- recorded", "+++ played") if verdict == DIFFERS else ()
    return StepResult(step_id, "A title", "%kubectl get x", text, verdict, 0.25, reason, difference)


def report(*steps: StepResult, cluster: str = "embedded", version: str = "v1.37.2") -> PlayReport:
    return PlayReport(cluster, version, 1.5, steps)


def test_a_report_read_is_the_report_written(tmp_path: Path) -> None:
    written = report(step("cel/a", text="é\x00\n"), step("cel/b", DIFFERS, reason="why"), step("cel/c", NOT_SHOWN))
    path = tmp_path / "report.json"
    path.write_text("an older one", encoding="utf-8")
    written.write(path)
    assert PlayReport.read(path) == written
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith((".", "report"))] == ["report.json"]


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "report.json"
    folder.mkdir()
    with pytest.raises(CourseError, match="the report cannot be written"):
        report(step("cel/a")).write(folder)
    with pytest.raises(CourseError, match="the report cannot be written"):
        report(step("cel/a")).write(tmp_path / "none" / "report.json")
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", json.dumps({"format": 1, "cluster": "c", "version": "v", "seconds": 1, "steps": [{"id": "x"}]})],
)
def test_another_file_is_no_report(tmp_path: Path, content: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match="no report of labkit play"):
        PlayReport.read(path)


def test_a_verdict_nobody_knows_is_no_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    report(step("cel/a")).write(path)
    path.write_text(path.read_text(encoding="utf-8").replace('"as recorded"', '"fine"'), encoding="utf-8")
    with pytest.raises(CourseError, match="no report of labkit play"):
        PlayReport.read(path)


def test_a_report_of_another_format_says_so(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"format": 0}), encoding="utf-8")
    with pytest.raises(CourseError, match="a report of another labkit: format 0, wanted 1"):
        PlayReport.read(path)


@pytest.mark.parametrize(
    ("verdicts", "good", "good_if_skipping"),
    [
        ([AS_RECORDED, AS_RECORDED], True, True),
        ([AS_RECORDED, NOT_SHOWN], False, True),
        ([NOT_SHOWN, NOT_SHOWN], False, False),
        ([AS_RECORDED, DIFFERS], False, False),
        ([AS_RECORDED, FAILED], False, False),
        ([], False, False),
    ],
)
def test_a_play_is_good_when_every_step_behaved(verdicts: list[Verdict], good: bool, good_if_skipping: bool) -> None:
    played = report(*(step(f"cel/{number}", verdict) for number, verdict in enumerate(verdicts)))
    assert played.good() is good
    assert played.good(allow_skipped=True) is good_if_skipping
