"""Catalogues follow the English texts, and nothing that was translated is lost or kept silently wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import languages
from labkit.errors import CourseError
from labkit.translating import Updated, Wrong, update, wrongs
from labkit.translating.sources import sources
from tests.exercises import sample

PAGE = "04-cel.po"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One notebook and one exercise; labkit's own catalogue lies elsewhere than in the package."""
    root = tmp_path / "course"
    sample.make(root)
    monkeypatch.setattr(languages, "OWN", tmp_path / "own")
    _write(root, {"cell-01": "# Rules\n\nA rule has `self` and 3 fields.", "cell-03": "See [there](a.md).\n"})
    return root


def _write(root: Path, texts: dict[str, str]) -> None:
    (root / "notebooks").mkdir(exist_ok=True)
    cells = [
        {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
        for name, text in texts.items()
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "notebooks" / "04-cel.ipynb").write_text(json.dumps(whole), encoding="utf-8")


def _updated(root: Path) -> Updated:
    return next(one for one in list(update(root, "fr")) if one.path.name == PAGE)


def _translate(root: Path, english: str, french: str) -> None:
    """As an editor does: the ``msgstr`` after this ``msgid`` is filled."""
    path = root / "locale" / "fr" / "LC_MESSAGES" / PAGE
    before, _, after = path.read_text(encoding="utf-8").partition(f'"{english}')
    head, _, rest = after.partition("\nmsgstr ")
    _, _, end = rest.partition("\n\n")
    path.write_text(
        f'{before}"{english}{head}\nmsgstr {json.dumps(french, ensure_ascii=False)}\n\n{end}', encoding="utf-8"
    )


def _wrong(root: Path) -> dict[str, str]:
    return {one.context: one.why for one in wrongs(root, "fr") if one.path.name == PAGE}


def test_every_text_has_an_entry_and_a_second_update_changes_nothing(course: Path) -> None:
    made = _updated(course)
    assert (made.entries, made.missing, made.changed) == (2, 2, True)
    assert not any(one.changed for one in update(course, "fr"))
    assert _wrong(course) == {"cell-01": "not translated", "cell-03": "not translated"}
    found = [one for one in wrongs(course, "fr") if one.path.name == "exercises-01-limit.po"]
    assert {one.context for one in found} >= {"title", "prompt", "name", "otherwise", "solution"}
    assert isinstance(found[0], Wrong)


def test_a_translation_that_keeps_what_is_no_language_is_right(course: Path) -> None:
    _updated(course)
    _translate(course, "# Rules", "# Règles\n\nUne règle a `self` et 3 champs ; c'est tout.")
    _translate(course, "See ", "Voir [là](a.md).\n")
    made = _updated(course)
    assert (made.missing, made.fuzzy, _wrong(course)) == (0, 0, {})
    assert "champs\u202f; c'est" in made.path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("french", "why"),
    [
        ("# Règles\n\nUne règle a `soi` et 3 champs.", "code differ (`self`, `soi`)"),
        ("# Règles\n\nUne règle a `self` et 4 champs.", "numbers differ (3, 4)"),
        ("Règles\n\nUne règle a `self` et 3 champs.", "headings differ (1 #)"),
        ("# Règles\n\nUne règle a `self` et 3 champs [ici](b.md).", "links differ (b.md)"),
        ("# Règles\n\nUne règle a `self` et 3 champs\u202f: oui.", "blanks are not as the language sets them"),
        ("# Règles\n\nUne règle a `self` et 3 champs.\n", "one ends with a line break and the other does not"),
    ],
)  # fmt: skip
def test_a_translation_that_changes_what_is_no_language_is_told(course: Path, french: str, why: str) -> None:
    _updated(course)
    _translate(course, "# Rules", french)
    assert _wrong(course)["cell-01"].removesuffix(" (labkit languages update)") == why


def test_a_moved_text_keeps_its_translation_and_a_reworded_one_is_fuzzy(course: Path) -> None:
    _updated(course)
    _translate(course, "# Rules", "# Règles\n\nUne règle a `self` et 3 champs.")
    _translate(course, "See ", "Voir [là](a.md).\n")
    _updated(course)
    reworded = "# Rules\n\nA rule has `self` and 3 fields or more."
    _write(course, {"cell-01": "New.", "cell-02": reworded, "cell-05": "See [there](a.md).\n"})
    made = _updated(course)
    assert (made.missing, made.fuzzy, made.removed) == (1, 1, 0)
    assert _wrong(course) == {"cell-01": "not translated", "cell-02": "fuzzy, its English changed"}
    assert "Une règle a `self` et 3 champs." in made.path.read_text(encoding="utf-8")
    assert not _updated(course).changed


def test_a_text_that_is_gone_is_taken_out(course: Path) -> None:
    _updated(course)
    _translate(course, "See ", "Voir [là](a.md).\n")
    _write(course, {"cell-01": "Something else entirely, without any likeness."})
    assert "cell-03" not in _wrong(course) or _wrong(course)["cell-03"] == "no text of the course any more"
    made = _updated(course)
    assert (made.entries, made.missing, made.fuzzy, made.removed) == (1, 1, 0, 1)


def test_a_file_that_is_no_catalogue_is_named(course: Path) -> None:
    _updated(course).path.write_text("neither this\nnor that", encoding="utf-8")
    with pytest.raises(CourseError, match=r"04-cel\.po: no catalogue"):
        list(wrongs(course, "fr"))


def test_every_marked_message_is_a_text_and_not_put_together(course: Path) -> None:
    own = next(one for one in sources(course, "fr") if one.path.name == "labkit.po")
    texts = {entry.text: entry for entry in own.entries}
    assert texts["not yet: {probe} — expected: {expected}; {got}"].where == "labkit/exercises/views.py"
    assert texts["{n} point"].many == "{n} points"
    assert "labkit/show/figures/path.py" in {entry.where for entry in own.entries}
