"""Clusters in labkit's home: those that run and whose they are, and what is left of those that do not.

The names of the folders are those of ``labkit.cluster.places``; that module makes what it is asked for, this one only
looks, and works without packages as well as it can.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from labkit.cluster import system
from labkit.show.doctor import Finding

__all__ = ["clusters", "home"]


def home() -> Path | None:
    """labkit's home, which need not exist; None when only a package that is absent could tell."""
    named = os.environ.get("LABKIT_HOME")
    if named:
        return Path(named).expanduser().absolute()
    try:
        import platformdirs
    except ImportError:
        return None
    return Path(platformdirs.user_state_dir("labkit"))


def clusters() -> tuple[Finding, ...]:
    """One finding for each cluster that runs or has left something; one "none" when there is nothing."""
    place = home()
    if place is None:
        return (Finding("clusters", "note", "not looked for: the package platformdirs is missing", "make setup"),)
    found = tuple(_clusters(place / "clusters"))
    return found or (Finding("clusters", "ok", "none running, nothing left over"),)


def _clusters(place: Path) -> Iterator[Finding]:
    pointer = place / "kept"
    kept = Path(pointer.read_text(encoding="utf-8").strip()) if pointer.is_file() else None
    folders = {path for path in place.glob("*") if path.is_dir()} | ({kept} if kept is not None else set())
    for folder in sorted(folders):
        pid = _running(folder)
        if pid is not None:
            yield Finding("clusters", "ok", f"running: {folder} (process {pid}, {_owner(folder, pid)})")
        elif folder == kept:
            yield Finding("clusters", "ok", f"kept, not running: {folder} (labkit start --keep {folder})")
        elif not _starting(folder):
            yield Finding("clusters", "note", f"left over: {folder}, nothing runs there", "labkit stop")


def _running(folder: Path) -> int | None:
    """The process that serves *folder*: recognised by its command line, or by its record alone without packages."""
    try:
        from labkit.cluster import process
    except ImportError:
        try:
            pid = int(json.loads((folder / "cluster.json").read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return pid if system.alive(pid) else None
    return process.find(folder)


def _starting(folder: Path) -> bool:
    """Held or leased by a process that lives: its cluster is about to be ready, or to go."""
    kind, _, rest = folder.name.partition("-")
    owner = rest.partition("-")[0]
    return kind in ("held", "lease") and owner.isdigit() and system.alive(int(owner))


def _owner(folder: Path, pid: int) -> str:
    kind, _, rest = folder.name.partition("-")
    owner = rest.partition("-")[0]
    if kind == "lease":
        return f"ends with Jupyter, process {owner}"
    if kind == "held":
        return (
            f"ends with process {owner}"
            if owner.isdigit() and system.alive(int(owner))
            else f"without owner: kill {pid}"
        )
    return "ends with labkit stop"
