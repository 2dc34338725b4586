"""How far a long work is, in a terminal, in a log and in a notebook."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labkit.show import progress, views
from labkit.show.progress import Bar, CellBar
from tests.terminal import run_in_terminal

WORK = """
import sys
from labkit.show.progress import Bar
with Bar(sys.stderr, "measuring") as bar:
    for tenth in range(11):
        bar.part(tenth / 10)
        bar.line(f"step {tenth} \\x1b[2J[bold]")
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_in_a_terminal_there_is_a_bar_and_in_the_end_the_terminal_is_as_it_was() -> None:
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    written = run_in_terminal([sys.executable, "-c", WORK], environ)
    assert "measuring" in written and "━" in written and "100%" in written
    assert "step 10" in written
    assert "\x1b[2J" not in written and "\\x1b[2J[bold]" in written, "what is said cannot steer the terminal"
    assert "\x1b[?25h" in written, "the cursor is back"
    screen = written.rpartition("\x1b[2K")[2]
    assert screen.strip() == "done"


def test_a_log_has_plain_lines_and_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.0, 1.0, 5.0, 5.0, 6.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(now)))
    stream = io.StringIO()
    with Bar(stream, "measuring") as bar:
        for tenth in range(4):
            bar.part(tenth / 10)
            bar.line(f"step {tenth}\x07")
    assert stream.getvalue() == "measuring: 0%, step 0\\x07\nmeasuring: 20%, step 2\\x07\n"


def test_a_cell_s_output_is_drawn_over_and_ends_as_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "CELL_EVERY_S", 0.0)
    shown: list[str] = []

    class Handle:
        def update(self, value: object) -> None:
            shown.append(views.text(value))

    def display(value: Any, *, display_id: bool) -> Handle:
        assert display_id
        shown.append(views.text(value))
        return Handle()

    with CellBar(display, "5 definitions") as bar:
        bar.part(0.5)
        bar.line("half")
    first, *_, half, last = shown
    assert first == last == "5 definitions"
    assert half == f"5 definitions\n{'▰' * 12}{'▱' * 12} 50%  half"


def test_a_cell_is_not_drawn_over_all_the_time() -> None:
    shown: list[object] = []

    class Handle:
        def update(self, value: object) -> None:
            shown.append(value)

    with CellBar(lambda *_, **__: Handle(), "work") as bar:
        for number in range(1000):
            bar.part(number / 1000)
    assert len(shown) < 100
