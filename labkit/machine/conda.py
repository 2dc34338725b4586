"""``environment.yml`` says the same as ``pyproject.toml``: conda cannot read the second, so a check compares them.

Each package that the course needs stands in both, in the same range of versions, under the name that conda-forge has
for it. One that conda-forge lacks or has late goes into the part for pip, below a comment that says why. Beside these
the file brings programs only, each in the version that the place says where it is decided.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

__all__ = ["misfits"]

CONDA_NAMES = {"kubernetes": "python-kubernetes"}
"""Names on conda-forge that are not the ones of the Python package index, in lower case."""
PROGRAMS = frozenset({"minikube", "kubernetes-client", "pip"})
"""What conda brings beside packages of Python, in any version: the cluster of who chooses it, kubectl, pip itself."""
THIS_PACKAGE = "-e .[kubectl]"
"""The line of the part for pip that installs the checkout, and a kubectl that fits."""


@dataclass(frozen=True)
class _Wanted:
    """One line of the file."""

    name: str
    versions: SpecifierSet


def misfits(pyproject: str, go_mod: str, environment: str) -> tuple[str, ...]:
    """What is not the same in environment.yml as in pyproject.toml and go.mod, a line each; empty when it fits.

    All arguments are the files' texts. Raises InvalidRequirement for a line that is no requirement, KeyError where a
    file lacks a part that it must have.
    """
    project = tomllib.loads(pyproject)["project"]
    parts = yaml.safe_load(environment)["dependencies"]
    conda = {one.name: one for one in map(_read, _plain(parts))}
    pip = {one.name: one for one in map(_read, (x for x in _pip(parts) if x != THIS_PACKAGE))}
    found = list(_of_packages(project, conda, pip))
    found += [
        f"pip's {name}: a comment above it must say why it is not taken from conda-forge"
        for name in pip
        if not _commented(environment, name)
    ]
    found += _of_programs(project, go_mod, conda)
    if THIS_PACKAGE not in _pip(parts):
        found.append(f"pip's part does not install this checkout: add {THIS_PACKAGE}")
    return tuple(found)


def _of_packages(project: dict[str, Any], conda: dict[str, _Wanted], pip: dict[str, _Wanted]) -> Iterator[str]:
    known = set()
    for requirement in map(Requirement, project["dependencies"]):
        name = str(canonicalize_name(requirement.name))
        own = CONDA_NAMES.get(name, name)
        known |= {name, own}
        there = conda.get(own) or pip.get(name)
        if there is None:
            yield f"{own}: not in environment.yml; pyproject.toml has {requirement}"
        elif there.versions != requirement.specifier:
            yield f"{there.name}: environment.yml has {_said(there.versions)}, pyproject.toml {requirement.specifier}"
        if own in conda and name in pip:
            yield f"{name}: both from conda-forge and by pip"
    for name in [*conda, *pip]:
        if name not in known | PROGRAMS | {"python", "go"}:
            yield f"{name}: in environment.yml and not in pyproject.toml"


def _of_programs(project: dict[str, Any], go_mod: str, conda: dict[str, _Wanted]) -> Iterator[str]:
    go = re.search(r"(?m)^go (\d+\.\d+)", go_mod)
    versions = {"python": project["requires-python"], "go": f">={go[1]}" if go else "", **dict.fromkeys(PROGRAMS, "")}
    for name, wanted in sorted(versions.items()):
        if name not in conda:
            yield f"{name}: not in environment.yml"
        elif conda[name].versions != SpecifierSet(wanted):
            yield f"{name}: environment.yml has {_said(conda[name].versions)}, and needs {wanted or 'any version'}"


def _plain(parts: list[Any]) -> list[str]:
    return [part for part in parts if isinstance(part, str)]


def _pip(parts: list[Any]) -> list[str]:
    return [line for part in parts if isinstance(part, dict) for line in part["pip"]]


def _read(line: str) -> _Wanted:
    try:
        requirement = Requirement(line)
    except InvalidRequirement as cause:
        raise InvalidRequirement(f"environment.yml: {line!r} is no requirement: {cause}") from cause
    return _Wanted(str(canonicalize_name(requirement.name)), requirement.specifier)


def _commented(environment: str, name: str) -> bool:
    """Whether the line above pip's entry for *name* is a comment."""
    lines = [line.strip() for line in environment.partition("pip:")[2].splitlines()]
    at = next(i for i, line in enumerate(lines) if re.match(rf"- {re.escape(name)}\b", line, re.IGNORECASE))
    return at > 0 and lines[at - 1].startswith("#")


def _said(versions: SpecifierSet) -> str:
    return str(versions) or "any version"
