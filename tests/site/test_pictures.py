"""The pictures of pages in the documents: they can be taken again, are small, few, and shown somewhere."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from labkit.errors import CourseError
from labkit.machine.page_pictures import MOST_BYTES, PICTURES, take

from .conftest import ROOT

THERE = ROOT / "docs" / "pictures"
MOST = 6


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_taken_again_from_the_pages(course: Path, chromium: Browser, name: str) -> None:
    taken = take(chromium, course / "en", PICTURES[name])
    assert taken[:8] == (THERE / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", taken[16:24]) == PICTURES[name].window
    assert len(taken) <= MOST_BYTES


def test_pictures_are_few_and_small_and_each_is_in_a_document() -> None:
    pictures = sorted(path for path in THERE.iterdir())
    assert len(pictures) <= MOST
    assert {path.name for path in pictures} >= set(PICTURES)
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = "".join(path.read_text("utf-8") for path in documents)
    for picture in pictures:
        assert picture.stat().st_size <= MOST_BYTES
        assert f"pictures/{picture.name})" in texts


def test_where_there_are_no_pages_the_verb_that_makes_them_is_said(chromium: Browser, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="make site"):
        take(chromium, tmp_path, PICTURES["page.png"])
