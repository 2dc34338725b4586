"""``make bench``: measure everything of the kit on this machine, in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import psutil

from labkit.cluster import tools
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.embedded import attach
from labkit.course import notebook
from labkit.errors import LabkitError
from labkit.machine.bench import chapter, grading, objects, pages, start, trace
from labkit.machine.bench.trace import Measured
from labkit.machine.checkout import Checkout
from labkit.observe import cost
from labkit.show.bench import Figure, replace_section, table

__all__ = ["load", "main", "publish"]

SETUP_RUNS = 5
DEFINITIONS = 50
BUSY = 0.7


def publish(checkout: Checkout, name: str, figures: Sequence[Figure], load: float, also: str = "") -> None:
    """Write bench-results/NAME.json, and the section NAME of docs/bench.md; print the table, and *also* below it.

    *load* is what ``load`` said before the first measurement.
    """
    results = checkout.root / "bench-results" / f"{name}.json"
    results.parent.mkdir(exist_ok=True)
    machine = _machine(load)
    content = {"machine": machine, "figures": [{**asdict(figure), "within": figure.within} for figure in figures]}
    results.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = checkout.root / "docs" / "bench.md"
    text = "\n".join(filter(None, (f"{machine}:\n", table(figures), also)))
    page.write_text(replace_section(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    print(text)


def load() -> float:
    """How many processes wanted to run in the last minute: other work on the machine, while nothing is measured yet."""
    return os.getloadavg()[0]


def _machine(load: float) -> str:
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{time.strftime('%Y-%m-%d')}, {psutil.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}, Kubernetes {KUBERNETES_VERSION}"
        + (f"; other work was running (load {load:.1f})" if load >= BUSY else "")
    )


def _kit(checkout: Checkout, folder: Path, *, quick: bool) -> Measured:
    root = checkout.root
    program = tools.find_controlplane()
    notebooks = notebook.load_all(root / "notebooks")
    figures = [_set_up(checkout)]
    _tell("typed objects")
    figures += objects.figures(turns=2 if quick else objects.TURNS)
    _tell("ready times and memory")
    figures += start.figures(program, folder, runs=2 if quick else start.RUNS)
    with start.serving(program, folder / "chapter", throw_away=True) as started:
        cluster = attach(started.state_dir)
        _tell("the chapter, whole")
        figures.append(Figure("labkit play, everything", chapter.play_seconds(started.state_dir, root), "s"))
        figures.append(Figure("resident memory after the chapter", start.memory_mb(started.pid), "MB"))
        _tell("the chapter against a shell")
        figures += chapter.figures(chapter.compare(cluster, notebooks, root, runs=1 if quick else chapter.COMPARE_RUNS))
        _tell("beginnings")
        figures += chapter.begin_figures(cluster, notebooks, root)
        _tell(f"{DEFINITIONS} definitions")
        figures += [
            _definitions(through, cost.measure(cluster, cost.Plan((DEFINITIONS,), repeats=1, through=through)))
            for through in ("kubectl", "api")
        ]
    return Measured(figures)


def _trace(checkout: Checkout, folder: Path, *, quick: bool) -> Measured:
    with start.serving(tools.find_controlplane(), folder / "traces", throw_away=True) as started:
        return trace.measure(
            attach(started.state_dir), checkout, folder, _tell, runs=trace.QUICK if quick else trace.Runs()
        )


def _grading(checkout: Checkout, folder: Path, *, quick: bool) -> Measured:
    return Measured(grading.figures(checkout.root, folder, _tell, sizes=grading.QUICK if quick else grading.Sizes()))


def _pages(checkout: Checkout, folder: Path, *, quick: bool) -> Measured:
    return Measured(pages.figures(checkout, folder, _tell, runs=pages.QUICK if quick else pages.Runs()))


PARTS = {"kit": _kit, "trace": _trace, "grading": _grading, "pages": _pages}
"""Each is a section of docs/bench.md."""


def _definitions(through: str, measured: cost.Cost) -> Figure:
    how = "kubectl apply" if through == "kubectl" else "the API"
    return Figure(f"{DEFINITIONS} definitions established, through {how}", measured.first.last.established_s, "s")


def _set_up(checkout: Checkout) -> Figure:
    """A set-up that has nothing to do."""
    python = shutil.which("python3") or sys.executable
    samples = []
    for _ in range(SETUP_RUNS):
        begun = time.perf_counter()
        subprocess.run([python, "-m", "labkit.machine.setup"], cwd=checkout.root, capture_output=True, check=True)
        samples.append(time.perf_counter() - begun)
    return Figure.of("make setup with nothing to do", samples, "s", 0.5)


def _tell(what: str) -> None:
    print(f"bench: {what} …", file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when every figure is within its budget, 1 when one is over or could not be measured.

    A figure of the peer that is missing, since the peer could not be had, is said and is no failure.
    """
    parser = argparse.ArgumentParser(prog="python -m labkit.machine.bench")
    parser.add_argument("--quick", action="store_true", help="fewer runs, for trying the measurements themselves")
    parser.add_argument("--only", choices=PARTS, help="measure this part alone; the others' figures stay as they are")
    options = parser.parse_args(argv)
    over: list[str] = []
    try:
        checkout = Checkout.here()
        for part in [options.only] if options.only else PARTS:
            before = load()
            with tempfile.TemporaryDirectory(prefix="labkit-bench-") as folder:
                measured = PARTS[part](checkout, Path(folder), quick=options.quick)
            publish(checkout, part, measured.figures, before, measured.table)
            over += [figure.name for figure in measured.figures if not figure.within]
    except (LabkitError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if over:
        print(f"over budget: {', '.join(over)}", file=sys.stderr)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
