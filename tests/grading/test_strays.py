"""What a program left running is found below the process that adopts it, and ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import subprocess, sys
from labkit.grading import strays
from labkit.waiting import Seen, wait_for

strays.adopt_orphans()
before = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
known = strays.children()
forks = '''
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
'''
subprocess.run([sys.executable, "-c", forks], check=True)


def found():
    return [one for one in strays.children() if one not in known]


wait_for("the orphan", lambda: Seen(len(found()) == 1, "not there"), limit_s=20.0)
(orphan,) = found()
strays.end(found())
assert not orphan.is_running()
assert found() == []
assert strays.children() == known
before.kill()
before.wait()
"""


def test_a_program_that_left_its_parent_its_group_and_its_session_is_found_and_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr
