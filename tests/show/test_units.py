"""Numbers with their unit."""

from __future__ import annotations

import pytest

from labkit.languages import speaking
from labkit.show.units import amount, listed, mebibytes, seconds, significant


def test_seconds_have_one_decimal() -> None:
    assert (seconds(6.449), seconds(0.04), seconds(11)) == ("6.4 s", "0.0 s", "11.0 s")


def test_memory_is_in_mebibytes_and_a_change_has_its_sign() -> None:
    assert mebibytes(412.3 * 2**20) == "412.3 MiB"
    assert mebibytes(2**20, sign=True) == "+1.0 MiB"
    assert mebibytes(-(2**20) / 2, sign=True) == "-0.5 MiB"


def test_an_amount_is_short_and_always_in_its_unit() -> None:
    shown = [amount(n, unit) for n, unit in ((71.0, ""), (0.04, "s"), (55.4, "ms"), (292.0, "KiB"), (1068.2, "MiB"))]
    assert shown == ["71", "0.0 s", "55 ms", "292 KiB", "1068 MiB"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1608.3, "1608"), (235.49, "235"), (1.0, "1.00"), (0.0131, "0.0131"), (-0.329, "-0.329"), (2e-9, "0"), (0, "0")],
)
def test_three_digits_count_and_there_is_no_exponent(value: float, text: str) -> None:
    assert significant(value) == text
    assert significant(value, sign=True) == (text if value < 0 else f"+{text}")


def test_words_are_listed() -> None:
    assert [listed(words) for words in (["1"], ["1", "10"], ["1", "10", "50"])] == ["1", "1 and 10", "1, 10 and 50"]


def test_in_french_the_decimals_stand_behind_a_comma() -> None:
    with speaking("fr"):
        said = (
            seconds(6.449),
            mebibytes(2**20, sign=True),
            amount(0.04, "s"),
            significant(-0.329),
            significant(1608.3),
        )
    assert said == ("6,4 s", "+1,0 MiB", "0,0 s", "-0,329", "1608")
