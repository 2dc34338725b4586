"""Random definitions, objects and updates: what the trace says of them is what the server does.

Each run draws others; a failure prints the seed, and PARITY_SEED makes it come again. Definitions are drawn and
registered in one batch, then objects are created, then all definitions change at once and the objects are updated.
Updates are dry runs, so that hypothesis may try one again and again while it looks for the smallest that fails.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster

from .cases import Case, Json, Type
from .drawing import Pair, changes, objects, pairs
from .server import Played, Server
from .tracing import Tracer, difference, outcome_of, request_of, told_by_stages

TYPES = 40
CREATES = 200
UPDATES = 250
GROUP = "random.parity.example.com"


def _settings(examples: int, *phases: Phase) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        phases=phases or (Phase.generate, Phase.shrink),
    )


@dataclass
class Run:
    """One run: its seed, its types, and the objects that live under their first definitions."""

    seed: int
    server: Server
    tracer: Tracer
    types: list[Type] = field(default_factory=list)
    living: list[tuple[Type, Json]] = field(default_factory=list)
    serial: int = 0

    def agree(self, played: Played) -> None:
        """Fail, with all that is needed to see why, where the trace says something else than the server."""
        answer = self.tracer.ask(request_of(played))
        found = [*difference(played.outcome, outcome_of(answer)), *told_by_stages(played, answer)]
        if not found:
            return
        case = played.case
        told = [f"seed {self.seed} (PARITY_SEED={self.seed} repeats it)", *found]
        told += [f"definition: {json.dumps(case.body if case.defines else case.type.document)}"]
        told += [f"{case.operation}: {json.dumps(case.body)}", f"before: {played.before}"]
        pytest.fail("\n".join(told), pytrace=False)


@pytest.fixture(scope="module")
def run(cluster: EmbeddedCluster) -> Iterator[Run]:
    number = int(os.environ.get("PARITY_SEED") or random.SystemRandom().randrange(2**32))
    with Api(cluster) as api, Tracer() as tracer:
        server = Server(cluster, api)
        try:
            yield Run(number, server, tracer)
        finally:
            server.clean_up()


def _drawn(run: Run, strategy: Callable[[str], SearchStrategy[Pair]]) -> list[Pair]:
    found: list[Pair] = []

    @seed(run.seed)
    @_settings(TYPES, Phase.generate)
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        found.append(data.draw(strategy(f"type{len(found)}")))

    draw()
    return found


def test_random_definitions_objects_and_updates(run: Run, record_property: Callable[[str, object], None]) -> None:
    """In this order, each on what the one before has left on the server. The report of a run has its seed."""
    record_property("PARITY_SEED", run.seed)
    for pair in _drawn(run, lambda plural: pairs(GROUP, plural)):
        _register(run, pair)
    assert len(run.types) > TYPES / 10, f"seed {run.seed}: nearly all definitions are refused"
    run.server.wait()
    _create(run)
    assert len(run.living) > CREATES / 10, f"seed {run.seed}: nearly all objects are refused"
    for kind in run.types:
        changed = Case("random", kind.name, kind, kind.name, "define", kind.document, old=kind.first)
        run.agree(run.server.define(changed))
    run.server.change({kind.name: kind for kind in run.types})
    _update(run)


def _register(run: Run, pair: Pair) -> None:
    plural = pair.first["spec"]["names"]["plural"]
    taken = []
    for document in pair:
        played = run.server.define(Case("random", plural, Type(plural, document), plural, "define", document))
        run.agree(played)
        taken.append(played.outcome.verdict == "accepted")
    if taken[0]:
        kind = Type(plural, pair.second if taken[1] else pair.first, pair.first)
        run.server.register({plural: kind})
        run.types.append(kind)


def _create(run: Run) -> None:
    @seed(run.seed)
    @_settings(CREATES)
    @given(st.data())
    def create(data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(run.types))
        run.serial += 1
        name = f"o{run.serial}"
        body = data.draw(objects(kind.first, "v1", name))
        how = data.draw(st.sampled_from(["Strict", "Warn", "Ignore", "Ignore"]))
        now = Type(kind.name, kind.first)
        played, live = run.server.create(Case("random", name, now, name, "create", body, field_validation=how))
        if live is not None:
            run.living.append((kind, live))
        run.agree(played)

    create()


def _update(run: Run) -> None:
    lying = run.server.in_etcd()

    @seed(run.seed)
    @_settings(UPDATES)
    @given(st.data())
    def update(data: st.DataObject) -> None:
        kind, live = data.draw(st.sampled_from(run.living))
        name = live["metadata"]["name"]
        version = data.draw(st.sampled_from([one["name"] for one in kind.document["spec"]["versions"]]))
        before = json.loads(lying[kind.key(name)])
        changed = data.draw(changes(before, kind.document, version))
        how = data.draw(st.sampled_from(["Strict", "Warn", "Ignore", "Ignore"]))
        case = Case("random", name, kind, name, "update", changed, old=before, field_validation=how)
        case = replace(case, version=version, read_version=version)
        run.agree(run.server.try_update(case, lying[kind.key(name)], live))

    update()
