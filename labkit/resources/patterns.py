"""What a ``pattern`` means to the API server: the language of RE2, read here and matched by an automaton of our own.

Python's ``re`` answers differently in places that matter: its ``$`` accepts a final newline, its ``\\d`` takes Arabic
digits, it accepts look-ahead, which the server refuses to register, and a pattern can make it run for years. So the
text is parsed as Go's ``regexp/syntax`` parses it (Perl flags; messages as there), and matched in linear time.

Two kinds of "no" are kept apart. PatternError: RE2 itself refuses the pattern, and so the server will. PatternUnknown:
legal there, but its exact meaning depends on tables that are not here (Unicode classes, case folding beyond ASCII) or
it is too large to be worth it; such a pattern is left to the server.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from labkit.resources.automaton import Automaton, Node

__all__ = ["Pattern", "PatternError", "PatternUnknown", "compile_pattern", "pattern_text"]

Ranges = tuple[tuple[int, int], ...]

_MAX_RUNE = 0x10FFFF
_MAX_REPEAT = 1000  # Go's limit, also for the product of nested repetitions
_MAX_NESTING = 100  # ours (Go's is 1000); deeper patterns are left to the server
_DIGIT: Ranges = ((0x30, 0x39),)
_SPACE: Ranges = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_PERL = {"d": _DIGIT, "s": _SPACE, "w": _WORD}
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": _WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_HEX = frozenset("0123456789abcdefABCDEF")
_REPEAT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAMED = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")


class PatternError(ValueError):
    """RE2 refuses the pattern; the text is its reason."""


class PatternUnknown(ValueError):
    """RE2 accepts the pattern, but it cannot be decided here; the text says why."""


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern: ``found_in(text)`` searches, unanchored, as the server does."""

    text: str
    automaton: Automaton

    def found_in(self, text: str) -> bool:
        return self.automaton.search(text)


def pattern_text(pattern: object) -> str:
    """The text of a pattern given as text or as a compiled ``re.Pattern``, whose flags become RE2's ``(?ims)``."""
    if isinstance(pattern, str):
        return pattern
    if not isinstance(pattern, re.Pattern) or not isinstance(pattern.pattern, str):
        raise PatternError("is neither text nor a compiled pattern of text")
    if pattern.flags & (re.VERBOSE | re.LOCALE):
        raise PatternError("has the flags VERBOSE or LOCALE, which RE2 has not")
    flags = "".join(
        letter
        for letter, flag in (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL))
        if pattern.flags & flag and f"(?{letter}" not in pattern.pattern
    )
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern


def compile_pattern(text: str) -> Pattern:
    """Parse and compile; raises PatternError or PatternUnknown."""
    tree, unknown = _Parser(text).parse()
    if unknown:
        raise PatternUnknown(unknown)
    try:
        return Pattern(text, Automaton(tree))
    except (OverflowError, RecursionError):
        raise PatternUnknown("it is too large to be tried here") from None


@dataclass
class _Group:
    """An open parenthesis: the alternatives before the last ``|``, the items since, and the flags to go back to."""

    flags: frozenset[str]
    alternatives: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def node(self) -> Node:
        last: Node = ("cat", tuple(self.items))
        return ("alt", (*self.alternatives, last)) if self.alternatives else last


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.groups = [_Group(self.flags)]
        self.unknown = ""
        self.needs: dict[int, int] = {}  # id of a repeated node → the repetition count it needs

    def fail(self, reason: str, shown: str) -> PatternError:
        return PatternError(f"error parsing regexp: {reason}: `{shown}`")

    def parse(self) -> tuple[Node, str]:
        last_repeat = ""
        while self.at < len(self.text):
            start = self.at
            char = self.text[start]
            repeated = False
            if char in "*+?":
                self.at += 1
                self._repeat(start, {"*": (0, None), "+": (1, None), "?": (0, 1)}[char], last_repeat)
                repeated = True
            elif char == "{" and (bounds := _REPEAT.match(self.text, start)):
                self.at = bounds.end()
                self._repeat(start, self._bounds(bounds), last_repeat)
                repeated = True
            else:
                self._one(char)
            last_repeat = self.text[start : self.at] if repeated else ""
        if len(self.groups) > 1:
            raise self.fail("missing closing )", self.text)
        return self.groups[0].node(), self.unknown

    def _one(self, char: str) -> None:
        group = self.groups[-1]
        if char == "(":
            self._open()
        elif char == ")":
            if len(self.groups) == 1:
                raise self.fail("unexpected )", self.text)
            self.at += 1
            self.groups.pop()
            self.flags = group.flags
            self.groups[-1].items.append(group.node())
        elif char == "|":
            self.at += 1
            group.alternatives.append(("cat", tuple(group.items)))
            group.items = []
        elif char == "[":
            group.items.append(("set", self._class()))
        elif char == "\\":
            self._escape()
        else:
            self.at += 1
            group.items.append(self._plain(char))

    def _plain(self, char: str) -> Node:
        if char == "^":
            return ("assert", "line begins" if "m" in self.flags else "text begins")
        if char == "$":
            return ("assert", "line ends" if "m" in self.flags else "text ends")
        if char == ".":
            return ("set", ((0, _MAX_RUNE),) if "s" in self.flags else _negated(((10, 10),)))
        return ("set", self._folded(((ord(char), ord(char)),)))

    def _open(self) -> None:
        text, start = self.text, self.at
        if len(self.groups) > _MAX_NESTING:
            self.unknown = self.unknown or "its parentheses nest too deeply to be tried here"
        if not text.startswith("(?", start):
            self.at += 1
            self.groups.append(_Group(self.flags))
        elif text.startswith(("(?P<", "(?<"), start) and len(text) - start > text.index("<", start) - start + 1:
            named = _NAMED.match(text, start)
            if not named:
                end = text.find(">", start) + 1
                raise self.fail("invalid named capture", text[start : end or None])
            self.at = named.end()
            self.groups.append(_Group(self.flags))
        else:
            flags = _FLAGS.match(text, start)
            if not flags:
                raise self.fail("invalid or unsupported Perl syntax", self._bad_flags(start))
            self.at = flags.end()
            before = self.flags
            self.flags = (before | frozenset(flags[1])) - frozenset(flags[2] or "")
            if flags[3] == ":":
                self.groups.append(_Group(before))

    def _bad_flags(self, start: int) -> str:
        end = start + 2
        while self.text[end : end + 1] in tuple("imsU") or (
            self.text[end : end + 1] == "-" and "-" not in self.text[start:end]
        ):
            end += 1
        return self.text[start : end + 1]

    def _bounds(self, match: re.Match[str]) -> tuple[int, int | None]:
        least, comma, most = match.groups()
        if any(len(text) > 4 for text in (least, most or "")):
            raise self.fail("invalid repeat count", match[0])
        low = int(least)
        high = int(most) if most else (None if comma else low)
        if low > _MAX_REPEAT or (high is not None and (high > _MAX_REPEAT or low > high)):
            raise self.fail("invalid repeat count", match[0])
        return low, high

    def _repeat(self, start: int, bounds: tuple[int, int | None], last_repeat: str) -> None:
        operator = self.text[start : self.at]
        if self.text.startswith("?", self.at):  # a lazy repetition finds the same texts
            self.at += 1
        if last_repeat:
            raise self.fail("invalid nested repetition operator", last_repeat + self.text[start : self.at])
        items = self.groups[-1].items
        if not items:
            raise self.fail("missing argument to repetition operator", self.text[start : self.at])
        low, high = bounds
        count = low if high is None else high
        needed = max(1, self._needed(items[-1]))
        if operator[0] == "{":
            needed = max(count, 1) * needed
            if max(low, count) >= 2 and needed > _MAX_REPEAT:
                raise self.fail("invalid repeat count", operator)
        node: Node = ("rep", items.pop(), low, high)
        if needed > 1:
            self.needs[id(node)] = needed
        items.append(node)

    def _needed(self, node: Node) -> int:
        """The repetition count that a node with repetitions inside needs; walks without recursion."""
        most, pending = 0, [node]
        while pending:
            one = pending.pop()
            if one[0] == "rep":
                most = max(most, self.needs.get(id(one), 1))
            elif one[0] in ("cat", "alt"):
                pending.extend(one[1])
        return most

    def _escape(self) -> None:
        items = self.groups[-1].items
        letter = self.text[self.at + 1 : self.at + 2]
        simple = {"A": "text begins", "z": "text ends", "b": "word edge", "B": "no word edge"}
        if letter in simple and letter:
            self.at += 2
            items.append(("assert", simple[letter]))
        elif letter == "Q":
            end = self.text.find("\\E", self.at + 2)
            literal = self.text[self.at + 2 : end if end >= 0 else None]
            self.at = len(self.text) if end < 0 else end + 2
            items.extend(("set", self._folded(((ord(char), ord(char)),))) for char in literal)
        elif letter in ("p", "P") and letter:
            items.append(("set", self._unicode_class()))
        elif letter.lower() in _PERL and letter:
            self.at += 2
            items.append(("set", self._perl(letter)))
        else:
            code = self._escaped_char()
            items.append(("set", self._folded(((code, code),))))

    def _perl(self, letter: str) -> Ranges:
        ranges = self._folded(_PERL[letter.lower()])
        return _negated(ranges) if letter.isupper() else ranges

    def _unicode_class(self) -> Ranges:
        match = re.compile(r"\\[pP](?:\{\^?([A-Za-z_]+)\}|([A-Za-z]))").match(self.text, self.at)
        if not match:
            braces = self.text.startswith("{", self.at + 2)
            end = (self.text.find("}", self.at) + 1 or len(self.text)) if braces else self.at + 3
            raise self.fail("invalid character class range", self.text[self.at : end])
        self.at = match.end()
        self.unknown = self.unknown or f"the Unicode class {match[0]} depends on the server's Unicode version"
        return ((0, _MAX_RUNE),)

    def _escaped_char(self) -> int:
        start = self.at
        letter = self.text[start + 1 : start + 2]
        self.at += 2
        if not letter:
            raise PatternError("error parsing regexp: trailing backslash at end of expression: ``")
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.text, start + 1)
        if octal:
            self.at = octal.end()
            return int(octal[0], 8)
        if letter == "x":
            return self._hex(start)
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        raise self.fail("invalid escape sequence", self.text[start : self.at])

    def _hex(self, start: int) -> int:
        """``\\x41`` or ``\\x{1F600}``; the message ends where Go stops reading."""
        braces = self.text.startswith("{", self.at)
        self.at += braces
        code, digits = 0, 0
        while braces or digits < 2:
            char = self.text[self.at : self.at + 1]
            self.at += len(char)
            if char == "}" and braces and digits:
                break
            if char == "" or char not in _HEX or (code := code * 16 + int(char, 16)) > _MAX_RUNE:
                if char not in _HEX and not braces and not digits:
                    self.at += len(self.text[self.at : self.at + 1])
                raise self.fail("invalid escape sequence", self.text[start : self.at])
            digits += 1
        return code

    def _class(self) -> Ranges:
        text, start = self.text, self.at
        self.at += 1
        negative = text.startswith("^", self.at)
        self.at += negative
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not text.startswith("]", self.at):
            first = False
            if self.at >= len(text):
                raise self.fail("missing closing ]", text[start:])
            ranges.extend(self._class_item(start))
        self.at += 1
        found = _merged(ranges)
        return _negated(found) if negative else found

    def _class_item(self, start: int) -> Ranges:
        text, at = self.text, self.at
        if text.startswith("[:", at) and (end := text.find(":]", at + 2)) >= 0:
            name = text[at + 2 : end]
            named = _POSIX.get(name.removeprefix("^"))
            if named is None:
                raise self.fail("invalid character class range", text[at : end + 2])
            self.at = end + 2
            folded = self._folded(named)
            return _negated(folded) if name.startswith("^") else folded
        if text.startswith(("\\p", "\\P"), at):
            return self._unicode_class()
        if text[at] == "\\" and text[at + 1 : at + 2].lower() in _PERL and at + 1 < len(text):
            self.at += 2
            return self._perl(text[at + 1])
        low = self._class_char(start)
        high = low
        if text.startswith("-", self.at) and self.at + 1 < len(text) and text[self.at + 1] != "]":
            self.at += 1
            high = self._class_char(start)
        if high < low:
            raise self.fail("invalid character class range", text[at : self.at])
        return self._folded(((low, high),))

    def _class_char(self, start: int) -> int:
        if self.at >= len(self.text):
            raise self.fail("missing closing ]", self.text[start:])
        if self.text[self.at] == "\\":
            return self._escaped_char()
        self.at += 1
        return ord(self.text[self.at - 1])

    def _folded(self, ranges: Ranges) -> Ranges:
        """With ``(?i)``: the same letters in the other case, and the two signs that fold to ASCII letters."""
        if "i" not in self.flags:
            return ranges
        more: list[tuple[int, int]] = list(ranges)
        for low, high in ranges:
            if high > 0x7F and not _caseless(low, high):
                self.unknown = self.unknown or "case folding beyond ASCII depends on the server's Unicode version"
            for code in range(low, min(high, 0x7F) + 1):
                char = chr(code)
                more.extend((ord(other), ord(other)) for other in (char.upper(), char.lower()) if other != char)
                more.extend((other, other) for letter, other in (("k", 0x212A), ("s", 0x17F)) if char.lower() == letter)
        return _merged(more)


def _caseless(low: int, high: int) -> bool:
    """Whether a short range beyond ASCII has no letters that fold."""
    if high - low > 16:
        return False
    return all(
        unicodedata.category(chr(code)) not in ("Lu", "Ll", "Lt", "Mn", "Nl", "So") for code in range(low, high + 1)
    )


def _merged(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _negated(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    begin = 0
    for low, high in _merged(list(ranges)):
        if low > begin:
            gaps.append((begin, low - 1))
        begin = high + 1
    if begin <= _MAX_RUNE:
        gaps.append((begin, _MAX_RUNE))
    return tuple(gaps)
