"""The course played: every step's real command on a cluster, judged against what is recorded.

The player is what a terminal, a test of a new cluster and a parity report share. It runs the notebooks' own cells in
kernels, so that what it shows is what a student sees, and it may cost little more than typing the commands into a
shell: while one notebook plays, the next one's kernel starts and loads what its first cell will need.

What comes of a step is one of four verdicts (``report``). A kernel that dies ends its notebook, a cluster that dies
ends the play; the steps that were not reached are told as failed, with the cause.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from labkit.cluster import Cluster, ClusterInfo
from labkit.course.environment import kernel_environment
from labkit.course.kernel import CellRun, CourseKernel
from labkit.course.notebook import CourseNotebook, Step
from labkit.course.outputs import Output, comparable, text
from labkit.course.report import AS_RECORDED, DIFFERS, FAILED, NOT_PLAYED, NOT_SHOWN, PlayReport, StepResult, Verdict
from labkit.errors import CourseError

__all__ = ["difference", "judge", "lacking", "play"]

PRELOAD = "import labkit.lab as _, kubernetes.config as _; del _"
"""Run in a waiting kernel: what the first cell imports anyway."""


def play(
    cluster: Cluster,
    notebooks: Sequence[CourseNotebook],
    *,
    report: Callable[[StepResult], None] = lambda _: None,
    starting: Callable[[Step], None] = lambda _: None,
) -> PlayReport:
    """Play *notebooks* in order on a running, claimed *cluster*; *report* gets each result as it comes.

    *starting* hears of each step before it runs. Never raises for what a step does; a KeyboardInterrupt stops the
    kernels, leaves the cluster to its owner, and passes.
    """
    began = time.monotonic()
    info = cluster.info()
    game = _Game(cluster, info, report, starting)
    with _Kernels(cluster, notebooks) as kernels:
        for course in notebooks:
            game.play(course, kernels)
    return PlayReport(info.name, info.version, time.monotonic() - began, tuple(game.results))


class _Kernels:
    """One kernel a notebook, each started while the one before it is at work."""

    def __init__(self, cluster: Cluster, notebooks: Sequence[CourseNotebook]) -> None:
        self._environ = kernel_environment(cluster)
        self._waiting = [course.path.parent for course in notebooks]
        self._started: list[CourseKernel] = []

    def __enter__(self) -> _Kernels:
        self._start_one()
        return self

    def __exit__(self, *_: object) -> None:
        for kernel in self._started:
            kernel.stop()

    def next(self) -> CourseKernel:
        """The next notebook's kernel, ready; the one before is stopped, the one after begins to start."""
        if len(self._started) > 1:
            self._started.pop(0).stop()
        kernel = self._started[-1]
        try:
            kernel.wait_ready()
        finally:
            self._start_one()  # also when this one failed: the next notebook must not get it again
        return kernel

    def _start_one(self) -> None:
        if self._waiting:
            kernel = CourseKernel(cwd=self._waiting.pop(0), environ=self._environ)
            self._started.append(kernel)
            kernel.preload(PRELOAD)


class _Game:
    """The play in progress. *lost* says why nothing more can be played on this cluster (empty while it can)."""

    def __init__(
        self,
        cluster: Cluster,
        info: ClusterInfo,
        report: Callable[[StepResult], None],
        starting: Callable[[Step], None],
    ) -> None:
        self.results: list[StepResult] = []
        self._cluster = cluster
        self._info = info
        self._report = report
        self._starting = starting
        self._lost = ""

    def play(self, course: CourseNotebook, kernels: _Kernels) -> None:
        """Play one notebook to its end; what cannot be played any more is told as failed, with the cause."""
        stopped = self._lost
        kernel = None
        for number, step in enumerate(course.steps):
            missing = lacking(step, self._info)
            if stopped:
                self._tell(_result(step, FAILED, reason=f"{NOT_PLAYED} {stopped}"))
            elif missing:
                self._tell(_result(step, NOT_SHOWN, reason=missing))
            else:
                self._starting(step)
                try:
                    kernel = kernel or kernels.next()
                    run = kernel.run(step.source)
                except CourseError as error:
                    stopped = f"{error.state} in {step.id}"
                    self._tell(self._blame_cluster(_result(step, FAILED, reason=str(error))))
                else:
                    result = self._blame_cluster(judge(step, run))
                    self._tell(result)
                    if number == 0 and result.verdict == FAILED:
                        stopped = "the section could not be begun"
                stopped = self._lost or stopped

    def _tell(self, result: StepResult) -> None:
        self.results.append(result)
        self._report(result)

    def _blame_cluster(self, result: StepResult) -> StepResult:
        """The result as it is, or, when the cluster died meanwhile, a failure that says so."""
        gone = None if result.verdict == AS_RECORDED else self._cluster.gone()
        if gone is None:
            return result
        self._lost = gone.state
        return replace(result, verdict=FAILED, reason=str(gone), difference=())


def lacking(step: Step, info: ClusterInfo) -> str:
    """Why a cluster cannot show the step ("not shown, because …"); empty when it has all that the step needs."""
    missing = [need for need in step.needs if need not in info.capabilities]
    return f"not shown, because {' and '.join(_in_words(need, info) for need in missing)}" if missing else ""


def _in_words(need: str, info: ClusterInfo) -> str:
    if need == "etcd":
        return "this cluster's etcd cannot be read"
    if need == "nodes":
        return "this cluster has no nodes"
    if need.startswith("controllers:"):
        return f"this cluster runs no {need.partition(':')[2]} controller"
    return f"this cluster ({info.version}) does not serve {need}"


def judge(step: Step, run: CellRun) -> StepResult:
    """Compare a run with the step's record, as nbval would."""
    played = text(run.outputs)
    if run.error and not any(output["output_type"] == "error" for output in step.outputs):
        return _result(step, FAILED, text=played, seconds=run.seconds, reason=run.error)
    if comparable(run.outputs) == comparable(step.outputs):
        return _result(step, AS_RECORDED, text=played, seconds=run.seconds)
    reason = "its output is not the recorded one" if step.outputs else "nothing is recorded, and it has an output"
    lines = difference(step.outputs, run.outputs)
    return replace(_result(step, DIFFERS, text=played, seconds=run.seconds, reason=reason), difference=lines)


def difference(
    recorded: Iterable[Output], played: Iterable[Output], names: tuple[str, str] = ("recorded", "played")
) -> tuple[str, ...]:
    """Unified diff of the sanitized fields, each under its name; empty when nbval says equal."""
    before, after = (_laid_out(comparable(outputs)) for outputs in (recorded, played))
    return tuple(difflib.unified_diff(before, after, *names, lineterm="", n=1))


def _laid_out(fields: dict[str, tuple[object, ...]]) -> list[str]:
    lines: list[str] = []
    for name in sorted(fields):
        for value in fields[name]:
            lines += [f"[{name}]", *str(value).splitlines()]
    return lines


def _result(step: Step, verdict: Verdict, *, text: str = "", seconds: float = 0.0, reason: str = "") -> StepResult:
    return StepResult(step.id, step.title, step.source, text, verdict, seconds, reason)
