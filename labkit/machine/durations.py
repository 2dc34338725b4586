"""A pytest plugin: the table of times that ``make test`` prints above pytest's summary.

It shows the checks that ran before pytest (from the file the environment names) and how pytest's own time was shared
among the rooms of the tests. With several workers the rooms add up to more than the time that passed. What a test has
measured for people (``record_property``) stands below.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from labkit.machine.verify import PARTS_FILE, CheckTime

__all__ = ["room_of", "table"]


def room_of(node_id: str) -> str:
    """The room a test belongs to: "tests/cluster" of "tests/cluster/test_x.py::test_y", "notebooks" of a notebook's."""
    parts = PurePosixPath(node_id.partition("::")[0]).parts
    if parts[:1] == ("tests",) and len(parts) > 2:
        return f"tests/{parts[1]}"
    return parts[0] if parts else node_id


def table(checks: Sequence[CheckTime], rooms: dict[str, float]) -> list[str]:
    """The lines: each check with its time and whether it passed, then each room of the tests with its time."""
    lines = [f"{check.seconds:8.1f} s  {'passed' if check.passed else 'FAILED'}  {check.name}" for check in checks]
    lines += [f"{seconds:8.1f} s  pytest  {room}" for room, seconds in sorted(rooms.items())]
    return lines


def _checks(path: str | None) -> list[CheckTime]:
    if not path:
        return []
    return [CheckTime(**check) for check in json.loads(Path(path).read_text(encoding="utf-8"))["checks"]]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Called once, in the process that prints."""
    rooms: dict[str, float] = {}
    measured: list[str] = []
    reports: Iterable[Any] = (report for found in terminalreporter.stats.values() for report in found)
    for report in reports:
        if hasattr(report, "duration") and hasattr(report, "nodeid"):
            room = room_of(report.nodeid)
            rooms[room] = rooms.get(room, 0.0) + report.duration
            if report.when == "call":
                measured += [f"{value}  {name}" for name, value in report.user_properties]
    checks = _checks(os.environ.get(PARTS_FILE))
    terminalreporter.section("times")
    for line in [*table(checks, rooms), *measured]:
        terminalreporter.write_line(line)
    failed = [check.name for check in checks if not check.passed]
    if failed:
        terminalreporter.write_line(f"FAILED before pytest: {', '.join(failed)} (its output is above)", red=True)
