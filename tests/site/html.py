"""What stands in the HTML of a page, read without a browser: tags, ids, addresses, and what breaks the grammar."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import html5lib

_SUBRESOURCE = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "embed": ("src",),
    "object": ("data",), "video": ("src", "poster"), "audio": ("src",), "track": ("src",), "input": ("src",),
    "image": ("href",), "use": ("href",), "form": ("action",), "base": ("href",),
}  # fmt: skip
_LINKED = ("stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest")
_PHRASING = ("p", "span", "code", "pre", "label", "em", "strong", "h1", "h2", "h3", "h4", "h5", "h6", "button")
"""Elements that may hold no block."""
_BLOCK = ("div", "p", "table", "ul", "ol", "dl", "details", "section", "article", "form", "figure", "fieldset", "pre")


@dataclass(frozen=True)
class Tag:
    """A start tag: where it is (line), whether in the page's own article, and its attributes ("" for one without)."""

    name: str
    line: int
    in_article: bool
    given: dict[str, str] = field(hash=False)

    @property
    def loads(self) -> Iterator[str]:
        """The addresses that a browser asks for by itself."""
        names = _SUBRESOURCE.get(self.name, ())
        if self.name == "link" and any(one in self.given.get("rel", "").split() for one in _LINKED):
            names = ("href",)
        for name in names:
            if self.given.get(name):
                yield from (
                    (one.split()[0] for one in self.given[name].split(",")) if name == "srcset" else (self.given[name],)
                )


class _Reader(HTMLParser):
    """Collects tags and their text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.articles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.articles += tag == "article"
        given = {name: value or "" for name, value in attrs}
        self.tags.append(Tag(tag, self.getpos()[0], self.articles > 0, given))

    def handle_endtag(self, tag: str) -> None:
        self.articles -= tag == "article"


@dataclass(frozen=True)
class Html:
    """A page of a site."""

    path: Path

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tags(self) -> tuple[Tag, ...]:
        """Its start tags in order."""
        reader = _Reader()
        reader.feed(self.text)
        return tuple(reader.tags)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """All ids, in order."""
        return tuple(tag.given["id"] for tag in self.tags if "id" in tag.given)

    @property
    def anchors(self) -> tuple[str, ...]:
        """The ids of its own part, in order: what links from elsewhere may name."""
        return tuple(tag.given["id"] for tag in self.tags if tag.in_article and "id" in tag.given)

    @property
    def links(self) -> Iterator[str]:
        """The addresses of ``<a>``."""
        return (tag.given["href"] for tag in self.tags if tag.name == "a" and "href" in tag.given)

    def faults(self) -> Iterator[str]:
        """What the grammar of HTML does not allow, each as a line that says what, with the source it is about."""
        parser = html5lib.HTMLParser()
        tree = parser.parse(self.text)
        lines = self.text.splitlines()
        for (line, column), code, told in parser.errors:
            yield f"{code} {told}: {lines[line - 1][max(0, column - 60) : column + 20].strip()}"
        for one in sorted({one for one in self.ids if self.ids.count(one) > 1}):
            yield f"the id {one!r} twice"
        for one in sorted({one for one in self.ids if not one or re.search(r"\s", one)}):
            yield f"the id {one!r} is none"
        metas = [tag.given["name"] for tag in self.tags if tag.name == "meta" and "name" in tag.given]
        for name in sorted({one for one in metas if metas.count(one) > 1}):
            yield f"<meta name={name!r}> twice"
        yield from sorted(set(_nested(tree, "")))


def _nested(element: Element, above: str) -> Iterator[str]:
    """Blocks in what may hold none."""
    name = str(element.tag).rpartition("}")[2]
    if above and name in _BLOCK:
        yield f"<{name}> in <{above}>"
    for child in element:
        yield from _nested(child, name if name in _PHRASING else above if name not in _BLOCK else "")


def dead_links(root: Path, pages: Iterable[Html]) -> tuple[list[str], int]:
    """The links of *pages* inside of *root* that lead to no file, or to no place in it; and how many were followed."""
    there = {path: Html(path) for path in root.rglob("*") if path.is_file()}
    ids: dict[Path, set[str]] = {}
    followed, dead = 0, []
    for page in pages:
        for address in sorted({one for one in page.links if not urlsplit(one).scheme}):
            parts = urlsplit(address)
            named = os.path.normpath(page.path.parent / unquote(parts.path)) if parts.path else page.path
            target = there.get(Path(named))
            followed += 1
            if target is None:
                dead.append(f"{page.path.name}: {address}")
            elif parts.fragment and not parts.fragment.startswith("try="):
                known = ids.setdefault(target.path, set(target.ids))
                if unquote(parts.fragment) not in known:
                    dead.append(f"{page.path.name}: {address}")
    return dead, followed
