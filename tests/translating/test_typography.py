"""Blanks of French, set in prose and nowhere else."""

from __future__ import annotations

import pytest

from labkit.translating.typography import typeset


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("Pourquoi ? Parce que : rien !", "Pourquoi\u202f? Parce que\u00a0: rien\u202f!"),
        ("Pourquoi? Parce que: rien!", "Pourquoi\u202f? Parce que\u00a0: rien\u202f!"),
        ("« oui » ; **non :** vraiment ?!", "«\u00a0oui\u00a0»\u202f; **non\u00a0:** vraiment\u202f?!"),
        ("`a: b ; c` : voilà", "`a: b ; c`\u00a0: voilà"),
        ("`outcome`: l'issue", "`outcome`\u00a0: l'issue"),
        ("```\nkubectl: oui ?\n```\nFin :", "```\nkubectl: oui ?\n```\nFin\u00a0:"),
        ("    if a: b\nPuis :", "    if a: b\nPuis\u00a0:"),
        ("[ici](https://x.y/?a=1;b) ; {name} : {value}", "[ici](https://x.y/?a=1;b)\u202f; {name}\u00a0: {value}"),
        ("| a | b |\n|:--|--:|\n| c : | d |", "| a | b |\n|:--|--:|\n| c\u00a0: | d |"),
        ("à 10:30, a:b, <https://a.b/c?d>", "à 10:30, a:b, <https://a.b/c?d>"),
    ],
)
def test_french_blanks_do_not_break_and_code_keeps_its_own(typed: str, wanted: str) -> None:
    assert typeset("fr", typed) == wanted
    assert typeset("fr", wanted) == wanted
    assert typeset("en", typed) == typed
