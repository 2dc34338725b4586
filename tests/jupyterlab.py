"""A student's JupyterLab: the server on a folder, and a notebook in it as the hands and eyes of a person have it.

The server runs with nothing of the person's own who runs the tests, and without what the tests' environment has beside
a student's: nbgrader and what comes with it put buttons and pages there. It ends as a whole, with its kernels.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from labkit.waiting import Seen, wait_for

__all__ = ["Notebook", "Server", "serving", "surroundings"]

PROGRAMS = Path(sys.executable).parent
_NOT_A_STUDENTS = ("@jupyter/nbgrader", "jupyterlab-jupytext", "@jupyter-notebook/lab-extension")
_NEWS = "@jupyterlab/apputils-extension:announcements"
"""It asks on the first start whether to fetch news from the network."""
_SERVERS_NOT_A_STUDENTS = (
    *(f"nbgrader.server_extensions.{name}" for name in ("assignment_list", "course_list", "formgrader")),
    "nbgrader.server_extensions.validate_assignment",
    "jupyterlab_jupytext",
    "notebook",
)
_DONE = re.compile(r"\[\d+\]:")
_ACTIVE = re.compile(r"\bjp-mod-active\b")
_UNSAVED = re.compile(r"\bjp-mod-dirty\b")
_OURS = ("LABKIT_", "JUPYTER", "JPY_", "KUBE", "IPYTHON", "PYTEST_")


def surroundings(place: Path) -> dict[str, str]:
    """The environment of a student whose home is *place*: the kit's programs on PATH, and settings of nobody."""
    config = place / "jupyter"
    (config / "labconfig").mkdir(parents=True)
    disabled = dict.fromkeys([*_NOT_A_STUDENTS, _NEWS], True)
    _write(config / "labconfig" / "page_config.json", {"disabledExtensions": disabled})
    extensions = dict.fromkeys(_SERVERS_NOT_A_STUDENTS, False)
    _write(config / "jupyter_server_config.json", {"ServerApp": {"jpserver_extensions": extensions}})
    environ = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    own = {
        "HOME": place,
        "LABKIT_HOME": place / "labkit",
        "JUPYTER_CONFIG_DIR": config,
        "JUPYTER_DATA_DIR": place / "data",
        "JUPYTER_RUNTIME_DIR": place / "runtime",
        "IPYTHONDIR": place / "ipython",
        "PATH": os.pathsep.join([str(PROGRAMS), environ.get("PATH", os.defpath)]),
    }
    return environ | {name: str(value) for name, value in own.items()}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its process, and the address of its root, which ends with a slash."""

    process: subprocess.Popen[bytes]
    url: str
    token: str


@contextmanager
def serving(folder: Path, environ: Mapping[str, str], *, within: Path) -> Iterator[Server]:
    """``jupyter lab FOLDER`` with *environ*, started in *within* and for this machine only; ended with its kernels."""
    options = ["--no-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1"]
    if os.geteuid() == 0:  # a container; Jupyter refuses root unless told
        options.append("--allow-root")
    runtime = Path(environ["JUPYTER_RUNTIME_DIR"])
    log = runtime.with_name("jupyter.log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(PROGRAMS / "jupyter-lab"), str(folder), *options], cwd=within, env=environ, stdout=out, stderr=out
        )
    try:

        def look() -> Seen[dict[str, Any]]:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            try:
                found = json.loads((runtime / f"jpserver-{process.pid}.json").read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                return Seen(False, str(error))
            return Seen(True, "up", found)

        told = wait_for("JupyterLab to be up", look, limit_s=60)
        assert told is not None
        yield Server(process, told["url"], told["token"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


class Notebook:
    """The notebook at *path*, opened in *page* as the browser's address says it: *name* is below the server's root.

    Cells are named by their ids, and found by where the file has them.
    """

    def __init__(self, page: Page, server: Server, path: Path, name: str) -> None:
        self.page = page
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self._index = {cell["id"]: index for index, cell in enumerate(cells)}
        page.goto(f"{server.url}lab/tree/{name}?token={server.token}")
        expect(page.locator(".jp-NotebookPanel-notebook .jp-Cell")).to_have_count(len(cells))
        for loading in ("#jupyterlab-splash", ".jp-NotebookPanel .jp-Spinner"):  # takes the focus when it ends
            expect(page.locator(loading)).to_have_count(0)
        self.wait_idle()

    def wait_idle(self) -> None:
        """Until the kernel has nothing to do, as the sign beside its name says."""
        expect(self.page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle")

    def go_to(self, heading: str) -> None:
        """Scroll to a heading by way of the table of contents."""
        contents = self.page.locator(".jp-TableOfContents")
        if not contents.is_visible():
            self.page.get_by_role("tab", name="Table of Contents").click()
        contents.get_by_text(heading, exact=True).click()
        expect(self.page.get_by_role("heading", name=heading)).to_be_in_viewport()

    def cell(self, name: str) -> Locator:
        return self.page.locator(f'.jp-Cell[data-windowed-list-index="{self._index[name]}"]')

    def editor(self, name: str) -> Locator:
        return self.cell(name).locator(".jp-InputArea-editor .cm-content")

    def enter(self, name: str) -> None:
        """Click into the cell's editor, until the keys go there."""
        self.editor(name).click()
        expect(self.editor(name)).to_be_focused()
        expect(self.cell(name)).to_have_class(_ACTIVE)

    def put(self, name: str, text: str) -> None:
        """Select all that is in the cell, and put *text* in its place, as from the clipboard."""
        self.enter(name)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        last = text.rpartition("\n")[2]  # the editor shows where the cursor is, and the first line may be far up
        expect(self.editor(name).locator(".cm-line").last).to_have_text(last)

    def type_in_place_of(self, name: str, line: str, keys: str) -> None:
        """Type *keys* where the cell has *line*, which is selected first."""
        self.editor(name).locator(".cm-line").filter(has_text=line).click()
        for key in ("Home", "Shift+End"):
            self.page.keyboard.press(key)
        self.page.keyboard.type(keys)

    def run(self, name: str, *, limit_s: float = 60) -> Locator:
        """Run the cell with Shift+Enter until it is done; its output."""
        prompt = self.cell(name).locator(".jp-InputPrompt")
        before = prompt.text_content() or ""
        self.enter(name)
        self.page.keyboard.press("Shift+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(_DONE, timeout=limit_s * 1000)
        output = self.cell(name).locator(".jp-OutputArea")
        output.scroll_into_view_if_needed()
        return output

    def save(self) -> None:
        """Save, until the tab has lost its sign of unsaved work."""
        self.page.keyboard.press("ControlOrMeta+s")
        expect(self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.jp-mod-current")).not_to_have_class(_UNSAVED)
