"""What the figures are made of: boxes with wrapped text, arrows, and the document around them.

Colours are written twice: as attributes, which every program that reads SVG understands, and as a style sheet for
readers who asked for dark colours. Ids and classes carry the figure's name, because a page may hold several.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

__all__ = ["LINE", "SIZE", "SMALL", "WIDTH", "Drawing", "Picture", "Tone", "Translate", "wrap"]

Translate: TypeAlias = Callable[[str], str]
Tone: TypeAlias = Literal["card", "plain", "removed", "added", "judged", "stored", "old", "ghost"]

WIDTH = 560
"""Of every figure, in its own units: at this width text is of a page's usual size, and at 390 pixels still read."""

SIZE, SMALL = 16, 13.5
"""Font sizes of names and of what is said about them."""
LINE = 1.25
_GLYPH, _BOLD = 0.55, 0.62
"""Mean width of a character in sans-serif fonts, in ems, on the wide side: text has to fit whatever font it gets."""

_LIGHT: dict[Tone, tuple[str, str]] = {
    "card": ("#ffffff", "#d0d7de"),
    "plain": ("#f6f8fa", "#6e7781"),
    "removed": ("#ffebe9", "#cf222e"),
    "added": ("#dafbe1", "#1a7f37"),
    "judged": ("#ddf4ff", "#0969da"),
    "stored": ("#ddf4ff", "#0969da"),
    "old": ("#fff8c5", "#9a6700"),
    "ghost": ("none", "#6e7781"),
}
"""Fill and outline of each tone."""
_DARK: dict[Tone, tuple[str, str]] = {
    "card": ("#0d1117", "#30363d"),
    "plain": ("#161b22", "#8b949e"),
    "removed": ("#3d1a1d", "#f85149"),
    "added": ("#12301c", "#3fb950"),
    "judged": ("#10263f", "#58a6ff"),
    "stored": ("#10263f", "#58a6ff"),
    "old": ("#332a0b", "#d29922"),
    "ghost": ("none", "#8b949e"),
}
_INK, _QUIET = ("#1f2328", "#e6edf3"), ("#57606a", "#a9b3bd")
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Picture:
    """A figure drawn: *title* and *sentences* say in words what *body* shows; *height* in the figure's units."""

    name: str
    title: str
    sentences: tuple[str, ...]
    body: str
    height: float

    def svg(self) -> str:
        """The whole document, with a final newline."""
        name, height = f"labkit-{self.name}", _number(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-labelledby="{name}-title {name}-desc" class="{name}" font-family="{_FONT}">\n'
            f'<title id="{name}-title">{escape(self.title)}</title>\n'
            f'<desc id="{name}-desc">{escape(" ".join(self.sentences))}</desc>\n'
            f"<style>\n{_dark_style(name)}\n</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{_number(self.height - 1)}" rx="8" '
            f"{_paint('card')}/>\n{self.body}\n</svg>\n"
        )


def _dark_style(name: str) -> str:
    rules = [f".{name} .{tone} {{ fill: {fill}; stroke: {line}; }}" for tone, (fill, line) in _DARK.items()]
    rules += [f".{name} .arrow {{ stroke: {_QUIET[1]}; }}", f".{name} .head {{ fill: {_QUIET[1]}; }}"]
    rules += [f".{name} .ink {{ fill: {_INK[1]}; }}", f".{name} .quiet {{ fill: {_QUIET[1]}; }}"]
    return "@media (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"


def wrap(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Lines of *text* that fit into *width* at font size *size*; no line for no text."""
    return textwrap.wrap(text, max(4, int(width / ((_BOLD if bold else _GLYPH) * size))), break_long_words=False)


class Drawing:
    """Collects shapes. Coordinates are the figure's, y downwards; text is escaped here and nowhere else."""

    def __init__(self) -> None:
        self._shapes: list[str] = []

    @property
    def body(self) -> str:
        return "\n".join(self._shapes)

    def box(self, x: float, y: float, width: float, height: float, tone: Tone) -> None:
        dashes = ' stroke-dasharray="5 4"' if tone == "ghost" else ""
        self._shapes.append(
            f'<rect class="{tone}" x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" '
            f'height="{_number(height)}" rx="6" {_paint(tone)}{dashes}/>'
        )

    def cylinder(self, x: float, y: float, width: float, height: float, tone: Tone) -> None:
        """What stands for a store."""
        lid, right = 8.0, x + width
        side = f"M{_number(x)} {_number(y + lid)} v{_number(height - 2 * lid)}"
        bottom = f"a{_number(width / 2)} {lid} 0 0 0 {_number(width)} 0 V{_number(y + lid)}"
        self._shapes.append(f'<path class="{tone}" d="{side} {bottom}" {_paint(tone)}/>')
        self._shapes.append(
            f'<ellipse class="{tone}" cx="{_number((x + right) / 2)}" cy="{_number(y + lid)}" '
            f'rx="{_number(width / 2)}" ry="{lid}" {_paint(tone)}/>'
        )

    def text(  # noqa: PLR0913  (where, what, and how it looks)
        self,
        x: float,
        y: float,
        lines: Sequence[str],
        *,
        size: float = SIZE,
        bold: bool = False,
        quiet: bool = False,
        middle: bool = False,
        end: bool = False,
    ) -> float:
        """Lines whose first has its baseline at *y*; the baseline a line below the last."""
        look = f'class="{"quiet" if quiet else "ink"}" fill="{(_QUIET if quiet else _INK)[0]}" font-size="{size}"'
        look += ' font-weight="600"' if bold else ""
        look += ' text-anchor="middle"' if middle else ' text-anchor="end"' if end else ""
        for line in lines:
            self._shapes.append(f'<text x="{_number(x)}" y="{_number(y)}" {look}>{escape(line)}</text>')
            y += size * LINE
        return y

    def badge(self, x: float, y: float, digit: str, tone: Tone) -> None:
        """A digit in a circle around (x, y)."""
        self._shapes.append(f'<circle class="{tone}" cx="{_number(x)}" cy="{_number(y)}" r="11" {_paint(tone)}/>')
        self.text(x, y + 5, [digit], size=14, bold=True, middle=True)

    def arrow(self, x: float, y: float, to_y: float, *, to_x: float | None = None) -> None:
        """From (x, y) straight to the point, whose arrow head ends there; upwards, downwards or, with *to_x*, aside."""
        end_x = x if to_x is None else to_x
        along = (end_x > x) - (end_x < x), (to_y > y) - (to_y < y)
        back = end_x - 7 * along[0], to_y - 7 * along[1]
        across = 4.5 * abs(along[1]), 4.5 * abs(along[0])
        self._shapes.append(
            f'<line class="arrow" x1="{_number(x)}" y1="{_number(y)}" x2="{_number(back[0])}" y2="{_number(back[1])}" '
            f'stroke="{_QUIET[0]}" stroke-width="1.5"/>'
        )
        corners = (
            (end_x, to_y),
            (back[0] - across[0], back[1] - across[1]),
            (back[0] + across[0], back[1] + across[1]),
        )
        points = " ".join(f"{_number(a)},{_number(b)}" for a, b in corners)
        self._shapes.append(f'<polygon class="head" points="{points}" fill="{_QUIET[0]}"/>')


def _paint(tone: Tone) -> str:
    fill, line = _LIGHT[tone]
    return f'fill="{fill}" stroke="{line}"'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
