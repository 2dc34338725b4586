"""What a student's machine runs does not assume POSIX: read in the source, and run with POSIX hidden."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from labkit.cluster import tools
from tests.not_posix import MODULES, NAMES

ROOT = Path(__file__).parent.parent

AUTHORS = (
    "labkit.cli_grading",
    "labkit.cli_site",
    "labkit.grading",
    "labkit.machine",
    "labkit.release",
    "labkit.scan",
    "labkit.site",
    "labkit.translating",
)
"""Rooms for authors and instructors. Of ``labkit.machine`` is a student's what students' modules import."""

EXEMPT = {
    "labkit.cluster.system": "the place for what differs between systems",
    "labkit.machine.checkout": "where a checkout's own .venv has its programs",
    "labkit.machine.control_plane": "builds in a checkout: make setup, for Linux and macOS",
    "labkit.machine.jobs": "runs the steps of make setup, for Linux and macOS",
}

KEYWORDS = {"start_new_session", "process_group", "preexec_fn", "pass_fds"}
"""Of ``subprocess.Popen``, for POSIX only."""

ELSEWHERE = {("os", "kill"), ("os", "name"), ("sys", "platform")}
"""What means another thing on Windows (``os.kill`` with 0 sends Ctrl-C), and how to branch on that."""

WITHOUT_CLUSTER = [
    "show",
    "trace",
    "course/test_manifests.py",
    "course/test_notebook.py",
    "course/test_outputs.py",
    "course/test_sanitize.py",
    "test_errors.py",
    "test_languages.py",
    "test_waiting.py",
    "test_magics.py",
]
"""Tests run once more with POSIX hidden; those that ask for a cluster are left out. ``resources`` is pure Python
without a call of the system, and has a thousand tests. Tests that start kernels ask POSIX itself what became of them.
"""


def _students() -> set[str]:
    graph = grimp.build_graph("labkit")
    found = {name for name in graph.modules if not _within(name, AUTHORS)}
    new = found
    while new:
        imported = {other for name in new for other in graph.find_modules_directly_imported_by(name)}
        new = {
            name for name in imported - found if _within(name, ["labkit.machine"]) and name != "labkit.machine.wheels"
        }
        found = found | new
    return found


def _within(name: str, rooms: list[str] | tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def _source(name: str) -> str:
    path = ROOT.joinpath(*name.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


def _of_posix(source: str) -> Iterator[str]:
    """What *source* names that only POSIX has, or that means another thing elsewhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            module = node.module or ""
            names = [one.name for one in node.names]
            yield from [module] if module.partition(".")[0] in MODULES else []
            yield from (f"{module}.{name}" for name in names if _posix_name(module, name))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if _posix_name(node.value.id, node.attr):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call):
            yield from (f"{one.arg}=" for one in node.keywords if one.arg in KEYWORDS)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from [node.value] if node.value.startswith(("/tmp", "/dev/", "/bin/", "/usr/")) else []


def _posix_name(module: str, name: str) -> bool:
    return name in NAMES.get(module, ()) or (module, name) in ELSEWHERE


def test_students_modules_are_found_by_what_is_imported() -> None:
    found = _students()
    assert {"labkit.lab", "labkit.cli", "labkit.magics", "labkit.machine.doctor", "labkit.machine.leftovers"} <= found
    assert {"labkit.cluster.process", "labkit.exercises.sandbox", "labkit.course.kernel"} <= found
    assert not [name for name in found if name.startswith(("labkit.grading", "labkit.site", "labkit.machine.bench"))]


def test_students_modules_name_nothing_of_posix() -> None:
    named = {name: sorted(set(_of_posix(_source(name)))) for name in sorted(_students() - EXEMPT.keys())}
    assert {name: what for name, what in named.items() if what} == {}


def test_every_exemption_is_still_needed() -> None:
    assert [name for name in EXEMPT if name not in _students() or not list(_of_posix(_source(name)))] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("import fcntl", "fcntl"),
        ("def f():\n    from pwd import getpwuid", "pwd"),
        ("from os import fork", "os.fork"),
        ("import os\nos.killpg(1, 2)", "os.killpg"),
        ("import os\nos.kill(1, 0)", "os.kill"),
        ("import signal\nprint(signal.SIGKILL)", "signal.SIGKILL"),
        ("import socket\nsocket.socket(socket.AF_UNIX)", "socket.AF_UNIX"),
        ("import sys\nif sys.platform == 'linux': pass", "sys.platform"),
        ("import subprocess\nsubprocess.Popen([], start_new_session=True)", "start_new_session="),
        ("open('/dev/null')", "/dev/null"),
    ],
)
def test_each_kind_of_posix_is_seen(line: str, told: str) -> None:
    assert told in list(_of_posix(line))


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python's; the control plane is named, as its file has another name on Windows."""
    env = {**os.environ, "LABKIT_CONTROLPLANE": str(tools.find_controlplane())}
    argv = (sys.executable, "-m", *argv)
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False, timeout=500)


def test_students_modules_are_imported_with_posix_hidden() -> None:
    done = _run("tests.not_posix", *sorted(_students()))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("import fcntl", "No module named 'fcntl'"),
        ("from termios import TCSANOW", "No module named 'termios'"),
        ("from os import fork", "cannot import name 'fork'"),
        ("import os; os.getuid()", "'getuid'"),
        ("from signal import SIGKILL", "cannot import name 'SIGKILL'"),
        ("import socket; socket.AF_UNIX", "'AF_UNIX'"),
        ("import sys; assert sys.platform != 'win32'", "AssertionError"),
    ],
)
def test_a_module_that_needs_posix_is_not_imported(line: str, complaint: str, tmp_path: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from tests.not_posix import hide
hide("posixly")
import posixly.good
import posixly.bad
"""
    package = tmp_path / "posixly"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text("import os, signal, socket, sys, subprocess, tempfile\nos.getpid()\n", "utf-8")
    (package / "bad.py").write_text(line + "\n", "utf-8")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "bad.py" in done.stderr
    assert complaint in done.stderr


def test_unit_tests_pass_with_posix_hidden() -> None:
    tests = [str(Path("tests", name)) for name in WITHOUT_CLUSTER]
    done = _run("pytest", "-p", "tests.not_posix", "-p", "no:cacheprovider", "-q", "-n0", *tests)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.rpartition(" passed")[0].split()[-1]) > 300


CONTROL_PLANE = """
import sys
from pathlib import Path
from tests.not_posix import hide
hide()
from labkit.cluster import Kubectl, Owner, process, system
from labkit.cluster.embedded import EmbeddedCluster
one = EmbeddedCluster(Path(sys.argv[1]), owner=Owner.HELD)
one.start()
try:
    answer = Kubectl(one).run(["get", "namespace", "default", "-o", "name"])
finally:
    one.stop()
with system.exclusive(Path(sys.argv[1]).with_name("lock"), what="the lock", limit_s=5):
    print(answer.text.strip(), process.find(Path(sys.argv[1])))
"""


def test_a_cluster_starts_answers_and_stops_with_posix_hidden(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", CONTROL_PLANE, str(tmp_path / "state")]
    path = os.pathsep.join([str(tools.find_kubectl().parent), os.environ["PATH"]])  # named as here, without .exe
    env = {**os.environ, "LABKIT_CONTROLPLANE": str(tools.find_controlplane()), "PATH": path}
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False, timeout=300)
    assert (done.stdout, done.stderr, done.returncode) == ("namespace/default None\n", "", 0)
    assert not (tmp_path / "state").exists()
