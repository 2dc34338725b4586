"""The course's figures: the path of an object, and a change of the stored version. Geometry and words apart.

A figure of somebody else's making has one language, one background and no words for those who cannot see it. These are
drawn here, as SVG without scripts, fonts or anything fetched. Every word of a figure stands in one tuple that a
catalogue can take over (``words``), boxes grow with what they have to hold, and the description that a screen reader
gets is made of the same words as the drawing (``description``, which is also the figure's text twin).

A figure brings its own background, so it can be read on a light page and on a dark one, and has a dark form for readers
whose system asks for that. ``python -m labkit.machine.figures`` writes the files that the notebooks show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from labkit.show.figures import path, versions
from labkit.show.figures.svg import Picture, Translate

__all__ = ["NAMES", "description", "draw", "words"]

_DRAWN: Mapping[str, tuple[Callable[[Translate], Picture], tuple[str, ...]]] = MappingProxyType(
    {"path": (path.picture, path.WORDS), "versions": (versions.picture, versions.WORDS)}
)

NAMES: tuple[str, ...] = tuple(_DRAWN)
"""The figures there are."""

_AS_WRITTEN: Mapping[str, str] = MappingProxyType({})


def words(name: str) -> tuple[str, ...]:
    """Every word and phrase of the figure that a language may change, in English, each once. Raises KeyError."""
    return _DRAWN[name][1]


def draw(name: str, translated: Mapping[str, str] = _AS_WRITTEN) -> str:
    """The figure as an SVG document. *translated* has other words for some or all of ``words(name)``.

    The same words give the same bytes. Raises KeyError for a figure there is not.
    """
    return _DRAWN[name][0](_translator(translated)).svg()


def description(name: str, translated: Mapping[str, str] = _AS_WRITTEN) -> str:
    """The figure in sentences, title first, a line each: its text twin."""
    picture = _DRAWN[name][0](_translator(translated))
    return "\n".join((picture.title, *picture.sentences))


def _translator(translated: Mapping[str, str]) -> Translate:
    return lambda text: translated.get(text) or text
