"""One digest over many files, which cannot be taken for that of others.

What is kept of a long run (a grade, an executed notebook) is used again only if everything that the run depended on is
the same, byte for byte. Names and lengths go in with the contents: without them, a byte that moves from the end of one
file to the beginning of the next would change nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from labkit.cluster import tools

__all__ = ["add_files", "add_programs", "files_below"]


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


def add_files(digest: _Digest, files: Iterable[tuple[str, bytes]]) -> None:
    """Add names and contents, in their order."""
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)


def add_programs(digest: _Digest) -> None:
    """Add the control plane and the kubectl that are used here. Raises ToolMissing."""
    for program in (tools.find_controlplane(), tools.find_kubectl()):
        with program.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())


def files_below(folder: Path, base: Path) -> Iterable[tuple[str, bytes]]:
    """The files below *folder* with their names from *base* on, sorted; what Python has compiled is left out."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(base).as_posix(), path.read_bytes()
