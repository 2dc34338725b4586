"""Thousands of needles in one pass: folded bytes in, the needles that stand in them and where.

A page is read in several readings and a course has more than a thousand needles, so looking for one after the other
would take minutes for a site. But wherever a needle stands, the blocks of eight bytes it covers at multiples of eight
are among its own: one of eight ways to cut it. A set of all blocks of the text therefore excludes nearly every needle
without looking for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from labkit.scan.answers import Needle

__all__ = ["Searcher"]

_BLOCK = 8
_SHORTEST = 2 * _BLOCK - 1
"""From this length on a needle covers a whole block wherever it stands."""


class Searcher:
    """Finds *needles*; each once, at its first place."""

    def __init__(self, needles: Iterable[Needle]) -> None:
        self._needles = [(needle, _cuts(needle.text)) for needle in needles]

    def find(self, text: bytes) -> Iterator[tuple[int, Needle]]:
        """Offset and needle of each that stands in the folded *text*."""
        blocks = memoryview(text + bytes(-len(text) % _BLOCK))
        present = set(blocks.cast("Q"))
        for needle, cuts in self._needles:
            if not cuts or any(cut <= present for cut in cuts):
                index = text.find(needle.text)
                if index >= 0:
                    yield index, needle


def _cuts(needle: bytes) -> tuple[frozenset[int], ...]:
    """The whole blocks of each way to cut it; () for one that is too short."""
    if len(needle) < _SHORTEST:
        return ()
    found = []
    for start in range(_BLOCK):
        whole = (len(needle) - start) // _BLOCK * _BLOCK
        found.append(frozenset(memoryview(needle[start : start + whole]).cast("Q")))
    return tuple(found)
