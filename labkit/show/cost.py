"""What definitions and objects cost: what each more of them takes, and how noisy the memory is.

A table says it first: a row a measure, a column a load, and at the end the growth: what one more takes by the fitted
line, and how well that line fits. The rounds' medians stand in it; a second table shows the rounds themselves. Frames
and plots are made from the same list of measures.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from labkit.languages import numeral, plural, translate, worded
from labkit.observe.cost import Cost, Plan, Round, Step
from labkit.observe.growth import Line, fit
from labkit.observe.reading import Reading
from labkit.show.document import Cell, Document, Note, Table
from labkit.show.units import Unit, amount, listed, mebibytes, seconds, significant

__all__ = [
    "NOISE_COLUMNS",
    "Measure",
    "added",
    "columns",
    "document",
    "growth",
    "headline",
    "kubectl",
    "loads",
    "measures",
    "noise",
    "noise_rows",
    "points",
    "rows",
    "title",
]

NOTHING = "–"


@dataclass(frozen=True)
class Measure:
    """One thing that was measured: its *key* in files, its *name* for people, the *unit* of what ``at`` returns.

    *of* a reading, or else *taken* of a step alone. What *drifts* is never given back whole, so that in each round only
    the change since its first load counts; what *steps* rises with the first of its group and then stays, and no line
    goes through that.
    """

    key: str
    name: str
    unit: Unit
    of: Callable[[Reading], float | None] | None = None
    taken: Callable[[Step], float] | None = None
    drifts: bool = False
    steps: bool = False

    def at(self, reading: Reading, step: Step | None) -> float | None:
        """Its number in a reading, or in the step of that reading; None where there is none."""
        if self.of is not None:
            return self.of(reading)
        return self.taken(step) if self.taken is not None and step is not None else None


def _mib(value: int | None) -> float | None:
    return None if value is None else value / 2**20


def _kib(value: int | None) -> float | None:
    return None if value is None else value / 2**10


_DISCOVERY = (
    Measure("types", worded("types (api-resources)"), "", lambda r: r.types),
    Measure("groups", worded("groups"), "", lambda r: r.groups, steps=True),
    Measure("discovery", "/apis", "bytes", lambda r: r.discovery_bytes, steps=True),
    Measure("aggregated", worded("/apis, aggregated"), "bytes", lambda r: r.aggregated_bytes),
    Measure("documents", worded("OpenAPI v3 documents"), "", lambda r: r.group_versions, steps=True),
    Measure("openapi", worded("OpenAPI v3 of the group"), "bytes", lambda r: r.openapi_bytes),
    Measure("established", worded("all established in"), "s", taken=lambda step: step.established_s),
    Measure("published", worded("all published in"), "s", taken=lambda step: step.published_s),
)
_STORED = (Measure("stored", worded("all objects created in"), "s", taken=lambda step: step.stored_s),)
_ALWAYS = (
    Measure("resident", worded("memory of the process"), "MiB", lambda r: _mib(r.memory_bytes), drifts=True),
    Measure("in_use", worded("memory in use"), "MiB", lambda r: _mib(r.heap_bytes), drifts=True),
    Measure("etcd_stored", worded("etcd, keys and values"), "KiB", lambda r: _kib(r.stored_bytes)),
    Measure("etcd_file", worded("etcd, file"), "KiB", lambda r: _kib(r.database_bytes), drifts=True),
)


def measures(plan: Plan) -> tuple[Measure, ...]:
    """What a plan's table has, in order."""
    asked = kubectl(plan)
    timed = (
        Measure(
            "cold",
            translate("{command}, cold", command=asked),
            "ms",
            taken=lambda step: statistics.median(step.cold_s) * 1000,
        ),
        Measure(
            "warm",
            translate("{command}, warm", command=asked),
            "ms",
            taken=lambda step: statistics.median(step.warm_s) * 1000,
        ),
    )
    return (*(_DISCOVERY if plan.varied == "definitions" else _STORED), *timed, *_ALWAYS)


def kubectl(plan: Plan) -> str:
    """The command that was timed, short: "kubectl get namespaces"."""
    return " ".join(("kubectl", *plan.command[:2])).partition(".")[0]


def points(value: Cost, measure: Measure) -> tuple[list[int], list[float]]:
    """How many there were, and the number of *measure* then: each step of each round, and none at all before."""
    found = [
        (count, number)
        for one in value.rounds
        for count, reading, step in _moments(value, one)
        if (number := measure.at(reading, step)) is not None
    ]
    return [count for count, _ in found], [number for _, number in found]


def added(value: Cost, measure: Measure) -> tuple[list[int], list[float]]:
    """The points of *measure* as changes from each round's first: rounds that begin with more can be compared."""
    counts: list[int] = []
    numbers: list[float] = []
    for one in value.rounds:
        there, seen = points(_only(value, one), measure)
        counts += there
        numbers += [number - seen[0] for number in seen]
    return counts, numbers


def growth(value: Cost, measure: Measure) -> Line | None:
    """The line through a measure's points in all rounds (what was added, if it drifts); None where there is none."""
    return None if measure.steps else fit(*(added if measure.drifts else points)(value, measure))


def columns(value: Cost) -> tuple[str, ...]:
    """The heads of ``rows``."""
    counts = [str(count) for count, *_ in _moments(value, value.first)]
    return (translate("measure"), *counts, translate("each more"), translate("fit"))


def rows(value: Cost) -> list[tuple[str, ...]]:
    """A row a measure: its name, the median of the rounds at each load, what each more takes, how well that fits."""
    return [_row(value, measure) for measure in measures(value.plan)]


def _row(value: Cost, measure: Measure) -> tuple[str, ...]:
    exact = measure.unit == "bytes"
    name = translate(measure.name)
    if exact:
        name = translate("{measure}, bytes", measure=name)
    absolute, change = _medians(*points(value, measure)), _medians(*added(value, measure))
    cells = []
    for place, (count, *_) in enumerate(_moments(value, value.first)):
        if count not in absolute:
            cells.append(NOTHING)
        elif measure.drifts and place:
            cells.append(amount(change[count], measure.unit, sign=True))
        else:
            cells.append(amount(absolute[count], "" if exact else measure.unit))
    line = growth(value, measure)
    if line is None:
        return (name, *cells, NOTHING, NOTHING)
    return (name, *cells, _each(line, measure.unit), f"R² {numeral(line.quality, '.3f')}")


def _medians(counts: list[int], numbers: list[float]) -> dict[int, float]:
    """The median of the numbers at each count."""
    pairs = list(zip(counts, numbers, strict=True))
    return {count: statistics.median(number for there, number in pairs if there == count) for count in counts}


def _each(line: Line, unit: Unit) -> str:
    """What one more takes, in a unit small enough, and always the same."""
    times, shown = _SMALLER.get(unit, (1, unit))
    return f"{significant(line.slope * times, sign=True)} {shown}".rstrip()


_SMALLER: dict[Unit, tuple[int, Unit]] = {"s": (1000, "ms"), "MiB": (1024, "KiB")}

NOISE_TITLE = worded("memory, round by round: the noise")
NOISE_COLUMNS = (
    worded("round"),
    worded("memory before"),
    worded("with all of it"),
    worded("change"),
    worded("removed again"),
    worded("change in use"),
    worded("all there in"),
)


def noise_rows(value: Cost) -> list[tuple[str, ...]]:
    """One row a round, under NOISE_COLUMNS: the server's memory, and the seconds until all was there."""
    return [(str(index), *_noise(one, value.plan)) for index, one in enumerate(value.rounds, start=1)]


def _noise(one: Round, plan: Plan) -> tuple[str, ...]:
    before, after = one.before.heap_bytes, one.after.heap_bytes
    return (
        mebibytes(one.before.memory_bytes),
        mebibytes(one.after.memory_bytes),
        mebibytes(one.memory_change_bytes, sign=True),
        mebibytes(one.removed.memory_bytes),
        NOTHING if before is None or after is None else mebibytes(after - before, sign=True),
        seconds(one.last.established_s if plan.varied == "definitions" else one.last.stored_s),
    )


def title(plan: Plan) -> str:
    """ "1, 10 and 50 definitions", "1 definition with 0, 100 and 1000 objects"."""
    definitions, objects = (listed([str(one) for one in some]) for some in (plan.definitions, plan.objects))
    told = {"definitions": definitions, "objects": objects}
    if plan.varied == "definitions":
        one, many = translate("{definitions} definition", **told), translate("{definitions} definitions", **told)
    else:
        one = translate("{definitions} definition with {objects} objects", **told)
        many = translate("{definitions} definitions with {objects} objects", **told)
    return one if plan.definitions == (1,) else many


def headline(value: Cost) -> str:
    """What was measured, how, and how often."""
    rounds = plural("{n} round", "{n} rounds", len(value.rounds))
    where = translate("each on a new cluster") if value.apart else translate("on one server")
    through = translate("the API") if value.plan.through == "api" else "kubectl apply"
    told = {"what": title(value.plan), "through": through, "rounds": rounds, "where": where}
    return translate("{what}, sent through {through}, {rounds} {where}", **told)


def loads(value: Cost) -> Document:
    """What was seen at each load, and what each more takes."""
    measured = tuple(tuple(Cell(text) for text in row) for row in rows(value))
    said = translate("medians of the rounds (with a sign: what was added), and a line fitted to all of them")
    return Document(headline(value), (Table(columns(value), measured, caption=said, numbers=True),))


def noise(value: Cost) -> Document:
    """The memory round by round."""
    return Document(translate(NOISE_TITLE), (_noise_table(value), _whose_memory(value)))


def _noise_table(value: Cost, caption: str = "") -> Table:
    measured = tuple(tuple(Cell(text) for text in row) for row in noise_rows(value))
    return Table(tuple(map(translate, NOISE_COLUMNS)), measured, caption=caption, numbers=True)


def _whose_memory(value: Cost) -> Note:
    whose = translate("the API server's process")
    if value.whole:
        whose = translate("API server, etcd and controllers in one process")
    return Note(translate("Memory is that of {whose}; in use is what its last garbage collection found.", whose=whose))


def document(value: Cost) -> Document:
    """All of it, for one look; the noise only of several rounds."""
    again = (_noise_table(value, translate(NOISE_TITLE)),) if len(value.rounds) > 1 else ()
    cold = translate("Cold is kubectl without its discovery cache, warm with it. Everything made is removed again.")
    return Document(headline(value), (*loads(value).parts, *again, _whose_memory(value), Note(cold)))


def _only(value: Cost, one: Round) -> Cost:
    return Cost(value.plan, value.group_version, value.apart, value.whole, (one,))


def _moments(value: Cost, one: Round) -> list[tuple[int, Reading, Step | None]]:
    """What a round saw, by how many there were: of definitions also none, before the first."""
    if value.plan.varied == "objects":
        return [(step.objects, step.reading, step) for step in one.steps]
    return [(0, one.before, None), *((step.definitions, step.reading, step) for step in one.steps)]
