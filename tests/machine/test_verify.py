"""The run of all checks: every one runs, one failure is enough, and the table of times is above pytest's summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from labkit.machine.durations import room_of, table
from labkit.machine.verify import PARTS_FILE, Check, CheckTime, run_check


def test_a_check_passes_by_its_exit_code(tmp_path: Path) -> None:
    good = run_check(Check("good", (sys.executable, "-c", ""), tmp_path))
    bad = run_check(Check("bad", (sys.executable, "-c", "raise SystemExit(3)"), tmp_path))
    absent = run_check(Check("absent", (str(tmp_path / "nothing"),), tmp_path))
    assert (good.passed, bad.passed, absent.passed) == (True, False, False)


def test_a_test_belongs_to_a_room() -> None:
    assert room_of("tests/cluster/test_x.py::test_y[a::b]") == "tests/cluster"
    assert room_of("tests/test_cli.py::test_y") == "tests"
    assert room_of("notebooks/04-cel.ipynb::Cell 3") == "notebooks"


def test_the_table_names_failures() -> None:
    lines = table([CheckTime("mypy", 2.0, False)], {"tests/b": 1.0, "notebooks": 61.25})
    assert [line.split() for line in lines] == [
        ["2.0", "s", "FAILED", "mypy"],
        ["61.2", "s", "pytest", "notebooks"],
        ["1.0", "s", "pytest", "tests/b"],
    ]


def test_the_table_is_printed_above_the_last_line(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "def test_one(record_property):\n    record_property('from here to there', '3.2 s')\n", encoding="utf-8"
    )
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"checks": [{"name": "ruff", "seconds": 0.4, "passed": False}]}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "labkit.machine.durations", "-n", "2", "--rootdir", str(tmp_path), "-c",
         os.devnull, str(tmp_path)],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, PARTS_FILE: str(times)},
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert "1 passed" in lines[-1]
    before = "\n".join(lines[:-1])
    assert "0.4 s  FAILED  ruff" in before
    assert "FAILED before pytest: ruff" in before
    assert "pytest  test_one.py" in before
    assert "\n3.2 s  from here to there\n" in before
