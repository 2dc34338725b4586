"""The player compares as nbval does: the same outputs are equal, the same are not."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbval.plugin import IPyNbCell, coalesce_streams, get_sanitize_patterns

from labkit.course import sanitize
from labkit.course.outputs import comparable, merged, text

from .building import printed

Outputs = list[dict[str, Any]]


def displayed(kind: str = "execute_result", **data: Any) -> dict[str, Any]:
    return {"output_type": kind, "metadata": {}, "data": {key.replace("_", "/"): value for key, value in data.items()}}


def error(name: str, value: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": [f"{name}: {value}"]}


PAIRS: list[tuple[str, Outputs, Outputs, bool]] = [
    ("nothing", [], [], True),
    ("the same text", [printed("a\n")], [printed("a\n")], True),
    ("another text", [printed("a\n")], [printed("b\n")], False),
    ("text in parts", [printed("a\n"), printed("b\n")], [printed("a\nb\n")], True),
    (
        "text in parts around a value",
        [printed("a"), displayed(text_plain="1"), printed("b")],
        [printed("ab"), displayed(text_plain="1")],
        True,
    ),
    ("an age", [printed("x   1s\n")], [printed("x   2s\n")], True),
    ("another stream", [printed("a")], [printed("a", "stderr")], False),
    ("a missing output", [printed("a")], [], False),
    ("one more output", [], [displayed(text_plain="1")], False),
    ("an overwritten line", [printed("50 %\r100 %\n")], [printed("100 %\n")], True),
    ("lines of a terminal", [printed("a\r\n")], [printed("a\n")], True),
    (
        "two values in another order",
        [displayed(text_plain="1"), displayed(text_plain="2")],
        [displayed(text_plain="2"), displayed(text_plain="1")],
        False,
    ),
    (
        "a value shown instead of returned",
        [displayed(text_plain="1")],
        [displayed("display_data", text_plain="1")],
        True,
    ),
    (
        "a picture",
        [displayed(image_png="AAAA", text_plain="<Figure>")],
        [displayed(image_png="BBBB", text_plain="<Figure>")],
        True,
    ),
    (
        "a picture that is not there",
        [displayed(image_png="AAAA", text_plain="<Figure>")],
        [displayed(text_plain="<Figure>")],
        True,
    ),
    ("HTML with a time", [displayed(text_html="<td>1.0 s</td>")], [displayed(text_html="<td>9.9 s</td>")], True),
    ("other HTML", [displayed(text_html="<td>a</td>")], [displayed(text_html="<td>b</td>")], False),
    ("HTML and none", [displayed(text_html="<b>", text_plain="b")], [displayed(text_plain="b")], False),
    ("the same error", [error("ValueError", "x")], [error("ValueError", "x")], True),
    ("another error", [error("ValueError", "x")], [error("KeyError", "x")], False),
    ("another message", [error("ValueError", "x")], [error("ValueError", "y")], False),
]


def nbval_says(one: Outputs, other: Outputs) -> bool:
    """nbval's own comparison, without its pytest items."""
    cell = IPyNbCell.__new__(IPyNbCell)
    skipped = (
        "metadata",
        "traceback",
        "prompt_number",
        "output_type",
        "name",
        "execution_count",
        "application/vnd.jupyter.widget-view+json",
        "image/png",
        "image/jpeg",
    )
    patterns = dict(get_sanitize_patterns(sanitize.CONFIG.read_text(encoding="ascii")))
    cell.parent = SimpleNamespace(skip_compare=skipped, sanitize_patterns=patterns)
    cell.colors = SimpleNamespace(FAIL="", ENDC="", OKBLUE="")
    cell.config = SimpleNamespace(option=SimpleNamespace(verbose=0), getoption=lambda *_: 0)
    cell.format_output_compare = lambda *_: None
    nodes = [coalesce_streams([nbformat.from_dict(o) for o in copy.deepcopy(outputs)]) for outputs in (other, one)]
    return bool(cell.compare_outputs(*nodes))


@pytest.mark.parametrize(("what", "one", "other", "equal"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_outputs_are_equal_when_nbval_says_so(what: str, one: Outputs, other: Outputs, equal: bool) -> None:
    assert (comparable(one) == comparable(other)) is equal, what
    assert nbval_says(one, other) is equal, what


def test_merging_leaves_the_given_outputs_alone() -> None:
    given: list[Mapping[str, Any]] = [printed("a"), printed("b")]
    assert [one["text"] for one in merged(given)] == ["ab"]
    assert [one["text"] for one in given] == ["a", "b"]


def test_lines_kept_as_a_list_are_read_as_text() -> None:
    kept = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}
    assert comparable([kept]) == {"stdout": ("a\nb\n",)}
    assert comparable([displayed(text_html=["<b>", "</b>"])]) == {"text/html": ("<b></b>",)}


def test_a_person_reads_streams_values_and_the_last_line_of_an_error() -> None:
    outputs = [printed("one\n"), displayed(text_plain="two"), displayed(text_html="<b>"), error("E", "three")]
    assert text(outputs) == "one\ntwo\n(text/html)\nE: three"
