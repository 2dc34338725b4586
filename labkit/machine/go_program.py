"""Programs written in Go that a check or a measurement needs, and labkit does not: fetched when asked for, and kept.

They are in no go.mod, so nobody else fetches them. Each comes at a fixed version from Go's module proxy, through the
ordinary client and its cache, and is built into ``build/``, at low priority: it may take minutes, which the rest of the
machine must not feel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import MachineError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.checkout import COMPILER_FLAGS, Checkout

__all__ = ["ACTIONLINT", "GoProgram"]

_SHOWN = 400


@dataclass(frozen=True)
class GoProgram:
    """A main package, *package*, at a *version*. *takes* tells a person how long the build is."""

    package: str
    version: str
    takes: str

    @property
    def name(self) -> str:
        return self.package.rpartition("/")[2]

    def built(self, checkout: Checkout, tell: Callable[[str], None]) -> Path:
        """The program, built when it is not there yet; *tell* is told so before.

        Raises ToolMissing without Go, MachineError when it cannot be fetched or built.
        """
        program = checkout.root / "build" / "peers" / f"{self.name}-{self.version}" / self.name
        if os.access(program, os.X_OK):
            return program
        go, found = control_plane.find_go(checkout)
        if go is None:
            raise ToolMissing("there is no Go to build it with", evidence=found, next_act="install Go 1.26 or newer")
        tell(f"building {self.name} {self.version}, once ({self.takes})")
        quiet = [nice, "-n", "19"] if (nice := shutil.which("nice")) else []
        install = [*quiet, go, "install", *COMPILER_FLAGS, "-ldflags=-s -w", f"{self.package}@{self.version}"]
        program.parent.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(program.parent)}
        done = subprocess.run(install, cwd=program.parent, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise MachineError(f"{self.name} {self.version} was not built", evidence=done.stderr.strip()[-_SHOWN:])
        return program


ACTIONLINT = GoProgram("github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12", "some seconds")
"""Reads workflows as the forge does: their form, their expressions, the names they refer to."""
