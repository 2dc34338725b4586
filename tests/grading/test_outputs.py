"""What is kept of a student's outputs does nothing where it is looked at."""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace

import pytest

from labkit.grading import plugin
from labkit.grading.outputs import line, safe, text


def test_of_rich_outputs_the_text_and_pictures_are_kept() -> None:
    rich = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {"isolated": True},
        "data": {
            "text/plain": "3 of 3",
            "text/html": "<script>alert(1)</script>",
            "application/javascript": "alert(1)",
            "image/svg+xml": "<svg onload='alert(1)'/>",
            "image/png": "aGk=\n",
            "image/jpeg": "' onerror='alert(1)",
        },
    }
    assert safe(rich) == {
        "output_type": "display_data",
        "data": {"text/plain": "3 of 3", "image/png": "aGk=\n"},
        "metadata": {},
    }


@pytest.mark.parametrize("output", [{}, {"output_type": "<b>"}, {"output_type": "display_data", "data": ["x"]}])
def test_what_is_no_output_is_an_empty_one(output: dict[str, object]) -> None:
    assert safe(output) == {"output_type": "display_data", "data": {}, "metadata": {}}


def test_escape_codes_are_left_out_and_what_changes_from_run_to_run_is_not_said() -> None:
    codes = "\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m\x07\x9b"
    assert text(codes) == "red\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert text("at 0x7f00deadbeef, 127.0.0.1:40611") == "at ADDRESS, 127.0.0.1:PORT"
    assert line("a\n\n b" * 300) == ("a b" * 300)[:300]
    error = {"output_type": "error", "ename": "E\x1b[1m", "evalue": "v\n" * 999, "traceback": [codes] * 999}
    kept = safe(error)
    assert kept["ename"] == "E"
    assert len(kept["traceback"]) == 50
    assert len(kept["evalue"]) <= 300
    assert safe({"output_type": "stream", "name": "/etc", "text": "x" * 10**6})["name"] == "stdout"


def test_another_nbval_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0.12.1")
    with pytest.raises(pytest.UsageError, match=r"grading needs nbval 0\.11\.x, this is 0\.12\.1"):
        plugin.pytest_configure(SimpleNamespace())  # type: ignore[arg-type]
