"""What lies inside a file: the members of archives, and what a compressed file unpacks to. Nothing is ever executed.

A file is untrusted here, if only because it may be broken: a zip of a few kilobytes can unpack to petabytes, a member
can be a copy of the whole. So nothing is unpacked beyond a budget, and whatever is not looked into is told, with the
reason, because a scan that skips in silence would call the unknown clean. Kinds are known by their first bytes, not by
their names: a wheel, a crate or a notebook's attachment is whatever it begins with. Pickles are read as bytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

__all__ = ["Budget", "Limits", "Member", "OverBudget", "Unreadable", "kind", "members"]

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """*file* and *total* in bytes: the largest file or member, and all that one file may unpack to. *depth*: how many
    containers inside each other. *members*: how many things one file may hold."""

    file: int = 512 * MIB
    total: int = 2048 * MIB
    depth: int = 8
    members: int = 100_000


class OverBudget(Exception):
    """More is inside than is unpacked here; the text says what."""


class Unreadable(Exception):
    """It is broken, encrypted, or of a kind that is not unpacked here; the text says which."""


@dataclass(frozen=True)
class Member:
    """Something inside: *name* may be empty (a compressed file has one content). *problem*: why *data* is not there."""

    name: str
    data: bytes
    problem: str = ""


class Budget:
    """What is left to unpack of one file."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.total = limits.total
        self.members = limits.members
        self.seen: set[int] = set()

    def first(self, data: bytes) -> bool:
        """Whether *data* is met for the first time in this file."""
        known = hash(data) in self.seen
        self.seen.add(hash(data))
        return not known

    def count(self) -> None:
        """Take one member. Raises OverBudget."""
        self.members -= 1
        if self.members < 0:
            raise OverBudget(f"more than {self.limits.members:,} members in one file")

    def read(self, stream: IO[bytes]) -> bytes:
        """All that *stream* gives. Raises OverBudget when that is too much."""
        allowed = min(self.limits.file, self.total)
        data = stream.read(allowed + 1)
        if len(data) > allowed:
            which = "one member" if allowed == self.limits.file else "one file in all"
            raise OverBudget(f"unpacks to more than {size(allowed)} ({which})")
        self.total -= len(data)
        return data


def size(number: int) -> str:
    return f"{number / MIB:,.0f} MiB" if number >= MIB else f"{number:,} bytes"


def kind(data: bytes) -> str:
    """ "zip", "tar", "gzip", "bz2", "xz", "inventory" (Sphinx), one that is not unpacked here, or "" for none."""
    for name, signs in _SIGNS.items():
        if data.startswith(signs):
            return name
    if data[257:262] == b"ustar":
        return "tar"
    return "zip" if data[-MIB:].rfind(b"PK\x05\x06") >= 0 and zipfile.is_zipfile(io.BytesIO(data)) else ""


def members(what: str, data: bytes, budget: Budget) -> Iterator[Member]:
    """What *data* of the kind *what* holds. Raises OverBudget and Unreadable; what came before stays valid."""
    reader = _READERS.get(what)
    if reader is None:
        raise Unreadable(f"{what} is not unpacked here")
    try:
        yield from reader(data, budget)
    except (OSError, EOFError, ValueError, KeyError, NotImplementedError, zlib.error, lzma.LZMAError,
            zipfile.BadZipFile, tarfile.TarError) as error:  # fmt: skip
        raise Unreadable(f"not a whole {what} file: {error}") from error


def _zip(data: bytes, budget: Budget) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if archive.comment:
            yield Member("(comment)", archive.comment)
        for info in archive.infolist():
            budget.count()
            if info.is_dir():
                yield Member(info.filename, info.comment)
            elif info.flag_bits & 1:
                yield Member(info.filename, info.comment, "encrypted")
            else:
                with archive.open(info) as stream:
                    yield Member(info.filename, budget.read(stream))
                if info.comment:
                    yield Member(f"{info.filename} (comment)", info.comment)


def _tar(data: bytes, budget: Budget) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive:
            budget.count()
            stream = archive.extractfile(info) if info.isreg() else None
            yield Member(info.name, budget.read(stream) if stream is not None else info.linkname.encode())


def _compressed(opened: Callable[[io.BytesIO], Any]) -> Callable[[bytes, Budget], Iterator[Member]]:
    def reader(data: bytes, budget: Budget) -> Iterator[Member]:
        budget.count()
        with opened(io.BytesIO(data)) as stream:
            yield Member("", budget.read(stream))

    return reader


def _inventory(data: bytes, budget: Budget) -> Iterator[Member]:
    """Sphinx's objects.inv: four lines, then a zlib stream."""
    budget.count()
    packed = data.split(b"\n", 4)[-1]
    allowed = min(budget.limits.file, budget.total)
    text = zlib.decompressobj().decompress(packed, allowed + 1)
    yield Member("", budget.read(io.BytesIO(text)))


_SIGNS: dict[str, bytes | tuple[bytes, ...]] = {
    "zip": b"PK\x03\x04",
    "gzip": b"\x1f\x8b\x08",
    "bz2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    "xz": (b"\xfd7zXZ\x00", b"\x5d\x00\x00\x80\x00"),
    "inventory": b"# Sphinx inventory version 2",
    "zstd": b"\x28\xb5\x2f\xfd",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "rar": b"Rar!\x1a\x07",
    "lz4": b"\x04\x22\x4d\x18",
}
_READERS: dict[str, Callable[[bytes, Budget], Iterator[Member]]] = {
    "zip": _zip,
    "tar": _tar,
    "gzip": _compressed(lambda raw: gzip.GzipFile(fileobj=raw)),
    "bz2": _compressed(bz2.BZ2File),
    "xz": _compressed(lzma.LZMAFile),
    "inventory": _inventory,
}
