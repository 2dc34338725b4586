"""The working copy of the course that ``make lab`` opens: ``lab/``, a student's own, without recorded outputs.

Recorded outputs spoil the surprises, and a student who writes into the course's own files loses the reference the tests
compare with. So the notebooks and manifests are copied, and copied again when the course has changed, but a file the
student has changed is never overwritten: it is kept, and said to be kept. What "changed" means is decided by a record,
``lab/.labkit-copy.json``, of what each file held when it was copied; running a notebook is not a change of it, so only
the text of its cells counts.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.course.handout import COURSE_FOLDERS, student_files
from labkit.errors import MachineError

__all__ = ["LabCopy", "make_copy"]

RECORD = ".labkit-copy.json"


@dataclass(frozen=True)
class LabCopy:
    """What became of the copy at *root*; all file names are relative to it, in order.

    *written*: new or brought up to date. *kept*: the course's file has changed since it was copied, and so has the
    student's, which therefore stays. *same*: nothing to do.
    """

    root: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def text(self) -> str:
        """One or more lines for people."""
        lines = [f"{self.root}: {len(self.written)} files written, {len(self.same) + len(self.kept)} left as they are"]
        lines += [f"  kept yours: {name} (delete or rename it to get the course's new one)" for name in self.kept]
        return "\n".join(lines)


def make_copy(source: Path, target: Path) -> LabCopy:
    """Make the working copy of the checkout *source* at *target*, or bring it up to date.

    A file deleted from *target* is written again. Raises MachineError when *target* cannot be written or is no folder,
    NotebookError when a notebook of the course is not one.
    """
    if target.exists() and not target.is_dir():
        raise MachineError(f"{target} is not a folder", next_act="move it away, then make lab again")
    course = source.resolve()
    if target.resolve() in (course, *(course / folder for folder in COURSE_FOLDERS)):
        raise MachineError(f"{target} is the course itself", next_act="name another folder for the working copy")
    try:
        return _make_copy(source, target)
    except OSError as error:
        raise MachineError(
            "the working copy of the course could not be written",
            evidence=f"{error.filename or target}: {error.strerror}",
            next_act="make it writable, or make room, then make lab again",
        ) from error


def _make_copy(source: Path, target: Path) -> LabCopy:
    target.mkdir(parents=True, exist_ok=True)
    record = _read_record(target)
    written, kept, same = [], [], []
    for name, new in student_files(source):
        theirs = _read(target / name)
        copied = record.get(name)
        if theirs is not None and _essence(name, theirs) == _essence(name, new):
            same.append(name)
            record[name] = _essence(name, new)
        elif theirs is None or _essence(name, theirs) == copied:
            _write(target / name, new)
            written.append(name)
            record[name] = _essence(name, new)
        elif copied == _essence(name, new):  # the student's work on today's course
            same.append(name)
        else:
            kept.append(name)
    _write(target / RECORD, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())
    return LabCopy(target, tuple(written), tuple(kept), tuple(same))


def _notebook(content: bytes) -> dict[str, Any] | None:
    try:
        notebook = json.loads(content)
    except ValueError:
        return None
    whole = isinstance(notebook, dict) and isinstance(notebook.get("cells"), list) and notebook.get("nbformat") == 4
    return notebook if whole else None


def _essence(name: str, content: bytes) -> str:
    """A digest of what a person writes in a file: of a notebook the cells' kinds and texts, else all bytes."""
    notebook = _notebook(content) if name.endswith(".ipynb") else None
    if notebook is not None:
        cells = [(cell.get("cell_type"), "".join(cell.get("source", ""))) for cell in notebook["cells"]]
        content = json.dumps(cells).encode()
    return hashlib.sha256(content).hexdigest()


def _read_record(target: Path) -> dict[str, str]:
    try:
        record = json.loads((target / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in record.items()} if isinstance(record, dict) else {}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content)
    new.replace(path)
