"""The text of an answer is what was handed in, whatever became of the cells around it; all else is noted."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit import magics
from labkit.exercises import model, notebook
from labkit.exercises import submission as submit
from labkit.exercises.model import Exercise
from labkit.exercises.progress import Answers, folder
from labkit.grading.answers import MISNAMED, answers_of
from labkit.grading.archives import LIMITS, MB
from labkit.grading.reading import read
from labkit.grading.values import Answer, Note, Submission
from labkit.languages import LANGUAGES
from tests.exercises import sample

Change = Callable[[list[dict[str, Any]]], object]

TEXT = "a: 1\n"
CELL = "%%answer limit\na: 1"
AT = 3  # the answer's cell: after head, begin and prompt


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return model.load(sample.make(tmp_path_factory.mktemp("course")))


def notebook_of(exercise: Exercise, source: str | None = CELL, change: Change = len) -> dict[str, Any]:
    """The notebook as handed out, with *source* as the answer's cell, and changed."""
    whole: dict[str, Any] = json.loads(notebook.text([exercise]))
    assert whole["cells"][AT]["metadata"]["nbgrader"]["grade_id"] == "limit"
    if source is not None:
        whole["cells"][AT]["source"] = source
    change(whole["cells"])
    return whole


def asked(exercise: Exercise, whole: object, *files: tuple[str, bytes]) -> tuple[Answer, tuple[Note, ...]]:
    data = whole if isinstance(whole, bytes | None) else json.dumps(whole).encode()
    (answer,), notes = answers_of(Submission("ann", "class/ann", data, files), [exercise])
    return answer, notes


def codes(notes: tuple[Note, ...]) -> list[str]:
    return [one.code for one in notes]


def test_the_cell_is_the_answer_where_there_is_no_file(exercise: Exercise) -> None:
    assert asked(exercise, notebook_of(exercise)) == (Answer("limit", TEXT, CELL), ())


def test_the_file_is_the_answer_where_there_is_no_notebook(exercise: Exercise) -> None:
    assert asked(exercise, None, ("limit.yaml", b"a: 1\n")) == (Answer("limit", TEXT), ())


def test_nothing_is_an_empty_answer(exercise: Exercise) -> None:
    assert asked(exercise, None) == (Answer("limit", None, empty=True), ())


def test_what_was_handed_out_is_empty_and_nothing_is_noted(exercise: Exercise) -> None:
    answer, notes = asked(exercise, notebook_of(exercise, None))
    assert (answer.empty, answer.notes, notes) == (True, (), ())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_the_course_hands_out_is_empty_and_nothing_is_noted(lang: str) -> None:
    exercises = model.load_all(sample.REPOSITORY)
    data = notebook.text(exercises, lang=lang).encode()
    answers, notes = answers_of(Submission("ann", "", data), exercises)
    assert [one.exercise_id for one in answers] == [one.id for one in exercises]
    assert all(one.empty and one.text for one in answers)
    assert (notes, [one.notes for one in answers]) == ((), [()] * len(exercises))


def test_what_nbgrader_hands_out_is_not_noted(exercise: Exercise) -> None:
    def as_nbgrader(cells: list[dict[str, Any]]) -> None:
        for one in cells:
            if "nbgrader" in one["metadata"]:
                one["metadata"]["nbgrader"] |= {"checksum": "0" * 32, "cell_type": one["cell_type"]}

    assert asked(exercise, notebook_of(exercise, change=as_nbgrader)) == (Answer("limit", TEXT, CELL), ())


def test_what_labkit_submit_packs_comes_out_as_it_was_kept(tmp_path: Path) -> None:
    exercise = model.load(sample.make(tmp_path))
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    (notebooks / notebook.NAME).write_text(json.dumps(notebook_of(exercise)), encoding="utf-8")
    Answers(folder(tmp_path)).write(exercise, "a: é\n")
    submit.make(tmp_path, tmp_path / "ann.zip")
    found = read(tmp_path / "ann.zip")
    (handed,) = found.submissions
    assert (handed.key, handed.notes, found.problems) == ("ann", (), ())
    (answer,), notes = answers_of(handed, [exercise])
    assert (answer.text, answer.cell, codes(answer.notes), notes) == ("a: é\n", CELL, ["file-counts"], ())


def test_the_file_counts_where_both_are_there(exercise: Exercise) -> None:
    answer, _ = asked(exercise, notebook_of(exercise), ("limit.yaml", b"b: 2\n"))
    assert (answer.text, answer.cell) == ("b: 2\n", CELL)
    assert codes(answer.notes) == ["file-counts"]
    answer, _ = asked(exercise, notebook_of(exercise), ("limit.yaml", b"a: 1  \r\n\r\n"))
    assert answer.notes == ()


CELLS = [
    "%%answer limit\na: 1",
    "%%answer limit\na: 1\n",
    "\n  \n%%answer limit\na: 1\n\n\n",
    '%%answer "limit" \n  a: 1\n   \n  b: 2\n',
    "  %%answer limit\n  a: 1\n    b: 2",
    "%%answer limit\r\na: 1\r\nb: 2\r\n",
    "%%answer limit\n\ta: 1   \n",
    "%%answer limit\na: \u2028 \x0c b\n",
    "%%answer limit\n>>> a\n",
    "In [1]: %%answer limit\na: 1",
    "%%answer limit\n%%answer limit\na: 1",
]
NOT_KEPT = [
    "%%answer limit\n",
    "%%answer limit",
    "%%answer",
    "%%answer limit # the limit\na: 1",
    "%%answer 'limit\na: 1",
    "%%answer limit more\na: 1",
    "%%answer\tlimit\na: 1",
    "%%answers limit\na: 1",
    "%answer limit\na: 1",
    "x = 1\n%%answer limit\na: 1",
]


class Shell:
    """What a cell that IPython has translated calls; an empty body is refused there."""

    def __init__(self) -> None:
        self.magics: dict[str, Callable[[str, str], None]] = {}

    def register_magic_function(self, function: Callable[..., None], *, magic_kind: str, magic_name: str) -> None:
        if "cell" in magic_kind:
            self.magics[magic_name] = function

    def set_custom_exc(self, *_: object) -> None: ...

    def run_line_magic(self, *_: object) -> None: ...

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        if body and name in self.magics:
            self.magics[name](line, body)


@pytest.mark.parametrize("source", CELLS + NOT_KEPT)
def test_a_cell_is_read_as_the_magic_writes_it(exercise: Exercise, tmp_path: Path, source: str) -> None:
    """IPython translates the cell, our magic is called, and its file is what was read from the cell, to the byte."""
    from IPython.core import inputtransformer2

    library: Any = inputtransformer2
    kept = Answers(tmp_path / "answers")
    shell = Shell()

    class Lab:
        def answer(self, name: str, text: str) -> None:
            assert name == "limit"
            kept.write(exercise, text)

    magics.register(shell, Lab())  # type: ignore[arg-type]
    with contextlib.suppress(SyntaxError, NameError):
        exec(library.TransformerManager().transform_cell(source), {"get_ipython": lambda: shell})  # noqa: S102
    answer, _ = asked(exercise, notebook_of(exercise, source))
    assert (answer.text or None) == kept.read(exercise)
    assert bool(answer.text) == (source in CELLS)
    assert answer.cell == source


def test_lines_for_nbval_above_the_answer_do_not_hide_it(exercise: Exercise) -> None:
    answer, _ = asked(exercise, notebook_of(exercise, f"# NBVAL_SKIP\n#NBVAL_IGNORE_OUTPUT\n{CELL}"))
    assert answer.text == TEXT


def test_python_in_place_of_an_answer_is_no_text(exercise: Exercise) -> None:
    answer, _ = asked(exercise, notebook_of(exercise, "import os; os._exit(1)"))
    assert (answer.text, answer.cell, answer.empty) == (None, "import os; os._exit(1)", True)
    assert codes(answer.notes) == ["no-answer-line"]


def test_the_answer_to_another_exercise_is_not_this_ones(exercise: Exercise) -> None:
    answer, _ = asked(exercise, notebook_of(exercise, "%%answer other\na: 1"))
    assert (answer.text, codes(answer.notes)) == (None, ["no-answer-line"])


# -- cells that were changed ----------------------------------------------------------------------------------------


def put(index: int, **change: object) -> Change:
    return lambda cells: cells[index].update(change)


def meta(index: int, **change: object) -> Change:
    return lambda cells: cells[index]["metadata"].update(change)


def nbgrader(index: int, **change: object) -> Change:
    return lambda cells: cells[index]["metadata"]["nbgrader"].update(change)


def again(source: str, *, named: bool) -> Change:
    def change(cells: list[dict[str, Any]]) -> None:
        metadata = cells[AT]["metadata"] if named else {}
        cells.append({"cell_type": "code", "source": source, "metadata": metadata})

    return change


@pytest.mark.parametrize(
    ("change", "noted"),
    [
        (again("%%answer limit\nb: 2", named=True), ["duplicate-cell"]),
        (again("%%answer limit\nb: 2", named=False), ["duplicate-cell"]),
        (again("%%answer other\nb: 2", named=False), []),
        (nbgrader(AT, grade_id="mine"), ["renamed-cell"]),
        (put(AT, metadata={}), ["renamed-cell"]),
        (put(AT, metadata=[1]), ["renamed-cell"]),
        (nbgrader(AT, grade_id=["limit"]), ["renamed-cell"]),
        (nbgrader(AT, solution=False, points=99), ["changed-metadata"]),
        (meta(AT, tags=["nbval-skip", "nbval-ignore-output", 3]), ["changed-metadata"]),
        (meta(AT, tags={"a": 1}, collapsed=True), []),
        (put(AT, cell_type="markdown"), ["changed-type"]),
        (put(AT - 1, source="easy"), ["changed-cell"]),
        (put(AT + 1, source='print("3 of 3")'), ["changed-cell"]),
        (nbgrader(AT + 1, points=99), ["changed-metadata"]),
        (put(AT + 1, outputs=[{"output_type": "stream", "name": "stdout", "text": "passed"}]), []),
        (lambda cells: cells.pop(AT + 1), ["deleted-cell"]),
        (lambda cells: cells.append(cells[AT + 1]), ["duplicate-cell"]),
        (lambda cells: cells.reverse(), []),
    ],
)
def test_what_was_changed_is_noted_and_the_text_is_found(exercise: Exercise, change: Change, noted: list[str]) -> None:
    answer, notes = asked(exercise, notebook_of(exercise, change=change))
    assert (answer.text, codes(answer.notes)) == (TEXT, noted)
    assert notes == ()


def test_the_first_of_two_cells_counts(exercise: Exercise) -> None:
    answer, _ = asked(exercise, notebook_of(exercise, "x = 1", again("%%answer limit\nb: 2", named=False)))
    assert (answer.text, codes(answer.notes)) == ("b: 2\n", ["renamed-cell", "duplicate-cell"])


def test_cells_of_ones_own_are_said_not_to_be_run(exercise: Exercise) -> None:
    def more(*sources: str) -> dict[str, Any]:
        cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
        return notebook_of(exercise, change=lambda old: old.extend(cells))

    of_the_course = ("", " \n", 'lab.hint("other")', "lab.progress()\nlab.check('limit')", "import labkit\n")
    assert asked(exercise, more(*of_the_course)) == asked(exercise, notebook_of(exercise))
    _, notes = asked(exercise, more("print(1)", "# why\n", *of_the_course))
    assert [(one.code, one.text) for one in notes] == [("own-cells", "2 cells of your own were not run")]
    _, notes = asked(exercise, more("lab.progress() and 1"))
    assert [one.text for one in notes] == ["1 cell of your own was not run"]


def test_an_empty_file_is_said_to_be_empty(exercise: Exercise) -> None:
    _, notes = asked(exercise, b"\n")
    assert [(one.code, one.text) for one in notes] == [
        ("broken-notebook", "not a notebook that can be read: the file is empty")
    ]


def test_a_deleted_cell_leaves_the_file(exercise: Exercise) -> None:
    whole = notebook_of(exercise, change=lambda cells: cells.pop(AT))
    answer, _ = asked(exercise, whole)
    assert (answer.text, answer.empty, codes(answer.notes)) == (None, True, ["deleted-cell"])
    answer, _ = asked(exercise, whole, ("limit.yaml", b"a: 1\n"))
    assert (answer.text, answer.cell, codes(answer.notes)) == (TEXT, None, ["deleted-cell"])


def test_a_heap_of_cells_is_not_looked_through(exercise: Exercise) -> None:
    answer, notes = asked(exercise, notebook_of(exercise, change=lambda cells: cells.extend([{}] * 1_000)))
    assert (answer.text, codes(notes)) == (None, ["broken-notebook"])


def test_only_cells_that_may_begin_with_the_magic_are_read_as_ipython_does(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    from IPython.core import inputtransformer2

    class Counted(inputtransformer2.TransformerManager):
        made = 0

        def __init__(self) -> None:
            type(self).made += 1
            super().__init__()  # type: ignore[no-untyped-call]

    monkeypatch.setattr(inputtransformer2, "TransformerManager", Counted)
    heap = [{"cell_type": "code", "metadata": {}, "source": f"# {n}\n%%answer limit\na: 1\n"} for n in range(100)]
    answer, _ = asked(exercise, notebook_of(exercise, change=lambda cells: cells.extend(heap)))
    assert answer.text == TEXT
    assert Counted.made < 5


def test_a_changed_head_is_noted_once(exercise: Exercise) -> None:
    assert codes(asked(exercise, notebook_of(exercise, change=put(0, source="")))[1]) == ["changed-cell"]


def test_cells_that_are_none_are_passed_over(exercise: Exercise) -> None:
    broken: list[Any] = [
        None,
        1,
        "cell",
        [],
        {},
        {"cell_type": 1, "source": "", "metadata": {}},
        {"cell_type": "code", "source": 1},
    ]
    broken += [{"cell_type": "code", "source": {"%%answer limit": 1}}, {"cell_type": "code", "source": [[1]]}]
    answer, notes = asked(exercise, notebook_of(exercise, change=lambda cells: cells.extend(broken)))
    assert (answer.text, codes(notes)) == (TEXT, ["broken-cell"])
    assert notes[0].text.startswith("9 cells")


# -- notebooks of other forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5, 9])
def test_every_notebook_of_format_4_is_read(exercise: Exercise, minor: int) -> None:
    whole = notebook_of(exercise) | {"nbformat_minor": minor}
    for one in whole["cells"]:
        one.pop("id")
    assert asked(exercise, whole) == (Answer("limit", TEXT, CELL), ())


def test_a_notebook_of_format_3_is_read_as_one_of_4(exercise: Exercise) -> None:
    library: Any = nbformat
    old = library.convert(library.from_dict(notebook_of(exercise)), 3)
    assert old["worksheets"]
    answer, notes = asked(exercise, old)
    assert (answer.text, codes(answer.notes), codes(notes)) == (TEXT, [], ["older-notebook"])


def test_a_mark_in_front_and_other_encodings_of_json_are_read(exercise: Exercise) -> None:
    text = json.dumps(notebook_of(exercise), ensure_ascii=False)
    for encoding in ("utf-8-sig", "utf-16"):
        assert asked(exercise, text.encode(encoding))[0].text == TEXT


BROKEN = {
    "no bytes": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"cells": "\xff"}',
    "a list": b"[]",
    "a number": b"4",
    "no format": b'{"cells": []}',
    "a format that is a word": b'{"cells": [], "nbformat": "4"}',
    "a format that is a list": b'{"cells": [], "nbformat": [4]}',
    "a format below all": b'{"cells": [], "nbformat": -1}',
    "an old one of nothing": b'{"nbformat": 3}',
    "an old one of rubbish": b'{"nbformat": 3, "worksheets": [7], "metadata": []}',
    "no cells": b'{"nbformat": 4}',
    "cells that are a number": b'{"nbformat": 4, "cells": 7}',
    "a long number": b'{"nbformat": ' + b"9" * 10_000 + b"}",
    "too deep": b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_notebook_is_noted_and_the_file_counts(exercise: Exercise, name: str) -> None:
    answer, notes = asked(exercise, BROKEN[name], ("limit.yaml", b"a: 1\n"))
    assert (answer, codes(notes)) == (Answer("limit", TEXT), ["broken-notebook"])
    assert asked(exercise, BROKEN[name])[0] == Answer("limit", None, empty=True)


def test_a_newer_notebook_is_not_read(exercise: Exercise) -> None:
    answer, notes = asked(exercise, notebook_of(exercise) | {"nbformat": 5})
    assert (answer.text, codes(notes)) == (None, ["newer-notebook"])


@pytest.mark.parametrize("depth", [100, 500, 900, 980, 2000])
@pytest.mark.parametrize("where", ["nbgrader", "tags", "grade_id", "any"])
def test_metadata_may_be_as_deep_as_json_goes(exercise: Exercise, where: str, depth: int) -> None:
    changes = {
        "nbgrader": meta(AT, nbgrader="HERE"),
        "tags": meta(AT, tags=["HERE"]),
        "grade_id": nbgrader(AT, grade_id="HERE", points="HERE"),
        "any": meta(AT, any="HERE"),
    }
    data = json.dumps(notebook_of(exercise, change=changes[where])).replace('"HERE"', _json(depth)).encode()
    answer, notes = asked(exercise, data)
    assert (answer.text, codes(notes)) in [(TEXT, []), (None, ["broken-notebook"])]
    assert answer.text == TEXT or depth >= 900


def _json(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


# -- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"a: 1\r\nb: 2\r\n", b"a: 1\rb: 2\r", b"\xef\xbb\xbfa: 1\nb: 2\n"])
def test_a_file_is_read_with_any_line_ends_and_with_a_mark_in_front(exercise: Exercise, data: bytes) -> None:
    assert asked(exercise, None, ("limit.yaml", data))[0] == Answer("limit", "a: 1\nb: 2\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a: \xff", "not UTF-8 at byte 3"),
        ("a: 1".encode("utf-16"), "not UTF-8 at byte 0"),
        (b"a: \0", "NUL"),
        (b"a" * (MB + 1), "larger than 1 MB"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_text_is_noted_and_the_cell_counts(exercise: Exercise, data: bytes, why: str) -> None:
    answer, _ = asked(exercise, notebook_of(exercise), ("limit.yaml", data))
    assert (answer.text, codes(answer.notes)) == (TEXT, ["unreadable-answer"])
    assert why in answer.notes[0].text
    assert asked(exercise, None, ("limit.yaml", data))[0].empty


@pytest.mark.parametrize(
    ("source", "cell"),
    [
        ("%%answer limit\na: \0", "%%answer limit\na: \0"),
        ("%%answer limit\na: \ud800", None),
        ("%%answer limit\n" + "a" * LIMITS.answer, "%%answer limit\n" + "a" * LIMITS.answer),
    ],
)
def test_a_cell_that_no_file_could_hold_is_no_text(exercise: Exercise, source: str, cell: str | None) -> None:
    answer, _ = asked(exercise, notebook_of(exercise, source))
    assert (answer.text, answer.cell, answer.empty) == (None, cell, True)
    assert codes(answer.notes) == ["unreadable-answer"]


def test_files_of_no_exercise_are_noted_in_one_line(exercise: Exercise) -> None:
    files = [(f"{n}.yaml", b"") for n in range(9)]
    _, notes = asked(exercise, None, *files)
    assert codes(notes) == ["unknown-answer"]
    assert notes[0].text.endswith("0.yaml, 1.yaml, 2.yaml, 3.yaml, 4.yaml and 4 more")


@pytest.mark.parametrize("name", ["Limit.yaml", "limit.yml", "limit.yaml.txt"])
def test_a_file_named_nearly_as_an_answer_is_told_where_that_answer_is_lacking(exercise: Exercise, name: str) -> None:
    assert codes(asked(exercise, None, (name, TEXT.encode()))[1]) == [MISNAMED]
    _, notes = asked(exercise, notebook_of(exercise, f"%%answer limit\n{TEXT}"), (name, TEXT.encode()))
    assert "unknown-answer" in codes(notes)
    assert MISNAMED not in codes(notes)


@pytest.mark.parametrize("text", ["", " \n\t\n", None])
def test_an_answer_is_empty_where_progress_says_so(exercise: Exercise, tmp_path: Path, text: str | None) -> None:
    kept = Answers(tmp_path / "answers")
    for one in (text if text is not None else f"\n{exercise.starter}  \n\n", "a: 1"):
        path = kept.write(exercise, one)
        assert asked(exercise, None, ("limit.yaml", path.read_bytes()))[0].empty == kept.is_empty(exercise)
