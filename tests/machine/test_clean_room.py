"""A student's first minute: the kit installed from its wheels, in a room with nothing else in it.

The room is bubblewrap's: a file system of its own with Python, the system's programs, and a home that holds a student
edition and the packages it wants; no repository, no Go, no network but its own loopback, a process table of its own.
Run by root (CI) the student is another user; run by anybody else, it is that person, in a user namespace. Where
bubblewrap does not work there is no such room: the tests are skipped, but fail where ``CI`` is set.
The package index is used once, before, to fill a folder in ``build/`` that later runs use again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labkit.course.replacing import replacing
from labkit.release.requirements import requirements
from tests.machine import built_wheels, clean_room

ROOT = built_wheels.CHECKOUT.root
HOME = "/home/student"
STUDENT = 61_234
GOAL_S = 60.0
"""From the beginning of the installation to the first refusal, on a machine with two cores and nothing else to do."""


@dataclass(frozen=True)
class Step:
    """What a command of the student's came to; *at*: seconds from the beginning of the first one to the end of it;
    *cpu*: what all of them have used of the processors until then (the started cluster has not been waited for)."""

    code: int
    said: str
    seconds: float
    at: float
    cpu: float


@dataclass(frozen=True)
class Day:
    """All of it: what the *room* was like, and the *steps* by their names."""

    room: dict[str, Any]
    steps: dict[str, Step]


def _wheelhouse() -> Path:
    """The packages of the edition, downloaded whole once for these versions and this Python."""
    pins = requirements(ROOT, ())
    digest = hashlib.sha256(f"{sys.version}{sysconfig.get_platform()}{pins}".encode()).hexdigest()[:16]
    folder = ROOT / "build" / "clean-room" / digest
    if not folder.is_dir():
        with replacing(folder) as new:
            new.mkdir()
            listed = new / "requirements.txt"
            listed.write_text(pins, encoding="utf-8")
            argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                    "--disable-pip-version-check", "--dest", str(new), "-r", str(listed)]  # fmt: skip
            done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=500)
            assert done.returncode == 0, done.stderr
    return folder


def _folders_above(path: Path) -> Iterator[str]:
    """bubblewrap makes them for root alone, unless it is told."""
    for folder in reversed(path.parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(folder))


def _room(home: Path) -> tuple[str, ...]:
    """The command before the student's own."""
    python = Path(sys.base_prefix).resolve()
    argv = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc",
            "--unshare-uts", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr",
            "--ro-bind", "/etc", "/etc"]  # fmt: skip
    for name in ("/bin", "/sbin", "/lib", "/lib64"):
        path = Path(name)
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            argv += ["--ro-bind", name, name]
    if not python.is_relative_to("/usr"):
        argv += _folders_above(python)
        argv += ["--ro-bind", str(python), str(python)]
    for name in ("/usr/bin/go", "/usr/bin/kubectl"):
        if Path(name).exists():
            argv += ["--ro-bind", "/dev/null", name]
    argv += [*_folders_above(Path(HOME)), "--bind", str(home), HOME, "--chdir", HOME, "--clearenv"]
    for name, value in {"HOME": HOME, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}.items():
        argv += ["--setenv", name, value]
    if os.geteuid() != 0:
        return (*argv, "--unshare-user", "--")
    return (*argv, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--",
            "setpriv", f"--reuid={STUDENT}", f"--regid={STUDENT}", "--clear-groups", "--no-new-privs")  # fmt: skip


def _expect_room(home: Path) -> None:
    try:
        done = subprocess.run([*_room(home), "true"], capture_output=True, text=True, check=False, timeout=60)
        trouble = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        trouble = str(error)
    if trouble and "CI" in os.environ:
        pytest.fail(f"there is no clean room here: {trouble}")
    if trouble:
        pytest.skip(f"no clean room without bubblewrap and namespaces: {trouble}")


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """The student's steps, done once."""
    if sys.platform != "linux":
        pytest.skip("bubblewrap is for Linux")
    home = tmp_path_factory.mktemp("clean-room") / "student"
    home.mkdir()
    _expect_room(home)
    built_wheels.edition(home / "edition")
    shutil.copytree(_wheelhouse(), home / "wheelhouse", copy_function=os.link)
    shutil.copy(Path(clean_room.__file__), home / "student.py")
    if os.geteuid() == 0:
        for path in (home, *(path for path in home.rglob("*") if path.parent != home / "wheelhouse")):
            os.chown(path, STUDENT, STUDENT)
    python = Path(sys.base_prefix).resolve() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    argv = [*_room(home), str(python), "student.py", str(ROOT)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    first, *lines = (json.loads(line) for line in done.stdout.splitlines())
    yield Day(first["room"], {line.pop("step"): Step(**line) for line in lines})
    shutil.rmtree(home)


def test_the_room_has_no_repository_no_go_no_network_and_no_root(day: Day) -> None:
    uid = STUDENT if os.geteuid() == 0 else os.geteuid()
    assert day.room == {"uid": uid, "networks": ["lo"], "go": None, "kubectl": None, "repository": False}


@pytest.mark.parametrize(
    "name",
    ["environment", "install", "doctor", "start", "define", "established", "namespace", "notebook", "stop", "course"],
)
def test_a_step_of_the_first_day_succeeds(day: Day, name: str) -> None:
    step = day.steps[name]
    assert step.code == 0, step.said


def test_the_doctor_of_an_installed_labkit_misses_nothing(day: Day) -> None:
    said = day.steps["doctor"].said
    assert said.splitlines()[-1] == "nothing that is needed is missing"
    assert "that labkit asks for" in said
    assert "/env/lib/" in next(line for line in said.splitlines() if "control plane" in line)


def test_the_first_wrong_manifest_is_refused_by_the_server_and_the_time_to_it_is_told(
    day: Day, record_property: Callable[[str, object], None]
) -> None:
    refusal, trace = day.steps["refusal"], day.steps["trace"]
    assert refusal.code == 1
    assert 'The Colis "invalide" is invalid:' in refusal.said
    assert "refused" in trace.said
    begin, names = day.steps["environment"], ("install", "doctor", "start", "refusal")
    parts = ", ".join(f"{name} {day.steps[name].seconds:.1f}" for name in names)
    told = f"clean room: from the installation to the first refusal, goal {GOAL_S:.0f} s ({parts}; "
    told += f"{refusal.cpu - begin.cpu:.1f} s of one processor)"
    record_property(told, f"{refusal.at - begin.at:8.1f} s")


def test_messages_in_french_come_along(day: Day) -> None:
    assert "cluster embarqué\N{NO-BREAK SPACE}: arrêté" in day.steps["stop"].said


def test_the_course_lies_in_the_package_and_what_needs_the_repository_says_so(day: Day) -> None:
    assert day.steps["course"].said.strip().endswith("site-packages/labkit/handout")
    record = day.steps["record"]
    assert record.code == 1
    assert "labkit was not imported from a checkout of its repository" in record.said
    assert "clone the repository" in record.said
