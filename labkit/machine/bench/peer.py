"""The nearest peer of a trace: kubectl-validate, which checks objects without a cluster by Kubernetes' own libraries.

It is no dependency of the kit, so nothing but a measurement fetches it, through the ordinary Go client and its cache.
Its libraries are those of Kubernetes 1.30 and share no compiled package with the control plane: the first build takes
minutes, which somebody who measures must be told, and which the rest of the machine must not feel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from labkit.errors import MachineError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.checkout import COMPILER_FLAGS, Checkout

__all__ = ["MODULE", "NAME", "VERSION", "argv", "built", "environ"]

NAME, VERSION = "kubectl-validate", "v0.0.4"
MODULE = f"sigs.k8s.io/{NAME}"
_SHOWN = 400


def built(checkout: Checkout, tell: Callable[[str], None]) -> Path:
    """The program, built at low priority when it is not there yet; *tell* is told so before.

    Raises ToolMissing without Go, MachineError when it cannot be fetched or built.
    """
    program = checkout.root / "build" / "peers" / f"{NAME}-{VERSION}" / NAME
    if os.access(program, os.X_OK):
        return program
    go, found = control_plane.find_go(checkout)
    if go is None:
        raise ToolMissing("there is no Go to build it with", evidence=found, next_act="install Go 1.26 or newer")
    tell(f"building {NAME} {VERSION}, once (some minutes: it brings a Kubernetes of its own)")
    quiet = [nice, "-n", "19"] if (nice := shutil.which("nice")) else []
    install = [*quiet, go, "install", *COMPILER_FLAGS, "-ldflags=-s -w", f"{MODULE}@{VERSION}"]
    program.parent.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(program.parent)}
    done = subprocess.run(install, cwd=program.parent, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MachineError(f"{NAME} {VERSION} was not built", evidence=done.stderr.strip()[-_SHOWN:])
    return program


def argv(program: Path, file: Path, folder: Path, definition: str) -> list[str]:
    """Its command line; the definition goes to a folder of its own under *folder*, since it takes only folders."""
    definitions = folder / "definitions"
    definitions.mkdir(exist_ok=True)
    (definitions / "definition.yaml").write_text(definition, encoding="utf-8")
    return [str(program), "--local-crds", str(definitions), str(file)]


def environ(folder: Path) -> dict[str, str]:
    """No cluster: it would take definitions from one too."""
    return {"KUBECONFIG": str(folder / "no-kubeconfig"), "HOME": str(folder)}
