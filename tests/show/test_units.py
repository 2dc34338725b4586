"""Numbers with their unit."""

from __future__ import annotations

from labkit.show.units import mebibytes, seconds


def test_seconds_have_one_decimal() -> None:
    assert (seconds(6.449), seconds(0.04), seconds(11)) == ("6.4 s", "0.0 s", "11.0 s")


def test_memory_is_in_mebibytes_and_a_change_has_its_sign() -> None:
    assert mebibytes(412.3 * 2**20) == "412.3 MiB"
    assert mebibytes(2**20, sign=True) == "+1.0 MiB"
    assert mebibytes(-(2**20) / 2, sign=True) == "-0.5 MiB"
