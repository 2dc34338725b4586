"""What importing costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

MODULES = ["cleanup", "cost", "growth", "load", "definition", "discovery", "fields", "migration", "reading", "stored"]
HEAVY = {"pandas", "matplotlib", "IPython", "kubernetes", "rich"}


@pytest.mark.parametrize(
    "statement",
    [
        f"from labkit.observe import {', '.join(MODULES)}",
        "from labkit.show import views, frames, plots, ipython",
    ],
)
def test_importing_loads_neither_pandas_nor_matplotlib_nor_the_client(statement: str) -> None:
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(json.loads(done.stdout)) == set()
