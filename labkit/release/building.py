"""A folder to hand out, made whole or not at all.

An edition is built in a folder beside its place and renamed to it when it is right, so that no one ever finds half of
one, nor one with an answer in it. It carries a record of its files, ``.labkit-release.json``: only a folder with such a
record, whose files are still as they were made, is replaced by the next release. Anything else may be somebody's work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from labkit import __version__
from labkit.course.handout import COURSE_FOLDERS
from labkit.course.replacing import replacing
from labkit.errors import CourseError

__all__ = ["Edition", "LeakFound", "ReleaseError", "build"]

RECORD = ".labkit-release.json"


class ReleaseError(CourseError):
    """An edition cannot be made."""


class LeakFound(ReleaseError):
    """An answer is in it, or something in it cannot be looked into: it was not made."""


@dataclass(frozen=True)
class Edition:
    """What was made at *root*: *files* by their names relative to it, *size* in bytes; *says* is its last line."""

    root: Path
    files: tuple[str, ...]
    size: int
    says: str

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.root}: {len(self.files)} files, {self.size / 1e6:.1f} MB; {self.says}"


def build(
    course: Path, target: Path, files: Iterable[tuple[str, bytes]], says: str, *, approve: Callable[[Path], None]
) -> Edition:
    """Write *files* to *target*, once *approve* has seen them in the folder where they are put together.

    Raises ReleaseError when *target* is not ours to replace or cannot be written, and whatever *approve* raises; in
    either case *target* is as it was.
    """
    target = target.absolute()
    _expect_outside(course, target)
    _expect_ours(target)
    try:
        with replacing(target) as new:
            edition = _write(new, files)
            approve(new)
    except OSError as error:
        raise ReleaseError(
            f"{target} could not be written",
            evidence=f"{error.filename or target}: {error.strerror or error}",
            next_act="make it writable, or make room, then release again",
        ) from error
    return Edition(target, tuple(edition), sum(edition.values()), says)


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> dict[str, int]:
    """Name and size of each."""
    folder.mkdir()
    sizes: dict[str, int] = {}
    digests: dict[str, str] = {}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sizes[name] = len(content)
        digests[name] = hashlib.sha256(content).hexdigest()
    record = {"labkit": __version__, "files": digests}
    (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return sizes


def _expect_outside(course: Path, target: Path) -> None:
    folders = [course.resolve() / name for name in (*COURSE_FOLDERS, "labkit")]
    resolved = target.resolve()
    if resolved == course.resolve() or any(resolved.is_relative_to(folder) for folder in folders):
        raise ReleaseError(f"{target} is a part of the course itself", next_act="name another folder, such as dist/…")


def _expect_ours(target: Path) -> None:
    """Refuse to replace what this command did not make."""
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_dir():
        raise ReleaseError(f"{target} is no folder", next_act="move it away, or name another")
    there = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir())
    if not there:
        return
    made = _record(target)
    if made is None:
        raise ReleaseError(
            f"{target} is not empty, and no edition of labkit's",
            evidence=f"it holds {', '.join(there[:3])}",
            next_act="name another folder, or move that away",
        )
    changed = [name for name in there if name != RECORD and _digest(target / name) != made.get(name)]
    if changed:
        raise ReleaseError(
            f"{target} holds files that were changed or added since it was made",
            evidence=", ".join(changed[:3]) + (" …" if len(changed) > 3 else ""),
            next_act="move them away, or delete the folder",
        )


def _record(folder: Path) -> dict[str, str] | None:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return dict(record["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(path: Path) -> str:
    return "" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
