"""A change of the stored version, in five moments from top to bottom: what the definition says, what lies in etcd.

Versions and names of objects are data of the course and stay as they are in every language.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from labkit.show.figures.svg import LINE, SIZE, SMALL, WIDTH, Drawing, Picture, Tone, Translate, wrap

__all__ = ["WORDS", "picture"]

OLD, NEW = "v1alpha1", "v1"


@dataclass(frozen=True)
class Moment:
    """What was done, and what is the case then.

    *serves* are the definition's versions and *stores* the one that new writes go into; *objects* are names and the
    version each lies in; *remembered* is status.storedVersions; *kept* while the old version cannot be dropped.
    """

    done: str
    serves: tuple[str, ...]
    stores: str
    objects: tuple[tuple[str, str], ...]
    remembered: tuple[str, ...]
    kept: bool = False


MOMENTS = (
    Moment("At first there is one version.", (OLD,), OLD, (("principal", OLD), ("mini", OLD)), (OLD,)),
    Moment(
        "The definition gets a second version, which is now the stored one. No object is touched.",
        (OLD, NEW),
        NEW,
        (("principal", OLD), ("mini", OLD)),
        (OLD, NEW),
        kept=True,
    ),
    Moment(
        "One object is written, another one created: both are stored in the new version.",
        (OLD, NEW),
        NEW,
        (("principal", NEW), ("mini", OLD), ("ancien", NEW)),
        (OLD, NEW),
        kept=True,
    ),
    Moment(
        "A migration writes every object once more, then strikes the old version from the list.",
        (OLD, NEW),
        NEW,
        (("principal", NEW), ("mini", NEW), ("ancien", NEW)),
        (NEW,),
    ),
    Moment("Now the old version can go.", (NEW,), NEW, (("principal", NEW), ("mini", NEW), ("ancien", NEW)), (NEW,)),
)

TITLE = "A change of the stored version"
DEFINITION, STORES = "definition", "stores"
OBJECTS, LIST = "objects in etcd", "storedVersions"
KEPT = "the server refuses to drop the old version"

WORDS = (TITLE, DEFINITION, STORES, OBJECTS, KEPT, *(moment.done for moment in MOMENTS))

_MARGIN, _CHIP, _HIGH, _ROW, _BETWEEN = 16.0, 74.0, 26.0, 31.0, 18.0
_COLUMNS = (_MARGIN + 12, 198.0, WIDTH - _MARGIN - 12 - _CHIP)
"""Where the definition, the objects and the list begin."""
_OBJECT = 82.0
"""From one object to the next."""


def picture(translate: Translate) -> Picture:
    drawing = Drawing()
    y = _MARGIN
    boxes = []
    for index, moment in enumerate(MOMENTS):
        height = _moment(drawing, y, str(index + 1), moment, translate)
        boxes.append((y, y + height))
        y += height + _BETWEEN
    for (_, bottom), (top, _) in pairwise(boxes):
        drawing.arrow(WIDTH / 2, bottom, top)
    return Picture("versions", translate(TITLE), _sentences(translate), drawing.body, y - _BETWEEN + _MARGIN)


def _moment(drawing: Drawing, y: float, digit: str, moment: Moment, translate: Translate) -> float:
    """One moment in its box, whose height it gives. The box comes first, since later shapes cover earlier ones."""
    lines = wrap(translate(moment.done), WIDTH - 2 * _MARGIN - 56, SIZE, bold=True)
    kept = wrap(translate(KEPT), WIDTH - 2 * _MARGIN - 24, SMALL, bold=True) if moment.kept else []
    heads = y + 30 + LINE * SIZE * len(lines)
    chips = heads + 10
    rows = max(len(moment.serves), len(moment.remembered))
    bottom = chips + max(rows * _ROW, _HIGH + 20) + 6
    height = bottom + (len(kept) * SMALL * LINE + 6 if kept else 0) - y
    drawing.box(_MARGIN, y, WIDTH - 2 * _MARGIN, height, "plain")
    drawing.badge(_MARGIN + 22, y + 22, digit, "card")
    drawing.text(_MARGIN + 44, y + 28, lines, bold=True)
    definition, objects, remembered = _COLUMNS
    drawing.text(definition, heads, [translate(DEFINITION)], size=SMALL, quiet=True)
    drawing.text(objects, heads, [translate(OBJECTS)], size=SMALL, quiet=True)
    drawing.text(remembered + _CHIP, heads, [LIST], size=SMALL, quiet=True, end=True)
    _chips(drawing, chips, moment, translate)
    drawing.text(WIDTH / 2, bottom + 12, kept, size=SMALL, bold=True, middle=True)
    return height


def _chips(drawing: Drawing, y: float, moment: Moment, translate: Translate) -> None:
    definition, objects, remembered = _COLUMNS
    for row, version in enumerate(moment.serves):
        _chip(drawing, definition, y + row * _ROW, version)
        if version == moment.stores:
            arrow = [f"← {translate(STORES)}"]
            drawing.text(definition + _CHIP + 8, y + row * _ROW + 18, arrow, size=SMALL)
    for place, (name, version) in enumerate(moment.objects):
        x = objects + place * _OBJECT
        _chip(drawing, x, y, version)
        drawing.text(x + _CHIP / 2, y + _HIGH + 16, [name], size=SMALL, middle=True)
    for row, version in enumerate(moment.remembered):
        _chip(drawing, remembered, y + row * _ROW, version)


def _chip(drawing: Drawing, x: float, y: float, version: str) -> None:
    tone: Tone = "old" if version == OLD else "stored"
    drawing.box(x, y, _CHIP, _HIGH, tone)
    drawing.text(x + _CHIP / 2, y + 18, [version], size=SMALL, middle=True)


def _sentences(translate: Translate) -> tuple[str, ...]:
    said = []
    for index, moment in enumerate(MOMENTS, start=1):
        serves = ", ".join(moment.serves)
        objects = ", ".join(f"{name} {version}" for name, version in moment.objects)
        facts = [
            f"{translate(DEFINITION)}: {serves} ({translate(STORES)} {moment.stores})",
            f"{translate(OBJECTS)}: {objects}",
            f"{LIST}: {', '.join(moment.remembered)}",
            *([translate(KEPT)] if moment.kept else []),
        ]
        said.append(f"({index}) {translate(moment.done)} {'; '.join(facts)}.")
    return tuple(said)
