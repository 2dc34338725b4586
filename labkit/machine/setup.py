"""``python3 -m labkit.machine.setup``: from a fresh clone to everything ``labkit`` needs.

This file only looks at the Python that runs it, and is kept free of newer syntax, so that an old Python gets a clear
line and not a traceback. The work is in ``labkit.machine.setting_up``.
"""

import shutil
import sys

__all__ = ["main"]

OLDEST = (3, 11)
NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")


def old_python_message() -> str:
    """What to say when this Python is too old, naming one on PATH that is not."""
    found = next((name for name in NEWER if shutil.which(name)), None)
    version = ".".join(str(part) for part in sys.version_info[:3])
    if found:
        act = f"run: make setup PYTHON={found}  (or {found} -m labkit.machine.setup)"
    else:
        act = "install Python 3.11 or newer, then: make setup PYTHON=/path/to/it"
    return f"set-up: labkit needs Python 3.11 or newer: this is {version} ({sys.executable})\n  → {act}"


def main() -> int:
    """Returns the exit code: 0 set up, 1 not, 2 bad usage, 130 interrupted."""
    if sys.version_info < OLDEST:
        sys.stderr.write(old_python_message() + "\n")
        return 1
    from labkit.machine.setting_up import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
