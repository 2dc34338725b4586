"""Feedback: it helps, it never shows what is hidden, and whatever a student wrote is nothing but text in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit.exercises.model import Exercise
from labkit.exercises.report import Finding
from labkit.grading import feedback, pages
from labkit.grading.gradebook import Entry, make
from labkit.grading.roster import Adjustment
from labkit.grading.values import NOT_JUDGED, CellRun, ExerciseResult, Note, Result
from labkit.languages import speaking
from labkit.scan import read_answers, scan
from labkit.show import render_html, render_text
from tests.exercises import sample
from tests.grading.classes import ADA, ALAN, EVIL, HIDDEN, SEEN, STEERS, answered, empty, exercises, ran, result
from tests.show.test_render_html import read

HIDDEN_PARTS = ("H-EXPECTED", "H-GOT", "H-FIELD", "H-RULE", "H-NEXT", "H-PROBE")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="module")
def asked(root: Path) -> tuple[Exercise, ...]:
    return exercises(root)


@pytest.fixture
def entry(asked: tuple[Exercise, ...]) -> Callable[..., Entry]:
    """Ada's, with these exercises graded."""

    def of(*graded: ExerciseResult, adjustments: tuple[Adjustment, ...] = (), notes: tuple[Note, ...] = ()) -> Entry:
        return make([ADA], [result("ada", *graded, notes=notes)], adjustments, [], asked).entries[0]

    return of


def page(entry: Entry, **how: bool) -> str:
    return render_html.page(feedback.document(entry, **how))


def text(entry: Entry, **how: bool) -> str:
    return render_text.render(feedback.document(entry, **how))


def test_a_finding_says_what_was_expected_what_happened_where_by_which_rule_and_what_next(
    entry: Callable[..., Entry],
) -> None:
    said = text(entry(answered("limit", SEEN)))
    assert "Ada Lovelace: 1 of 6 points" in said
    assert re.findall(r"^(tried|expected|what happened|at field|by rule|next): +(.*)$", said, re.MULTILINE) == [
        ("tried", "five workers and one replica"),
        ("expected", "refused"),
        ("what happened", "the server accepted it"),
        ("at field", "spec.worker"),
        ("by rule", "self.max <= 5"),
        ("next", "Add a rule where both numbers can be seen."),
    ]


@pytest.mark.parametrize("findings", [(HIDDEN,), (SEEN, HIDDEN), (HIDDEN, HIDDEN, SEEN)])
@pytest.mark.parametrize("with_solutions", [False, True])
def test_of_a_hidden_finding_only_its_task_is_said(
    entry: Callable[..., Entry], findings: tuple[Finding, ...], with_solutions: bool
) -> None:
    one = entry(answered("limit", *findings, notebook=ran()), answered("other", *findings))
    whole = page(one, with_solutions=with_solutions) + (feedback.executed(one) or "")
    assert not [part for part in HIDDEN_PARTS if part in whole]
    assert whole.count("A further check, which is not shown, did not hold.") == 2
    assert whole.count("not yet: Too many workers are refused") == 2


def test_a_task_that_is_passed_says_nothing_more(entry: Callable[..., Entry]) -> None:
    said = text(entry(answered("limit"), answered("other")))
    assert "6 of 6 points" in said
    assert "not yet" not in said


def test_an_exercise_without_an_answer_says_so_and_has_no_points(entry: Callable[..., Entry]) -> None:
    said = text(entry(empty("limit"), empty("other")))
    assert said.count("There is no answer to this exercise") == 2
    assert "Ada Lovelace: 0 of 6 points" in said


def test_an_answer_that_could_not_be_judged_says_so_and_nothing_of_why(entry: Callable[..., Entry]) -> None:
    crash = (Note(NOT_JUDGED, "panic: somewhere inside"),)
    one, other = (replace(answered(name), report=None, points=0) for name in ("limit", "other"))
    lost = replace(one, notes=crash)
    no_text = replace(other, answer=None, notes=(Note("no-answer-line", "it does not begin with %%answer"),))
    said = text(entry(lost, no_text))
    assert "could not be judged" in said
    assert "panic" not in said
    assert "There is no text that could be judged" in said
    assert "it does not begin with %%answer" in said
    assert said.count("not judged") == 2


def test_whoever_handed_in_nothing_has_a_page_that_says_so(asked: tuple[Exercise, ...]) -> None:
    one = make([ALAN], [], [Adjustment("s2", "limit", 2, "oral")], [], asked).entries[0]
    said = text(one)
    assert "There is no submission that counts" in said
    assert "Alan Turing: 2 of 6 points" in said
    assert feedback.executed(one) is None


def test_points_by_hand_stand_there_with_their_comment(entry: Callable[..., Entry]) -> None:
    said = text(entry(answered("limit"), adjustments=(Adjustment("s1", "limit", -1.5, "Twice the same"),)))
    assert re.search(r"A limit on workers +-1\.5 +Twice the same", said)
    assert "A limit on workers: 1.5 of 3 points" in said


def test_notes_and_cells_that_did_not_go_well_are_told(entry: Callable[..., Entry]) -> None:
    cells = (CellRun("limit", "passed"), CellRun("limit-check", "hung", "no end", "within 60 s"))
    graded = answered("limit", notes=(Note("renamed", "found under another name"),), cells=cells, remarks=("no etcd",))
    said = text(entry(graded, notes=(Note("form", "a zip in a zip"),)))
    for one in ("found under another name", "a zip in a zip", "no etcd", "it did not end", "no end: within 60 s"):
        assert one in said
    assert "it went well" not in said


def test_a_check_that_printed_another_report_than_the_solution_is_no_failure(entry: Callable[..., Entry]) -> None:
    differs = (CellRun("limit-check", "failed", "printed something else"),)
    assert "printed something else" not in text(entry(answered("limit", SEEN, cells=differs)))
    assert "How your notebook ran" not in text(entry(answered("limit", SEEN, cells=differs)))
    for status, said in (("died", "its kernel died"), ("hung", "it did not end"), ("not-run", "it was not run")):
        assert said in text(entry(answered("limit", SEEN, cells=(CellRun("limit-check", status),))))
    assert "limit " in text(entry(answered("limit", SEEN, cells=(CellRun("limit", "failed", "NameError"),))))


def test_what_all_tasks_miss_is_told_once(entry: Callable[..., Entry]) -> None:
    whole = answered("limit", SEEN, HIDDEN)
    assert whole.report is not None
    tasks = tuple(replace(one, passed=False, points=0, findings=(SEEN, HIDDEN)) for one in whole.report.tasks)
    said = text(entry(replace(whole, report=replace(whole.report, tasks=tasks))))
    assert said.count(SEEN.got) == 1
    assert "not yet: Too many workers are refused; Others are not" in said
    assert not any(part in said for part in HIDDEN_PARTS)


def test_of_what_came_of_a_cell_only_our_own_words_are_translated(entry: Callable[..., Entry]) -> None:
    """A program may say what is the name of a message of ours, with its fields."""
    died = "the run ended before this cell"
    cells = (CellRun("a", "failed", said="{assignment}: {n} student"), CellRun("b", "died", died))
    with speaking("fr"):
        said = text(entry(answered("limit", cells=cells)))
    assert "{assignment}: {n} student" in said
    assert died not in said


def test_an_answer_that_could_not_be_read_is_not_told_as_none(entry: Callable[..., Entry]) -> None:
    unread = replace(empty("limit"), notes=(Note("unreadable-answer", "answers/limit.yaml: not UTF-8"),))
    said = text(entry(unread))
    assert "There is no text that could be judged; the notes say why." in said
    assert said.count("There is no answer to this exercise") == 1, "that is of the other one"
    assert re.search(r"A limit on workers +not judged", said)


def test_the_answer_stands_there_as_it_was_judged_and_can_be_copied(entry: Callable[..., Entry]) -> None:
    assert '<pre class="labkit-code">a:\n  - 1 &lt; 2\n\n  - c</pre>' in page(
        entry(answered("limit", answer="a:\n  - 1 < 2\n\n  - c\n"))
    )


def test_explanations_come_only_where_they_are_asked_for(root: Path, entry: Callable[..., Entry]) -> None:
    why = root / "exercises" / "01-limit" / "solution.md"
    why.write_text(f"The **rule** stands\n\n```console\n$ kubectl <apply>\n```\n\n{EVIL}\n", encoding="utf-8")
    one = entry(answered("limit", SEEN))
    assert "stands" not in page(one)
    told = page(one, with_solutions=True)
    assert "The <strong>rule</strong> stands" in told
    assert "$ kubectl &lt;apply&gt;" in told
    assert not {"script", "img"} & set(read(told).tags)


HOSTILE = f"{EVIL}{STEERS}</pre></details></main><style>*{{}}</style>"


def test_whatever_anybody_wrote_is_text_on_the_page(entry: Callable[..., Entry]) -> None:
    bad = Finding(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    graded = answered(
        "limit",
        bad,
        answer=HOSTILE,
        notes=(Note("x", HOSTILE),),
        cells=(CellRun(HOSTILE, "died", said=HOSTILE), CellRun("b", HOSTILE)),
        remarks=(HOSTILE,),
    )
    told = page(entry(graded, adjustments=(Adjustment("s1", "limit", 1, HOSTILE),)))
    reader = read(told)
    assert not {"script", "img", "iframe", "link", "a", "form"} & set(reader.tags)
    assert reader.whole().count("<script>alert(1)</script>") == 13
    assert not set(told) & {"\x1b", "\x07", "\u202e"}
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_the_page_loads_and_runs_nothing_and_says_its_language(entry: Callable[..., Entry]) -> None:
    with speaking("fr"):
        told = render_html.page(feedback.document(entry(answered("limit", SEEN))), lang="fr")
    assert '<html lang="fr">' in told
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', told)
    assert policy is not None
    assert policy[1].split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not re.search(r"(src|href)=|url\(|@import|https?:", told)


def test_headings_are_in_order_and_tables_have_heads(entry: Callable[..., Entry]) -> None:
    told = page(entry(answered("limit", SEEN), answered("other", HIDDEN)), with_solutions=True)
    levels = [int(one) for one in re.findall(r"<h(\d)", told)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert '<th scope="row">A limit on workers</th>' in told
    assert "<th></th>" not in told.replace(' scope="col"', "")


def test_an_endless_answer_is_cut_and_the_page_stays_small(entry: Callable[..., Entry]) -> None:
    long = "\n".join(["y" * 50_000] + [f"line {n}" for n in range(10_000)])
    graded = answered("limit", Finding("refused", "x" * 1_000_000), answer=long)
    told = page(entry(graded))
    assert len(told) < 60_000
    assert "9601 more lines are not shown." in told


# -- the notebook ---------------------------------------------------------------------------------------------------


def notebook(one: Entry) -> dict[str, Any]:
    told = feedback.executed(one)
    assert told is not None
    nbformat.validate(nbformat.reads(told, as_version=4))
    return dict(json.loads(told))


def test_the_notebook_is_valid_and_of_what_was_printed_only_text_is_left(entry: Callable[..., Entry]) -> None:
    rich = {
        "text/html": EVIL,
        "application/javascript": "alert(1)",
        "image/svg+xml": EVIL,
        "text/markdown": EVIL,
        "text/latex": "x",
        "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
        "text/plain": ["two ", "parts"],
    }
    outputs = [
        {"output_type": "display_data", "data": rich, "metadata": {"text/html": EVIL}, "transient": {"x": 1}},
        {"output_type": "execute_result", "data": {"text/html": EVIL}, "metadata": {}, "execution_count": 1},
        {"output_type": "stream", "name": EVIL, "text": f"{STEERS}\n" + "line\n" * 10_000},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mred\x1b[0m\x1b]8;;http://x\x07"]},
        {"output_type": "update_display_data", "data": [EVIL]},
        {"output_type": EVIL},
    ]
    made = notebook(entry(answered("limit", SEEN, notebook=ran(*outputs))))
    (answer,) = [
        cell for cell in made["cells"] if cell["cell_type"] == "code" and "%%answer" in "".join(cell["source"])
    ]
    assert {kind for output in answer["outputs"] for kind in output.get("data", {})} == {"text/plain"}
    first, second, stream, error, *_ = answer["outputs"]
    assert first["data"]["text/plain"] == "two parts"
    assert second["data"]["text/plain"] == "(text/html)"
    assert stream["name"] == "stdout"
    assert stream["text"].count("line\n") == 10_000
    assert error["traceback"] == ["red\ufffd]8;;http://x\ufffd"]
    assert EVIL not in json.dumps(made, ensure_ascii=False)
    assert "\x1b" not in json.dumps(made, ensure_ascii=False)


def test_all_exercises_are_in_one_notebook_and_the_beginning_once(entry: Callable[..., Entry]) -> None:
    graded = (
        answered("limit", notebook=ran()),
        answered("other", notebook=ran(grade_id="other", source="%%answer other")),
    )
    made = notebook(entry(*graded))
    sources = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert sources == ["lab = labkit.begin()", "%%answer limit\nx", "%%answer other"]
    assert feedback.executed(entry(*graded)) == feedback.executed(entry(*graded))


def test_where_nothing_was_run_the_notebook_says_so(entry: Callable[..., Entry]) -> None:
    made = notebook(entry(empty("limit"), answered("other")))
    assert [cell["cell_type"] for cell in made["cells"]] == ["markdown"] * 5


# -- on the disk ----------------------------------------------------------------------------------------------------


def test_no_answer_is_in_what_students_get_unless_they_wrote_it(root: Path, tmp_path: Path) -> None:
    (root / "notebooks").mkdir(exist_ok=True)
    asked = exercises(root)
    answers = read_answers(root)
    results = [
        result("ada", answered("limit", SEEN, HIDDEN, answer=sample.starter(), notebook=ran())),
        result("right", answered("limit", answer=sample.solution())),
    ]
    pages.write(tmp_path / "grades", [], results, [], [], exercises=asked)
    assert scan(answers, student_files(tmp_path / "grades" / "ada")).clean
    assert not scan(answers, student_files(tmp_path / "grades" / "right")).clean
    pages.write(tmp_path / "with", [], results, [], [], exercises=asked, with_solutions=True)
    assert "holds both numbers" in (tmp_path / "with" / "ada" / "feedback.html").read_text(encoding="utf-8")


def student_files(folder: Path) -> list[Path]:
    found = [folder / name for name in pages.STUDENT_FILES if (folder / name).is_file()]
    assert found
    return found


def test_everything_is_written_whole_below_the_folder_whatever_a_submission_is_called(
    asked: tuple[Exercise, ...], tmp_path: Path
) -> None:
    keys = ["../../up", "/etc/passwd", "a/b", "..", "grades.csv", "class.html", "CON", "x" * 500, EVIL, "é", "e\u0301"]
    graded = [result(key, answered("limit", SEEN)) for key in keys]
    out = tmp_path / "in" / "grades"
    for _ in range(2):
        pages.write(out, [], graded, [], [], exercises=asked)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["grades"]
    assert len([path for path in out.iterdir() if path.is_dir()]) == len(keys)
    assert sorted(path.name for path in out.iterdir() if path.is_file()) == [
        "class.html",
        "grades.csv",
        "grades.json",
        "junit.xml",
    ]


def test_a_class_that_cannot_be_put_together_leaves_what_was_there(asked: tuple[Exercise, ...], tmp_path: Path) -> None:
    one: Result = result("ada", answered("limit"))
    pages.write(tmp_path, [], [one], [], [], exercises=asked)
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    with pytest.raises(Exception, match="two submissions"):
        pages.write(tmp_path, [], [one, one], [], [], exercises=asked)
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def test_a_page_that_cannot_be_made_is_listed_and_costs_nobody_elses(
    asked: tuple[Exercise, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(entry: Entry, *, with_solutions: bool = False) -> Any:
        if entry.person.id == "bob":
            raise KeyError("a slip")
        return document(entry, with_solutions=with_solutions)

    document = feedback.document
    monkeypatch.setattr(feedback, "document", breaks)
    graded = [result(key, answered("limit")) for key in ("ada", "bob")]
    book = pages.write(tmp_path, [], graded, [], [], exercises=asked)
    assert [(one.code, one.text) for one in book.problems] == [
        ("no-page", "bob: no page can be made: KeyError: 'a slip'")
    ]
    assert (tmp_path / "ada" / "feedback.html").is_file()
    assert not (tmp_path / "bob" / "feedback.html").exists()
    assert "bob: no page can be made" in (tmp_path / "class.html").read_text(encoding="utf-8")
    assert [one["id"] for one in json.loads((tmp_path / "grades.json").read_text())["students"]] == ["ada", "bob"]


def test_no_page_stays_of_whoever_is_not_in_the_book(asked: tuple[Exercise, ...], tmp_path: Path) -> None:
    """A submission that counts no more must not be given back as if it did."""
    graded = [replace(result(key, answered("limit")), key=key) for key in ("ada", "bob")]
    pages.write(tmp_path, [], graded, [], [], exercises=asked)
    (tmp_path / "bob" / "result.json").write_text("{}")
    (tmp_path / "bob" / "notes.txt").write_text("the instructor's")
    pages.write(tmp_path, [], graded[:1], [], [], exercises=asked)
    assert sorted(path.name for path in (tmp_path / "bob").iterdir()) == ["notes.txt", "result.json"]
    assert student_files(tmp_path / "ada") == [tmp_path / "ada" / name for name in pages.STUDENT_FILES]
