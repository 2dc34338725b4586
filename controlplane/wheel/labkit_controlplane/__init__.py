"""The embedded control plane of labkit, as one program; ``labkit`` finds it by ``executable()``."""

from pathlib import Path

__all__ = ["executable"]


def executable() -> Path:
    """The program's file in this package."""
    folder = Path(__file__).parent
    windows = folder / "controlplane.exe"
    return windows if windows.is_file() else folder / "controlplane"
