"""Which language is spoken, and what a message becomes in it."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest

from labkit import languages
from labkit.languages import language, numeral, plural, read, speaking, translate, worded

CATALOGUE = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "{who} refuses {what}"
msgstr "{what} : refus de {who}"

#, fuzzy
msgid "an old one"
msgstr "un ancien"

msgid "{n} field of {what}"
msgid_plural "{n} fields of {what}"
msgstr[0] "{n} champ de {what}"
msgstr[1] "{n} champs de {what}"

msgctxt "here"
msgid "in a place"
msgstr "à un endroit"
"""


@pytest.fixture
def french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """labkit's own catalogue is this one."""
    place = tmp_path / "fr" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "labkit.po").write_text(CATALOGUE, encoding="utf-8")
    monkeypatch.setattr(languages, "OWN", tmp_path)
    languages._own.cache_clear()
    monkeypatch.setattr(languages, "_own", languages._own.__wrapped__)


@pytest.mark.parametrize(
    ("variables", "spoken"),
    [
        ({}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "fr"),
        ({"LANG": "fr_FR.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8", "LABKIT_LANG": "en"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LABKIT_LANG": "fr"}, "fr"),
        ({"LANG": "fr_CA", "LABKIT_LANG": ""}, "fr"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LABKIT_LANG": "FR"}, "fr"),
    ],
)
def test_labkit_lang_goes_before_the_locale_and_english_is_spoken_where_nothing_is_known(
    variables: dict[str, str], spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LABKIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == spoken


@pytest.mark.usefixtures("french")
def test_a_message_is_looked_up_before_its_fields_are_filled() -> None:
    message = worded("{who} refuses {what}")
    with speaking("fr"):
        assert translate(message, who="RBAC", what="{who}") == "{who} : refus de RBAC"
    with speaking("en"):
        assert translate(message, who="RBAC", what="a {spec}") == "RBAC refuses a {spec}"


@pytest.mark.usefixtures("french")
def test_a_message_that_is_also_one_of_several_has_its_singular() -> None:
    with speaking("fr"):
        assert translate("{n} field of {what}") == "{n} champ de {what}"


@pytest.mark.usefixtures("french")
def test_what_has_no_entry_or_a_fuzzy_one_stays_english() -> None:
    with speaking("fr"):
        assert translate("an old one") == "an old one"
        assert translate("{spec: {}} is no field") == "{spec: {}} is no field"
        assert translate("in a place") == "in a place"
        assert plural("{n} cat", "{n} cats", 0) == "0 cats"


@pytest.mark.usefixtures("french")
@pytest.mark.parametrize(
    ("number", "one", "other"), [(0, "fields", "champ"), (1, "field", "champ"), (2, "fields", "champs")]
)
def test_each_language_counts_in_its_own_way(number: int, one: str, other: str) -> None:
    for lang, word, of in (("en", one, "of"), ("fr", other, "de")):
        with speaking(lang):
            said = plural("{n} field of {what}", "{n} fields of {what}", number, what="a")
            assert said == f"{number} {word} {of} a"


def test_one_thread_speaks_and_the_others_do_not_notice() -> None:
    heard: list[str] = []
    with speaking("fr"):
        other = threading.Thread(target=lambda: heard.append(language()))
        other.start()
        other.join()
        assert language() == "fr"
    assert [*heard, language()] == ["en", "en"]


def test_a_file_that_is_no_catalogue_is_an_error_and_one_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path / "no.po") == {}
    (tmp_path / "bad.po").write_text("neither this\nnor that", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.po: no catalogue"):
        read(tmp_path / "bad.po")


@pytest.mark.parametrize(
    ("value", "form", "english", "french"),
    [
        (1234567, ",", "1,234,567", "1\u202f234\u202f567"),
        (1234.5, ",.1f", "1,234.5", "1\u202f234,5"),
        (2.5, "g", "2.5", "2,5"),
        (-0.5, "+g", "-0.5", "-0,5"),
        (Decimal("0.25"), "g", "0.25", "0,25"),
        ("−1.50", "", "−1.50", "−1,50"),
        (7, ",", "7", "7"),
    ],
)
def test_a_number_has_the_signs_of_the_language_and_the_digits_of_its_form(
    value: float | Decimal | str, form: str, english: str, french: str
) -> None:
    for lang, wanted in (("en", english), ("fr", french)):
        with speaking(lang):
            assert numeral(value, form) == wanted
