"""The path of an object: down into etcd when it is written, up and out of it when it is read.

Both ways stand side by side, so that one sees at one height what the one has and the other has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from labkit.show.figures.svg import LINE, SIZE, SMALL, WIDTH, Drawing, Picture, Tone, Translate, wrap

__all__ = ["WORDS", "picture"]


@dataclass(frozen=True)
class Station:
    """One thing that is done to an object: its name, what is to be said about it, and its number on the page."""

    name: str
    detail: str = ""
    tone: Tone = "plain"
    digit: str = ""


TITLE = "The path of an object through the API server"
WRITE = Station("A write", "create, update, patch, apply")
READ = Station("A read", "get, list, watch")
ETCD = "etcd"
DOWN, UP = "On the way down:", "On the way up:"

ROWS: tuple[tuple[Station | None, Station | None], ...] = (
    (Station("request"), Station("answer")),
    (Station("decode", "unknown fields are noted"), Station("convert", "to the version asked for")),
    (Station("prune", "unknown fields are taken away", "removed"), None),
    (
        Station("fill defaults", "of the version of the request", "added", "1"),
        Station("fill defaults", "of the version stored", "added", "2"),
    ),
    (Station("mutating admission", "policies and webhooks may change it"), None),
    (
        Station("fill defaults", "again, if something was changed", "added", "3"),
        Station("prune", "what the version stored does not know", "removed"),
    ),
    (
        Station(
            "validate", "schema, then CEL rules; an update may keep an old mistake that it does not touch", "judged"
        ),
        Station("nothing is validated", "", "ghost"),
    ),
    (Station("convert", "to the version stored"), Station("decode")),
)
"""From top to bottom: left what a write passes, right what a read passes on its way up."""


def _words() -> tuple[str, ...]:
    stations = [WRITE, READ, *(station for row in ROWS for station in row if station)]
    found = [TITLE, ETCD, DOWN, UP, *(text for station in stations for text in (station.name, station.detail) if text)]
    return tuple(dict.fromkeys(found))


WORDS = _words()

_MARGIN, _GAP, _BETWEEN, _PADDING = 16.0, 28.0, 20.0, 10.0
_COLUMN = (WIDTH - 2 * _MARGIN - _GAP) / 2
_BADGE = 30.0
"""Room that a number takes at the left of a box."""


def picture(translate: Translate) -> Picture:
    drawing = Drawing()
    lefts = (_MARGIN, _MARGIN + _COLUMN + _GAP)
    y = max(_heading(drawing, left, station, translate) for left, station in zip(lefts, (WRITE, READ), strict=True))
    # Bottom and top of each column's boxes: arrows go between neighbours, over rows where the column has none.
    columns: tuple[list[tuple[float, float]], ...] = ([], [])
    for row in ROWS:
        height = max(_height(station, translate) for station in row if station)
        for left, station, spans in zip(lefts, row, columns, strict=True):
            if station is not None:
                _station(drawing, (left, y), height, station, translate)
                spans.append((y, y + height))
        y += height + _BETWEEN
    drawing.cylinder(_MARGIN, y, WIDTH - 2 * _MARGIN, 52, "stored")
    drawing.text(WIDTH / 2, y + 38, [translate(ETCD)], bold=True, middle=True)
    for left, spans, down in zip(lefts, columns, (True, False), strict=True):
        _arrows(drawing, left + _COLUMN / 2, [*spans, (y, y)], down=down)
    return Picture("path", translate(TITLE), _sentences(translate), drawing.body, y + 52 + _MARGIN)


def _heading(drawing: Drawing, x: float, station: Station, translate: Translate) -> float:
    centre = x + _COLUMN / 2
    y = drawing.text(centre, 34, wrap(translate(station.name), _COLUMN, 18, bold=True), size=18, bold=True, middle=True)
    lines = wrap(translate(station.detail), _COLUMN, SMALL)
    return drawing.text(centre, y - 2, lines, size=SMALL, quiet=True, middle=True)


def _lines(station: Station, translate: Translate) -> tuple[list[str], list[str]]:
    width = _COLUMN - 2 * _PADDING - (_BADGE if station.digit else 0)
    return wrap(translate(station.name), width, SIZE, bold=True), wrap(translate(station.detail), width, SMALL)


def _height(station: Station, translate: Translate) -> float:
    names, details = _lines(station, translate)
    return LINE * (SIZE * len(names) + SMALL * len(details)) + 1.4 * _PADDING


def _station(
    drawing: Drawing, corner: tuple[float, float], height: float, station: Station, translate: Translate
) -> None:
    x, y = corner
    names, details = _lines(station, translate)
    drawing.box(x, y, _COLUMN, height, station.tone)
    inner = LINE * (SIZE * len(names) + SMALL * len(details))
    if station.digit:
        drawing.badge(x + _PADDING + 11, y + height / 2, station.digit, "card")
    centre = x + _COLUMN / 2 + (_BADGE / 2 if station.digit else 0)
    below = drawing.text(
        centre, y + (height - inner) / 2 + SIZE * 0.98, names, bold=station.tone != "ghost", middle=True
    )
    drawing.text(centre, below - 2, details, size=SMALL, quiet=True, middle=True)


def _arrows(drawing: Drawing, x: float, spans: list[tuple[float, float]], *, down: bool) -> None:
    for (_, bottom), (top, _) in pairwise(spans):
        if down:
            drawing.arrow(x, bottom, top)
        else:
            drawing.arrow(x, top, bottom)


def _sentences(translate: Translate) -> tuple[str, ...]:
    """The stations of each way in the order in which an object comes to them."""
    said = []
    ways = (DOWN, WRITE, [row[0] for row in ROWS]), (UP, READ, [row[1] for row in reversed(ROWS)])
    for intro, way, stations in ways:
        there = [_said(station, translate) for station in stations if station]
        there = [*there, translate(ETCD)] if intro is DOWN else [translate(ETCD), *there]
        said.append(f"{_said(way, translate)}. {translate(intro)} {'; '.join(there)}.")
    return tuple(said)


def _said(station: Station, translate: Translate) -> str:
    name = f"({station.digit}) {translate(station.name)}" if station.digit else translate(station.name)
    return f"{name} ({translate(station.detail)})" if station.detail else name
