"""Zips as students, platforms and attackers make them."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Iterable, Mapping

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
WORK = {"answers/rule.yaml": b"a: 1\n", "10-exercises.ipynb": NOTEBOOK}


def zipped(contents: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> bytes:
    """A zip with these members, in this order; a name may be there twice in a list of pairs."""
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore", UserWarning)  # of a name that is there twice
        for name, content in contents.items() if isinstance(contents, Mapping) else contents:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def with_link(name: str, target: str, more: Mapping[str, bytes]) -> bytes:
    """A zip in which *name* is a symbolic link."""
    packed = io.BytesIO(zipped(more))
    with zipfile.ZipFile(packed, "a") as archive:
        link = zipfile.ZipInfo(name)
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return packed.getvalue()


def bomb(name: str, size: int) -> bytes:
    """A zip whose *name* inflates to *size* zeros, a thousandth of that packed, and says that it is one byte long."""
    data = bytearray(zipped({name: bytes(size)}))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (1).to_bytes(4, "little")
    return bytes(data)


def encrypted(contents: Mapping[str, bytes]) -> bytes:
    """A zip whose members say that a password is wanted."""
    data = bytearray(zipped(contents))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 8] |= 1
    return bytes(data)


def unflagged(names: Mapping[bytes, bytes]) -> bytes:
    """A zip with names as raw bytes, and no word on their encoding."""
    stand_ins = {f"{number:0{len(name)}}": name for number, name in enumerate(names)}
    data = zipped(dict(zip(stand_ins, names.values(), strict=True)))
    for stand_in, name in stand_ins.items():
        data = data.replace(stand_in.encode(), name)
    return data
