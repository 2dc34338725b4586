"""A folder to hand out, put in its place whole or not at all.

It is made in a folder beside its place and renamed to it when it is right, so that no one ever finds half of one. One
that was killed on the way leaves the folder beside it, which is removed by the next: it must never be handed out with
the whole parent folder by mistake.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

__all__ = ["replacing"]


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """The place of a folder, not there yet, that becomes *target* at the end of the block.

    If the block raises, *target* is as it was. Whether it may be replaced is for the caller to know. Raises OSError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    new = target.with_name(f".{target.name}.new-{os.getpid()}")
    try:
        yield new
        _swap(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _swap(new: Path, target: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)


def _remove_leftovers(target: Path) -> None:
    for path in target.parent.glob(f".{target.name}.new-*"):
        number = path.name.rpartition("-")[2]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            shutil.rmtree(path, ignore_errors=True)
