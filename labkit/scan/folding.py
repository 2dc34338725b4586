"""Text folded so that the same words are the same bytes, however a file format has written them down.

An answer leaks in other clothes than its author's: indented anew, with `&lt;` for `<`, as a JSON string with `\\n` and
`\\u003c`, percent-encoded in a link, coloured by a highlighter that puts a tag around every word, wrapped at another
column, in UTF-16 beside zero bytes. Undoing each format would need each format's parser. Instead both sides, the answer
and the place it is looked for, lose whatever formats add or change: white space, quotes, backslashes, marks of lists,
of comments and of emphasis, dashes, commas, zero bytes and capitals. What is left are letters, digits, brackets and
comparisons, of which an answer has enough to be known.

Tags and escapes are undone before that, in several *readings* of the same bytes, because a text may hold `a < b and
c > d` or a literal `%20` as well: a place is looked at in every reading. No reading adds or removes a line break, so
that the number of a line is the same in all of them.
"""

from __future__ import annotations

import bisect
import html
import re
import unicodedata
from collections.abc import Iterator

__all__ = ["Folded", "fold", "fold_text", "readings"]

_DROPPED = bytes(range(0x21)) + b"\x7f\"'`\\*_#-,;+~"
_LOWER = bytes(range(256)).lower()
_TYPOGRAPHY = (
    ("\u00a0", ""), ("\u00ad", ""), ("\u200b", ""), ("\ufeff", ""),  # spaces and marks of no width
    ("\u2018", ""), ("\u2019", ""), ("\u201c", ""), ("\u201d", ""),  # quotes
    ("\u2010", ""), ("\u2011", ""), ("\u2013", ""), ("\u2014", ""), ("\u2212", ""), ("\u2026", "..."),
)  # fmt: skip
_REPLACED = tuple((one.encode(), other.encode()) for one, other in _TYPOGRAPHY)

_TAG = re.compile(rb"<\\?[/?]?[A-Za-z][^<>]{0,4000}>")
_ESCAPE = re.compile(
    rb"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"  # HTML, XML
    rb"|\\u\{?[0-9a-fA-F]{4,6}\}?|\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2}|\\[nrtfvb/]"  # JSON, JavaScript, catalogues
    rb"|%[0-9a-fA-F]{2}"  # URLs
)
_ROUNDS = 3
"""How many escapes inside each other are undone: HTML in JSON in an attribute."""


class Folded:
    """*source*, a reading of a file, and its folded form *text*; tells where in the source a place of the text is."""

    _STEP = 1 << 16

    def __init__(self, source: bytes) -> None:
        self.source = _plain(source)
        self.text = self.source.translate(_LOWER, _DROPPED)
        self._ends: list[int] = []

    def offset(self, index: int) -> int:
        """The offset in the source (typography made plain) of byte *index* of the text."""
        if not self._ends:
            length = 0
            for start in range(0, len(self.source), self._STEP):
                length += len(self.source[start : start + self._STEP].translate(None, _DROPPED))
                self._ends.append(length)
        block = bisect.bisect_right(self._ends, index)
        left = index - (self._ends[block - 1] if block else 0)
        start = block * self._STEP
        for offset in range(start, min(start + self._STEP, len(self.source))):
            if self.source[offset] not in _DROPPED:
                if left == 0:
                    return offset
                left -= 1
        return len(self.source)

    def lines_before(self, index: int) -> int:
        """How many line breaks stand before byte *index* of the text."""
        return self.source.count(b"\n", 0, self.offset(index))


def fold(source: bytes) -> bytes:
    """The folded form of *source* as it stands."""
    return _plain(source).translate(_LOWER, _DROPPED)


def fold_text(text: str) -> frozenset[bytes]:
    """The forms a text may have when it is found: as it stands, with its own escapes undone, and in UTF-16 or Latin-1
    (the same bytes, once zero bytes are gone). Empty forms are left out."""
    plain = unicodedata.normalize("NFC", text)
    written = {plain.encode(), _unescaped(plain.encode()), plain.encode("latin-1", "ignore")}
    return frozenset(filter(None, (fold(one) for one in written)))


def readings(data: bytes) -> Iterator[bytes]:
    """The different readings of *data*: as it stands, all escapes undone, and without tags. What is a tag depends on
    how many escapes have been undone before: each depth is a reading."""
    depths = [data]
    while len(depths) <= _ROUNDS and (deeper := _once(depths[-1])) != depths[-1]:
        depths.append(deeper)
    seen = set()
    for one in (data, depths[-1], *(_unescaped(_untagged(depth)) for depth in depths)):
        if hash(one) not in seen:
            seen.add(hash(one))
            yield one


def _plain(data: bytes) -> bytes:
    """Composed letters, and typographic quotes, dashes and spaces as the plain ones (which are dropped)."""
    if data.isascii():
        return data
    try:
        data = unicodedata.normalize("NFC", data.decode()).encode()
    except UnicodeDecodeError:  # no text, or text in another encoding
        return data
    for one, other in _REPLACED:
        data = data.replace(one, other)
    return data


def _untagged(data: bytes) -> bytes:
    return _TAG.sub(lambda tag: b"\n" * tag[0].count(b"\n"), data) if b"<" in data else data


def _unescaped(data: bytes) -> bytes:
    for _ in range(_ROUNDS):
        deeper = _once(data)
        if deeper == data:
            break
        data = deeper
    return data


def _once(data: bytes) -> bytes:
    return _ESCAPE.sub(_meaning, data) if any(sign in data for sign in (b"&", b"\\", b"%")) else data


def _meaning(escape: re.Match[bytes]) -> bytes:
    text = escape[0]
    if text.startswith(b"&"):
        meant = html.unescape(text.decode()).encode("utf-8", "ignore")
    elif text.startswith(b"%"):
        meant = bytes([int(text[1:], 16)])
    elif text[1:2] in b"ux":
        meant = _character(text)
    elif text[1:2].isdigit():
        meant = bytes([int(text[1:], 8)])
    else:
        meant = b"/" if text == rb"\/" else b" "
    return meant.replace(b"\n", b" ").replace(b"\r", b" ")


def _character(escape: bytes) -> bytes:
    digits = escape[2:].strip(b"{}")
    if not escape.startswith(b"\\u{"):
        digits, rest = digits[:4], digits[4:]
    else:
        rest = b""
    code = int(digits, 16)
    return (chr(code).encode("utf-8", "ignore") if code < 0x110000 else b"") + rest
