"""The words of the page, and what it is built of."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from labkit.errors import ToolMissing
from labkit.languages import LANGUAGES
from labkit.site import playground
from labkit.translating.typography import typeset

from .conftest import ROOT

FOLDER = ROOT / "labkit/site/playground"
ENGLISH = json.loads((FOLDER / "en.json").read_text("utf-8"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_language_has_the_same_words_with_the_same_fields(lang: str) -> None:
    words = json.loads((FOLDER / f"{lang}.json").read_text("utf-8"))
    assert list(words) == list(ENGLISH)
    fields = {key: set(re.findall(r"\{\w+\}", text)) for key, text in words.items()}
    assert fields == {key: set(re.findall(r"\{\w+\}", text)) for key, text in ENGLISH.items()}
    assert all(typeset(lang, text) == text for text in words.values())
    if lang != "en":
        assert [key for key, text in words.items() if text == ENGLISH[key]] == ["navigation", "results"]


def test_every_word_is_used_and_every_word_used_is_there() -> None:
    scripts = "".join(path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.js")))
    html = (FOLDER / "page.html").read_text("utf-8")
    used = set(re.findall(r"[Ss]ay\(\"([\w.-]+)\"", scripts)) | set(re.findall(r"\$(\w+)", html))
    used |= {key for key in ENGLISH if key.startswith(("ended.", "error."))}  # said by what went wrong
    own = set(ENGLISH) - {"home", "language"}
    assert own <= used, own - used
    known = set(playground.words("en")) | {"lang", "links", "policy"}
    assert used <= known, used - known


def test_a_page_without_a_module_says_what_builds_it(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"module of the pages is not built.*\n.*setup --dev"):
        playground.build(tmp_path / "page", "en", tmp_path)
    assert not (tmp_path / "page").exists()


def test_a_built_page_has_its_links_and_its_texts_escaped_and_builds_again_to_the_same_bytes(tmp_path: Path) -> None:
    module = tmp_path / "built"
    module.mkdir()
    (module / "crdtrace.wasm.gz").write_bytes(bytes(range(256)) * 20_000)
    (module / "wasm_exec.js").write_text("// glue", encoding="utf-8")
    evil = "</script><script>window.hacked=1</script>"
    for _ in range(2):
        playground.build(
            tmp_path / "page", "fr", module, example=playground.Texts(evil), home=f"a?{evil}&b", others={"en": "../e"}
        )
        (tmp_path / "page" / "module" / "99.js").write_text("left over", encoding="utf-8")
    html = (tmp_path / "page/index.html").read_text("utf-8")
    assert "hacked=1</script>" not in html and 'hreflang="en" lang="en">English</a>' in html
    assert re.findall(r"<script[^>]*>", html) == [
        f'<script src="{name}">' for name in ("words.js", "worker.js", *playground.SCRIPTS)
    ]
    assert "style=" not in html and " on" not in re.sub(r">[^<]*<", "><", html)
    parts = sorted(path.name for path in (tmp_path / "page" / "module").iterdir())
    assert parts == ["00.js", "01.js", "02.js", "03.js", "99.js"]
