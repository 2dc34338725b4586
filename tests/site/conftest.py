"""The playground and the whole site, built once, and pages of them in a real browser, on file://.

A page is watched from its first request on: one that complains on its console, or asks for anything outside of the
folder it was built in, fails its test, whatever the test was about.
"""

from __future__ import annotations

import fcntl
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sphinx.deprecation import RemovedInSphinx11Warning

from labkit.languages import LANGUAGES
from labkit.machine import page_module
from labkit.machine.checkout import Checkout
from labkit.site import building, playground
from tests import browser

ROOT = Path(__file__).resolve().parents[2]
CRD = ROOT / "crd"
EXAMPLE = playground.Texts(
    (CRD / "06-colis-v1-seul.yaml").read_text("utf-8"),
    (CRD / "objects" / "invalide.yaml").read_text("utf-8").replace("v1alpha1", "v1"),
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the playground under ``en`` and ``fr``, which share the module."""
    checkout = Checkout.here()
    assert page_module.is_fresh(checkout), "the pages' module is not built: python3 -m labkit.machine.setup --dev"
    root = tmp_path_factory.mktemp("site")
    for lang, other in (("en", "fr"), ("fr", "en")):
        playground.build(
            root / lang / "playground",
            lang,
            checkout.page_module,
            example=EXAMPLE,
            home="../index.html",
            others={other: f"../../{other}/playground/index.html"},
            module="../../module",
        )
    return root


def make_pages(root: Path, target: Path, lang: str, *, instructor: bool = False) -> None:
    """One edition. What Sphinx holds against other people's extensions is not for us to mend."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="'(?!labkit)", category=RemovedInSphinx11Warning)
        building.build(root, target, lang, instructor=instructor)


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, *, instructor: bool) -> Path:
    """A folder with an edition under ``en`` and ``fr``: the first process that asks makes it for all."""
    checkout = Checkout.here()
    assert page_module.is_fresh(checkout), "the pages' module is not built: python3 -m labkit.machine.setup --dev"
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "course.lock").open("w") as lock:  # one for all: what is run for one edition serves the other
        fcntl.flock(lock, fcntl.LOCK_EX)
        for lang in LANGUAGES:
            if not (shared / name / lang).exists():  # a site comes to its place whole
                make_pages(ROOT, shared / name / lang, lang, instructor=instructor)
    return shared / name


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages for students."""
    return made_once(tmp_path_factory, "course", instructor=False)


@pytest.fixture(scope="session")
def instructors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages for instructors."""
    return made_once(tmp_path_factory, "instructors", instructor=True)


@dataclass
class Visits:
    """Opens pages of the site, and keeps what they asked for and complained of."""

    site: Path
    chromium: Browser
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def __call__(self, lang: str = "en", end: str = "", *, width: int = 1400, at: str | None = None) -> Page:
        """The page in *lang*, opened with *end* behind its address; *at* is another address of the site's root."""
        return self.open(f"{lang}/playground/index.html{end}", width=width, at=at)

    def open(self, name: str, *, width: int = 1400, at: str | None = None, script: bool = True) -> Page:
        """The page of that *name* (or an empty one for ""), in a profile of its own; without *script* it has none."""
        context = self.chromium.new_context(viewport={"width": width, "height": 1000}, java_script_enabled=script)
        page = context.new_page()
        page.set_default_timeout(browser.LIMIT_S * 1000)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self._heard(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.pages.append(page)
        if name:
            page.goto(f"{at or self.site.as_uri()}/{name}")
        return page

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def check(self) -> None:
        """Nothing was complained of, and nothing left the folder."""
        assert self.complaints == []
        outside = [url for url in self.requests if not url.startswith((f"{self.site.as_uri()}/", "blob:"))]
        assert outside == []

    def close(self) -> None:
        for page in self.pages:
            page.context.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a file."""
    with browser.opened() as page:
        assert page.context.browser is not None
        yield page.context.browser


@pytest.fixture
def visit(site: Path, chromium: Browser) -> Iterator[Visits]:
    """Opens pages for one test."""
    visits = Visits(site, chromium)
    yield visits
    visits.close()
    visits.check()


@pytest.fixture
def read(course: Path, chromium: Browser) -> Iterator[Visits]:
    """Opens pages of the whole site for one test."""
    visits = Visits(course, chromium)
    yield visits
    visits.close()
    visits.check()


@pytest.fixture(scope="module")
def loaded(site: Path, chromium: Browser) -> Iterator[Page]:
    """The English page with its module running, shared by the tests of a file; each fills the fields anew."""
    visits = Visits(site, chromium)
    page = visits()
    judged(page)
    yield page
    visits.close()
    visits.check()


def judged(page: Page, **texts: str) -> str:
    """Fill the fields named, ask, wait for the end, and give what the status line says."""
    for name, text in texts.items():
        if name == "validate":
            page.select_option("#validate", text)
        else:
            page.eval_on_selector(f"#{name}", "(one, text) => editors.fill(one, text)", text)
    page.click("#judge")
    return verdict(page)


def verdict(page: Page) -> str:
    """The status line once there is nothing more to come."""
    expect(page.locator("#judge")).to_be_enabled(timeout=60_000)
    return page.locator("#status").inner_text()


def printed(page: Page) -> list[str]:
    """The lines that kubectl would print."""
    return page.locator("#results > div > pre").first.inner_text().splitlines()
