"""The one place that finds a browser: the system's Chromium, driven by Playwright, with nothing of the person's own.

Playwright would download a browser of its own; what looks at pages here (tests, measurements, pictures) uses what the
system has, which is one package and kept up to date by it. ``.ci/run`` installs it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from labkit.errors import ToolMissing

__all__ = ["NAMES", "find", "opened"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
"""It asks nobody but the page's own server."""


def find() -> str:
    """The browser's path. Raises ToolMissing."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise ToolMissing(
            "there is no browser", evidence=f"none of {', '.join(NAMES)}", next_act="apt install chromium"
        )
    return found


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser that shows nothing and ends with the block; each page is of an empty profile. Raises ToolMissing."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=list(_QUIET))
        try:
            yield chromium
        finally:
            chromium.close()
