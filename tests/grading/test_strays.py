"""What a program left running is found below the process that adopts it, and ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
