"""What a folder or a zip holds, as names and contents: listed without being trusted, read within limits.

Students choose every byte of what they hand in, and platforms pack it once or twice more. A name in a zip may lead out
of any folder, a link may point at the grader's own files, and some kilobytes may inflate to petabytes. So nothing is
unpacked: an archive is read in memory, a name is only ever a tuple of words, a content is inflated no further than a
limit, counted while it comes, whatever a header says. What is not read says why, in ``Member.refused``.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from labkit.exercises.report import printable
from labkit.languages import numeral, translate

__all__ = [
    "BROKEN",
    "LIMITS",
    "Budget",
    "Limits",
    "Member",
    "Refused",
    "in_folder",
    "in_memory",
    "in_zip",
    "on_disk",
    "size",
    "words",
]

MB = 1_000_000
_ENTRY = b"PK\x01\x02"
BROKEN = (OSError, EOFError, ValueError, LookupError, RuntimeError, MemoryError, OverflowError, struct.error,
          zlib.error, zipfile.BadZipFile)  # fmt: skip
"""What ``zipfile`` raises for a file that is none, that ends early, or that only looks like one."""


@dataclass(frozen=True)
class Limits:
    """In bytes: one *notebook*, one *answer*, and all that is read of one submission (*unpacked*). *nesting*: how many
    zips inside one another, the outermost counted. *members*: how many files a submission may have."""

    notebook: int = 20 * MB
    answer: int = 1 * MB
    unpacked: int = 50 * MB
    nesting: int = 3
    members: int = 10_000


LIMITS = Limits()


class Refused(Exception):
    """Something is not read; the text says why."""


@dataclass(frozen=True)
class Member:
    """One file, known by the words of its name. *refused*: why it is not read.

    *size* is what is said of it, where that can be believed; *depth* is how many zips it lies in. Of what is no file
    (an empty folder, one that cannot be listed, a name that leads out of its archive) there is nothing but the name.
    """

    parts: tuple[str, ...]
    open: Callable[[], IO[bytes]]
    size: int = 0
    refused: str = ""
    is_file: bool = True
    depth: int = 0

    @property
    def name(self) -> str:
        return "/".join(self.parts)

    @property
    def suffix(self) -> str:
        return Path(self.parts[-1]).suffix.lower() if self.is_file else ""

    def below(self, *words: str) -> Member:
        return replace(self, parts=(*words, *self.parts))


class Budget:
    """What may still be read of one submission. Once it is spent, nothing more is."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.unpacked
        self._listed = 0

    def read(self, member: Member, limit: int) -> bytes:
        """The content of *member*. Raises Refused: it is too long, it is broken, or too much was read before."""
        if member.refused:
            raise Refused(member.refused)
        if member.size > limit:
            raise Refused(translate("larger than {size}", size=size(limit)))
        if self.spent:
            raise Refused(self.spent)
        allowed = min(limit, self.left)
        try:
            with member.open() as stream:
                data = stream.read(allowed + 1)
        except BROKEN as error:
            raise Refused(translate("cannot be read: {why}", why=words(error))) from error
        self.left -= len(data)
        if self.spent:
            raise Refused(self.spent)
        if len(data) > limit:
            raise Refused(translate("larger than {size}", size=size(limit)))
        return data

    def list_zip(self, member: Member) -> list[Member]:
        """What the zip *member* lists. Raises Refused also where all zips together listed too many files before."""
        if self.crowded:
            raise Refused(translate("more than {n} files", n=numeral(self.limits.members)))
        found = in_memory(self.read(member, self.limits.unpacked), member.depth + 1, self.limits)
        self._listed += len(found)
        return found

    @property
    def crowded(self) -> bool:
        """Whether there were more files in zips than a submission may have."""
        return self._listed > self.limits.members

    @property
    def spent(self) -> str:
        """Why nothing more is read; empty as long as something is left."""
        return translate("unpacks to more than {size}", size=size(self.limits.unpacked)) if self.left < 0 else ""


def in_folder(folder: Path) -> Iterator[Member]:
    """What lies below *folder*, with the names from there on. A link is told of, and not followed. Raises OSError where
    *folder* itself cannot be listed."""
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        below = waiting.pop()
        place = folder.joinpath(*below)
        try:
            with os.scandir(place) as entries:
                there = list(entries)
        except OSError as error:
            if not below:
                raise
            yield Member(
                _clean(below), _nothing, refused=translate("cannot be read: {why}", why=words(error)), is_file=False
            )
            continue
        if not there:
            yield Member(_clean(below), _nothing, is_file=False)
        for entry in there:
            if entry.is_dir(follow_symlinks=False):
                waiting.append((*below, entry.name))
            else:
                yield on_disk(Path(entry.path), _clean((*below, entry.name)))


def in_zip(archive: zipfile.ZipFile, depth: int = 1) -> Iterator[Member]:
    """What *archive* lists; it must stay open while members are read."""
    for info in archive.infolist():
        name = _name(info)
        parts = tuple(one for one in name.split("/") if one not in ("", "."))
        if name.startswith("/") or name[1:2] == ":" or ".." in parts or "\0" in name:
            yield Member(
                _clean((name,)), _nothing, refused=translate("a name that leads out of the archive"), is_file=False
            )
        elif parts:
            is_file = not name.endswith("/")
            yield Member(_clean(parts), partial(archive.open, info), 0, _refused(info), is_file, depth)


def in_memory(data: bytes, depth: int, limits: Limits) -> list[Member]:
    """What the zip *data* lists. Raises Refused: it is none, lies in too many, or lists too many files."""
    if depth > limits.nesting:
        raise Refused(translate("more than {n} zips inside one another", n=limits.nesting))
    if data.count(_ENTRY) > limits.members:  # before zipfile makes an object of each
        raise Refused(translate("more than {n} files in one zip", n=numeral(limits.members)))
    try:
        return list(in_zip(zipfile.ZipFile(io.BytesIO(data)), depth))
    except BROKEN as error:
        raise Refused(translate("not a whole zip: {why}", why=words(error))) from error


def on_disk(path: Path, parts: tuple[str, ...]) -> Member:
    try:
        found = path.lstat()
    except OSError as error:
        return Member(parts, _nothing, refused=translate("cannot be read: {why}", why=words(error)))
    if stat.S_ISLNK(found.st_mode):
        return Member(parts, _nothing, refused=translate("a symbolic link, which is not followed"))
    if not stat.S_ISREG(found.st_mode):
        return Member(parts, _nothing, refused=translate("neither a file nor a folder"))
    return Member(parts, lambda: path.open("rb"), size=found.st_size)


def _name(info: zipfile.ZipInfo) -> str:
    """Its name, with "/" between words. Without the flag for UTF-8 a name is in code page 437 by the format, but many
    programs write UTF-8 all the same; a name that is valid UTF-8 by chance does not happen."""
    name = info.orig_filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.orig_filename
    return name.replace("\\", "/")


def _refused(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return translate("a symbolic link, which is not followed")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return translate("neither a file nor a folder")
    if info.flag_bits & 1:
        return translate("encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return translate("compressed in a way that is not read here")
    return ""


def _clean(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Names as text that can be shown and compared: one form of accents, no control characters."""
    shown = (one.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for one in parts)
    return tuple(printable(unicodedata.normalize("NFC", one)).translate({9: 0xFFFD, 10: 0xFFFD}) for one in shown)


def _nothing() -> IO[bytes]:
    return io.BytesIO()


def size(number: int) -> str:
    """ "20 MB", of a number of bytes."""
    return translate("{n} MB", n=numeral(number / MB, "g"))


def words(error: BaseException) -> str:
    """What went wrong, without a path of this machine."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
