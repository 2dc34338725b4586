"""``make lock``: requirements.lock, the exact versions of all packages, for every Python and system the kit runs on.

One file serves Linux, macOS and Windows and Python 3.11 to 3.14: where a version depends on one of them, the line has a
marker. It is used as constraints (``pip install -c requirements.lock -e .``), so it names neither index nor file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from labkit.errors import LabkitError, MachineError
from labkit.machine.checkout import Checkout

__all__ = ["misfits", "renew"]

LINE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^ ;]+)(?: ; (?P<marker>.+))?")


def renew(checkout: Checkout, only: Sequence[str] = ()) -> None:
    """Write the lock anew from pyproject.toml: all packages, or *only* these and what no longer fits them.

    Raises MachineError when uv cannot (it needs the package index).
    """
    upgraded = [f"--upgrade-package={name}" for name in only] or ["--upgrade"]
    argv = [sys.executable, "-m", "uv", "--quiet", "pip", "compile", "--universal", "--python-version", "3.11",
            "--all-extras", *upgraded, "--no-annotate", "--no-emit-index-url", "--output-file", checkout.lock.name,
            "--custom-compile-command", "make lock", checkout.pyproject.name]  # fmt: skip
    done = subprocess.run(argv, cwd=checkout.root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MachineError(
            "the lock was not renewed", evidence=done.stderr.strip(), next_act="mend that, then make lock"
        )


def misfits(pyproject: str, lock: str) -> tuple[str, ...]:
    """Why the lock does not fit: each requirement it lacks or contradicts, each line that is not a plain pin.

    Empty when it fits. Both arguments are the files' texts.
    """
    found = []
    versions: dict[str, list[str]] = {}
    for line in lock.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if match is None:
            found.append(f"not a pinned version: {line}")
        else:
            versions.setdefault(canonicalize_name(match["name"]), []).append(match["version"])
    for text in _requirements(tomllib.loads(pyproject)["project"]):
        requirement = Requirement(text)
        locked = versions.get(canonicalize_name(requirement.name))
        if locked is None:
            found.append(f"{text}: not in the lock")
        else:
            wrong = [v for v in locked if not requirement.specifier.contains(Version(v), prereleases=True)]
            found += [f"{text}: the lock has {version}" for version in wrong]
    return tuple(found)


def _requirements(project: dict[str, Any]) -> list[str]:
    extras = project.get("optional-dependencies", {}).values()
    return [*project["dependencies"], *(line for lines in extras for line in lines)]


def main() -> int:
    """The command: exit code 0 when the lock is renewed."""
    try:
        checkout = Checkout.here()
        renew(checkout)
    except LabkitError as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    print(f"{checkout.lock.name}: {len(checkout.locked())} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
