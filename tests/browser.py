"""The browser of the tests: ``labkit.machine.browser``, with patience, and pictures for whoever wants to see them.

A test that needs a browser fails where there is none; ``.ci/run`` installs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from labkit.machine import browser

__all__ = ["LIMIT_S", "opened", "shoot"]

LIMIT_S = 60.0
"""How long a page may take to show what is waited for, on a busy machine."""
SHOTS = "LABKIT_TEST_SHOTS"
"""Environment variable: a folder for pictures of the pages, for whoever wants to see what a student sees."""


@contextmanager
def opened(*, width: int = 1400, height: int = 1000) -> Iterator[Page]:
    """An empty page of a browser with an empty profile; both are gone afterwards."""
    with browser.opened() as chromium:
        page = chromium.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(LIMIT_S * 1000)
        expect.set_options(timeout=LIMIT_S * 1000)
        yield page


def shoot(page: Page, name: str) -> None:
    """Keep a picture of *page* as NAME.png, if somebody wants them."""
    if folder := os.environ.get(SHOTS):
        page.screenshot(path=Path(folder) / f"{name}.png")
