"""The playground: a page that judges a definition and an object as the API server would, with no server anywhere.

A page that is opened from a disk may not fetch a file, nor start a worker from one, nor load an ES module: to a browser
every ``file://`` page is of an origin of its own, and those three ask for the same origin. Plain scripts and style
sheets it may load. So everything comes as plain scripts beside the page: the compressed module in parts, as base64, and
the worker's program as one text, of which the page makes a worker. On a web server the very same files do.

The page's policy (``POLICY``) allows that and no more: nothing is fetched, no inline script, no frame, picture or form,
and the worker inherits all of it. On a web server 'self' is the server; on ``file://``, in Chromium, it is any file of
the disk. That a page loads nothing from outside its folder is therefore held by a test.

The words are in ``playground/en.json`` and ``fr.json`` under the same ids; those of the path and of costs come from the
views of the notebooks (``labkit.show.trace_words``).
"""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from labkit.errors import ToolMissing
from labkit.languages import numeral, speaking
from labkit.show import trace_words
from labkit.show.render_html import style_sheet

__all__ = ["POLICY", "SCRIPTS", "Texts", "build", "link", "words"]

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)

SCRIPTS = ("fragment.js", "engine.js", "view.js", "editors.js", "page.js")
"""In the order in which the page loads them, after its words and its worker."""

WORKER = ("words.js", "json.js", "lines.js", "make.js", "trace.js", "costs.js", "kubectl.js", "main.js")
"""What the worker is put together from, after Go's glue: what is used stands before what uses it."""

PART_BYTES = 3 * 2**19
"""Of the module in one script, before base64: divisible by three, so that each part is decoded by itself."""

LIMIT_S = 20
"""How long a verdict may take before it is given up: hundreds of times what a usual one takes."""


@dataclass(frozen=True)
class Texts:
    """What stands in the fields: a definition, an object, and the old object that it replaces, as YAML or JSON."""

    definition: str = ""
    object: str = ""
    old: str = ""


def link(texts: Texts) -> str:
    """The end of the page's address, from "#" on, that opens it with *texts*."""
    kept = {name: text for name, text in asdict(texts).items() if text.strip()}
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()) + packer.flush()
    return "#try=" + base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def build(  # noqa: PLR0913  (what surrounds a page)
    target: Path,
    lang: str,
    built: Path,
    *,
    example: Texts | None = None,
    home: str | None = None,
    others: Mapping[str, str] | None = None,
    module: str = "module",
) -> None:
    """Write the page in *lang* into the folder *target*, which it makes: ``index.html`` and all that it loads.

    *built* is the folder with the module (``labkit.machine.page_module``). *example* stands in the fields at first.
    *home* and *others* (language → address) are links of the page. The module goes into the folder *module*, as seen
    from *target*: pages in several languages can share one. Raises ToolMissing where the module is not built.
    """
    packed, glue = built / "crdtrace.wasm.gz", built / "wasm_exec.js"
    if not packed.is_file() or not glue.is_file():
        raise ToolMissing(
            "the module of the pages is not built",
            evidence=f"no {packed.name} in {built}",
            next_act="python3 -m labkit.machine.setup --dev builds it",
        )
    target.mkdir(parents=True, exist_ok=True)
    content = packed.read_bytes()
    names, size = _write_module(target / module, content)
    said = words(lang)
    settings = {
        "module": [f"{module}/{name}" for name in names],
        "moduleBytes": int.from_bytes(content[-4:], "little"),  # the end of a gzip file is how long it is unpacked
        "limitMs": LIMIT_S * 1000,
        "example": asdict(example or Texts()),
    }
    with speaking(lang):
        megabytes = numeral(size / 1e6, ".1f")
    _write(target / "words.js", f"const words = {_js(said)};\nconst settings = {_js(settings)};\n")
    source = "\n".join((glue.read_text(encoding="utf-8"), *(_text(f"worker/{name}") for name in WORKER)))
    _write(target / "worker.js", f"const workerSource = {_js(source)};\n")
    for name in SCRIPTS:
        _write(target / name, _text(name), head="")
    sheets = (style_sheet("style.css"), style_sheet("folds.css"), _text("page.css"))
    _write(target / "page.css", "\n".join(sheets), head="")
    _write(target / "index.html", _html(lang, said, megabytes, home, others or {}), head="")


@cache
def words(lang: str) -> Mapping[str, str]:
    """All words of the page in *lang*, by id: its own, and those of a path and of costs."""
    own: dict[str, str] = json.loads(_text(f"{lang}.json"))
    with speaking(lang):
        return own | trace_words.table()


def _write_module(folder: Path, content: bytes) -> tuple[list[str], int]:
    """The module as scripts; their names, and their bytes together."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names, size = [], 0
    for number, begin in enumerate(range(0, len(content), PART_BYTES)):
        text = base64.b64encode(content[begin : begin + PART_BYTES]).decode()
        script = f'engine.part({number},"{text}");\n'
        names.append(f"{number:02}.js")
        _write(folder / names[-1], script, head="")
        size += len(script)
    return names, size


def _html(lang: str, said: Mapping[str, str], size: str, home: str | None, others: Mapping[str, str]) -> str:
    links = [f'<a href="{escape(home)}">{escape(said["home"])}</a>'] if home else []
    for other, address in others.items():
        named = escape(words(lang)["language"])
        links.append(f'<a href="{escape(address)}" hreflang="{escape(other)}" lang="{escape(other)}">{named}</a>')
    filled = {key: escape(text.replace("{size}", size)) for key, text in said.items() if key.isidentifier()}
    return Template(_text("page.html")).substitute(filled, lang=lang, links="".join(links), policy=escape(POLICY))


def _js(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(name: str) -> str:
    return files("labkit.site").joinpath("playground", name).read_text(encoding="utf-8")


def _write(path: Path, text: str, head: str = '"use strict";\n') -> None:
    path.write_text(head + text, encoding="utf-8", newline="\n")
