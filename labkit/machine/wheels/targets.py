"""The platforms there are wheels for, how Go calls them, and what a wheel's name promises of each.

Why these tags are honest: docs/decisions/0018-wheels.md. ``expect_fit`` holds what can be seen in the program itself.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import MachineError
from labkit.machine.wheels.headers import HEADER_BYTES, read_header

__all__ = ["TARGETS", "Target", "chosen", "expect_fit", "own"]


@dataclass(frozen=True)
class Target:
    """*name* for people; *system* and *machine* as Go calls them; *tag* is the platform part of the wheel's name."""

    name: str
    system: str
    machine: str
    tag: str

    @property
    def program(self) -> str:
        return "controlplane.exe" if self.system == "windows" else "controlplane"

    @property
    def environ(self) -> dict[str, str]:
        """For every ``go`` command. The oldest processors are named, so that nobody's own setting gets into a wheel."""
        level = {"amd64": ("GOAMD64", "v1"), "arm64": ("GOARM64", "v8.0")}[self.machine]
        return {"CGO_ENABLED": "0", "GOOS": self.system, "GOARCH": self.machine, level[0]: level[1]}


TARGETS = (
    Target("manylinux_x86_64", "linux", "amd64", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    Target("manylinux_aarch64", "linux", "arm64", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
    Target("macos_arm64", "darwin", "arm64", "macosx_12_0_arm64"),
    Target("macos_x86_64", "darwin", "amd64", "macosx_12_0_x86_64"),
    Target("windows_amd64", "windows", "amd64", "win_amd64"),
)
_MACOS = (12, 0)
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def chosen(names: Sequence[str]) -> tuple[Target, ...]:
    """The targets of these names, in our order; all for none. Raises MachineError for a name that is none."""
    known = {target.name: target for target in TARGETS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise MachineError(
            f"there is no target {', '.join(unknown)}", evidence=f"there are {', '.join(known)}", next_act="name one"
        )
    return tuple(target for target in TARGETS if not names or target.name in names)


def own() -> Target | None:
    """The one whose wheel runs on this machine; None when there is none."""
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    machine = _MACHINES.get(platform.machine().lower())
    return next((one for one in TARGETS if (one.system, one.machine) == (system, machine)), None)


def expect_fit(program: Path, target: Target) -> None:
    """Raises MachineError when *program* is not what a wheel of *target* promises."""
    with program.open("rb") as file:
        found = read_header(file.read(HEADER_BYTES))
    wrong = []
    if (found.system, found.machine) != (target.system, target.machine):
        wrong.append(f"it is for {found.system}/{found.machine}")
    if found.loader:
        wrong.append("it wants a dynamic loader, so it does not run with every C library")
    if found.system == "darwin" and (found.oldest is None or found.oldest > _MACOS):
        wrong.append(f"it wants macOS {found.oldest}, the wheel says {_MACOS}")
    if found.system == "darwin" and found.machine == "arm64" and not found.signed:
        wrong.append("it has no signature, without which macOS kills it")
    if wrong:
        raise MachineError(f"{program.name} was not built for {target.name}", evidence="; ".join(wrong))
