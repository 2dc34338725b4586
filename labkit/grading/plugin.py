"""A pytest plugin for graded notebooks only (``-p labkit.grading.plugin``): nbval with a kernel that is not trusted.

It puts ``kernels.GradedKernel`` in the place of nbval's kernel class; once that is lost, the notebook's other cells are
not run. What came of each cell is written down after each, for the process that started this one, which may see it die.
Only nbval 0.11 is known to work so; other versions are refused.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import nbval.plugin
import pytest

from labkit.grading.kernels import GradedKernel, KernelEnded, Nursery
from labkit.grading.outputs import line, safe
from labkit.languages import worded

NBVAL = "0.11."
_ODD = worded("its messages cannot be understood")
_RECORD = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labkit")
    group.addoption("--labkit-record", type=Path, help="folder for what came of each notebook")
    group.addoption("--labkit-nursery", type=Path, help="file with the argv of labkit.grading.nursery, as JSON")
    group.addoption("--labkit-output-limit", type=int, default=GradedKernel.output_limit, help="bytes a cell may send")


def pytest_configure(config: pytest.Config) -> None:
    version = importlib.metadata.version("nbval")
    if not version.startswith(NBVAL):
        raise pytest.UsageError(f"grading needs nbval {NBVAL}x, this is {version}: pip install 'nbval>=0.11,<0.12'")
    record: Path = config.getoption("--labkit-record")
    argv = json.loads(config.getoption("--labkit-nursery").read_text(encoding="utf-8"))
    there = [Nursery(argv, record / "kernel.log")]  # it loads while pytest does

    def nursery() -> Nursery:
        there[-1].clear()
        if not there[-1].lives():
            there.append(Nursery(argv, record / "kernel.log"))
        return there[-1]

    def end() -> None:
        there[-1].kill()

    GradedKernel.output_limit = config.getoption("--labkit-output-limit")
    GradedKernel.nursery = staticmethod(nursery)
    config.add_cleanup(end)
    nbval.plugin.RunningKernel = GradedKernel
    config.stash[_RECORD] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    if getattr(item.parent.kernel, "ended", None) is not None:
        pytest.skip("the kernel is gone")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
        _write_down(item, call)
    return report


def _write_down(item: Any, call: pytest.CallInfo[None]) -> None:
    try:
        status, words, said = _came_of(item, call)
        kept = [safe(one) for one in item.test_outputs or ()] if status in ("passed", "failed") else []
    except Exception:  # whatever a student's process can send; the notebooks after this one go on
        status, words, said, kept = "failed", _ODD, "", []
    record = item.config.stash[_RECORD].setdefault(str(item.path), {"cells": [], "outputs": {}})
    name = item.cell.metadata.get("nbgrader", {}).get("grade_id", item.cell.get("id", item.name))
    record["cells"].append({"grade_id": name, "status": status, "words": words, "said": said})
    record["outputs"][item.cell.id] = kept
    path = item.config.getoption("--labkit-record") / f"{item.path.stem}.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record), encoding="utf-8")
    new.replace(path)


def _came_of(item: Any, call: pytest.CallInfo[None]) -> tuple[str, str, str]:
    """A cell's status, our words and what was said, by what its run raised, or by how its kernel was lost."""
    error = call.excinfo.value if call.excinfo is not None else None
    lost = error if isinstance(error, KernelEnded) else getattr(item.parent.kernel, "ended", None)
    first = str(item.path) not in item.config.stash[_RECORD]
    if isinstance(error, pytest.skip.Exception) or (call.when == "setup" and not first):
        return "not-run", worded("the kernel was lost before"), ""
    if lost is not None:
        return lost.status, lost.words, lost.said
    return ("failed", *_complaint(item, error)) if error is not None else ("passed", "", "")


def _complaint(item: Any, error: BaseException) -> tuple[str, str]:
    for output in item.test_outputs or ():
        if output.output_type == "error":
            return "", line(f"{output.ename}: {output.evalue}")
    if isinstance(error, nbval.plugin.NbCellError):
        return worded("its output is not what the instructor's answer brings"), ""
    return _ODD, ""
