"""The seam to the operating system: children apart, locks, exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from labkit.cluster import system
from labkit.errors import WaitTimeout
from tests.cluster.helpers import alive, end, eventually, line_of, python

LOCKED = """
import sys
from pathlib import Path
from labkit.cluster.system import exclusive
with exclusive(Path(sys.argv[1]), what="the lock", limit_s=5):
    print("locked", flush=True)
    input()
"""


def test_a_lock_excludes_another_process_and_goes_with_it(tmp_path: Path) -> None:
    holder = python(LOCKED, tmp_path / "lock")
    try:
        assert line_of(holder) == "locked"
        with (
            pytest.raises(WaitTimeout, match="another process holds the lock"),
            system.exclusive(tmp_path / "lock", what="the lock", limit_s=0.2),
        ):
            pytest.fail("two hold it")
    finally:
        end(holder)
    with system.exclusive(tmp_path / "lock", what="the lock", limit_s=5):
        pass


@pytest.mark.parametrize(("how", "own_session"), [(system.apart, True), (system.aside, False)])
def test_a_child_does_not_get_the_terminals_interrupt(how: Callable[[], dict[str, Any]], own_session: bool) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, **how())
    try:
        assert os.getpgid(child.pid) == child.pid != os.getpgid(0)
        assert (os.getsid(child.pid) == child.pid) is own_session
    finally:
        child.kill()
        child.communicate()


def _children(pid: int) -> list[int]:
    """By parent alone: psutil's ``children`` wants a later start time too, and a machine's clock can go back."""
    return [one.pid for one in psutil.process_iter(["ppid"]) if one.info["ppid"] == pid]


@pytest.mark.parametrize("how", [system.apart, system.aside])
def test_a_group_is_ended_with_its_grandchildren(how: Callable[[], dict[str, Any]]) -> None:
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE).wait()"
    child = subprocess.Popen([sys.executable, "-c", code], **how())
    try:
        eventually("a grandchild", lambda: bool(_children(child.pid)))
        (grandchild,) = _children(child.pid)
    finally:
        system.kill_group(child)
        child.wait()
    eventually("the grandchild to end", lambda: not alive(grandchild))
    system.kill_group(child)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit status 0"),
        (3, "exit status 3"),
        (-9, "killed by SIGKILL"),
        (-15, "killed by SIGTERM"),
        (-99, "killed by signal 99"),
    ],
)
def test_an_exit_status_in_words(status: int, words: str) -> None:
    assert system.describe_exit(status) == words


def test_a_look_at_a_process_leaves_it_as_it_is() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert system.alive(child.pid)
        assert child.poll() is None
    finally:
        child.kill()
        child.communicate()
    assert not system.alive(child.pid)


def test_a_variable_is_set_whatever_its_value_holds(tmp_path: Path) -> None:
    value = """a 'b' "c" $d"""
    shown = f'{system.assignment("ONE", value)}; {system.path_begins_with(tmp_path)}; echo "$ONE|$PATH"'
    done = subprocess.run(["/bin/sh", "-c", shown], env={"PATH": "/bin"}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{value}|{tmp_path}:/bin\n"


def test_a_powershell_doubles_the_quotes_of_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert system.assignment("ONE", "it's") == "$env:ONE = 'it''s'"
    assert system.path_begins_with(Path("bin")) == "$env:PATH = 'bin;' + $env:PATH"
