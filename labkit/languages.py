"""The language labkit speaks: English as it is written in the code, or another from a catalogue.

A student reads refusals, hints and tables in the language of the course, whatever machine they sit at; a grader speaks
to a class in one language and to its own log in another. So a message is written in English where it is made, marked by
the function it goes through, and looked up when it is said. A message without an entry stays English. Catalogues are
``.po`` files, read as they are (about 30 ms, once a process, and only for another language than English); what marks a
message is found by ``labkit languages update``.

    translate("{kind} {name} is refused", kind=kind, name=name)
    plural("{n} field", "{n} fields", len(fields))
    numeral(1234.5, ",.1f")                         # "1,234.5", in French "1 234,5"
    NAMES = {"cel": worded("a rule in CEL")}        # marked here, said later: translate(NAMES[station])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

__all__ = ["LANGUAGES", "Texts", "forms", "language", "numeral", "plural", "read", "speaking", "translate", "worded"]

LANGUAGES = ("en", "fr")
"""English, and what there is an edition in."""

Texts = Mapping[tuple[str, str], tuple[str, ...]]
"""Context and English text → the text; of a plural its forms, by the English singular."""

OWN = Path(__file__).parent / "locale"

_VARIABLES = ("LABKIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_FORM: Mapping[str, Callable[[float], int]] = {"en": lambda n: int(n != 1), "fr": lambda n: int(n >= 2)}
_spoken: ContextVar[str | None] = ContextVar("labkit_language", default=None)


def language() -> str:
    """The language of ``speaking``, else of ``LABKIT_LANG``, else of the locale; English for one that is not there."""
    named = _spoken.get() or next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    return named[:2].lower() if named[:2].lower() in LANGUAGES else "en"


@contextmanager
def speaking(lang: str) -> Iterator[None]:
    """Speak *lang* in this block (of this thread), whatever the environment says."""
    token = _spoken.set(lang)
    try:
        yield
    finally:
        _spoken.reset(token)


def translate(text: str, /, **named: object) -> str:
    """*text* in the language that is spoken; its fields (``{kind}``) are filled in where any is *named*."""
    said = _own(language()).get(("", text), (text,))[0]
    return said.format(**named) if named else said


def plural(one: str, many: str, number: float, /, **named: object) -> str:
    """The form for *number*, which fills the field ``{n}``; *named* fills the others."""
    lang = language()
    forms = _own(lang).get(("", one))
    said = forms[_FORM[lang](number)] if forms else (one, many)[_FORM["en"](number)]
    return said.format(n=number, **named)


def numeral(value: float | Decimal | str, form: str = ",") -> str:
    """*value* in the *form* that Python's ``format`` takes, with the signs of the language that is spoken: by default a
    count in groups of three digits. A text is a number already written, in English; its form is "".

    For people only: JSON, CSV, manifests and commands have numbers as they are. Raises ValueError for a wrong form.
    """
    return format(value, form).translate(_signs(language()))


def worded(text: str) -> str:
    """*text* as it is: marks a constant that goes through ``translate`` when it is said."""
    return text


@lru_cache(maxsize=64)
def _signs(lang: str) -> Mapping[int, str]:
    """What stands for the signs of an English number."""
    if lang == "en":
        return {}
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return str.maketrans({",": get_group_symbol(lang), ".": get_decimal_symbol(lang)})


@lru_cache(maxsize=64)
def _own(lang: str) -> Texts:
    return {} if lang == "en" else read(OWN / lang / "LC_MESSAGES" / "labkit.po")


def read(path: Path) -> Texts:
    """What a catalogue says: entries that are translated, and not marked as fuzzy. One that is not there is empty.

    Raises ValueError for a file that is no catalogue.
    """
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            found = read_po(file, abort_invalid=True)
    except FileNotFoundError:
        return {}
    except (PoFileError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no catalogue: {error}") from error
    texts: dict[tuple[str, str], tuple[str, ...]] = {}
    for message in found:
        said = forms(message.string)
        if message.id and all(said) and not message.fuzzy:
            texts[message.context or "", forms(message.id)[0]] = said
    return texts


def forms(string: object) -> tuple[str, ...]:
    """Babel's string of a message, one or several, as a tuple; "" where there is none."""
    return tuple(one or "" for one in string) if isinstance(string, list | tuple) else (str(string or ""),)
