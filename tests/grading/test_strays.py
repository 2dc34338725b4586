"""What a program left running is found below the process that adopts it, and ended."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from labkit.grading import strays, worker
from labkit.grading.errors import GradingError
from tests.grading.doubles import SLEEPER

CODE = """
import subprocess, sys
import psutil
from labkit.grading import strays
from labkit.waiting import Seen, wait_for

quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
strays.adopt_orphans()
before = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], **quiet)
known = strays.children()
forks = '''
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
'''
subprocess.run([sys.executable, "-c", forks], check=True, **quiet)


def found():
    return [one for one in strays.children() if one not in known]


def orphans():
    return [one for one in found() if one.status() != psutil.STATUS_ZOMBIE and one.ppid() == psutil.Process().pid]


try:
    wait_for("the orphan", lambda: Seen(len(orphans()) == 1, "not there"), limit_s=20.0)
    (orphan,) = orphans()
    strays.end(found())
    assert not orphan.is_running()
    assert found() == [], found()
    assert strays.children() == known
finally:
    before.kill()
    before.wait()
"""


def test_a_program_that_left_its_parent_its_group_and_its_session_is_found_and_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr


def test_of_what_names_a_workers_folder_only_what_a_worker_starts_is_ended(tmp_path: Path) -> None:
    tail = shutil.which("tail")
    assert tail is not None
    (tmp_path / "log").touch()
    with (
        subprocess.Popen([tail, "-f", str(tmp_path / "log")], stdout=subprocess.DEVNULL) as looks,
        subprocess.Popen([*SLEEPER, str(tmp_path)]) as stray,
    ):
        known = psutil.Process(stray.pid)
        strays.end_named(tmp_path)
        lives, looked_at = known.is_running(), looks.poll() is None
        for each in (stray, looks):
            each.kill()
    assert (lives, looked_at) == (False, True)


def test_what_starts_another_while_it_is_ended_is_ended_with_it() -> None:
    with subprocess.Popen(SLEEPER) as one, subprocess.Popen(SLEEPER) as other:
        known = [psutil.Process(one.pid), psutil.Process(other.pid)]
        turns = iter([known[:1], known[1:], []])
        strays.end_found(lambda: next(turns))
        live = [each.is_running() for each in known]
        for each in (one, other):
            each.kill()
    assert live == [False, False]


def test_a_folder_of_slots_that_somebody_else_can_write_in_is_not_used(tmp_path: Path) -> None:
    with worker._slot(tmp_path / "slots") as first, worker._slot(tmp_path / "slots") as second:
        assert (first, second) == (1, 2)
    (tmp_path / "slots").chmod(0o777)
    with pytest.raises(GradingError, match="only this user writes in"), worker._slot(tmp_path / "slots"):
        pass
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(GradingError, match="only this user writes in"), worker._slot(tmp_path / "link"):
        pass
