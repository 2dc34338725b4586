"""How far a long work is: a bar in a terminal, now and then a line in a log, an output that changes in a notebook.

Whoever does the work tells two things, in words what is being done (``line``) and as a number how much of it is done
(``part``, 0.0 to 1.0). In a terminal both are one line that is drawn over and over and taken away in the end. A file or
a pipe cannot be drawn over, so there a line comes at most every few seconds. In a notebook the output is replaced by
its neutral title in the end; what is recorded of it is that title too, since a record keeps outputs as they first came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

from labkit.show.document import Document, Note
from labkit.show.plain import plain

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Bar", "CellBar", "counting"]

T = TypeVar("T")

LOG_EVERY_S = 5.0
CELL_EVERY_S = 0.2
BLOCKS = 24


class Bar:
    """A bar on *stream*, for the time of a ``with`` block; *what* stands before it."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream, self._what = stream, what
        self._drawn: Progress | None = None
        self._part = 0.0
        self._told = -LOG_EVERY_S

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._drawn = _drawn(self._stream)
            self._task = self._drawn.add_task(self._what, total=1.0, doing="")
            self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away: the terminal is as it was."""
        if self._drawn is not None:
            self._drawn.stop()

    def line(self, text: str) -> None:
        """Say what is being done."""
        if self._drawn is not None:
            self._drawn.update(self._task, doing=plain(text))
        elif time.monotonic() - self._told >= LOG_EVERY_S:
            self._told = time.monotonic()
            print(f"{self._what}: {self._part:.0%}, {plain(text)}", file=self._stream, flush=True)

    def part(self, done: float) -> None:
        """Say how much is done."""
        self._part = done
        if self._drawn is not None:
            self._drawn.update(self._task, completed=done)


@contextmanager
def counting(stream: TextIO, what: str, total: int | None) -> Iterator[Callable[[Iterable[T]], Iterable[T]]]:
    """A bar that goes on with the things taken from what is given to ``counted``; none where *stream* is no terminal.

    *total* is how many will come, None where that is not known.
    """
    if not stream.isatty():
        yield lambda things: things
        return
    with Bar(stream, what) as bar:

        def counted(things: Iterable[T]) -> Iterable[T]:
            for number, one in enumerate(things, 1):
                yield one
                bar.line(f"{number:,} of {total:,}" if total else f"{number:,}")
                bar.part(number / total if total else 0.0)

        yield counted


def _drawn(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    doing = TextColumn("{task.fields[doing]}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    columns = (what, BarColumn(20), TaskProgressColumn(), TimeElapsedColumn(), doing)
    return Progress(*columns, console=console, transient=True, expand=True)


class CellBar:
    """The same as an output of a notebook's cell; *display* is IPython's."""

    def __init__(self, display: Any, what: str) -> None:
        self._what = what
        self._doing, self._part, self._shown = "", 0.0, time.monotonic()
        self._handle = display(Document(what), display_id=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.update(Document(self._what))

    def line(self, text: str) -> None:
        """Say what is being done."""
        self._doing = text
        self._show()

    def part(self, done: float) -> None:
        """Say how much is done."""
        self._part = done
        self._show()

    def _show(self) -> None:
        if time.monotonic() - self._shown < CELL_EVERY_S:
            return
        self._shown = time.monotonic()
        full = round(self._part * BLOCKS)
        bar = "▰" * full + "▱" * (BLOCKS - full)
        self._handle.update(Document(self._what, (Note(f"{bar} {self._part:.0%}  {self._doing}"),)))
