"""Whether the course can be released in a language."""

from __future__ import annotations

from pathlib import Path

from labkit.languages import LANGUAGES
from labkit.release.building import ReleaseError
from labkit.translating import wrongs

__all__ = ["expect_language"]


def expect_language(root: Path, lang: str) -> None:
    """A course in another language must be translated whole: half of one is worse than English. Raises ReleaseError."""
    if lang == "en":
        return
    if lang not in LANGUAGES:
        raise ReleaseError(f"there is no edition in {lang!r}", next_act=f"--lang, one of {', '.join(LANGUAGES)}")
    wrong = list(wrongs(root, lang))
    if wrong:
        raise ReleaseError(
            f"the edition in {lang!r} is not complete ({len(wrong)} texts)",
            evidence="\n  ".join(["", *(one.line for one in wrong[:20])]),
            next_act="labkit languages check says all of them",
        )
