"""A folder is an exercise, read whole, or an error that says which file and which key."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.course import notebook
from labkit.exercises import model
from labkit.exercises.model import ExerciseError

from . import sample


def test_a_folder_is_read_whole(tmp_path: Path) -> None:
    one = model.load(sample.make(tmp_path))
    assert (one.id, one.answer_name, one.points) == ("limit", "limit.yaml", 3)
    assert one.hints["refuses"] == (
        "A rule sees only what lies below the place where it stands.",
        "What holds both numbers? Put it there.",
    )
    assert [step.do for step in one.probes[0].steps] == ["create", "create", "scale"]
    assert one.probes[0].steps[0].fields == ("spec", "")
    assert [probe.hidden for probe in (*one.probes, *one.hidden)] == [False, True]
    assert one.begin == notebook.Begin("crd/06-colis-v1-seul.yaml")
    assert [name for name, _ in model.variants(one, "right")] == ["other-way-round"]


def test_the_student_edition_has_no_solution_and_no_hidden_probes(tmp_path: Path) -> None:
    left_out = ["solution.yaml", "solution.md", "hidden/1-more.yaml", "right/other-way-round.yaml", "wrong/five.yaml"]
    one = model.load(sample.make(tmp_path, files=dict.fromkeys(left_out)))
    assert (one.solution, one.hidden) == (None, ())


def test_exercises_come_in_the_order_of_their_folders_and_are_found_by_id(tmp_path: Path) -> None:
    sample.make(tmp_path, slug="02-limit")
    sample.make(tmp_path, slug="01-other", files={"exercise.toml": sample.TOML.replace('"limit"', '"other"')})
    assert [one.id for one in model.load_all(tmp_path)] == ["other", "limit"]
    assert model.find(tmp_path, "limit").folder.name == "02-limit"
    with pytest.raises(ExerciseError, match="no exercise 'nothing'") as caught:
        model.find(tmp_path, "nothing")
    assert "other, limit" in caught.value.next_act


def test_a_slip_in_another_folder_does_not_keep_an_exercise_from_being_found(tmp_path: Path) -> None:
    sample.make(tmp_path, slug="01-broken", files={"exercise.toml": "id = ["})
    sample.make(tmp_path, slug="02-limit")
    assert model.find(tmp_path, "limit").id == "limit"


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    sample.make(tmp_path, slug="01-limit")
    sample.make(tmp_path, slug="02-limit")
    with pytest.raises(ExerciseError, match="id 'limit' is taken"):
        model.load_all(tmp_path)


def test_the_beginning_may_be_a_sections(tmp_path: Path) -> None:
    (tmp_path / "notebooks").symlink_to(sample.REPOSITORY / "notebooks")
    text = sample.TOML.replace('definition = "crd/06-colis-v1-seul.yaml"', 'section = "cel"')
    one = model.load(sample.make(tmp_path, files={"exercise.toml": text}))
    assert one.begin.definition == "crd/02-colis-schema.yaml"
    assert one.begin.objects


SLIPS = {
    "no TOML": ("exercise.toml", "id = [", "exercise.toml: not TOML"),
    "an unknown key": ("exercise.toml", "colour = 1\n" + sample.TOML, "exercise.toml: key 'colour' is not known"),
    "no title": ("exercise.toml", sample.TOML.replace("title =", "begin = {}\n#", 1), "exercise.toml: no title"),
    "a strange answer": ("exercise.toml", sample.TOML.replace('"yaml"', '"pdf"'), "answer 'pdf' is not known"),
    "two beginnings": ("exercise.toml", 'section = "cel"\n' + sample.TOML, "section and definition exclude each other"),
    "no such section": (
        "exercise.toml",
        sample.TOML.replace('definition = "crd/06-colis-v1-seul.yaml"', 'section = "nix"'),
        "no section 'nix'",
    ),
    "no points": ("exercise.toml", sample.TOML.replace("points = 1", "points = 0"), "id, title and points"),
    "a task twice": ("exercise.toml", sample.TOML.replace('id = "accepts"', 'id = "refuses"'), "is taken"),
    "a task without a probe": (
        "exercise.toml",
        sample.TOML + '[[tasks]]\nid = "more"\ntitle = "More"\npoints = 1\n',
        "task 'more' has no probe",
    ),
    "no hint": ("hints.md", "## refuses\n- One.\n", "no hint for task 'accepts'"),
    "hints of nothing": ("hints.md", "- One.\n", "a hint before the first task"),
    "hints of no task": ("hints.md", "## nix\n- One.\n", "task 'nix' is unknown"),
    "a strange line among hints": ("hints.md", "## refuses\nOne.\n", "neither a task nor a hint"),
    "no list of steps": ("probes/1-rule.yaml", "do: create", "a list of steps is wanted"),
    "no YAML": ("probes/1-rule.yaml", "- {", "not YAML"),
    "two documents": ("probes/1-rule.yaml", "- do: answer\n---\n- do: answer\n", "one list of steps is wanted"),
    "an unknown act": ("probes/1-rule.yaml", "- do: guess\n", "step 1: what it does is not known"),
    "a key the act has not": ("probes/1-rule.yaml", "- do: answer\n  replicas: 2\n", "answer has no key 'replicas'"),
    "a task that there is not": ("probes/1-rule.yaml", "- {do: answer, task: nix}\n", "no task 'nix'"),
    "a step without words": ("probes/1-rule.yaml", "- {do: answer, task: refuses}\n", "needs name and otherwise"),
    "no replicas": ("probes/1-rule.yaml", "- {do: scale, target: v1/pods/a}\n", "scale needs replicas"),
    "no object": ("probes/1-rule.yaml", "- {do: create}\n", "step 1: no object"),
    "half an object": ("probes/1-rule.yaml", "- {do: create, object: {kind: Colis}}\n", "needs apiVersion, kind and"),
    "a strange target": ("probes/1-rule.yaml", "- {do: delete, target: colis/a}\n", "target 'colis/a' does not fit"),
    "a file that is not there": ("probes/1-rule.yaml", "- {do: create, file: crd/nix.yaml}\n", "cannot be read"),
    "a field of no refusal": (
        "probes/1-rule.yaml",
        "- {do: create, file: crd/objects/mini.yaml, field: spec}\n",
        "field and by belong to expect: refused",
    ),
    "a strange expectation": ("probes/1-rule.yaml", "- {do: answer, expect: maybe}\n", "expect 'maybe' is not known"),
    "no regular expression": (
        "probes/1-rule.yaml",
        '- {do: create, file: crd/objects/mini.yaml, matches: {spec: "("}}\n',
        "not a regular expression",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_with_file_and_key(slip: str, tmp_path: Path) -> None:
    file, text, told = SLIPS[slip]
    with pytest.raises(ExerciseError) as caught:
        model.load(sample.make(tmp_path, files={file: text}))
    assert told in caught.value.state
    assert Path(file).name in caught.value.state


@pytest.mark.parametrize("file", ["prompt.md", "starter.yaml", "hints.md", "exercise.toml"])
def test_a_file_that_is_missing_is_named(file: str, tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match=file):
        model.load(sample.make(tmp_path, files={file: None}))


def test_a_course_without_exercises_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match="no exercises here"):
        model.load_all(tmp_path)
    (tmp_path / "exercises").mkdir()
    with pytest.raises(ExerciseError, match="no exercises here"):
        model.load_all(tmp_path)
