"""A verdict in the page keeps nobody out: what stands there after one is judged as pages are, by axe-core."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .barriers import ALL, barriers
from .conftest import CRD, EXAMPLE, Visits, judged


@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("fr", "dark")])
def test_no_verdict_has_a_serious_barrier(visit: Visits, lang: str, scheme: str) -> None:
    page = visit(lang)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    good = (CRD / "objects/ancien.yaml").read_text("utf-8").replace("v1alpha1", "v1")
    for thing, mark in ((EXAMPLE.object, "labkit-bad"), (good, "labkit-good")):
        judged(page, object=thing)
        expect(page.locator("#status")).to_have_class(mark)
        page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")
        found = barriers(page, ALL)
        assert found == [], "\n".join(map(str, found))
