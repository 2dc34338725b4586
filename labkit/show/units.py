"""Numbers with their unit, always printed in one form, so that what varies from run to run can be recognised."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from labkit.languages import numeral, translate

__all__ = ["Unit", "amount", "listed", "mebibytes", "seconds", "significant"]

Unit: TypeAlias = Literal["", "bytes", "KiB", "MiB", "ms", "s"]
"""What a number given to ``amount`` counts; "" is a bare count."""

_DIGITS: dict[Unit, int] = {"": 0, "bytes": 0, "KiB": 0, "MiB": 0, "ms": 0, "s": 1}
_MOST_DIGITS = 5


def amount(value: float, unit: Unit, *, sign: bool = False) -> str:
    """ "412 MiB", of a number of that unit, as short as a column of many needs it; with *sign* a rise has a plus."""
    rounded = round(value, _DIGITS[unit]) + 0.0  # no "-0"
    return f"{numeral(rounded, f'{_sign(sign)}.{_DIGITS[unit]}f')} {unit}".rstrip()


def seconds(value: float) -> str:
    """ "6.4 s" """
    return f"{numeral(value, '.1f')} s"


def mebibytes(value: float, *, sign: bool = False) -> str:
    """ "412.3 MiB", of a number of bytes; with *sign* a rise has a plus."""
    return f"{numeral(value / 2**20, f'{_sign(sign)}.1f')} MiB"


def significant(value: float, *, sign: bool = False) -> str:
    """Three digits that count, without an exponent: "235", "1.07", "0.0131"; less than 0.00001 is 0."""
    size = abs(value)
    digits = min(_MOST_DIGITS, max(0, 2 - math.floor(math.log10(size)))) if size else 0
    text = f"{value:{_sign(sign)}.{digits}f}"
    return numeral(text, "") if float(text) else f"{_sign(sign)}0"


def listed(words: list[str]) -> str:
    """ "1, 10 and 50" """
    return translate(" and ").join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _sign(always: bool) -> str:
    return "+" if always else ""
