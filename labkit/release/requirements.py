"""``requirements.txt`` of the student edition: the versions this course was tested with, and no more than it needs.

``requirements.lock`` pins what authors need as well, compilers of documents and checkers of types. A student gets the
packages that labkit depends on, directly or not, each with the lock's own line: with its markers, so that one file
serves every system.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from labkit.release.building import ReleaseError

__all__ = ["requirements"]

_NEED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[(?P<extras>[^\]]*)\])?(?P<rest>.*)")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_HEAD = "# What the course was tested with. Install it with: python -m pip install -r requirements.txt\n"


def requirements(root: Path, wheels: Iterable[str]) -> str:
    """The file's text. *wheels* are names of wheel files in ``wheels/`` beside it; without them labkit itself, which is
    in no index, is left out. Raises ReleaseError when the repository's files are not there or lack a package."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        lock = (root / "requirements.lock").read_text(encoding="utf-8")
    except OSError as error:
        raise ReleaseError("the versions for students are not known", evidence=str(error)) from error
    pins: dict[str, list[str]] = {}
    for line in lock.splitlines():
        if line[:1].isalnum():
            pins.setdefault(_normal(line.partition("==")[0]), []).append(line)
    direct = [*project["dependencies"], *project["optional-dependencies"]["kubectl"]]
    missing = [need for need in direct if _normal(_name(need)) not in pins]
    if missing:
        raise ReleaseError("requirements.lock lacks packages", evidence=", ".join(missing), next_act="make lock")
    lines = [line for name in sorted(_closure(direct)) for line in pins.get(name, ())]
    own = sorted({"==".join(_distribution(wheel)) for wheel in wheels})
    links = ["--find-links wheels", *own] if own else []
    return _HEAD + "\n".join([*links, *lines, ""])


def _closure(needs: Iterable[str]) -> set[str]:
    """Normalised names of all that is needed, on any system."""
    found: set[str] = set()
    asked: set[tuple[str, str]] = set()
    waiting = [pair for need in needs for pair in _asked(need)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        found.add(name)
        for need in _needs(name):
            only_for = set(_EXTRA.findall(need))
            if not only_for if not extra else extra in only_for:
                waiting += _asked(need)
    return found


def _asked(need: str) -> Iterator[tuple[str, str]]:
    """The package of a requirement, and each extra of it ("" for itself)."""
    match = _NEED.match(need)
    if match is not None:
        name = _normal(match["name"])
        yield name, ""
        yield from ((name, extra.strip()) for extra in (match["extras"] or "").split(",") if extra.strip())


def _needs(name: str) -> list[str]:
    """What an installed package says it needs; nothing is known of those for another system, which are small."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def _name(need: str) -> str:
    match = _NEED.match(need)
    return match["name"] if match else need


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _distribution(wheel: str) -> tuple[str, str]:
    name, version = wheel.split("-")[:2]
    return _normal(name), version
