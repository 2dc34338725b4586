"""Where the course lies that came with labkit, in a checkout and where it was installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.course import shared


def test_in_a_checkout_the_course_is_the_repository() -> None:
    assert shared.shared_course() == Path(__file__).resolve().parents[2]


def test_an_installed_labkit_has_the_course_beside_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_PACKAGE", tmp_path)
    (tmp_path / "handout").mkdir()
    assert shared.shared_course() == tmp_path / "handout"
