"""``cel-cost`` decides as the API server does: at the limits, at every bound it advises, and in every word."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.trace import Costs, Engine, sources
from labkit.trace.celcost import Expression
from tests.cluster.helpers import remove_definitions

from .definitions import (
    GROUP,
    PAIR,
    array,
    bounded,
    definition,
    fields,
    many,
    mapping,
    message,
    plain,
    rule,
    rules_at,
    said,
    source,
    text,
)

Json = Any
CRD = Path(__file__).parents[2] / "crd"
EXPRESSION, SCHEMA = 10_000_000, 100_000_000


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as one:
        yield one


@pytest.fixture(scope="module")
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as one:
        yield one


GROWING: dict[str, Callable[[int], Json]] = {
    "a rule in a list": lambda n: array({**PAIR, **rule("self.min <= self.max")}, n),
    "a rule in a map": lambda n: mapping({**PAIR, **rule("self.min <= self.max")}, n),
    "a rule in a list in a map": lambda n: mapping(array({**PAIR, **rule("self.min <= self.max")}, 1000), n),
    "a rule in a map in a list": lambda n: array(mapping(text(9, **rule("self.startsWith('a')")), n), 700),
    "a rule in lists of lists": lambda n: array(array(array(text(8, **rule("self == 'a'")), n), n), n),
    "a rule in an unbounded list, over a list inside it": lambda n: array(
        fields({"l": array(text(2), n, **rule("self.all(x, x != '')"))}, required=["l"])
    ),
    "a rule over a list": lambda n: array(text(10), n, **rule("self.all(x, self.exists(y, x == y))")),
    "a rule over a map": lambda n: mapping(text(40), n, **rule("self.all(k, self[k].matches('^a+$') && k != '')")),
    "a rule over a long text": lambda n: text(n, **rule("self.contains(self)")),
    "a rule over bytes": lambda n: array(text(n, format="byte", **rule("self == b'a' || self != self")), 90),
    "a transition rule": lambda n: array(text(), n, **rule("self.all(x, x in oldSelf)")),
    "a rule with an optional old value": lambda n: text(
        n,
        **{
            "x-kubernetes-validations": [{"rule": "oldSelf.hasValue() || self.contains(self)", "optionalOldSelf": True}]
        },
    ),
    "a rule on quantities": lambda n: array(text(20, **rule("quantity(self).isGreaterThan(quantity('1'))")), n),
    "a rule on int-or-string": lambda n: array(
        {"x-kubernetes-int-or-string": True, "maxLength": 10, **rule("string(self).size() < 9 || self == 5")}, n
    ),
    "a rule on a set": lambda n: array(text(30), n, **rule("self.isSorted()"), **{"x-kubernetes-list-type": "set"}),
    "a message of texts": lambda n: fields(
        {"a": text(n), "b": text(n)}, **message("'a: ' + self.a + ' b: ' + self.b + self.a + self.b")
    ),
    "a message over a list": lambda n: fields(
        {"l": array(text(30), n)}, **message("self.l.map(x, x + 'y').all(y, y in self.l) ? 'a' : 'b'")
    ),
    "a message in a list": lambda n: array(fields({"l": array(text(90), n)}, **message("self.l.join(', ')")), 1000),
    "a message of format": lambda n: fields(
        {"l": array(PAIR, n)}, **message("'%d'.format([self.l.filter(x, x.min > 1).size()])")
    ),
}
"""Schemas whose one expression costs more the greater the number."""


def fits(engine: Engine, body: Json) -> bool:
    return not engine.cel_cost(source(body)).refused


def greatest(accepted: Callable[[int], bool]) -> int:
    """The greatest number that is accepted, found by halving."""
    least, most = 1, 3 * 2**20
    assert accepted(least)
    assert not accepted(most)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if accepted(middle) else (least, middle)
    return least


def costliest(costs: Costs) -> Expression:
    return max(costs.expressions, key=lambda one: one.estimated_cost or 0)


@pytest.mark.parametrize("name", GROWING)
def test_an_expression_is_refused_from_the_same_size_on_as_by_the_server(name: str, engine: Engine, api: Api) -> None:
    grown = GROWING[name]
    size = greatest(lambda n: fits(engine, definition(grown(n))))
    under, over = definition(grown(size)), definition(grown(size + 1))
    cheap, dear = engine.cel_cost(source(under)), engine.cel_cost(source(over))
    assert said(api, under) == cheap.lines == ()
    assert said(api, over) == plain(dear.lines) != ()
    most, too_much = costliest(cheap), costliest(dear)
    assert most.path == too_much.path
    assert most.estimated_cost is not None
    assert too_much.estimated_cost is not None
    assert most.estimated_cost <= EXPRESSION < too_much.estimated_cost
    assert (most.error, most.over, too_much.over) == ("", False, True)
    assert any(
        f"{too_much.path}: Forbidden: estimated {word} cost exceeds" in too_much.error
        for word in ("rule", too_much.kind)
    )


def test_an_expression_may_cost_exactly_its_limit(engine: Engine, api: Api) -> None:
    for size, fine in ((2_000_000, True), (2_000_001, False)):
        body = definition(array({**PAIR, **rule("self.min <= self.max")}, size))
        costs = engine.cel_cost(source(body))
        assert costs.expressions[0].estimated_cost == 5 * size
        assert costs.expressions[0].cardinality == size
        assert (said(api, body) == (), not costs.refused) == (fine, fine)


def test_a_schema_may_cost_exactly_its_limit(engine: Engine, api: Api) -> None:
    for total in (SCHEMA, SCHEMA + 5):
        body = definition(many(total // 5, 12))
        costs = engine.cel_cost(source(body))
        assert [one.total for one in costs.schemas] == [total]
        assert said(api, body) == plain(costs.lines)
        assert costs.refused == (total > SCHEMA)


def test_the_total_counts_rules_and_messages_and_each_version_apart(engine: Engine, api: Api) -> None:
    nine, talking = many(18_900_000, 12), GROWING["a message of texts"]
    size = greatest(lambda n: fits(engine, definition(talking(n))))
    mixed = copy.deepcopy(nine)
    mixed["properties"] |= {"one": talking(size), "two": many(100_000, 2)}
    for specs, refused in (
        ((nine,), False),
        ((mixed,), True),
        ((nine, many(20_000_000, 12)), False),
        ((nine, mixed), True),
    ):
        body = definition(*specs)
        costs = engine.cel_cost(source(body))
        assert said(api, body) == plain(costs.lines)
        assert costs.refused == refused
        assert [one.version for one in costs.schemas] == [f"v{number}" for number in range(1, len(specs) + 1)]


def test_equal_versions_are_told_at_the_path_where_the_server_puts_them(engine: Engine, api: Api) -> None:
    over = array({**PAIR, **rule("self.min <= self.max")}, 2_000_001)
    same, other = definition(over, over), definition(over, fields({"a": text()}))
    assert {(one.version, one.path.split(".")[1]) for one in engine.cel_cost(source(same)).expressions} == {
        ("v1", "validation"),
        ("v2", "validation"),
    }
    for body in (same, other):
        costs = engine.cel_cost(source(body))
        assert said(api, body) == plain(costs.lines)
        assert all(one.error for one in costs.expressions)
    assert [one.path.split(".")[1] for one in costs.expressions] == ["versions[0]"]


UNBOUNDED: dict[str, Json] = {
    "a list compared with itself": array(text(), **rule("self.all(x, self.exists(y, x == y))")),
    "a list of short texts": array(text(20), **rule("self.all(x, self.exists(y, x == y))")),
    "lists in a map in a list": array(mapping(array(text(90, **rule("self.matches('^[a-z]+$')"))))),
    "a list whose bound is too great": array({**PAIR, **rule("self.min <= self.max")}, 5_000_000),
    "a list and a text in it": array(fields({"s": text()}, **rule("self.s.matches('^[a-z]+(-[a-z]+)*$')"))),
    "a message over a list": fields(
        {"l": array(text(30))}, **message("self.l.map(x, self.l.filter(y, y < x)).size() > 1 ? 'a' : 'b'")
    ),
    "a text twice": fields({"a": text(), "b": text()}, **rule("self.a.contains(self.b)")),
    "a list with a default": fields(
        {
            "l": array(
                text(99),
                default=["a", "b", "c", "d"],
                **rule("self.all(x, self.all(y, self.all(z, x != 'z' || y == z)))"),
            )
        }
    ),
    "names that CEL has to escape": fields(
        {"a.b": array(text()), "c-d/e": array(text())}, **rule("self.a__dot__b.all(x, x in self.c__dash__d__slash__e)")
    ),
    "a set of rules on one list": array(
        text(),
        **{
            "x-kubernetes-validations": [
                {"rule": "self.all(x, x in self)"},
                {"rule": "self.isSorted() || self.all(x, x in self)"},
            ]
        },
    ),
    "the schema's total": many(23_000_000, 12),
    "a total of one list's rules": array(
        {**PAIR, "x-kubernetes-validations": [{"rule": f"self.min + {n} <= self.max"} for n in range(15)]}, 1_200_000
    ),
}


def meant(costs: Costs) -> Iterator[tuple[Expression, Any]]:
    for one in costs.expressions:
        for advice in one.advice:
            if advice.bounds and (one.over or advice.kind == "total"):
                yield one, advice


@pytest.mark.parametrize("name", UNBOUNDED)
def test_advised_bounds_are_accepted_by_the_server_and_one_more_is_not(name: str, engine: Engine, api: Api) -> None:
    body = definition(UNBOUNDED[name])
    costs = engine.cel_cost(source(body))
    assert said(api, body) == plain(costs.lines) != ()
    found = list(meant(costs))
    assert found, [one.advice for one in costs.expressions]
    for one, advice in found:
        whole = advice.kind == "total"

        def refused(
            more: int, only: Any = None, *, path: str = one.path, whole: bool = whole, given: Any = advice
        ) -> bool:
            lines = said(api, bounded(body, given.bounds, more, only))
            return bool(lines) if whole else any(line.startswith(f"{path}: Forbidden: estimated") for line in lines)

        assert not refused(0)
        assert advice.one_more
        assert all(refused(1, bound) for bound in advice.bounds)
        again = engine.cel_cost(source(bounded(body, advice.bounds)))
        same = next(other for other in again.expressions if other.path == one.path)
        assert same.estimated_cost == advice.estimated_cost


def test_following_the_first_advice_of_each_expression_makes_a_definition_acceptable(engine: Engine, api: Api) -> None:
    for spec in UNBOUNDED.values():
        body = definition(spec)
        for _ in range(3):  # once for each expression's own limit, then for the total
            costs = engine.cel_cost(source(body))
            for one in costs.expressions:
                for advice in one.advice[-1:] if not one.over else one.advice[:1]:
                    if one.over or advice.kind == "total":
                        body = bounded(body, advice.bounds)
        assert said(api, body) == ()


def test_many_lists_without_bounds_get_one_bound_for_all(engine: Engine, api: Api) -> None:
    lists = {f"l{n}": array(text(20), **rule("self.all(x, self.exists(y, x == y))")) for n in range(30)}
    body = definition(fields(lists))
    costs = engine.cel_cost(source(body))
    told = [(one, advice) for one, advice in meant(costs) if advice.kind == "total"]
    assert len(told) == 4  # as many as the server names
    bounds = told[0][1].bounds
    assert (len(bounds), len({bound.value for bound in bounds})) == (30, 1)
    assert said(api, bounded(body, bounds)) == ()
    assert said(api, bounded(body, bounds, 1)) != ()


def test_a_default_that_a_bound_would_break_is_kept_valid(engine: Engine) -> None:
    costs = engine.cel_cost(source(definition(UNBOUNDED["a list with a default"])))
    (bound,) = costs.expressions[0].advice[0].bounds
    assert bound.value >= 4


def test_the_chapters_message_is_helped_by_format_and_by_no_bound(engine: Engine, api: Api) -> None:
    body = yaml.safe_load((CRD / "03-d-message-string.yaml").read_text(encoding="utf-8"))
    costs = engine.cel_cost(sources.read(CRD / "03-d-message-string.yaml"))
    assert said(api, body) == plain(costs.lines)
    one = costliest(costs)
    assert (one.kind, one.over) == ("messageExpression", True)
    (advice,) = one.advice
    assert advice.kind == "noBounds"
    assert "string(self.min)" in advice.unsized
    assert advice.bounds == ()
    found, key = rules_at(body, one.path)
    assert found[key] == one.expression
    found[key] = advice.expression
    assert ".format(" in advice.expression
    assert said(api, body) == ()
    again = engine.cel_cost(source(body))
    assert {other.path: other.estimated_cost for other in again.expressions}[one.path] == advice.estimated_cost


def test_the_chapters_list_is_helped_by_its_length(engine: Engine, api: Api) -> None:
    body = yaml.safe_load((CRD / "03-e-liste-sans-borne.yaml").read_text(encoding="utf-8"))
    one = costliest(engine.cel_cost(sources.read(CRD / "03-e-liste-sans-borne.yaml")))
    (advice,) = one.advice
    (bound,) = advice.bounds
    assert (bound.keyword, bound.path.endswith("properties[fenetres]")) == ("maxItems", True)
    assert said(api, bounded(body, advice.bounds)) == ()
    assert said(api, bounded(body, advice.bounds, 1)) != ()


@pytest.mark.parametrize("path", sorted(CRD.glob("*.yaml")), ids=lambda path: path.name)
def test_each_definition_of_the_chapter_is_told_in_the_servers_words(path: Path, engine: Engine, api: Api) -> None:
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        if document["kind"] == "CustomResourceDefinition":
            assert plain(engine.cel_cost(source(document)).lines) == said(api, document)


@pytest.mark.parametrize(
    "spec",
    [
        fields({"a": text()}, **rule("self.zz > 0")),
        fields({"a": text()}, **rule("self.a")),
        fields({"a": text()}, **message("self.a.size()")),
        fields({"a": array(text(**rule("self == oldSelf")))}),
        fields({"a": text(**{"x-kubernetes-validations": [{"rule": "", "message": "\n"}]})}),
        {"properties": {"a": text()}, **rule("self.a == 'a'")},
        fields({"a": text(default=5)}, **rule("self.a == 'a'")),
    ],
    ids=["unknown field", "no bool", "no string", "old value in a list", "empty rule", "no type", "bad default"],
)
def test_other_faults_are_the_servers_too_and_no_cost_is_made_up(spec: Json, engine: Engine, api: Api) -> None:
    body = definition(spec)
    costs = engine.cel_cost(source(body))
    assert plain(costs.lines) == said(api, body) != ()
    mine = [line for one in costs.expressions for line in one.error.splitlines()]
    assert all(line in mine or line in costs.other_lines for line in "\n".join(costs.lines).splitlines())


def test_a_real_create_ends_as_the_dry_run_did(engine: Engine, api: Api) -> None:
    grown = GROWING["a rule in a list in a map"]
    size = greatest(lambda n: fits(engine, definition(grown(n))))
    under, over = definition(grown(size), plural="unders"), definition(grown(size + 1), plural="overs")
    try:
        assert said(api, over, dry_run=False) == plain(engine.cel_cost(source(over)).lines) != ()
        assert said(api, under, dry_run=False) == ()
    finally:
        remove_definitions(api, f"unders.{GROUP}", f"overs.{GROUP}")


def test_json_has_great_numbers_as_strings_and_nothing_but_the_fields_promised(engine: Engine) -> None:
    costs = engine.cel_cost(sources.read(CRD / "03-d-message-string.yaml"))
    listed = json.loads(json.dumps(costs.to_json()))
    wanted = {"version", "path", "kind", "expression", "estimatedCost", "cardinality", "expressionLimit", "schemaLimit"}
    assert all(set(one) == wanted | {"advice", "error"} for one in listed)
    assert sorted(str(type(one["estimatedCost"]).__name__) for one in listed) == ["int", "int", "int", "str"]
    great = next(one for one in listed if isinstance(one["estimatedCost"], str))
    assert int(great["estimatedCost"]) == costliest(costs).estimated_cost
