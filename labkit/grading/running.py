"""A submission's notebooks, run with nbval in kernels behind walls, on the submission's own cluster.

What comes of it is for people: the notebook as it ran, and which cells did. No mark is made of it. So nothing a student
wrote may end more than its own notebook: one pytest process, of its own, runs all notebooks of a submission, each in a
kernel of its own; whatever happens to that process, what it had written down by then is what came of it, and the rest
was not run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import labkit
from labkit.cluster import process as control_plane
from labkit.cluster import system
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import sanitize
from labkit.grading.graft import graft, write_edition
from labkit.grading.values import Answer, CellRun, Note
from labkit.grading.walls import Box, Walls
from labkit.languages import numeral, translate, worded

__all__ = ["LIMITS", "ExerciseRun", "Limits", "Running"]

_NURSERY = ("-m", "labkit.grading.nursery")


@dataclass(frozen=True)
class Limits:
    """Seconds of a cell, of all notebooks of a submission, and of a kernel's start; bytes that a cell may send."""

    cell_s: float = 60.0
    run_s: float = 300.0
    start_s: float = 60.0
    output: int = 1_000_000


LIMITS = Limits()


@dataclass(frozen=True)
class ExerciseRun:
    """What came of one notebook; *notebook* is in nbformat's form, with this run's outputs as far as they are safe."""

    cells: tuple[CellRun, ...]
    notebook: Mapping[str, Any] | None
    notes: tuple[Note, ...] = ()


class Running:
    """Runs one submission after another; the students' files that all of them see are written once. Close it."""

    def __init__(
        self,
        root: Path,
        sources: Mapping[str, Mapping[str, Any]],
        walls: Walls,
        *,
        lang: str = "en",
        limits: Limits = LIMITS,
    ) -> None:
        self._sources = sources
        self._walls = walls
        self._limits = limits
        self._stack = ExitStack()
        made = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-notebooks-"))
        self._folder = Path(made).resolve()
        if walls.bubblewrap is None:
            self._folder.chmod(0o711)
        self._edition = self._folder / "course"
        write_edition(root, self._edition, lang)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stack.close()

    def run(self, answers: Iterable[Answer], cluster: EmbeddedCluster) -> dict[str, ExerciseRun]:
        """Run what is not empty on *cluster*, which is theirs. By the exercise's id, in the order of *answers*.

        Never raises for what a student's program does. Raises OSError for what this machine does not let us do.
        """
        grafted = {one.exercise_id: graft(self._sources[one.exercise_id], one) for one in answers if not one.empty}
        if not grafted:
            return {}
        with tempfile.TemporaryDirectory(prefix="run-", dir=self._folder) as name:
            place = _Place(Path(name), self._edition, self._walls)
            notes = self._play(place, grafted, cluster)
            return {key: self._came_of(place, key, notebook, notes) for key, notebook in grafted.items()}

    def _play(self, place: _Place, grafted: Mapping[str, Any], cluster: EmbeddedCluster) -> list[Note]:
        """Run them; notes say what concerns them all."""
        place.prepare(cluster)
        files = []
        for key, notebook in grafted.items():
            files.append(place.notebooks / f"{key}.ipynb")
            files[-1].write_text(json.dumps(notebook), encoding="utf-8")
        log = place.folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self._argv(place, files),
                cwd=place.folder,
                env=place.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                **system.apart(),
            )
        notes = []
        walls, ready = self._walls, cluster.ready
        with walls.watch(process, spare=True) as told, walls.watch_cluster(ready.pid, ready.state_dir) as cluster_told:
            try:
                status = process.wait(self._limits.run_s)
                if status not in (0, 1):
                    words = system.describe_exit(status)
                    notes.append(
                        Note(
                            "run-died",
                            translate("the notebooks' run ended early: {words}{log}", words=words, log=_last(log)),
                        )
                    )
            except subprocess.TimeoutExpired:
                notes.append(
                    Note(
                        "run-limit",
                        translate(
                            "the notebooks ran for more than {run_s} s together", run_s=numeral(self._limits.run_s, "g")
                        ),
                    )
                )
            finally:
                self._walls.end(process)
        notes += [Note("memory", line) for line in dict.fromkeys(told)]
        notes += [Note("cluster-gone", line) for line in cluster_told]
        if cluster.gone() is not None:
            notes.append(Note("cluster-gone", translate("the submission's cluster ended while its notebooks ran")))
        return notes

    def _argv(self, place: _Place, files: Iterable[Path]) -> list[str]:
        limits = self._limits
        argv = [sys.executable, "-P", "-s", "-m", "pytest", "-q", "--color=no", "--tb=no", "-p", "no:cacheprovider"]
        argv += ["-c", str(place.settings), "--rootdir", str(place.folder)]
        for plugin in ("labkit.grading.lean", "nbval.plugin", "labkit.grading.plugin"):
            argv += ["-p", plugin]
        argv += ["--nbval", "--nbval-current-env"]
        argv += [f"--nbval-sanitize-with={sanitize.CONFIG}", f"--nbval-cell-timeout={limits.cell_s}"]
        argv += [f"--nbval-kernel-startup-timeout={limits.start_s}"]
        argv += [f"--labkit-record={place.record}", f"--labkit-nursery={place.nursery}"]
        argv += [f"--labkit-output-limit={limits.output}"]
        return [*argv, *map(str, files)]

    def _came_of(self, place: _Place, key: str, notebook: dict[str, Any], notes: list[Note]) -> ExerciseRun:
        try:
            record = json.loads((place.record / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            record = {"cells": [], "outputs": {}}
        cells = [CellRun(**one) for one in record["cells"]]
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for cell in code[len(cells) :]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", cell["id"])
            cells.append(CellRun(name, "not-run", worded("the run ended before this cell")))
        for count, cell in enumerate(code, 1):
            outputs = record["outputs"].get(cell["id"])
            cell["execution_count"] = count if outputs is not None else None
            cell["outputs"] = json.loads(json.dumps(outputs or []).replace(str(place.folder), "TMP"))
        lost = any(one.status in ("died", "not-run") for one in cells)
        return ExerciseRun(tuple(cells), notebook, tuple(one for one in notes if lost or one.code == "cluster-gone"))


class _Place:
    """The folder of one run: what the kernels see of it, and what only the run's own process does."""

    def __init__(self, folder: Path, edition: Path, walls: Walls) -> None:
        self.folder = folder
        self.notebooks = folder / "notebooks"
        self.record = folder / "record"
        self.settings = folder / "pytest.ini"
        self.nursery = folder / "nursery.json"
        self._cluster = folder / "cluster"
        self._home = folder / "home"
        self._course = edition
        self._walls = walls

    def prepare(self, cluster: EmbeddedCluster) -> None:
        if self._walls.bubblewrap is None:  # what is written there stays there, so each run has its own
            self.folder.chmod(0o711)
            self._course = Path(shutil.copytree(self._course, self.folder / "course"))
        cache = self._cluster / "kubectl-cache"
        for made in (self.notebooks, self.record, cache, self._home):
            made.mkdir(parents=True)
        self.settings.write_text("[pytest]\n", encoding="utf-8")
        control_plane.lend(cluster.ready, self._cluster)
        answers = self._course / "notebooks" / "answers"
        self._walls.give(self._cluster, self._home)
        if self._walls.bubblewrap is None:
            self._walls.give(answers)
        home = self._home if self._walls.bubblewrap is None else Path("/tmp")  # noqa: S108  (its own)
        box = Box(
            cwd=self._course / "notebooks",
            home=self._home,
            shown=(self._course, self._cluster),
            writable=(answers, cache),
            env=(
                ("LABKIT_CLUSTER", f"embedded:{self._cluster}"),
                ("LABKIT_CLAIM", "1"),
                ("LABKIT_LANG", ""),
                ("LABKIT_HOME", f"{home}/labkit"),
            ),
        )
        alone = "alone" if self._walls.bubblewrap is not None or self._walls.uid is not None else "beside-others"
        begun = self._walls.begin((*_NURSERY, alone, str(home), str(answers), str(cache)), box)
        self.nursery.write_text(json.dumps(begun.argv), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Of the run's own process: nothing of the grader's."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "LABKIT_HOME": str(self.folder / "labkit"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(Path(labkit.__file__).parent.parent),
        }


def _last(log: Path) -> str:
    """The last line that the run's process printed, without pytest's "in 3.2s"."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f" ({lines[-1].partition(' in ')[0][:200]})" if lines else ""
