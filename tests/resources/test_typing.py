"""A type checker sees the types of fields."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_mypy_sees_the_types_of_fields(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "tests/typing/resources.py"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
