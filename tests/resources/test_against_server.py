"""What is said here against what a real API server says: definitions, patterns and values, each by a dry run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import waiting
from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.resources import (
    APIObject,
    Bool,
    Int,
    IntOrStr,
    List,
    Map,
    Num,
    Quantity,
    ResourceError,
    Str,
    Struct,
    Time,
    crd,
)
from labkit.resources.checks import problems_of
from labkit.resources.patterns import PatternError, compile_pattern
from tests.resources.colis import GROUP, kind_class
from tests.resources.test_emission import GOLDENS, MISTAKES
from tests.resources.test_patterns import MATCHES, REFUSED

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


def causes(api: Api, document: dict[str, Any]) -> list[tuple[str, str]]:
    """The server's problems with a definition, sorted; none if it accepts."""
    answer = api.raw("POST", f"{DEFINITIONS}?dryRun=All", document)
    if answer.ok:
        return []
    return sorted((cause["field"], cause["message"]) for cause in answer.status["details"]["causes"])


def local(document: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((str(problem.path[0]), problem.message) for problem in problems_of(document))


@pytest.mark.parametrize(("facts", "fields", "path", "text"), MISTAKES)
def test_structural_mistakes_are_told_word_for_word(api: Api, facts: Any, fields: Any, path: str, text: str) -> None:
    cls = kind_class("v1", Struct(fields or {"ok": Str}), **{**GROUP, **facts})
    document = crd(cls, check=False).to_dict()
    said = causes(api, document)
    assert said == local(document)
    assert any(field == path and text in message for field, message in said)


@pytest.mark.parametrize("name", [name for name in GOLDENS if not name.startswith("03-")])
def test_the_chapters_definitions_are_judged_alike(api: Api, name: str) -> None:
    document = GOLDENS[name]().to_dict()  # those of 03 fail for their rules, which are the server's alone
    assert causes(api, document) == local(document)


def test_patterns_are_refused_in_the_servers_words(api: Api) -> None:
    fields = {f"p{number}": Str(verbatim={"pattern": pattern}) for number, (pattern, _) in enumerate(REFUSED)}
    document = crd(kind_class("v1", Struct(fields), **GROUP), check=False).to_dict()
    assert causes(api, document) == local(document)


class Value(APIObject, group="values.example.com", version="v1", plural="values"):
    spec = {
        "e": Str(enum=["a"], nullable=True),
        "en": Str(enum=["a", None], nullable=True),
        "n": Int(exclusive_minimum=True, minimum=-1),
        "num": Num(minimum=2.5),
        "s": Str(),
        "null": Str(nullable=True),
        "l": List(Str(nullable=True)),
        "ls": List(Str, min_items=1, max_items=2),
        "m": Map(Int, max_properties=1),
        "p": IntOrStr(pattern="^[a-z]+$"),
        "t": Time(),
        "b": Bool(),
        "short": Str(max_length=2),
        "q": Quantity(),
        "o": {"x": Int(required=True)},
        **{f"p{number}": Str(pattern=pattern) for number, (pattern, _, _) in enumerate(MATCHES)},
    }


VALUES: list[dict[str, Any]] = [
    *({"e": value} for value in (None, "a", "b")),
    *({"en": value} for value in (None, "a", "b")),
    *({"n": value} for value in (3.0, -1, 0, 2**63, 2**63 - 1, 1e18, -0.0, 1.5, "3", True)),
    *({"num": value} for value in (2, 1, 2.4, 2.5, 1e308)),
    *({"s": value} for value in (None, "", "é😀", 5, "\u0000")),
    *({"null": value} for value in (None, "x")),
    *({"l": value} for value in ([None], ["a", None], [], [1], "x")),
    *({"ls": value} for value in ([], ["a"], ["a", "b", "c"], [None])),
    *({"m": value} for value in ({"a": None}, {"a": 1}, {"a": 1, "b": 2}, {"a": "1"}, [])),
    *({"p": value} for value in (5, "a", "A", True, 1.5)),
    *(
        {"t": f"2024-01-15{rest}"}
        for rest in ("", "t10:30:45z", "T10:30:60Z", "T10:30:45+99:99", "T10:30:45.Z", " 10:30:45Z")
    ),
    *({"t": f"{day}T00:00:00Z"} for day in ("0000-01-01", "2023-02-29", "2024-13-01")),
    *({"b": value} for value in (True, "maybe", 2)),
    *({"short": value} for value in ("éé", "😀😀", "abc")),
    *({"q": value} for value in ("12e6.5", "1E", "1ki", "", 5)),
    *({"o": value} for value in ({}, {"x": 1}, {"x": None}, {"x": 1, "y": 2})),
    *({f"p{n}": value} for n, (_, found, missed) in enumerate(MATCHES) for value in (*found, *missed)),
]


@pytest.fixture(scope="module")
def values(api: Api) -> Iterator[str]:
    """The path of the collection of Value, served."""
    answer = api.raw("POST", DEFINITIONS, crd(Value).to_dict())
    assert answer.ok, answer.text
    path = "/apis/values.example.com/v1/namespaces/default/values"

    def look() -> waiting.Seen[None]:
        code = api.raw("GET", path).code
        return waiting.Seen(code == 200, f"HTTP {code}")

    waiting.wait_for("the collection to be served", look, limit_s=30)
    yield path
    api.delete(f"{DEFINITIONS}/values.values.example.com")


def test_every_value_is_judged_as_the_server_judges_its_wire_form(api: Api, values: str) -> None:
    differing = []
    for spec in VALUES:
        try:
            wire = Value(metadata={"name": "x"}, spec=spec).to_dict()
            accepted_here = True
        except ResourceError:
            wire = {"apiVersion": Value.api_version, "kind": "Value", "metadata": {"name": "x"}, "spec": spec}
            accepted_here = False
        answer = api.raw("POST", f"{values}?dryRun=All", wire)
        if answer.ok != accepted_here:
            differing.append((spec, accepted_here, answer.text[:200]))
    # A Str takes a number and writes it as text, a Bool and a Quantity take more spellings: there is no wire to differ.
    assert differing == []


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in REFUSED])
def test_the_cases_of_the_patterns_are_decided_here(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(json.loads(json.dumps(pattern)))
