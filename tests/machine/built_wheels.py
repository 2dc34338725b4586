"""The wheels of this checkout for this platform, made once for all tests, and a student edition with them in it.

They are kept in ``build/``: ``labkit.machine.wheels`` makes anew only what was not made of today's sources.
"""

from __future__ import annotations

import sys
from pathlib import Path

from labkit.machine import wheels
from labkit.machine.checkout import Checkout
from labkit.machine.wheels import Target, Wheel
from labkit.release import Edition, release

__all__ = ["edition", "own_target", "own_wheels"]

CHECKOUT = Checkout.here()
_FOLDER = CHECKOUT.root / "build" / "test-wheels"


def own_target() -> Target:
    target = wheels.own()
    assert target is not None, "there is no wheel for this platform"
    return target


def own_wheels() -> tuple[Wheel, ...]:
    """labkit's wheel, and the control plane's for this platform."""
    return wheels.build(CHECKOUT, [own_target()], sys.stdout, into=_FOLDER)


def edition(target: Path) -> Edition:
    """The student edition of this repository in *target*, with those wheels."""
    return release(CHECKOUT.root, target, wheels=[wheel.path for wheel in own_wheels()])
