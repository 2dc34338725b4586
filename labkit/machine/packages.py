"""The Python half of the set-up: the environment ``.venv`` with the packages of the lock.

An environment whose set-up broke off is completed when its Python still runs, and made anew otherwise. Its stamp is
taken away before anything in it changes and written last, so that a half-made one never passes for whole.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.errors import LabkitError, MachineError
from labkit.machine.checkout import Checkout, packages_digest, read_stamp, venv_python_version, write_stamp
from labkit.machine.jobs import Command, Steps

__all__ = ["PackagesPlan", "is_fresh", "packages_steps"]

ENVIRONMENT_BYTES = 1_200_000_000
"""Free space asked for before the packages are installed: they take 0.85 GB, and pip unpacks beside them."""

NO_NETWORK = ("NewConnectionError", "NameResolutionError", "name resolution", "Connection refused", "timed out",
              "ProxyError", "No matching distribution", "Network is unreachable")  # fmt: skip
FULL = "No space left on device"


@dataclass
class PackagesPlan:
    """What to install. *extras* of pyproject.toml; *first* those that another part waits for; *kubectl* is recorded in
    the stamp: the kubectl that was found fit, so that the next run need not start it to know its version."""

    extras: frozenset[str]
    first: tuple[str, ...] = ()
    kubectl: Path | None = None
    first_done: bool = field(default=False, init=False)


def is_fresh(checkout: Checkout, extras: frozenset[str]) -> bool:
    """Whether the environment was set up whole, from today's pyproject.toml and lock, with at least these extras, and
    the kubectl that made the kubectl package unnecessary is still the same file."""
    stamp = read_stamp(checkout.packages_stamp)
    if not checkout.venv_python.exists() or stamp.get("digest") != packages_digest(checkout):
        return False
    return extras <= set(stamp.get("extras", ())) and _same_file(stamp.get("kubectl"))


def recorded_extras(checkout: Checkout) -> frozenset[str]:
    """The extras an earlier set-up installed: they stay, so that ``make play`` does not undo ``make test``."""
    return frozenset(read_stamp(checkout.packages_stamp).get("extras", ()))


def packages_steps(checkout: Checkout, plan: PackagesPlan) -> Steps:
    """Make the environment, install what is waited for first, then the rest; stamp it."""
    _check_python()
    _check_disk(checkout)
    extras = plan.extras | recorded_extras(checkout)
    checkout.packages_stamp.unlink(missing_ok=True)
    if not _usable(checkout):
        yield _make_environment(checkout)
    if plan.first:
        names = [name for extra in plan.first for name in checkout.requirements(extra)]
        yield _pip(checkout, f"installing {', '.join(names)}", names)
    plan.first_done = True
    project = f".[{','.join(sorted(extras))}]" if extras else "."
    yield _pip(checkout, "installing packages", ["--editable", project], count=_Counter(len(checkout.locked())))
    write_stamp(
        checkout.packages_stamp,
        {
            "digest": packages_digest(checkout),
            "extras": sorted(extras),
            "python": venv_python_version(checkout),
            "kubectl": _file_mark(plan.kubectl),
        },
    )


def _check_python() -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise MachineError(
            "this Python cannot make a virtual environment",
            evidence=f"{sys.executable} has no venv with ensurepip",
            next_act=f"install it (Debian, Ubuntu: apt install python{version}-venv), then make setup again",
        )


def _check_disk(checkout: Checkout) -> None:
    free = shutil.disk_usage(checkout.root).free
    if not checkout.venv.exists() and free < ENVIRONMENT_BYTES:
        raise MachineError(
            "the disk has too little room for the Python packages",
            evidence=f"{free / 1e9:.1f} GB free at {checkout.root}, {ENVIRONMENT_BYTES / 1e9:.1f} GB needed",
            next_act="make room there, or clone the repository onto a larger disk, then make setup again",
        )


def _usable(checkout: Checkout) -> bool:
    """Whether the Python of the environment runs, is new enough, and has pip."""
    if not venv_python_version(checkout):
        return False
    probe = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    try:
        done = subprocess.run(
            [str(checkout.venv_python), "-c", probe], capture_output=True, timeout=30, check=False, cwd=checkout.root
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _make_environment(checkout: Checkout) -> Command:
    def failure(code: int, lines: Sequence[str]) -> LabkitError:
        return MachineError(
            "the virtual environment .venv could not be made",
            evidence=f"python -m venv: exit code {code}: {_last(lines)}",
            next_act="mend that, then make setup again",
        )

    argv = [sys.executable, "-m", "venv", "--clear", str(checkout.venv)]
    return Command("making .venv", argv, failure, checkout.root)


def _pip(
    checkout: Checkout, says: str, what: Sequence[str], *, count: Callable[[str], str | None] = lambda _: None
) -> Command:
    argv = [str(checkout.venv_python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
            "--progress-bar", "off", "--constraint", str(checkout.lock), *what]  # fmt: skip
    return Command(says, argv, _pip_failure, checkout.root, detail=count)


def _pip_failure(code: int, lines: Sequence[str]) -> LabkitError:
    text = "\n".join(lines)
    told = [line for line in lines if line.lstrip().startswith("ERROR:")]  # pip's own pip, building labkit, is indented
    evidence = f"pip: exit code {code}: {_last(told or lines)}"
    if FULL in text:
        return MachineError(
            "the disk is full: the Python packages were not installed",
            evidence=evidence,
            next_act="make room, then make setup again",
        )
    if any(sign in text for sign in NO_NETWORK):
        return MachineError(
            "the Python packages could not be fetched",
            evidence=evidence,
            next_act="about 120 packages (250 MB) are needed once, from the Python package index: connect this machine "
            "to it, or point PIP_INDEX_URL or PIP_FIND_LINKS to a copy, then make setup again",
        )
    return MachineError(
        "the Python packages were not installed",
        evidence=evidence,
        next_act="the whole output is in build/setup/packages.log",
    )


def _last(lines: Sequence[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


class _Counter:
    """What to show of pip's lines: the package it is at, and how many it has come to."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.seen: set[str] = set()

    def __call__(self, line: str) -> str | None:
        words = line.split()
        if line.startswith("Installing collected packages:"):
            return f"unpacking {line.count(',') + 1} of them"
        if line.startswith("Collecting ") or line.startswith("Requirement already satisfied: "):
            name = words[1] if words[0] == "Collecting" else words[3]
            name = name.partition(" ")[0].split("=")[0].split("<")[0].split(">")[0].split("[")[0]
            self.seen.add(name.lower())
            return f"{len(self.seen)} of about {self.total} ({name})"
        return None


def _file_mark(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    found = path.stat()
    return {"path": str(path), "size": found.st_size, "mtime_ns": found.st_mtime_ns}


def _same_file(mark: dict[str, Any] | None) -> bool:
    if mark is None:
        return True
    try:
        return _file_mark(Path(mark["path"])) == mark
    except (OSError, KeyError):
        return False
