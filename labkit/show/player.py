"""The player in a terminal: a block a step, a table at the end.

A person watches a minute and a half of real commands go by; what matters must be seen in passing: the verdict first,
then the command as one would type it, then what came back, trimmed, and only for a step that is not as recorded why.
Nothing a server says can colour or break the screen: all of it is text, and control characters are spelled out. Where
there is no terminal the same blocks come as plain lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.status import Status
from rich.table import Table
from rich.text import Text

from labkit.course.notebook import Step
from labkit.course.report import AS_RECORDED, DIFFERS, FAILED, NOT_PLAYED, NOT_SHOWN, PlayReport, StepResult, Verdict
from labkit.show.plain import plain

__all__ = ["Screen", "block", "commands", "summary"]

SYMBOLS: dict[Verdict, tuple[str, str]] = {
    AS_RECORDED: ("✔", "green"),
    DIFFERS: ("≠", "yellow"),
    FAILED: ("✘", "red"),
    NOT_SHOWN: ("○", "cyan"),
}
SHOWN_LINES = 14
"""Of what came back; of a difference, twice as many."""
SHOWN_COLUMNS = 400
"""Of one line; etcd's JSON is longer than any screen."""

NO_WRAP = 4 * SHOWN_COLUMNS
"""Width where there is no terminal: a line of a log stays one line."""


class Screen:
    """The player's listener: call it with each result; it writes to *stream*."""

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        plain_width = None if stream.isatty() else NO_WRAP
        self._console = Console(
            file=stream,
            width=width or plain_width,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._section = ""
        self._status: Status | None = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back as it was."""
        self._still()

    def __call__(self, result: StepResult) -> None:
        """Show one step's block, under its section's rule when the section is new."""
        self._still()
        section = result.id.partition("/")[0]
        if section != self._section:
            self._section = section
            self._console.print(self._rule(section))
        self._console.print(block(result))

    def waiting(self, line: str) -> None:
        """Show what is being waited for: in a terminal, in place; elsewhere as a line."""
        if not self._console.is_terminal:
            self._console.print(Text(plain(line)))
        elif self._status is None:
            self._status = self._console.status(Text(plain(line)))
            self._status.start()
        else:
            self._status.update(Text(plain(line)))

    def starting(self, step: Step) -> None:
        """Show, in a terminal, which step is running."""
        if self._console.is_terminal:
            self.waiting(f"{step.id}: {step.title}")

    def summary(self, report: PlayReport) -> None:
        """Show the table at the end."""
        self._still()
        self._console.print(summary(report))

    def _still(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _rule(self, section: str) -> RenderableType:
        if self._console.is_terminal:
            return Rule(Text(section, style="bold"), align="left", style="dim")
        return Text(f"== {section} ==\n")


def block(result: StepResult) -> RenderableType:
    """One step: verdict, time, title and id; its commands; what came back; why it is not as recorded."""
    symbol, colour = SYMBOLS[result.verdict]
    head = Text.assemble(
        (f"{symbol} {result.verdict}", f"bold {colour}"),
        (f"  {result.seconds:.2f} s  ", "dim"),
        (plain(result.title), "bold"),
        (f"  {result.id}", "dim"),
    )
    parts: list[RenderableType] = [head]
    parts += [_indented(2, line, "blue") for line in commands(result.source)]
    parts += [_indented(4, line) for line in _trimmed(result.text.splitlines(), SHOWN_LINES)]
    if result.verdict != AS_RECORDED:
        parts += [_indented(2, line, colour) for line in _trimmed(result.reason.splitlines(), SHOWN_LINES)]
    for line in _trimmed(result.difference, 2 * SHOWN_LINES):
        parts.append(_indented(4, line, {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")))
    return Group(*parts, Text())


def _indented(width: int, line: str, style: str = "") -> RenderableType:
    return Padding(Text(line, style=style), (0, 0, 0, width), expand=False)


def commands(source: str) -> list[str]:
    """A cell as one would type it: magics as the shell commands they stand for, Python as it is."""
    lines = [plain(line) for line in source.strip().splitlines()]
    if lines and lines[0].startswith("%%kubectl"):
        return [f"$ {lines[0].removeprefix('%%')} <<EOF", *(f"  {line}" for line in lines[1:]), "  EOF"]
    return [_command(line) for line in lines]


def _command(line: str) -> str:
    for magic, shell in (("%kubectl ", "kubectl "), ("%etcd ", "labkit etcd "), ("!", "")):
        if line.startswith(magic):
            return f"$ {shell}{line.removeprefix(magic)}"
    return f"> {line}"


def summary(report: PlayReport) -> RenderableType:
    """The table: a row a section, a total; below it each step that is not as recorded, with its reason."""
    table = Table(title="the course, played", title_justify="left", title_style="bold")
    table.add_column("section")
    for name in ("steps", *SYMBOLS, "seconds"):
        table.add_column(name, justify="right")
    sections = dict.fromkeys(step.id.partition("/")[0] for step in report.steps)
    for section in sections:
        table.add_row(section, *_row([step for step in report.steps if step.id.startswith(f"{section}/")]))
    table.add_section()
    table.add_row("all", *_row(report.steps, report.seconds), style="bold")
    return Group(table, *_others(report), _closing(report))


def _row(steps: Iterable[StepResult], seconds: float | None = None) -> list[str]:
    there = list(steps)
    counts = [sum(step.verdict == verdict for step in there) for verdict in SYMBOLS]
    spent = sum(step.seconds for step in there) if seconds is None else seconds
    return [str(len(there)), *(str(count or "") for count in counts), f"{spent:.1f}"]


def _others(report: PlayReport) -> Iterable[Text]:
    """What is not as recorded, with its reason; steps that were not played for one and the same reason on one line."""
    others = [step for step in report.steps if step.verdict != AS_RECORDED]
    for _, group in groupby(others, lambda step: step.reason if step.reason.startswith(NOT_PLAYED) else step.id):
        first, *more = group
        symbol, colour = SYMBOLS[first.verdict]
        name = f"{symbol} {first.id}{f' and {len(more)} more' if more else ''}"
        yield Text.assemble((name, colour), f"  {plain(first.reason.partition(chr(10))[0])}")


def _closing(report: PlayReport) -> Text:
    place = f"on {report.cluster} (Kubernetes {report.version}) in {report.seconds:.1f} s"
    if report.good():
        return Text(f"Every step behaved as recorded, {place}.", style="bold green")
    return Text(f"{report.count(AS_RECORDED)} of {len(report.steps)} steps behaved as recorded, {place}.", style="bold")


def _trimmed(lines: Iterable[str], most: int) -> list[str]:
    """At most *most* lines, the last of them kept: a command's last word is often its verdict."""
    shown = [plain(line.expandtabs(4)) for line in lines]
    if len(shown) > most:
        left_out = len(shown) - (most - 2) - 1
        shown = [*shown[: most - 2], f"… {left_out} lines more", shown[-1]]
    return [line if len(line) <= SHOWN_COLUMNS else f"{line[:SHOWN_COLUMNS]}…" for line in shown]
