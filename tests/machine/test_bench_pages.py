"""The measurements of pages: a copy that remembers nothing, a change that is one, and verdicts that are right ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.errors import CommandError
from labkit.machine import browser
from labkit.machine.bench import pages
from labkit.machine.checkout import Checkout
from labkit.site import playground

ROOT = Path(__file__).resolve().parents[2]


def test_pages_are_measured_in_a_copy_and_each_change_is_another(tmp_path: Path) -> None:
    root = pages.copied(Checkout.here(), tmp_path)
    assert [path.name for path in (root / "build/site").iterdir()] == ["module"]
    before = (ROOT / "notebooks" / pages.CHANGED).read_bytes()
    words = [pages.changed(root, number) for number in (0, 1)]
    notebook = json.loads((root / "notebooks" / pages.CHANGED).read_text("utf-8"))
    assert notebook["cells"][0]["source"].endswith(" ".join(words))
    assert (ROOT / "notebooks" / pages.CHANGED).read_bytes() == before


def test_the_playground_is_timed_on_right_verdicts_alone(tmp_path: Path) -> None:
    playground.build(tmp_path / "playground", "en", Checkout.here().page_module)
    definition, thing = ((ROOT / one).read_text("utf-8") for one in (pages.DEFINITION, pages.OBJECT))
    with browser.opened() as chromium:
        found = {one.name: one for one in pages.playground(chromium, tmp_path, ROOT, pages.Runs(opened=1, verdicts=2))}
        assert [len(one.samples) for one in found.values()] == [1, 2, 2, 2]
        assert all(sample > 0 for one in found.values() for sample in one.samples)
        assert sum(one.budget is not None for one in found.values()) == 3
        page = pages.opened(chromium, tmp_path)
        with pytest.raises(CommandError, match="not the right one"):
            pages.judged(page, definition, thing.replace("2.2.1", "two"))
