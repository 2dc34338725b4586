"""Numbers with their unit, always printed in one form, so that what varies from run to run can be recognised."""

from __future__ import annotations

__all__ = ["mebibytes", "seconds"]


def seconds(value: float) -> str:
    """ "6.4 s" """
    return f"{value:.1f} s"


def mebibytes(value: float, *, sign: bool = False) -> str:
    """ "412.3 MiB", of a number of bytes; with *sign* a rise has a plus."""
    return f"{value / 2**20:{'+' if sign else ''}.1f} MiB"
