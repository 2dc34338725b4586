"""Pages: how long making them takes, what one weighs, and how long a reader waits for a verdict in the page.

Pages are made in a copy of the course, so that what the checkout remembers of its own neither helps nor is lost: from
nothing, and again after one notebook has changed. A run is a process as a person starts it, with all that it loads.

The playground is opened from the folder, in the system's Chromium. Ready is from the click until its worker can judge:
the module's scripts loaded from the disk, unpacked, compiled and started, in a browser that has seen nothing of it
before. A verdict is from the click until it stands in the page. Each is of another object, or of another definition,
and counts only if it is the right one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Page

from labkit.errors import CommandError
from labkit.machine import browser
from labkit.machine.checkout import Checkout
from labkit.machine.page_module import MOST_BYTES
from labkit.show.bench import Figure

__all__ = ["QUICK", "Runs", "changed", "copied", "figures", "judged", "opened", "playground"]

BUILD_S, AGAIN_S, READY_S = 60.0, 10.0, 5.0
OBJECT_MS, DEFINITION_MS = 50.0, 300.0
WEIGHT_KB = 1500.0

DEFINITION, OBJECT = Path("crd/06-colis-v1-seul.yaml"), Path("crd/objects/ancien.yaml")
CHANGED = "03-path.ipynb"
"""The notebook that is changed; its page has the most to be made."""

_COURSE = ("crd", "exercises", "locale", "notebooks", "docs/pages")
_MAKE = "import sys; from pathlib import Path; from labkit.site.building import build; "
_MAKE += 'build(Path(sys.argv[1]), Path(sys.argv[2]), "en")'
_LIMIT_MS = 60_000

_READY = """() => new Promise((told) => {
    const begun = performance.now();
    const look = async () => {
        if (!engine.isLoaded()) return setTimeout(look, 1);
        await engine.start();
        told(performance.now() - begun);
    };
    document.getElementById("judge").click();
    look();
})"""
_IDLE = "() => !document.getElementById('judge').disabled"
_JUDGE = """async (texts) => {
    for (const [name, text] of Object.entries(texts)) editors.fill(document.getElementById(name), text);
    const results = document.getElementById("results");
    const judge = document.getElementById("judge");
    const shown = new Promise((told) => new MutationObserver((_all, one) => {
        one.disconnect();
        told(performance.now());
    }).observe(results, {childList: true}));
    const begun = performance.now();
    judge.click();
    const ms = await shown - begun;
    while (judge.disabled) await new Promise((go) => setTimeout(go, 0));
    return [ms, performance.now() - begun, document.getElementById("status").textContent];
}"""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Runs:
    """How often pages are made, the playground is opened, and each kind of verdict is asked for."""

    builds: int = 3
    opened: int = 7
    verdicts: int = 50


QUICK = Runs(1, 2, 5)


def figures(checkout: Checkout, folder: Path, tell: Tell, *, runs: Runs) -> list[Figure]:
    """Everything, with files in *folder*. Raises CommandError (pages are not made, a verdict is not the right one),
    ToolMissing where there is no browser.
    """
    root, site = copied(checkout, folder), folder / "site" / "en"
    found = [*_builds(root, site, tell, runs.builds)]
    tell("pages in a browser")
    with browser.opened() as chromium:
        name, weight = _heaviest(chromium, site)
        found.append(
            Figure(f"heaviest page ({name}), with all it loads, without the playground", weight, "kB", WEIGHT_KB)
        )
        packed = (checkout.page_module / "crdtrace.wasm.gz").stat().st_size
        found.append(Figure("the playground's module, compressed", packed / 1000, "kB", MOST_BYTES / 1000))
        tell("the playground")
        found += playground(chromium, site, root, runs)
    return found


def copied(checkout: Checkout, folder: Path) -> Path:
    """The course without anything made of it, but with the module, in *folder*."""
    root = folder / "course"
    for name in _COURSE:
        shutil.copytree(checkout.root / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "build" / "site").mkdir(parents=True)
    (root / "build" / "site" / "module").symlink_to(checkout.page_module)
    (root / "labkit").symlink_to(checkout.root / "labkit")
    return root


# -- making them ------------------------------------------------------------------------------------------------------


def _builds(root: Path, site: Path, tell: Tell, count: int) -> Iterator[Figure]:
    tell("pages of one language, from executed notebooks")
    whole = []
    for _ in range(count):
        shutil.rmtree(root / "build" / "site" / "student-en", ignore_errors=True)
        shutil.rmtree(site, ignore_errors=True)
        whole.append(_made(root, site))
    yield Figure.of("pages of one language, made from executed notebooks", whole, "s", BUILD_S)
    tell("the same after a change in one notebook")
    again = []
    for number in range(count):
        word = changed(root, number)
        again.append(_made(root, site))
        if word not in (site / CHANGED).with_suffix(".html").read_text(encoding="utf-8"):
            raise CommandError("the change of a notebook is not on its page", evidence=word)
    yield Figure.of("the same again after a change in one notebook", again, "s", AGAIN_S)


def changed(root: Path, number: int) -> str:
    """Put one more word at the end of the notebook's first text, and give it."""
    path, word = root / "notebooks" / CHANGED, f"changed-{number}"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first = notebook["cells"][0]
    first["source"] = "".join(first["source"]) + f" {word}"
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
    return word


def _made(root: Path, site: Path) -> float:
    """Seconds of a process that makes the pages. Raises CommandError."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _MAKE, str(root), str(site)], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begun
    if done.returncode != 0:
        raise CommandError("the pages were not made", evidence=done.stderr.strip()[-500:])
    return seconds


# -- reading them -----------------------------------------------------------------------------------------------------


def _heaviest(chromium: Browser, site: Path) -> tuple[str, float]:
    """The page whose opening reads most, and how much: kB of all files that the browser asks for."""
    weights = {
        path.name: sum(file.stat().st_size for file in _read(chromium, path)) / 1000 for path in site.glob("*.html")
    }
    name = max(weights, key=lambda one: weights[one])
    return name, weights[name]


def _read(chromium: Browser, path: Path) -> set[Path]:
    """The files that a browser reads to show the page at *path*."""
    urls: list[str] = []
    page = chromium.new_page()
    page.on("request", lambda request: urls.append(request.url))
    page.goto(path.as_uri())
    page.close()
    return {Path(unquote(urlsplit(url).path)) for url in urls if url.startswith("file:")}


def playground(chromium: Browser, site: Path, root: Path, runs: Runs) -> Iterator[Figure]:
    ready = []
    for _ in range(runs.opened):
        page = opened(chromium, site)
        ready.append(page.evaluate(_READY) / 1000)
        page.context.close()
    yield Figure.of("playground: from the first click until a verdict is possible", ready, "s", READY_S)
    page = opened(chromium, site)
    page.evaluate(_READY)
    page.wait_for_function(_IDLE)
    definition, thing = ((root / one).read_text(encoding="utf-8") for one in (DEFINITION, OBJECT))
    thing = thing.replace("/v1alpha1", "/v1")
    judged(page, definition, thing)
    objects = [
        judged(page, definition, thing.replace("2.2.1", f"2.2.{turn}"))[0] for turn in range(2, runs.verdicts + 2)
    ]
    yield Figure.of("playground: a verdict when only the object changed", objects, "ms", OBJECT_MS)
    bounds = [judged(page, definition.replace("maximum: 20", f"maximum: {turn}"), thing) for turn in
              range(21, runs.verdicts + 21)]  # fmt: skip
    yield Figure.of("playground: a verdict when the definition changed", [ms for ms, _ in bounds], "ms", DEFINITION_MS)
    yield Figure.of("… and the costs of its rules below it", [ms for _, ms in bounds], "ms")
    page.context.close()


def opened(chromium: Browser, site: Path) -> Page:
    page = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.set_default_timeout(_LIMIT_MS)
    page.goto((site / "playground" / "index.html").as_uri())
    return page


def judged(page: Page, definition: str, thing: str) -> tuple[float, float]:
    """Milliseconds until the verdict stands in the page, and until all that follows does. Raises CommandError."""
    verdict, everything, said = page.evaluate(_JUDGE, {"definition": definition, "object": thing})
    if not said.endswith(": accepted"):
        raise CommandError("the playground's verdict is not the right one", evidence=str(said)[:300])
    return float(verdict), float(everything)
