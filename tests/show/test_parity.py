"""The comparison of two plays, as text."""

from __future__ import annotations

from labkit.course.parity import Difference
from labkit.show import parity


def test_no_difference_is_one_line() -> None:
    assert parity.text(()) == "Both say the same in every step.\n"


def test_each_difference_is_a_block_and_they_are_counted() -> None:
    found = (
        Difference("cel/a", "A rule", "output", "the outputs differ", ("--- first", "+++ second", "-\x1b[1m", "+b")),
        Difference("cel/b", "Another", "missing", "the second has no such step"),
    )
    assert parity.text(found) == (
        "cel/a: A rule\n  output: the outputs differ\n    --- first\n    +++ second\n    -\\x1b[1m\n    +b\n"
        "cel/b: Another\n  missing: the second has no such step\n2 steps not the same.\n"
    )


def test_a_long_difference_is_cut() -> None:
    long = Difference("cel/a", "A rule", "output", "differ", tuple(f"+{n}" for n in range(100)))
    assert "    … 70 lines more\n1 step not the same.\n" in parity.text((long,))
