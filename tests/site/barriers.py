"""What keeps readers out of a page, by axe-core: rules that are serious or worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

__all__ = ["ALL", "SEEN_ELSEWHERE", "Barrier", "barriers"]

_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL: dict[str, Any] = {"runOnly": _STANDARDS, "rules": {"label-content-name-mismatch": {"enabled": True}}}
"""Every rule that counts."""
SEEN_ELSEWHERE: dict[str, Any] = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "scrollable-region-focusable", "target-size"]}
}
"""What depends on colours and on the window's width."""
_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"], "preload": False, "iframes": False}
"""Without ``preload``: that would fetch style sheets, which no browser allows on ``file://``."""


@dataclass(frozen=True)
class Barrier:
    """A rule that is broken, the element, and what is wrong with it."""

    rule: str
    html: str
    summary: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.html[:160]}: {self.summary[:300]}"


def barriers(page: Page, rules: dict[str, Any]) -> list[Barrier]:
    """Those of *page* as it stands, by *rules* (ALL or SEEN_ELSEWHERE)."""
    told = Axe().run(page, options=_OPTIONS | rules).response
    return [
        Barrier(one["id"], node["html"], node["failureSummary"])
        for one in told["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
