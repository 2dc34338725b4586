"""A copy of the checkout to work in, and its way back: all that changed in it, at once, or nothing.

Moving to another version takes a quarter of an hour and can fail at every step. In the checkout itself that would leave
a mixture which builds nothing and is hard to tell from work in progress.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from labkit.errors import MachineError

__all__ = ["WorkingCopy", "changes_in", "files_of"]

SHOWN_FILES = 4


def changes_in(root: Path) -> tuple[str, ...]:
    """What git says has changed in the checkout, as its short status does; empty when nothing has.

    Raises MachineError where git cannot tell.
    """
    return tuple(_git(root, "status", "--porcelain").splitlines())


def files_of(root: Path) -> tuple[str, ...]:
    """The files of the checkout, relative to it: all that git knows or would add. Raises MachineError without git."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return tuple(sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file()))


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)  # noqa: S607
        said, code = done.stderr.strip(), done.returncode
    except OSError as error:
        said, code = str(error), 1
    if code != 0:
        raise MachineError(
            "git does not say what this checkout holds",
            evidence=f"git {words[0]}: {said}",
            next_act="work in a clone of the repository, with git on PATH",
        )
    return done.stdout


@dataclass
class WorkingCopy:
    """The files of the checkout *root*, copied to *place*; what else is made there does not count.

    *grown* are folders of which new files belong to the repository as well (generated ones).
    """

    root: Path
    place: Path
    grown: tuple[str, ...] = ()
    _taken: dict[str, str] = field(default_factory=dict, init=False)

    def make(self) -> None:
        """Copy, in the place of an earlier copy."""
        shutil.rmtree(self.place, ignore_errors=True)
        for name in files_of(self.root):
            target = self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / name, target)
            self._taken[name] = _digest(target)

    def changed(self) -> tuple[str, ...]:
        """The files that are not as they were copied: changed, new, or gone."""
        new = {
            path.relative_to(self.place).as_posix()
            for folder in self.grown
            for path in (self.place / folder).iterdir()
            if path.is_file()
        }
        return tuple(name for name in sorted(new | self._taken.keys()) if _digest(self.place / name) != self._was(name))

    def put_in_place(self) -> tuple[str, ...]:
        """Let the checkout have what changed here; returns the files. When one cannot be put there, none is.

        Raises MachineError, and changes nothing, when somebody changed one of them in the checkout meanwhile.
        """
        names = self.changed()
        meanwhile = [name for name in names if _digest(self.root / name) != self._was(name)]
        if meanwhile:
            more = f" and {len(meanwhile) - SHOWN_FILES} more" if len(meanwhile) > SHOWN_FILES else ""
            raise MachineError(
                "the checkout was changed meanwhile, and is left as it is",
                evidence=", ".join(meanwhile[:SHOWN_FILES]) + more,
                next_act=f"what was made is in {self.place}; commit your changes, and run the command again",
            )
        with _all_or_none(self.root, names):
            for name in names:
                _put(self.place / name, self.root / name)
        return names

    def _was(self, name: str) -> str:
        return self._taken.get(name, "")


@contextmanager
def _all_or_none(root: Path, names: tuple[str, ...]) -> Iterator[None]:
    """Keep the files while the block changes them, and put them back when it does not end well."""
    with tempfile.TemporaryDirectory(prefix="labkit-kubernetes-") as kept:
        for name in names:
            if (root / name).exists():
                (Path(kept) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, Path(kept) / name)
        try:
            yield
        except BaseException:
            for name in names:
                _put(Path(kept) / name, root / name)
            raise


def _put(source: Path, target: Path) -> None:
    """Make *target* what *source* is, whole or not at all: also absent."""
    if not source.exists():
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.copy2(source, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    """Of what a file holds; empty when there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
