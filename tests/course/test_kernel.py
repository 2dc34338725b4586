"""A kernel's cells are values; a death is noticed at once."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.course.kernel import CourseKernel, KernelDiedError
from labkit.course.outputs import text
from labkit.errors import CourseError
from labkit.waiting import Seen, wait_for


@pytest.fixture
def kernel(tmp_path: Path, no_kernel_folder_left: Path) -> Iterator[CourseKernel]:
    assert no_kernel_folder_left.is_dir()
    one = CourseKernel(cwd=tmp_path, environ={"COURSE_TEST": "told"})
    yield one
    one.stop()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def pid_of(kernel: CourseKernel) -> int:
    return int(text(kernel.run("import os; os.getpid()").outputs))


def test_a_cell_brings_its_outputs_in_order(kernel: CourseKernel, tmp_path: Path) -> None:
    run = kernel.run(
        "import os, sys\nprint(os.environ['COURSE_TEST'], os.getcwd())\nprint('e', file=sys.stderr)\n1 + 1"
    )
    kinds = [(output["output_type"], output.get("name")) for output in run.outputs]
    assert kinds[0] == ("stream", "stdout") and ("stream", "stderr") in kinds and kinds[-1] == ("execute_result", None)
    assert run.outputs[0]["text"] == f"told {tmp_path}\n"
    assert run.outputs[-1]["data"] == {"text/plain": "2"}
    assert run.error is None and 0 < run.seconds < 30


def test_cells_share_their_variables_and_an_error_is_an_output(kernel: CourseKernel) -> None:
    kernel.run("a = 3")
    run = kernel.run("print(a)\n1 / 0")
    assert run.error == "ZeroDivisionError: division by zero"
    assert text(run.outputs) == "3\nZeroDivisionError: division by zero"
    assert text(kernel.run("a").outputs) == "3"


def test_a_cell_cannot_ask_the_person(kernel: CourseKernel) -> None:
    assert (kernel.run("input()").error or "").startswith("StdinNotImplementedError")


def test_a_cell_cannot_take_back_its_output(kernel: CourseKernel) -> None:
    with pytest.raises(CourseError, match="clears its output"):
        kernel.run("from IPython.display import clear_output\nclear_output()")


def test_what_is_preloaded_shows_nothing_and_leaves_no_name(kernel: CourseKernel) -> None:
    kernel.preload("import fractions as _; print('loud'); del _")
    run = kernel.run("import sys\nprint('fractions' in sys.modules)")
    assert text(run.outputs) == "True"


@pytest.mark.parametrize("how", ["import os; os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_death_in_a_cell_is_noticed_at_once(kernel: CourseKernel, how: str) -> None:
    kernel.wait_ready()
    began = time.monotonic()
    with pytest.raises(KernelDiedError, match="the kernel died"):
        kernel.run(how)
    assert time.monotonic() - began < 30, "a cell may take longer than this"
    with pytest.raises(KernelDiedError, match="the kernel died"):
        kernel.run("1")


def test_a_kernel_that_dies_before_its_first_cell_did_not_start(kernel: CourseKernel) -> None:
    kernel.preload("import os; os._exit(1)")
    with pytest.raises(KernelDiedError):
        kernel.run("1")


def test_how_a_kernel_ended_is_told(kernel: CourseKernel) -> None:
    with pytest.raises(KernelDiedError, match=r"the kernel died: .* s into the cell, killed by SIGSEGV"):
        kernel.run("import ctypes; ctypes.string_at(0)")


def test_why_a_kernel_did_not_start_is_told(tmp_path: Path, no_kernel_folder_left: Path) -> None:
    (tmp_path / "ipykernel_launcher.py").write_text("raise SystemExit('no kernel today')", encoding="utf-8")
    kernel = CourseKernel(cwd=no_kernel_folder_left, environ={"PYTHONPATH": str(tmp_path)})
    try:
        with pytest.raises(KernelDiedError, match="the kernel did not start: exit status 1: no kernel today"):
            kernel.run("1")
    finally:
        kernel.stop()


def test_a_folder_too_long_for_a_socket_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 80)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    kernel = CourseKernel(cwd=tmp_path, environ={})
    try:
        assert text(kernel.run("1").outputs) == "1"
    finally:
        kernel.stop()
    assert list(long.iterdir()) == []


def test_a_kernel_that_cannot_be_started_leaves_nothing(no_kernel_folder_left: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        CourseKernel(cwd=no_kernel_folder_left / "none", environ={})
    assert list(no_kernel_folder_left.iterdir()) == []


def test_the_kernel_is_the_running_python(kernel: CourseKernel) -> None:
    assert text(kernel.run("import sys; sys.executable").outputs) == repr(sys.executable)


def test_a_cell_that_does_not_end_is_interrupted(kernel: CourseKernel) -> None:
    kernel.wait_ready()
    with pytest.raises(CourseError, match=r"still running after 0\.5 s"):
        kernel.run("import time\nwhile True: time.sleep(0.05)", limit_s=0.5)
    assert text(kernel.run("'again'").outputs) == "'again'"


def test_stopping_ends_the_process_whatever_it_does_and_can_be_repeated(kernel: CourseKernel) -> None:
    pid = pid_of(kernel)
    kernel.run("import signal; [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM)]")
    kernel.stop()
    kernel.stop()
    wait_for("the kernel to be gone", lambda: Seen(gone(pid), "alive"), limit_s=5)


def test_the_kernel_is_out_of_reach_of_the_terminals_interrupt(kernel: CourseKernel) -> None:
    assert os.getpgid(pid_of(kernel)) != os.getpgid(0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
