"""Results on the disk, one by one as they come, so that a grading that was killed goes on where it stopped.

Grading a class takes minutes, and whatever is lost is graded again; but a result that is taken for one without being
one is a wrong mark. So a result is written whole or not at all (a new file, synced, renamed), in a folder of its own
named after the submission, and is believed only when it is of this submission, of these bytes, and made by the same
exercises, labkit and control plane. Anything else that lies there is as good as nothing, and is written over.

    GRADES/.labkit-grades.json       says that the folder is ours
    GRADES/<name>/result.json        one result; what the grade book and the pages are made from
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from labkit import __version__
from labkit.cluster import system
from labkit.errors import WaitTimeout
from labkit.grading.errors import GradingError
from labkit.grading.values import NOT_JUDGED, Result, Submission

__all__ = ["RECORD", "Store", "folder_name", "write_whole"]

RECORD = ".labkit-grades.json"
_RESULT = "result.json"
_FORMAT = 1

_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_-]{0,59}")
"""No dot: a file of the grade book has one, and no submission is to be in its place."""
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
"""Names that mean a device on Windows, where the folder may be looked at."""
_SHOWN_CHARACTERS = 40


def folder_name(key: str) -> str:
    """A name for the folder of a submission: safe on every system, another for every key, always the same for one.

    Keys of plain small letters and digits stay as they are. Others keep what can be read of them, and get a digest
    after a ``~``, which no plain one has: so they differ also where capitals, accents or a long end are no difference.
    """
    if _PLAIN.fullmatch(key) and not _DEVICES.fullmatch(key):
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    shown = "".join(one if one.isalnum() else "-" for one in unicodedata.normalize("NFC", key))
    readable = re.sub("-+", "-", shown).strip("-")[:_SHOWN_CHARACTERS]
    return f"{readable}~{digest}"


class Store:
    """The folder of a class's results; make it by ``opened``."""

    def __init__(self, root: Path, course: str) -> None:
        self.root = root
        self._course = course

    def folder(self, key: str) -> Path:
        """Where the files of the submission with this key lie; it may be absent."""
        return self.root / folder_name(key)

    def load(self, submission: Submission) -> Result | None:
        """The result of exactly this submission by exactly this course, or None; None too when part of it was not
        judged, which is no result to stay with.
        """
        try:
            kept = json.loads((self.folder(submission.key) / _RESULT).read_text(encoding="utf-8"))
            if kept["made"] != self._mark(submission, kept["result"]):
                return None
            result = Result.from_json(kept["result"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if (result.key, result.sha256) != (submission.key, submission.sha256):
            return None
        if any(note.code == NOT_JUDGED for one in result.exercises for note in one.notes):
            return None
        return result.named(submission)

    def keep(self, submission: Submission, result: Result) -> None:
        """Write the result, whole or not at all. Raises GradingError when the disk does not take it."""
        told = result.to_json()
        whole = {"made": self._mark(submission, told), "result": told}
        folder = self.folder(submission.key)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise _unwritten(folder, error) from error
        write_whole(folder / _RESULT, _canonical(whole))

    def _mark(self, submission: Submission, told: Mapping[str, Any]) -> dict[str, Any]:
        """What a result was made from and of, and a digest of it all: a file that was changed or cut does not fit."""
        digest = hashlib.sha256(_canonical(told)).hexdigest()
        return {"format": _FORMAT, "course": self._course, "submission": submission.sha256, "digest": digest}


@contextmanager
def opened(root: Path, course: str) -> Iterator[Store]:
    """The store at *root*, for one grading at a time; *course* is the digest of what marks are made by.

    A new or an empty folder becomes one. Raises GradingError for a folder with other things in it, for one that another
    process is grading into, and when it cannot be written.
    """
    root = root.absolute()
    _expect_ours(root)
    record = root / RECORD
    try:
        root.mkdir(parents=True, exist_ok=True)
        if not record.is_file():
            write_whole(record, _canonical({"labkit": __version__, "format": _FORMAT}))
    except OSError as error:
        raise _unwritten(root, error) from error
    with ExitStack() as stack:
        try:
            lock = root / f"{RECORD}.lock"
            stack.enter_context(system.exclusive(lock, what="another grading into this folder to end", limit_s=0.0))
        except WaitTimeout as error:
            raise GradingError(
                f"another process is grading into {root}", next_act="wait for its end, or name another folder"
            ) from error
        except OSError as error:
            raise _unwritten(root, error) from error
        yield Store(root, course)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is, whenever it is looked at, the old one or the new one. Raises GradingError."""
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        _sync(path.parent)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise _unwritten(path, error) from error


def _sync(folder: Path) -> None:
    """Without this a renamed file may be gone after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _expect_ours(root: Path) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise GradingError(f"{root} is no folder", next_act="name another")
    try:
        there = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
    except OSError as error:
        raise _unwritten(root, error) from error
    if there and RECORD not in there and any(name != f".{RECORD}.new" for name in there):
        raise GradingError(
            f"{root} is not empty, and no folder of labkit's grades",
            evidence=f"it holds {', '.join(there[:3])}",
            next_act="name another folder, or move that away",
        )


def _unwritten(path: Path, error: OSError) -> GradingError:
    return GradingError(
        f"{path} cannot be written",
        evidence=error.strerror or str(error),
        next_act="make room, or make it writable, then run the command again: what is graded is kept",
    )
