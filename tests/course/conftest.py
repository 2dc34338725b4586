"""What the course's tests share: kernels that are always stopped, and nothing left of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def no_kernel_folder_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of the test's own (with a short name, for sockets), without kernels' folders at its end."""
    with tempfile.TemporaryDirectory(prefix="lk-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
        assert list(Path(folder).glob("labkit-kernel-*")) == []
