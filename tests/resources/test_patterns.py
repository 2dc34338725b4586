"""Patterns as RE2 reads them."""

from __future__ import annotations

import re
import time

import pytest

from labkit.resources import Resource, Str, fields
from labkit.resources.patterns import PatternError, PatternUnknown, compile_pattern, pattern_text

MATCHES: list[tuple[str, list[str], list[str]]] = [
    (r"^[0-9]+\.[0-9]+\.[0-9]+$", ["2.2.1"], ["2.2", "2.2.1\n", "a2.2.1", ""]),
    ("b", ["abc"], ["ac", ""]),
    ("", ["", "x"], []),
    ("a|b|", ["", "x"], []),
    (r"^\d+$", ["12"], ["١٢", ""]),
    (r"^\w+$", ["a_1"], ["é", "a-b"]),
    (r"^\s$", [" ", "\t", "\f"], ["\v", "\u00a0"]),
    (r"^\S\D\W$", ["ab-"], ["ab_"]),
    (r"^[^a]$", ["b", "\n", "é"], ["a"]),
    ("^.$", ["é", "😀"], ["\n", "ab"]),
    ("(?s)^.$", ["\n"], []),
    ("(?m)^b$", ["a\nb\nc"], ["ab"]),
    (r"(?i)^k$", ["k", "K", "\u212a"], ["x"]),
    (r"(?i)^[a-z]+$", ["AbS", "ſ"], ["é"]),
    ("(?i:a)b", ["Ab"], ["AB"]),
    ("a(?i)b", ["aB"], ["AB"]),
    ("(?U)a+", ["a"], [""]),
    (r"\bfoo\b", ["a foo b", "foo"], ["afoo"]),
    (r"\B", ["", "ab"], ["a"]),
    (r"\Aa\z", ["a"], ["a\n", "ba"]),
    (r"^[[:alpha:]-]+$", ["a-"], ["1"]),
    (r"^[[:^digit:]]$", ["a"], ["1"]),
    ("^[]a]+$", ["]a"], ["b"]),
    ("^[a-]+$", ["-a"], ["b"]),
    (r"^[\d\-x]+$", ["1-x"], ["y"]),
    (r"^\Qa.b\E+$", ["a.bb"], ["acb"]),
    (r"^\x41\x{1F600}\101\n$", ["A😀A\n"], ["AAA"]),
    ("a{,2}", ["a{,2}"], ["aa"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aaa"], ["a"]),
    ("^a{1,2}?$", ["a", "aa"], ["aaa"]),
    ("^(?:a*)*$", ["", "aaa"], ["b"]),
    ("^*a", ["ba"], ["b"]),
    ("(?P<x>a)(?<y>b)", ["ab"], ["a"]),
    ("(?P<x>a)(?P<x>b)", ["ab"], ["a"]),
    ("^(a|bc)+$", ["abca"], ["ab"]),
    ("^(?:(?:a{10}){10}){10}$", ["a" * 1000], ["a" * 999]),
    ("é+", ["éé"], ["e"]),
    ("{", ["{"], ["}"]),
]


@pytest.mark.parametrize(("pattern", "found", "missed"), MATCHES)
def test_a_pattern_finds_what_re2_finds(pattern: str, found: list[str], missed: list[str]) -> None:
    compiled = compile_pattern(pattern)
    for _ in range(2):  # once to learn, once from memory
        assert [text for text in found if not compiled.found_in(text)] == []
        assert [text for text in missed if compiled.found_in(text)] == []


REFUSED = [
    ("[", "missing closing ]: `[`"),
    ("[a", "missing closing ]: `[a`"),
    (r"\p{Greek", r"invalid character class range: `\p{Greek`"),
    ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
    ("(?<=a)", "invalid named capture"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("a{2}{3}", "invalid nested repetition operator"),
    ("*", "missing argument to repetition operator: `*`"),
    ("(|*)", "missing argument to repetition operator"),
    ("a{1001}", "invalid repeat count: `{1001}`"),
    ("a{2,1}", "invalid repeat count"),
    ("(a{100}){100}", "invalid repeat count"),
    (r"\1", "invalid escape sequence"),
    (r"\Z", "invalid escape sequence"),
    (r"\é", "invalid escape sequence"),
    (r"\C", "invalid escape sequence"),
    (r"\x{110000}", "invalid escape sequence"),
    (r"[\b]", "invalid escape sequence"),
    ("[b-a]", "invalid character class range: `b-a`"),
    ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
    ("(", "missing closing ): `(`"),
    ("a)", "unexpected ): `a)`"),
    ("(?P<é>a)", "invalid named capture"),
    ("\\", "trailing backslash at end of expression: ``"),
    ("a++", "invalid nested repetition operator: `++`"),
    ("(?#c)", "invalid or unsupported Perl syntax"),
]


@pytest.mark.parametrize(("pattern", "reason"), REFUSED)
def test_what_re2_refuses_is_refused_with_its_words(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert "error parsing regexp: " in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    [r"^\pL+$", r"[\p{Greek}]", "(?i)é", "(" * 200 + "a" + ")" * 200, "(?:(?:abcdefghijklmnopqrst){1000}){1}" * 2],
)
def test_what_cannot_be_decided_here_is_left_to_the_server(pattern: str) -> None:
    with pytest.raises(PatternUnknown):
        compile_pattern(pattern)

    class C(Resource):
        s = Str(pattern=pattern)

    assert C(s="anything at all 1").s == "anything at all 1"
    assert fields(C)["s"].left_to_server
    assert fields(C)["s"].options["pattern"] == pattern


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a*)*b", "^(a|a)*$", "a*a*a*a*a*b", "[a-z]+$"])
def test_no_pattern_takes_long(pattern: str) -> None:
    begun = time.perf_counter()
    compile_pattern(pattern).found_in("a" * 100_000 + "!")
    assert time.perf_counter() - begun < 5


def test_many_different_characters_are_forgotten_and_found_again() -> None:
    compiled = compile_pattern("^[^x]*y$")
    text = "".join(map(chr, range(0x100, 0xD000)))
    assert compiled.found_in(text + "y")
    assert compiled.found_in(text[::-1] + text + "y")
    assert not compiled.found_in(text + "xy")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (re.compile("a"), "a"),
        (re.compile("a", re.IGNORECASE | re.DOTALL), "(?is)a"),
        (re.compile("(?i)a"), "(?i)a"),
        ("a", "a"),
    ],
)
def test_a_compiled_pattern_brings_its_flags(pattern: object, text: str) -> None:
    assert pattern_text(pattern) == text


@pytest.mark.parametrize("pattern", [re.compile("a", re.VERBOSE), re.compile(b"a"), 5])
def test_what_is_no_pattern_is_refused(pattern: object) -> None:
    with pytest.raises(PatternError):
        pattern_text(pattern)
