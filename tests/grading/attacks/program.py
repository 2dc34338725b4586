"""``labkit grade`` with shorter limits than a class has: python -m tests.grading.attacks.program grade …

``--last-first`` before ``grade`` takes the submissions in the other order.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from labkit import cli
from labkit.grading import classroom, reading
from tests.grading.attacks.short import ShortCourse


def _last_first(path: Path) -> reading.Handed:
    handed = reading.read(path)
    return replace(handed, submissions=handed.submissions[::-1])


def main() -> None:
    vars(classroom)["Course"] = ShortCourse
    if "--last-first" in sys.argv:
        sys.argv.remove("--last-first")
        vars(classroom)["reading"] = type("Reading", (), {"read": staticmethod(_last_first)})
    cli.main()


if __name__ == "__main__":
    main()
