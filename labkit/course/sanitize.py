"""The one sanitizer: what differs from run to run without meaning, put to a fixed word.

nbval has a format for this, one pair of ``regex:`` and ``replace:`` lines after another, and applies them in order
with ``re.sub``. ``sanitize.cfg`` is in that format and given to nbval as it is; this module reads the same file the
same way, so that player, recorder and parity report can never disagree with the tests.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import CourseError

__all__ = ["CONFIG", "load", "text"]

CONFIG = Path(__file__).with_name("sanitize.cfg")

_PAIR = re.compile(r"^regex: (.*)$\n^replace: (.*)$", re.MULTILINE)
"""nbval's own reading of the file (0.11, ``plugin.get_sanitize_patterns``)."""


@dataclass(frozen=True)
class Pair:
    regex: re.Pattern[str]
    replace: str


def load(config: Path = CONFIG) -> tuple[Pair, ...]:
    """The pairs of a file in order. Raises CourseError for a file that nbval would read otherwise, or not at all."""
    raw = config.read_bytes()
    if not raw.isascii():
        raise CourseError(f"{config}: ASCII is wanted", evidence="nbval reads it in the locale's encoding")
    content = raw.decode("ascii")
    found = _PAIR.findall(content)
    if len(found) != len(re.findall(r"^(?:regex|replace):", content, re.MULTILINE)) / 2:
        raise CourseError(f"{config}: each regex: needs its replace: on the next line, a blank after both colons")
    if len({regex for regex, _ in found}) != len(found):
        raise CourseError(f"{config}: a regex stands twice", evidence="nbval would apply it once, at its first place")
    return tuple(Pair(re.compile(regex), replace) for regex, replace in found)


def text(given: str, pairs: Iterable[Pair] | None = None) -> str:
    """*given* sanitized, by ``sanitize.cfg`` unless other *pairs* are given."""
    for pair in _course_pairs() if pairs is None else pairs:
        given = pair.regex.sub(pair.replace, given)
    return given


@functools.cache
def _course_pairs() -> tuple[Pair, ...]:
    return load()
