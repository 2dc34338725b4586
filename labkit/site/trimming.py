"""What the theme brings and these pages do not use, taken out of a built site.

A theme is made for everybody: a script that draws two thousand signs (1.5 MB, on each page) where these pages show
twelve, its fonts, its texts in 47 languages, maps for who debugs it. All of that would be loaded, or copied, for
nothing. The twelve signs are in ``theme/icons.css``.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

__all__ = ["trim"]

_FOLDERS = ("_sources", "_static/locales", "_static/images", "_static/vendor")
_FILES = ("**/*.map", "**/*macros.html", "_static/scripts/fontawesome.js*", "_static/*.png", ".buildinfo*")
_SIGNS = re.compile(r"\s*<(?:script|link)[^>]*fontawesome\.js[^>]*>(?:</script>)?")
_FONT = re.compile(r"@font-face\s*\{[^}]*\}")


def trim(folder: Path) -> None:
    """Take it out of the site in *folder*, with every mention of it."""
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    for pattern in _FILES:
        for path in folder.glob(pattern):
            path.unlink()
    for path in folder.glob("*.html"):
        _change(path, _SIGNS, "")
    for path in (folder / "_static").rglob("*.css"):
        _change(path, _FONT, "")
    for path in (folder / "_static").rglob("*.js"):
        _change(path, re.compile(r"\n?//# sourceMappingURL=\S+\s*$"), "\n")


def _change(path: Path, what: re.Pattern[str], by: str) -> None:
    text = path.read_text(encoding="utf-8")
    changed = what.sub(by, text)
    if changed != text:
        path.write_text(changed, encoding="utf-8")
