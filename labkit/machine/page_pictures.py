"""The pictures of the course pages in the documents, taken from pages that were made (``make site``).

    python -m labkit.machine.page_pictures [FOLDER]     writes docs/pictures/page.png, phone.png and playground.png

FOLDER is a site in one language, by default dist/site/en. Nothing in a picture is arranged: each is what the system's
browser shows of a page after what a reader does there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from labkit.errors import CourseError, LabkitError
from labkit.machine import browser
from labkit.machine.checkout import Checkout

__all__ = ["MOST_BYTES", "PICTURES", "Picture", "main", "take"]

MOST_BYTES = 150_000
"""Of one picture: git keeps every one that ever was."""

_LIMIT_MS = 60_000


@dataclass(frozen=True)
class Picture:
    """What is taken: a *page* (its address in a site) with *place* at the window's upper edge, after what a reader has
    *done* there. On a *phone* the page is told that it is on one.
    """

    page: str
    place: str
    window: tuple[int, int]
    done: Callable[[Page], None] = lambda _: None
    phone: bool = False


def _refused(page: Page) -> None:
    """A reader has asked for more workers than there may be, and has it judged."""
    field = page.locator("#object")
    field.fill(field.input_value().replace("min: 0", "min: 7"))
    page.click("#judge")
    expect(page.locator("#status")).to_have_class("labkit-bad", timeout=_LIMIT_MS)
    expect(page.locator("#judge")).to_be_enabled(timeout=_LIMIT_MS)


PICTURES: Mapping[str, Picture] = {
    "page.png": Picture("04-cel.html", "#the-first-manifest-once-more", (1180, 560)),
    "phone.png": Picture("03-path.html", "p:has(+ #path-default-changed)", (390, 760), phone=True),
    "playground.png": Picture("playground/index.html", "#form", (1180, 710), _refused),
}


def take(chromium: Browser, site: Path, picture: Picture) -> bytes:
    """A PNG. Raises CourseError where the site has no such page."""
    path = site / picture.page
    if not path.is_file():
        raise CourseError(f"no {picture.page} in {site}", next_act="make site makes the pages")
    width, height = picture.window
    page = chromium.new_page(
        viewport={"width": width, "height": height}, is_mobile=picture.phone, reduced_motion="reduce"
    )
    page.goto(path.as_uri())
    picture.done(page)
    page.locator(picture.place).evaluate("one => one.scrollIntoView({behavior: 'instant'})")
    taken = page.screenshot()
    page.close()
    return taken


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when all are taken."""
    root = Checkout.here().root
    site = Path(argv[0]) if argv else root / "dist" / "site" / "en"
    try:
        with browser.opened() as chromium:
            taken = {name: take(chromium, site, picture) for name, picture in PICTURES.items()}
    except LabkitError as error:
        print(f"pictures: {error}", file=sys.stderr)
        return 1
    for name, content in taken.items():
        print(f"{name}: {len(content) / 1000:.0f} kB")
        if len(content) > MOST_BYTES:
            print(f"pictures: {name} is above {MOST_BYTES / 1000:.0f} kB, nothing is written", file=sys.stderr)
            return 1
    for name, content in taken.items():
        (root / "docs" / "pictures" / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
