"""The command of ``make wheels``: which targets, where to, and a table of what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from labkit.cluster import system
from labkit.errors import LabkitError
from labkit.machine.checkout import Checkout
from labkit.machine.wheels import INTO, TARGETS, build, chosen

INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Returns the exit code: 0 when all wheels that were asked for are there."""
    parser = argparse.ArgumentParser(prog="python -m labkit.machine.wheels", description="Build labkit's wheels.")
    names = ", ".join(target.name for target in TARGETS)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {names}; all of them by default")
    parser.add_argument("--into", type=Path, help=f"the folder to make, {INTO} by default")
    options = parser.parse_args(argv)
    try:
        with system.ends_on_signals():
            checkout = Checkout.here()
            into = options.into or checkout.root / INTO
            made = build(checkout, chosen(options.targets), sys.stdout, into=into.absolute())
    except KeyboardInterrupt:
        sys.stderr.write("wheels: interrupted; nothing is left running, and what was there is as it was\n")
        return INTERRUPTED
    except (LabkitError, OSError) as error:
        sys.stderr.write(f"wheels: {error}\n")
        return 1
    width = max(len(wheel.path.name) for wheel in made)
    for wheel in made:
        print(f"{wheel.path.name:<{width}}  {wheel.size / 1e6:5.1f} MB  {wheel.sha256}")
    print(f"{into}: {len(made)} wheels, SHA256SUMS")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
