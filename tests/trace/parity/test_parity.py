"""`controlplane trace` and `define` say of every case what the API server does.

The server plays all cases once for this module. Then each topic is compared; and the comparison is proved to see: with
any one stage of the trace left out, or two in each other's place, some case must differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster

from .cases import load
from .server import Played, Server
from .test_cases import TOPICS
from .tracing import Tracer, difference, outcome_of, request_of, told_by_stages

LEFT_OUT = [
    "decoding", "pruning", "defaulting", "preparing", "validation", "cel", "ratcheting", "conversion",
    "read-pruning", "read-defaulting", "read-conversion",
]  # fmt: skip
# Nothing to leave out: no webhook is configured, and without these two there is nothing stored or read at all.
FIXED = ["admission", "storing", "reading"]
SWAPPED = [
    "pruning,defaulting", "defaulting,preparing", "pruning,validation", "defaulting,validation", "defaulting,cel",
    "preparing,validation", "preparing,cel", "validation,cel", "validation,ratcheting", "cel,ratcheting",
    "validation,conversion", "cel,conversion", "read-pruning,read-defaulting", "read-defaulting,read-conversion",
    "read-pruning,read-conversion",
]  # fmt: skip


class _Quoting(yaml.SafeDumper):
    """Quotes every text: the server's YAML takes a bare n for false."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@pytest.fixture(scope="module")
def plays(cluster: EmbeddedCluster) -> Iterator[list[Played]]:
    """All cases, played on the server."""
    with Api(cluster) as api:
        server = Server(cluster, api)
        try:
            yield list(server.play(load()))
        finally:  # other tests are on this server too
            server.clean_up()


@pytest.fixture(scope="module")
def tracer() -> Iterator[Tracer]:
    with Tracer() as one:
        yield one


@pytest.fixture(scope="module")
def changed_tracer() -> Iterator[Tracer]:
    """One that leaves stages out when it is told to."""
    with Tracer("--allow-without") as one:
        yield one


def of(topic: str, plays: Sequence[Played]) -> list[Played]:
    return [played for played in plays if played.case.topic == topic]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_case_shows_on_the_server_what_it_is_there_for(plays: list[Played], topic: str) -> None:
    wrong = []
    for played in of(topic, plays):
        case, outcome = played.case, played.outcome
        wanted = "accepted" if case.refused is None else "refused"
        said = "\n".join(outcome.lines)
        if outcome.verdict != wanted or (case.refused or "") not in said:
            wrong.append(f"{case}: wanted {wanted} {case.refused or ''}, got {outcome.verdict} {said}")
        if case.warned and not any(case.warned in warning for warning in outcome.warnings):
            wrong.append(f"{case}: wanted the warning {case.warned}, got {outcome.warnings}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_trace_says_what_the_server_does(plays: list[Played], tracer: Tracer, topic: str) -> None:
    wrong = []
    for played in of(topic, plays):
        found = differences(tracer, played)
        if found:
            wrong.append("\n  ".join((str(played.case), *found)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("change", [*LEFT_OUT, *(f"swap:{pair}" for pair in SWAPPED)])
def test_a_stage_left_out_or_out_of_place_is_noticed(plays: list[Played], changed_tracer: Tracer, change: str) -> None:
    objects = (played for played in plays if not played.case.defines)
    assert any(differences(changed_tracer, played, [change]) for played in objects)


def test_the_comparison_is_green_on_the_same_process_with_nothing_left_out(
    plays: list[Played], changed_tracer: Tracer
) -> None:
    objects = [played for played in plays if not played.case.defines]
    assert not [str(played.case) for played in objects[::7] if differences(changed_tracer, played)]


def test_texts_in_yaml_are_traced_as_those_in_json(plays: list[Played], tracer: Tracer) -> None:
    """The first case of each topic; the server is asked in JSON, and YAML says the same of what can be decoded."""
    wrong = []
    for topic in TOPICS:
        played = next(one for one in of(topic, plays) if not isinstance(one.case.body, str))
        asked = request_of(played)
        for part in ("definition", "object"):
            if part in asked:
                asked[part] = yaml.dump(json.loads(asked[part]), Dumper=_Quoting, allow_unicode=True)
        wrong += [f"{played.case}: {one}" for one in difference(played.outcome, outcome_of(tracer.ask(asked)))]
    assert not wrong, "\n".join(wrong)


def test_every_stage_is_left_out_once(plays: list[Played], tracer: Tracer) -> None:
    answers = [tracer.ask(request_of(played)) for played in plays if not played.case.defines]
    stages = {stage["name"] for answer in answers if "result" in answer for stage in answer["result"]["stages"]}
    assert stages == {*LEFT_OUT, *FIXED}


def test_no_stage_can_be_left_out_unless_the_process_allows_it(plays: list[Played], tracer: Tracer) -> None:
    played = next(one for one in plays if not one.case.defines)
    assert tracer.ask(request_of(played, ["pruning"]))["error"]["kind"] == "request"


def differences(tracer: Tracer, played: Played, without: Sequence[str] = ()) -> list[str]:
    answer = tracer.ask(request_of(played, without))
    return [*difference(played.outcome, outcome_of(answer)), *told_by_stages(played, answer)]
