"""Traces: how long one takes, beside what a person would run instead, and what each of them reports.

A trace asks a program that stays, so two of its times count: the first answer after the start, and any later one. What
it is compared with are processes, a run each: kubectl with a dry run on a cluster, which is the real thing and needs
one, and kubectl-validate, which needs none. So that the comparison is fair, the same trace is timed as processes too:
the command, and the program that it asks. All take turns on the same object, and a ratio of processes is of one turn.

The preview is the command on a cluster; its memory, and that of the program it asks, is looked at every 20 ms.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil
import yaml

from labkit.cluster import Api, Cluster, tools
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.kubectl import LAST_APPLIED, clean_environment, environment
from labkit.errors import CommandError, LabkitError
from labkit.machine.bench import celcost, peer, reports
from labkit.machine.checkout import Checkout
from labkit.show.bench import Figure
from labkit.trace import Engine, sources
from labkit.trace.sources import Source
from labkit.waiting import Seen, wait_for

__all__ = ["QUICK", "Measured", "Program", "Runs", "compared", "measure", "peer_if_there", "watched"]

RUNNING_MS, FIRST_S, PREVIEW_S = 5.0, 1.0, 30.0
GROWTH = 1.25
"""What the memory of a preview may grow by when there are five times as many objects: less than they take."""

OBJECTS = ("invalide", "principal")
NEXT = Path("crd", "05-colis-v1.yaml")
_PREVIEW_LIMIT_S = 600.0
_LOOK_EVERY_S = 0.02
_WRITERS = 4
_LABKIT = (sys.executable, "-c", "from labkit.cli import main; main()")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Runs:
    """How often each is measured, and on how many objects a preview is: on *few* first, then on *many*."""

    traces: int = 200
    starts: int = 7
    processes: int = 15
    few: int = 2_000
    many: int = 10_000


QUICK = Runs(traces=20, starts=2, processes=2, few=200, many=1_000)


@dataclass(frozen=True)
class Measured:
    """The figures, and the table of what each tool reports, as Markdown."""

    figures: list[Figure] = field(default_factory=list)
    table: str = ""


def measure(cluster: EmbeddedCluster, checkout: Checkout, folder: Path, tell: Tell, *, runs: Runs) -> Measured:
    """Everything on an empty *cluster*, which is changed; *folder* is for files. *tell* gets what is being done.

    A peer that cannot be had is told, and its figures are missing. Raises LabkitError of every kind.
    """
    other = peer_if_there(checkout, tell)
    tell("traces")
    root = checkout.root
    found = reports.cases(root)
    reports.define(cluster, root, found)
    figures = [_first(root, runs.starts), *_running(root, runs.traces)]
    tell("traces beside kubectl and kubectl-validate")
    running = {figure.name: figure.value for figure in figures}
    for name in OBJECTS:
        beside = _beside(cluster, root, folder, other, name)
        figures += compared(name, beside, running[_once_running(name)], runs.processes)
    tell("what each of them reports")
    table = reports.table(_reported(cluster, root, folder, other, found))
    tell("costs of rules")
    figures += celcost.figures(checkout, runs=runs.starts)
    figures += _previews(cluster, root, folder, tell, runs)
    return Measured(figures, table)


def peer_if_there(checkout: Checkout, tell: Tell) -> Path | None:
    """kubectl-validate, or None when it cannot be had: *tell* is told why."""
    try:
        return peer.built(checkout, tell)
    except LabkitError as error:
        tell(f"{peer.NAME} is not measured: {error}")
        return None


# -- one trace --------------------------------------------------------------------------------------------------------


def _texts(root: Path, name: str) -> tuple[Source, Source]:
    return sources.read(root / reports.DEFINITION), sources.read(_object(root, name))


def _object(root: Path, name: str) -> Path:
    return root / "crd" / "objects" / f"{name}.yaml"


def _once_running(name: str) -> str:
    return f"a trace of {name}.yaml, once running"


def _first(root: Path, count: int) -> Figure:
    """From the start of the program."""
    definition, given = _texts(root, OBJECTS[0])
    samples = []
    for _ in range(count):
        with Engine() as engine:
            samples.append(_seconds(lambda: engine.trace(definition, given)))
    return Figure.of(f"the first trace of a new program ({OBJECTS[0]}.yaml)", samples, "s", FIRST_S)


def _running(root: Path, count: int) -> Iterator[Figure]:
    """Answers as Python gets them: asked, answered, and turned into values."""
    texts = {name: _texts(root, name) for name in OBJECTS}
    samples: dict[str, list[float]] = {name: [] for name in OBJECTS}
    with Engine() as engine:
        for turn in range(-count // 10, count):
            for name, (definition, given) in texts.items():
                seconds = _seconds(lambda: engine.trace(definition, given))  # noqa: B023
                if turn >= 0:
                    samples[name].append(1000 * seconds)
    for name, found in samples.items():
        yield Figure.of(_once_running(name), found, "ms", RUNNING_MS)


def _seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


# -- beside others ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """One way to ask about an object, as a process."""

    argv: Sequence[str]
    env: Mapping[str, str]
    stdin: str = ""
    accepted: tuple[int, ...] = (0, 1)

    def run(self) -> float:
        """Seconds. Raises CommandError when it ends otherwise than by an answer: its time says nothing then."""
        begun = time.perf_counter()
        done = subprocess.run(
            self.argv, env=dict(self.env), input=self.stdin, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - begun
        if done.returncode not in self.accepted:
            raise CommandError(f"{self.argv[0]} ended with {done.returncode}", evidence=done.stderr.strip()[-300:])
        return seconds


KUBECTL, PEER, COMMAND, ENGINE = (
    "kubectl apply --dry-run=server",
    f"{peer.NAME} --local-crds",
    "labkit trace",
    "controlplane trace --once",
)


def _beside(cluster: Cluster, root: Path, folder: Path, other: Path | None, name: str) -> dict[str, Program]:
    file, (definition, given) = str(_object(root, name)), _texts(root, name)
    code = (int(name != "principal"),)
    question = {"id": 0, "do": "trace", "definition": definition.text, "object": given.text}
    clean = clean_environment()
    found = {
        KUBECTL: Program(
            [str(tools.find_kubectl()), "apply", "--dry-run=server", "-f", file], environment(cluster), accepted=code
        ),
        COMMAND: Program([*_LABKIT, "trace", "--crd", definition.name, file], clean, accepted=code),
        ENGINE: Program(
            [str(tools.find_controlplane()), "trace", "--once"], clean, json.dumps(question) + "\n", accepted=(0,)
        ),
    }
    if other is not None:
        argv = peer.argv(other, Path(file), folder, definition.text)
        found[PEER] = Program(argv, peer.environ(folder), accepted=(1,))  # it refuses both, one for an unknown function
    return found


def compared(name: str, beside: Mapping[str, Program], running_ms: float, count: int) -> Iterator[Figure]:
    """Figures of the programs *beside* each other, in *count* turns; *running_ms* is a trace's time once running."""
    samples: dict[str, list[float]] = {what: [] for what in beside}
    for turn in range(-1, count):  # the first fills caches
        for what, program in beside.items():
            seconds = program.run()
            if turn >= 0:
                samples[what].append(1000 * seconds)
    for what, found in samples.items():
        yield Figure.of(f"{name}.yaml as a process: {what}", found, "ms")
    for what in (KUBECTL, PEER):
        if what in samples:
            yield Figure(f"… {what} against a trace once running", median(samples[what]) / running_ms, "×")
            for ours in (COMMAND, ENGINE):
                ratios = [theirs / own for theirs, own in zip(samples[what], samples[ours], strict=True)]
                yield Figure.of(f"… {what} against {ours}", ratios, "×")


def _reported(
    cluster: Cluster, root: Path, folder: Path, other: Path | None, found: Sequence[reports.Case]
) -> dict[str, tuple[reports.Report | None, ...]]:
    definition = sources.read(root / reports.DEFINITION).text
    rows: dict[str, tuple[reports.Report | None, ...]] = {}
    with Engine() as engine:
        for case in found:
            ours = reports.by_trace(engine, definition, case)
            theirs = None if other is None else reports.by_peer(other, case, folder, root)
            rows[case.name] = (reports.by_kubectl(cluster, case, ours), theirs, ours)
    return rows


# -- previews ---------------------------------------------------------------------------------------------------------


def _previews(cluster: EmbeddedCluster, root: Path, folder: Path, tell: Tell, runs: Runs) -> Iterator[Figure]:
    """Of a new version, 05 for 04, on few objects, then on many."""
    where = f"embedded:{cluster.state_dir}"
    argv = [*_LABKIT, "preview", "--crd", str(root / NEXT), "--from-cluster", "--cluster", where]
    memory: list[tuple[float, float]] = []
    with Api(cluster) as api:
        there = already = len(api.list(_COLLECTION))
        for count in (runs.few, runs.many):
            tell(f"storing objects, up to {count:,}")
            _store(api, root, range(there - already, count - already))
            there = count
            tell(f"a preview of {count:,}")
            seconds, said, peaks = watched(argv, folder / "preview.txt")
            if f"{count:,} objects" not in said:
                raise CommandError(f"the preview was not of {count:,} objects", evidence=said.strip()[-300:])
            memory.append(peaks)
            yield Figure(f"labkit preview --from-cluster, {count:,} objects", seconds, "s",
                         PREVIEW_S if count == runs.many else None)  # fmt: skip
    few, many = memory
    for side, what in enumerate(("labkit", "the program it asks")):
        yield Figure(f"… resident memory of {what}, most, {runs.few:,} objects", few[side], "MB")
        yield Figure(f"… resident memory of {what}, most, {runs.many:,} objects", many[side], "MB")
        yield Figure(f"… resident memory of {what}, {runs.many:,} objects against {runs.few:,}",
                     many[side] / few[side], "×", GROWTH)  # fmt: skip


_COLLECTION = f"/apis/cours.example.com/v1alpha1/namespaces/{reports.NAMESPACE}/colis"


def _store(api: Api, root: Path, numbers: Iterable[int]) -> None:
    """Create ``principal`` under other names, with the annotation that kubectl apply leaves. Raises ApiError."""
    principal = yaml.safe_load(_object(root, "principal").read_text(encoding="utf-8"))
    annotations = {LAST_APPLIED: json.dumps(principal)}

    def write(number: int) -> None:
        metadata = {**principal["metadata"], "name": f"colis-{number:05}", "annotations": annotations}
        api.post(_COLLECTION, {**principal, "metadata": metadata})

    with ThreadPoolExecutor(_WRITERS) as pool:
        deque(pool.map(write, numbers), maxlen=0)


def watched(argv: Sequence[str], output: Path) -> tuple[float, str, tuple[float, float]]:
    """Seconds, what it printed, and the most memory in MB: of the process, and of its children together.

    Raises CommandError when it ended otherwise than by an answer.
    """
    most = [0.0, 0.0]
    begun = time.perf_counter()
    with output.open("wb") as out, subprocess.Popen(argv, stdout=out, stderr=out) as process:

        def look() -> Seen[None]:
            with contextlib.suppress(psutil.NoSuchProcess):
                watched = psutil.Process(process.pid)
                most[0] = max(most[0], watched.memory_info().rss / 1e6)
                most[1] = max(most[1], sum(child.memory_info().rss for child in watched.children()) / 1e6)
            return Seen(process.poll() is not None, "it runs")

        try:
            wait_for("the preview", look, limit_s=_PREVIEW_LIMIT_S, longest_pause_s=_LOOK_EVERY_S)
        finally:
            process.terminate()
    seconds = time.perf_counter() - begun
    said = output.read_text(encoding="utf-8", errors="replace")
    if process.returncode not in (0, 1):
        raise CommandError(f"labkit preview ended with {process.returncode}", evidence=said.strip()[-300:])
    return seconds, said, (most[0], most[1])
