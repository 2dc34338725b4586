"""The one place that finds a browser: the system's Chromium, driven by Playwright, with nothing of the person's own.

Playwright would download a browser of its own; the tests use what the system has, which is one package and kept up to
date by it. ``.ci/run`` installs it, so a test that needs one fails where there is none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

__all__ = ["find", "opened", "shoot"]

LIMIT_S = 60.0
"""How long a page may take to show what is waited for, on a busy machine."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
SHOTS = "LABKIT_TEST_SHOTS"
"""Environment variable: a folder for pictures of the pages, for whoever wants to see what a student sees."""
_QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
"""It asks nobody but the page's own server."""


def find() -> str:
    """The browser's path; the error says how to get one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"there is no browser for this test, none of {', '.join(NAMES)}: apt install chromium"
    return found


@contextmanager
def opened(*, width: int = 1400, height: int = 1000) -> Iterator[Page]:
    """An empty page of a browser with an empty profile; both are gone afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=list(_QUIET))
        try:
            page = chromium.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(LIMIT_S * 1000)
            expect.set_options(timeout=LIMIT_S * 1000)
            yield page
        finally:
            chromium.close()


def shoot(page: Page, name: str) -> None:
    """Keep a picture of *page* as NAME.png, if somebody wants them."""
    if folder := os.environ.get(SHOTS):
        page.screenshot(path=Path(folder) / f"{name}.png")
