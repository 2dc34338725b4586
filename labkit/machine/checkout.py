"""Where things lie in a checkout of the repository, and the marks that say what the set-up has already done.

The set-up must decide in a few hundredths of a second that nothing is to be done, and must never take a half-made
environment for a whole one. So each part leaves a *stamp* when, and only when, it is done: a small JSON file with a
digest of everything it was made from. A stamp that is absent, unreadable or of another digest means "to be made".
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import MachineError

__all__ = [
    "COMPILER_FLAGS",
    "CONTROL_PLANE_PACKAGE",
    "Checkout",
    "control_plane_digest",
    "control_plane_flags",
    "go_digest",
    "packages_digest",
    "read_stamp",
    "venv_python_version",
    "write_stamp",
]

COMPILER_FLAGS = ("-trimpath", "-buildvcs=false")
"""Of every ``go`` command. With others, or with cgo, Go's build cache holds nothing of use, and the eight minutes of
compiling come again."""

CONTROL_PLANE_PACKAGE = "./cmd/controlplane"


@dataclass(frozen=True)
class Checkout:
    """A checkout of the repository; all paths are absolute."""

    root: Path

    @classmethod
    def here(cls) -> Checkout:
        """The checkout this package was imported from.

        Raises MachineError when the package does not lie in one (installed from a wheel): there is no set-up there.
        """
        root = Path(__file__).resolve().parent.parent.parent
        if not (root / "pyproject.toml").is_file() or not (root / "controlplane").is_dir():
            raise MachineError(
                "labkit was not imported from a checkout of its repository",
                evidence=f"{root} has no pyproject.toml beside controlplane/",
                next_act="clone the repository and run this in it",
            )
        return cls(root)

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def venv_bin(self) -> Path:
        return self.venv / ("Scripts" if os.name == "nt" else "bin")

    @property
    def venv_python(self) -> Path:
        return self.venv_bin / ("python.exe" if os.name == "nt" else "python")

    @property
    def venv_site_packages(self) -> Path | None:
        """None when there is no environment, or a broken one."""
        if os.name == "nt":
            found = [self.venv / "Lib" / "site-packages"]
        else:
            found = sorted(self.venv.glob("lib/python3*/site-packages"))
        return next((path for path in found if path.is_dir()), None)

    @property
    def pyproject(self) -> Path:
        return self.root / "pyproject.toml"

    @property
    def lock(self) -> Path:
        return self.root / "requirements.lock"

    @property
    def go_module(self) -> Path:
        return self.root / "controlplane"

    @property
    def control_plane(self) -> Path:
        return self.go_module / "bin" / ("controlplane.exe" if os.name == "nt" else "controlplane")

    @property
    def packages_stamp(self) -> Path:
        """Inside the environment, so that it goes with it."""
        return self.venv / "labkit-setup.json"

    @property
    def control_plane_stamp(self) -> Path:
        return self.control_plane.with_name("controlplane.json")

    @property
    def page_module(self) -> Path:
        """The folder of the WebAssembly that pages load, and of Go's glue for it."""
        return self.root / "build" / "site" / "module"

    @property
    def page_module_stamp(self) -> Path:
        return self.page_module / "built.json"

    @property
    def logs(self) -> Path:
        """The last set-up's logs, and the lock that lets one set-up run at a time."""
        return self.root / "build" / "setup"

    def requirements(self, extra: str | None = None) -> tuple[str, ...]:
        """The requirement lines of pyproject.toml: the package's own, or those of one extra."""
        project: dict[str, Any] = tomllib.loads(self.pyproject.read_text(encoding="utf-8"))["project"]
        lines: Iterable[str] = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
        return tuple(lines)

    def locked(self) -> tuple[str, ...]:
        """The names pinned in the lock, in its spelling; a name with several markers counts once."""
        lines = self.lock.read_text(encoding="utf-8").splitlines()
        return tuple(dict.fromkeys(line.partition("==")[0] for line in lines if line[:1].isalnum() and "==" in line))


def packages_digest(checkout: Checkout) -> str:
    """Of what the environment is made from: pyproject.toml, the lock, and the Python in it ("" when there is none)."""
    digest = hashlib.sha256()
    for path in (checkout.pyproject, checkout.lock):
        digest.update(path.read_bytes() + b"\0")
    digest.update(venv_python_version(checkout).encode())
    return digest.hexdigest()


def venv_python_version(checkout: Checkout) -> str:
    """Such as "3.11.7", read from pyvenv.cfg without starting anything; "" without an environment."""
    try:
        lines = (checkout.venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    if not checkout.venv_python.exists():  # a link to a Python that is gone
        return ""
    fields = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    return fields.get("version") or fields.get("version_info", "")  # venv's spelling, uv's spelling


def control_plane_flags(checkout: Checkout) -> tuple[str, ...]:
    """What ``go build`` is told: no symbols (125 MB instead of 180), and the version that the API server reports, which
    Kubernetes' own build tells the linker and go.mod says here.
    """
    module = (checkout.go_module / "go.mod").read_text(encoding="utf-8")
    version = re.search(r"(?m)^\s*k8s\.io/kubernetes (v\S+)$", module)
    told = f" -X k8s.io/component-base/version.gitVersion={version[1]}" if version else ""
    return (*COMPILER_FLAGS, f"-ldflags=-s -w{told}")


def control_plane_digest(checkout: Checkout) -> str:
    """Of what the control plane is built from."""
    return go_digest(checkout, CONTROL_PLANE_PACKAGE)


def go_digest(checkout: Checkout, package: str) -> str:
    """Of what a program of the Go module is built from: the sources without tests and other programs, and the flags."""
    digest = hashlib.sha256("\0".join(control_plane_flags(checkout)).encode())
    module = checkout.go_module
    sources = [module / "go.mod", module / "go.sum"]
    for part in (package, "internal"):
        sources += sorted(
            path for path in (module / part).rglob("*") if path.is_file() and not path.name.endswith("_test.go")
        )
    for path in sources:
        if path.is_file():
            digest.update(path.relative_to(module).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read_stamp(path: Path) -> dict[str, Any]:
    """What a stamp says; empty when it is absent or not one."""
    try:
        stamp = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(path: Path, stamp: dict[str, Any]) -> None:
    """Write it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")
    new.replace(path)
