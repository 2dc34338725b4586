"""What definitions and their objects cost a cluster, measured as they become more, and removed again.

A single number ("fifty definitions: +70 MiB") says little: it has noise, and no direction. So a measurement is a row of
loads (1, 10, 50 definitions; or one definition with 0, 100, 1000 objects), each reached from the one before, each
looked at in the same way, and the whole row is played several times. Times and sizes are plain; memory is not: a
garbage-collected server's memory moves by tens of MiB for reasons of its own, so the rounds are kept apart, and their
spread is the noise.

Rounds on one server follow one another in the same process, which keeps what it has grown. ``measure_apart`` gives each
round a new embedded cluster where it may, so that all begin alike.

Everything made belongs to the course (``labkit.observe.load``) and is removed whatever happens, also after an error and
after Ctrl-C; what a killed run left is removed first.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from labkit.cluster import Api, Cluster, ClusterSpec, Kubectl, choose
from labkit.cluster.base import Progress, silent
from labkit.cluster.claim import COST_DEFINITIONS, COST_LIMIT, claim
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterError, CommandError
from labkit.languages import plural, translate
from labkit.observe import load, reading
from labkit.observe.load import GROUP_VERSION, Through
from labkit.observe.reading import Reading

__all__ = ["FULL", "Advance", "Cost", "Plan", "Round", "Step", "measure", "measure_apart", "refuse_elsewhere"]

OBJECT_LIMIT = 5000
LARGE = 50
"""More definitions than this, and objects, are measured on an embedded cluster only: it can be thrown away."""
KUBECTL_RUNS = 3

Advance = Callable[[float], None]
"""Told which part of the work is done, from 0.0 to 1.0; never less than before."""


@dataclass(frozen=True)
class Plan:
    """What to measure: one row of loads, *repeats* times.

    Either *definitions* has several numbers, or *objects* (all of the first definition); both must grow. Definitions
    are sent *through* "api", over one connection, or "kubectl", by one ``kubectl apply`` a step, which asks about each
    before it sends it. Raises ValueError for anything else.
    """

    definitions: tuple[int, ...] = (1, 10, 50)
    objects: tuple[int, ...] = (0,)
    repeats: int = 3
    through: Through = "api"

    def __post_init__(self) -> None:
        limits = f"1 to {COST_LIMIT} definitions and 0 to {OBJECT_LIMIT} objects"
        for numbers, least, most in ((self.definitions, 1, COST_LIMIT), (self.objects, 0, OBJECT_LIMIT)):
            if not numbers or numbers[0] < least or numbers[-1] > most or list(numbers) != sorted(set(numbers)):
                raise ValueError(f"measure {limits}, in growing numbers, not {numbers}")
        if len(self.definitions) > 1 and self.objects != (0,):
            raise ValueError("let definitions grow, or the objects of one definition, not both")
        if self.repeats < 1:
            raise ValueError(f"measure at least once, not {self.repeats} times")
        if self.through not in ("api", "kubectl"):
            raise ValueError(f'definitions are sent through "api" or "kubectl", not {self.through!r}')

    @property
    def varied(self) -> Literal["definitions", "objects"]:
        return "definitions" if self.objects == (0,) else "objects"

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of what varies."""
        return self.definitions if self.varied == "definitions" else self.objects

    @property
    def loads(self) -> tuple[tuple[int, int], ...]:
        """Definitions and objects of each step."""
        return tuple((definitions, objects) for definitions in self.definitions for objects in self.objects)

    @property
    def large(self) -> bool:
        return self.definitions[-1] > LARGE or self.objects[-1] > 0

    @property
    def command(self) -> tuple[str, ...]:
        """What kubectl is timed with: something everybody asks, or the objects that become more."""
        if self.varied == "definitions":
            return ("get", "namespaces")
        return ("get", COST_DEFINITIONS[0], "--namespace", load.NAMESPACE)

    @property
    def work(self) -> float:
        """How much there is to do, in definitions established (about 10 ms each)."""
        return self.repeats * (1.5 * self.definitions[-1] + 0.2 * self.objects[-1] + _LOOK * (len(self.loads) + 2))


_LOOK = 50.0
"""One look at the server, in the same measure."""

FULL = (Plan((1, 10, 50, 100, 200, 500)), Plan((1,), (0, 100, 1000, 3000)))
"""The whole measurement, some minutes long."""


@dataclass(frozen=True)
class Step:
    """The server with *definitions* and *objects* on it.

    Seconds are sums over the steps so far: *established_s* from the first definition of a step sent to all
    Established, *published_s* to all in discovery and in the OpenAPI document too, *stored_s* for creating objects one
    by one. *cold_s* and *warm_s* are runs of the plan's kubectl command with an empty discovery cache and with a full
    one.
    """

    definitions: int
    objects: int
    reading: Reading
    established_s: float
    published_s: float
    stored_s: float
    cold_s: tuple[float, ...]
    warm_s: tuple[float, ...]


@dataclass(frozen=True)
class Round:
    """One row of loads: the server *before*, at each step, and once everything was *removed*."""

    before: Reading
    steps: tuple[Step, ...]
    removed: Reading

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def after(self) -> Reading:
        """The server with everything on it."""
        return self.last.reading

    @property
    def memory_change_bytes(self) -> int:
        return self.after.memory_bytes - self.before.memory_bytes


@dataclass(frozen=True)
class Cost:
    """A plan and what came of it. *apart*: each round had a new cluster. *whole*: memory is that of one process with
    etcd and the controllers in it (the embedded cluster), else of the API server alone.
    """

    plan: Plan
    group_version: str
    apart: bool
    whole: bool
    rounds: tuple[Round, ...]

    @property
    def first(self) -> Round:
        """The round to quote: on one server, later ones find a server that has already grown."""
        return self.rounds[0]

    def median(self, index: int, of: Callable[[Round, Step], float]) -> float:
        """The median over the rounds of something at the step *index*."""
        return statistics.median(of(one, one.steps[index]) for one in self.rounds)


def refuse_elsewhere(plan: Plan, *, embedded: bool, spelled: str) -> None:
    """Raise ClusterError for a large plan on a cluster that is not an embedded one."""
    if plan.large and not embedded:
        raise ClusterError(
            translate(
                "more than {large} definitions, and objects, are measured on an embedded cluster only", large=LARGE
            ),
            evidence=translate(
                "{spelled} would keep the memory until its API server is started again", spelled=spelled
            ),
            next_act=translate("--cluster embedded; or measure 1 to {large} definitions", large=LARGE),
        )


def measure(
    cluster: Cluster,
    plan: Plan,
    progress: Progress = silent,
    advance: Advance = lambda _: None,
    *,
    ends: bool = False,
) -> Cost:
    """Play *plan* on *cluster*, all rounds on the one server.

    With *ends* the caller stops the cluster afterwards, and an interrupted measurement leaves the rest to that. Raises
    ClaimRefused on a foreign cluster nobody claimed, ClusterError as ``refuse_elsewhere``, WaitTimeout when the server
    does not get there, and whatever sending raises; what was made is gone then, too, or a note of the error
    (``__notes__``) says what is left.
    """
    whole = isinstance(cluster, EmbeddedCluster)
    refuse_elsewhere(plan, embedded=whole, spelled="this cluster")
    claim(cluster, yes=False)
    work = _Work(plan.work, advance)
    with Api(cluster, timeout_s=120.0) as api:
        load.remove(api, progress)
        # Read once for nothing: what a first reader makes the server build and keep is no cost of the definitions.
        reading.take(cluster, api, GROUP_VERSION)
        rounds = []
        for number in range(1, plan.repeats + 1):
            told = _numbered(progress, number, plan.repeats)
            rounds.append(_Playing(cluster, api, plan, told, work).round(ends=ends))
    return Cost(plan, GROUP_VERSION, apart=False, whole=whole, rounds=tuple(rounds))


def measure_apart(
    spec: ClusterSpec, plan: Plan, progress: Progress = silent, advance: Advance = lambda _: None, *, yes: bool = False
) -> Cost:
    """Play *plan*: on a new embedded cluster a round, where *spec* lets one be started, else on the cluster it names.

    *yes* claims a cluster of somebody else. Raises as ``measure``, and what starting a cluster raises.
    """
    rounds: list[Round] = []
    one_round = replace(plan, repeats=1)
    for number in range(plan.repeats):
        told = _numbered(progress, number + 1, plan.repeats)
        with choose.opened(spec, progress=told) as cluster:
            claim(cluster, yes)
            if not isinstance(cluster, EmbeddedCluster) or spec.path is not None:
                return measure(cluster, plan, progress, advance)
            part = _part(advance, number, plan.repeats)
            rounds += measure(cluster, one_round, told, part, ends=True).rounds
    return Cost(plan, GROUP_VERSION, apart=True, whole=True, rounds=tuple(rounds))


def _part(advance: Advance, number: int, of: int) -> Advance:
    return lambda part: advance((number + part) / of)


def _numbered(progress: Progress, number: int, repeats: int) -> Progress:
    if repeats == 1:
        return progress
    return lambda line: progress(translate("round {n} of {all}: {line}", n=number, all=repeats, line=line))


class _Work:
    """How far a measurement is, of the units of ``Plan.work``."""

    def __init__(self, total: float, advance: Advance) -> None:
        self._total, self._advance = total, advance
        self._done = 0.0

    def counting(self, each: float) -> load.Count:
        """A count that adds to what is done now, *each* unit a thing; later ones begin where it ended."""
        begun = self._done

        def count(there: int) -> None:
            self._done = max(self._done, begun + each * there)
            self._advance(min(1.0, self._done / self._total))

        return count


class _Playing:
    """One round of a plan."""

    def __init__(self, cluster: Cluster, api: Api, plan: Plan, progress: Progress, work: _Work) -> None:
        self._cluster, self._api, self._plan = cluster, api, plan
        self._progress, self._work = progress, work
        self._established_s = self._published_s = self._stored_s = 0.0

    def round(self, *, ends: bool) -> Round:
        load.settled(self._api, self._progress)
        before = self._read(translate("reading the server before"))
        steps: list[Step] = []
        definitions = objects = 0
        with load.removed(self._api, self._progress, counting=lambda: self._work.counting(0.5), leave=ends):
            for wanted in self._plan.loads:
                self._define(range(definitions + 1, wanted[0] + 1))
                self._store(range(objects + 1, wanted[1] + 1))
                definitions, objects = wanted
                steps.append(self._look(definitions, objects))
        return Round(before, tuple(steps), self._read(translate("reading the server after the removal")))

    def _define(self, numbers: range) -> None:
        if not numbers:
            return
        manifests = [load.definition(number) for number in numbers]
        count = self._work.counting(1.0)
        through, begun = self._plan.through, time.monotonic()
        self._established_s += load.establish(
            self._cluster, self._api, manifests, self._progress, through=through, count=count
        )
        load.published(self._api, manifests, self._progress)
        self._published_s += time.monotonic() - begun

    def _store(self, numbers: range) -> None:
        if numbers:
            self._progress(plural("creating {n} object", "creating {n} objects", len(numbers)))
            self._stored_s += load.store(self._api, numbers, count=self._work.counting(0.2))

    def _look(self, definitions: int, objects: int) -> Step:
        there = [plural("{n} definition", "{n} definitions", definitions)]
        there += [plural("{n} object", "{n} objects", objects)] if objects else []
        seen = self._read(translate("reading the server with {what}", what=", ".join(there)))
        self._progress(translate("timing {command}", command=" ".join(("kubectl", *self._plan.command))))
        cold, warm = _kubectl_times(self._cluster, self._plan.command)
        return Step(definitions, objects, seen, self._established_s, self._published_s, self._stored_s, cold, warm)

    def _read(self, doing: str) -> Reading:
        self._progress(doing)
        seen = reading.take(self._cluster, self._api, GROUP_VERSION)
        self._work.counting(_LOOK)(1)
        return seen


def _kubectl_times(cluster: Cluster, command: Sequence[str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Seconds of the command with an empty discovery cache and with the one that this has filled, KUBECTL_RUNS times.

    The cache is a folder of its own: what the person's kubectl remembers is left alone.
    """
    cold: list[float] = []
    warm: list[float] = []
    with tempfile.TemporaryDirectory(prefix="labkit-") as folder:
        for number in range(KUBECTL_RUNS):
            for seconds in (cold, warm):
                result = Kubectl(cluster).run([*command, "--cache-dir", str(Path(folder) / str(number))])
                if not result.ok:
                    raise CommandError(translate("kubectl could not be timed"), evidence=result.text.strip()[:300])
                seconds.append(result.seconds)
    return tuple(cold), tuple(warm)
