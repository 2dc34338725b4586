"""The figures of the notebooks, written as the files that the notebooks show.

    python -m labkit.machine.figures           writes notebooks/figures/*.svg
    python -m labkit.machine.figures FOLDER    writes them there

A notebook shows a figure as an image of a file beside it, because that is the one form that JupyterLab, nbconvert, a
page and a copy without outputs all show. A test says when the files are not what would be drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from labkit.machine.checkout import Checkout
from labkit.show import figures

__all__ = ["FOLDER", "main"]

FOLDER = Path("notebooks") / "figures"
"""Within the repository."""


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when all are written, 1 when they could not be, 2 for arguments that are none."""
    if len(argv) > 1 or any(word.startswith("-") for word in argv):
        print("usage: python -m labkit.machine.figures [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(argv[0]) if argv else Checkout.here().root / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in figures.NAMES:
            (folder / f"{name}.svg").write_text(figures.draw(name), encoding="utf-8")
    except OSError as error:
        print(f"figures: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{folder}: {', '.join(f'{name}.svg' for name in figures.NAMES)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
