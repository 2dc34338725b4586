"""The classes that grading is measured with are what they are said to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.errors import CommandError
from labkit.exercises.model import load_all, variants
from labkit.exercises.notebook import ASSIGNMENT, NAME
from labkit.grading import reading
from labkit.grading.answers import answers_of
from labkit.machine.bench import grading
from labkit.machine.bench.handed import CRASH, HANG, hand_in, without_cluster

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = load_all(ROOT)


def test_everybody_answers_everything_and_nobody_the_same(tmp_path: Path) -> None:
    kinds = hand_in(EXERCISES, tmp_path, grading.Sizes.everybody)
    handed = reading.read(tmp_path)
    assert not handed.problems
    assert [one.key for one in handed.submissions] == sorted(kinds)
    assert [list(kinds.values()).count(kind) for kind in ("right", "half", "wrong")] == [10, 10, 10]
    assert len({one.sha256 for one in handed.submissions}) == len(kinds)
    wrong = {(one.id, text) for one in EXERCISES for _, text in variants(one, "wrong")}
    for submission in handed.submissions:
        answers, notes = answers_of(submission, EXERCISES)
        assert not notes
        assert not any(one.empty or one.notes for one in answers)
        texts = [(one.exercise_id, (one.text or "").partition("\n")[2]) for one in answers]
        expected = {"right": 0, "half": len(EXERCISES) // 2, "wrong": len(EXERCISES)}[kinds[submission.key]]
        assert len([one for one in texts if one in wrong]) == expected


def test_some_hang_and_one_crashes_in_one_cell(tmp_path: Path) -> None:
    kinds = hand_in(EXERCISES, tmp_path, 3, odd={0: ("hanging", HANG), 1: ("crashing", CRASH)})
    assert list(kinds.values()) == ["hanging", "crashing", "wrong"]
    for name, source in (("student-00", HANG), ("student-01", CRASH)):
        cells = json.loads((tmp_path / name / ASSIGNMENT / NAME).read_text(encoding="utf-8"))["cells"]
        assert [cell["source"] for cell in cells].count(source) == 1


def test_the_floor_has_as_many_cells_and_needs_nothing_but_python(tmp_path: Path) -> None:
    hand_in(EXERCISES, tmp_path / "class", 1)
    like = tmp_path / "class" / "student-00" / ASSIGNMENT / NAME
    without_cluster(like, tmp_path / "course", 2)
    ours = json.loads(like.read_text(encoding="utf-8"))["cells"]
    made = [json.loads(path.read_text(encoding="utf-8"))["cells"] for path in (tmp_path / "course").rglob(NAME)]
    assert len(made) == 3
    for cells in made:
        assert [cell["cell_type"] for cell in cells] == [cell["cell_type"] for cell in ours]
        values: dict[str, object] = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(cell["source"], values)  # noqa: S102  (ours)
        assert len([name for name in values if name.startswith("value_")]) == 1 + 2 * len(EXERCISES)


def test_a_class_whose_right_answers_lack_points_is_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "grades"
    (out / "one").mkdir(parents=True)
    result = {"seconds": 2.0, "exercises": [{"points": 3, "max_points": 4}]}
    (out / "one" / "result.json").write_text(json.dumps({"result": result}), encoding="utf-8")
    monkeypatch.setattr(grading, "_watched", lambda *_: (5.0, 600.0))
    assert grading.graded(ROOT, tmp_path, out, {"one": "half"}, 1).by_kind == {"half": (2.0,)}
    with pytest.raises(CommandError, match="one has right answers, and not all points"):
        grading.graded(ROOT, tmp_path, out, {"one": "right"}, 1)
    with pytest.raises(CommandError, match="two was not graded"):
        grading.graded(ROOT, tmp_path, out, {"one": "half", "two": "half"}, 1)
