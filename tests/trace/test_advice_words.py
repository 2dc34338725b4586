"""Advice on costs is said in the reader's language, whole: no kind of it leaves English in a French sentence."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints

import pytest

from labkit.languages import speaking, translate
from labkit.show import celcost
from labkit.show.document import Table
from labkit.show.trace_words import WORDS, say
from labkit.trace import Costs, engine
from labkit.trace.celcost import Advice

from .advised import ADVISED
from .definitions import source

KEYS = tuple(key for key in WORDS if key.startswith("advice."))


@pytest.fixture(scope="module")
def costs() -> tuple[Costs, ...]:
    """What the program says of each definition."""
    return tuple(engine().cel_cost(source(body)) for body in ADVISED.values())


def sentences(costs: tuple[Costs, ...], lang: str) -> list[str]:
    """All advice as it is shown."""
    with speaking(lang):
        head = say("costs.advice")
        tables = [part for one in costs for part in celcost.document(one).parts if isinstance(part, Table)]
    return [cell.text for table in tables if table.columns[1] == head for _, cell in table.rows]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", re.sub(r"\{\w+\}", " ", text).lower()))


def holds(key: str, said: str) -> bool:
    """Whether a sentence has the words of *key*, in the language that is spoken."""
    parts = re.split(r"\{\w+\}", translate(WORDS[key]))
    return re.search(".+?".join(map(re.escape, parts)), said) is not None


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_the_definitions_get_every_kind_of_advice_in_all_its_words(costs: tuple[Costs, ...], lang: str) -> None:
    kinds = {advice.kind for one in costs for expression in one.expressions for advice in expression.advice}
    assert kinds == set(get_args(get_type_hints(Advice)["kind"]))
    said = sentences(costs, lang)
    with speaking(lang):
        assert [key for key in KEYS if not any(holds(key, one) for one in said)] == []


def test_no_english_is_left_in_french_advice(costs: tuple[Costs, ...]) -> None:
    with speaking("fr"):
        french = set().union(*(words(translate(WORDS[key])) for key in KEYS))
    english = set().union(*(words(WORDS[key]) for key in KEYS)) - french
    assert {"makes", "cost", "helps", "would", "accepted", "enough"} <= english
    for here, there in zip(sentences(costs, "en"), sentences(costs, "fr"), strict=True):
        assert here != there
        assert not words(there) & english, there


def test_numbers_of_advice_are_written_as_the_language_has_them_and_those_of_a_manifest_as_they_are(
    costs: tuple[Costs, ...],
) -> None:
    said = sentences(costs[1:2], "fr")[0]
    bound = "maxItems: 2000000 au lieu de 5000000 sur spec"
    assert said == f"{bound} ramène son coût à 10\u202f000\u202f000 (un de plus serait de trop)"
