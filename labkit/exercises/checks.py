"""A check: the probes of an exercise played on a cluster, and the report of what came of them.

Each probe file is played in a state of its own: the exercise's beginning, then the answer. A task is passed when every
step of it held in every file. Where the answer itself, or another step without a task, fails, nothing after it can be
judged: the tasks of the steps that follow in that file get its finding. The cluster is left at the exercise's beginning
whatever happens; a check that was killed is made up for by the next, which begins anew too.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from labkit.cluster import Cluster
from labkit.cluster.base import Progress, silent
from labkit.course import manifests
from labkit.errors import CapabilityMissing, ManifestError
from labkit.exercises.acting import Actor, Did
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.judging import cannot_predict, cannot_try, died, judge, judge_score
from labkit.exercises.model import Exercise, ExerciseError
from labkit.exercises.probes import Probe, Step
from labkit.exercises.report import Finding, Report, TaskResult
from labkit.exercises.sandbox import Runner, run_script
from labkit.languages import translate, worded
from labkit.observe import prediction, verdict

__all__ = ["check", "check_all", "load_judge"]

_MAKES = {"apply", "create", "replace"}
_CHANGES = {"patch", "scale"}
_IMPLICIT = Step("answer", "the answer", "accepted")
_NOT_JUDGED = worded(
    "What the script prints is judged only when it is graded: passed means here that it ran and ended as it should."
)


def check(  # noqa: PLR0913  (what is checked, where, and how)
    exercise: Exercise,
    answer: str,
    cluster: Cluster,
    *,
    hidden: bool = False,
    progress: Progress = silent,
    runner: Runner = run_script,
    beginnings: Beginnings | None = None,
) -> Report:
    """Judge *answer* on *cluster*, which must be labkit's or claimed; *hidden* plays the hidden probes too.

    The same answer gives the same report. *runner* runs a script's text and *beginnings* makes the states; a grader
    brings its own. Raises ClaimRefused, CapabilityMissing when the cluster lacks what the exercise needs, ClusterGone,
    and ExerciseError for a probe that cannot be played. What an answer does wrong is never raised.
    """
    (report,) = check_all(
        exercise, (answer,), cluster, hidden=hidden, progress=progress, runner=runner, beginnings=beginnings
    )
    return report


def check_all(  # noqa: PLR0913  (what is checked, where, and how)
    exercise: Exercise,
    answers: Sequence[str],
    cluster: Cluster,
    *,
    hidden: bool = False,
    progress: Progress = silent,
    runner: Runner = run_script,
    beginnings: Beginnings | None = None,
) -> tuple[Report, ...]:
    """``check`` for each of *answers*, with the same reports. Answers that only look share the states they look at."""
    lacking = sorted(set(exercise.needs) - cluster.info().capabilities) if exercise.needs else []
    if lacking:
        raise CapabilityMissing(
            translate('exercise "{id}" cannot be checked on this cluster', id=exercise.id),
            capability=lacking[0],
            evidence=translate("it has no {names}", names=", ".join(lacking)),
            next_act=translate("use the embedded cluster (LABKIT_CLUSTER=embedded)"),
        )
    probes = (*exercise.probes, *(exercise.hidden if hidden else ()))
    shared = all(_only_looks(exercise, probe) for probe in probes)
    groups = [tuple(answers)] if shared and answers else [(answer,) for answer in answers]
    states = beginnings or Beginnings(cluster)
    reports: list[Report] = []
    for group in groups:
        with ExitStack() as stack:
            checks = [
                _Check(exercise, answer, states, stack.enter_context(Actor(states, exercise, answer, runner)))
                for answer in group
            ]
            with states.around(exercise):
                _play(checks, exercise, probes, progress)
            reports += [one.report() for one in checks]
    return tuple(reports)


def _play(checks: Sequence[_Check], exercise: Exercise, probes: Sequence[Probe], progress: Progress) -> None:
    """Each probe once, and in its state every answer in turn; the first of them makes the state."""
    for number, probe in enumerate(probes, 1):
        for turn, one in enumerate(checks, 1):
            told = {"id": exercise.id, "number": number, "n": len(probes), "turn": turn, "answers": len(checks)}
            said = translate("{id}: probe {number} of {n}", **told)
            if len(checks) > 1:
                said = translate("{id}: probe {number} of {n}, answer {turn} of {answers}", **told)
            progress(said)
            one.play(probe, made=turn > 1)


def _only_looks(exercise: Exercise, probe: Probe) -> bool:
    """Whether an answer changes nothing in this probe: it is predicted with, or run with rights to read."""
    judged = {step.do for step in _with_answer(exercise, probe) if step.task or step.do == "answer"}
    return judged <= {"run", "predict"}


class _Check:
    """The findings of one check, gathered probe by probe."""

    def __init__(self, exercise: Exercise, answer: str, states: Beginnings, actor: Actor) -> None:
        self._exercise = exercise
        self._answer = answer
        self._states = states
        self._actor = actor
        self._findings: dict[str, list[Finding]] = {task.id: [] for task in exercise.tasks}
        self._tried: set[str] = set()
        self._refused: list[Step] = []
        """Writes of this probe that were to be accepted, and were refused."""
        self._notes: dict[str, None] = {}

    def report(self) -> Report:
        tasks = []
        for task in self._exercise.tasks:
            found = tuple(dict.fromkeys(self._findings[task.id]))
            passed = task.id in self._tried and not found
            tasks.append(TaskResult(task.id, task.title, task.points if passed else 0, task.points, passed, found))
        return Report(self._exercise.id, self._exercise.title, tuple(tasks), tuple(self._notes))

    def play(self, probe: Probe, *, made: bool = False) -> None:
        """Play the steps; where the state is *made* already, those that judge an answer."""
        self._actor.forget_state()
        self._refused = []
        steps = _with_answer(self._exercise, probe)
        first = next((at for at, step in enumerate(steps) if step.task or step.do == "answer"), len(steps))
        before, after = steps[:first], steps[first:]
        if made:
            self._play([step for step in after if step.task], hidden=probe.hidden)
        elif self._states.bring(self._exercise, before, lambda: self._play(before, after, hidden=probe.hidden)):
            self._play(after, hidden=probe.hidden)

    def _play(self, steps: Sequence[Step], after: Sequence[Step] = (), *, hidden: bool) -> bool:
        """Play *steps*, which *after* follow, until one without a task fails; whether none did."""
        for number, step in enumerate(steps, 1):
            found = tuple(self._findings_of(step, hidden=hidden))
            following = (*steps[number:], *after)
            tasks = {step.task} if step.task else {later.task for later in following if later.task}
            if step.task:
                self._tried.add(step.task)
            for task in tasks if found else ():
                self._tried.add(task)
                self._findings[task] += [one for one in found if replace(one, hidden=False) not in self._findings[task]]
            if found and not step.task:
                return False
        return True

    def _findings_of(self, step: Step, *, hidden: bool) -> Iterator[Finding]:
        if step.do == "predict":
            found = self._predicted(step, hidden=hidden)
            if found is not None:
                yield found
            return
        judge_of = self._judge_module(step) if step.judge else None
        if step.judge and judge_of is None:
            self._notes[translate(_NOT_JUDGED)] = None
        did = self._done(step)
        if not hidden:  # a server's complaint names what is in the state
            self._notes |= dict.fromkeys(did.notes)
        wrong = judge(step, did, hidden=hidden)
        if wrong is not None:
            lacking = self._lacking(step, did)
            yield cannot_try(wrong, lacking) if lacking else wrong
        elif judge_of is not None:
            table = list(judge_of(did.run, self._actor.api, step, hidden))
            if table and did.run is not None and did.run.died:
                yield died(step, did, hidden=hidden)
            yield from table
        if did.outcome == "refused" and step.expect == "accepted" and step.do in _MAKES | _CHANGES:
            self._refused.append(step)

    def _lacking(self, step: Step, did: Did) -> str:
        """What was refused in this probe, for which *step* could not be what it is: its object, or what it reads."""
        before = [one for one in self._refused if one.about == step.about]
        if did.missing and any(one.do in _MAKES for one in before):
            return step.about[-1]
        written = [one.name for one in before if one.do in _CHANGES and one.task == step.task]
        return written[-1] if written and step.do == "read" else ""

    def _done(self, step: Step) -> Did:
        try:
            return self._actor.do(step)
        except ManifestError as error:
            if step.do == "answer":
                return Did("refused", error.state, message=error.evidence, tool=True)
            raise ExerciseError(f"{step.where}: {error.state}", evidence=error.evidence) from error

    def _predicted(self, step: Step, *, hidden: bool) -> Finding | None:
        try:
            said = _prediction(self._answer, step.key)
        except ManifestError as error:
            return cannot_predict(step, prediction.PredictionError(str(error)), hidden=hidden)
        except prediction.PredictionError as error:
            return cannot_predict(step, error, hidden=hidden)
        if said is None:
            return cannot_predict(step, None, hidden=hidden)
        found = prediction.score(said, verdict.ask(self._actor.api, step.object or {}, checking=step.validate))
        return judge_score(step, found, hidden=hidden)

    def _judge_module(self, step: Step) -> Callable[..., Iterator[Finding]] | None:
        """``judge.py`` of the folder, which students do not have: a generator of findings on a script's run."""
        path = self._exercise.folder / "judge.py"
        if not path.is_file():
            return None
        found = getattr(load_judge(path), step.judge, None)
        if not callable(found):
            raise ExerciseError(f"{step.where}: judge {step.judge!r} is not there", evidence=f"{path} has none")
        made: Callable[..., Iterator[Finding]] = found
        return made


def _with_answer(exercise: Exercise, probe: Probe) -> tuple[Step, ...]:
    """The probe's steps; the answer is applied first where no step says when."""
    if not exercise.applied or any(step.do in ("answer", "run", "predict") for step in probe.steps):
        return probe.steps
    return (_IMPLICIT, *probe.steps)


def _prediction(answer: str, key: str) -> prediction.Prediction | None:
    """What the answer predicts under *key*: ``{outcome: …, field: …, rule: …}``, or the outcome alone."""
    documents = manifests.parsed(answer, "the answer")
    said: Any = documents[0].get(key) if documents and isinstance(documents[0], dict) else None
    if said is None:
        return None
    if isinstance(said, str):
        return prediction.Prediction.of(said)
    if not isinstance(said, Mapping) or said.get("outcome") is None:
        return None
    outcome = said["outcome"]
    parts = {name: str(said[name]) for name in ("field", "rule") if said.get(name) is not None}
    return prediction.Prediction.of(outcome if isinstance(outcome, list) else str(outcome), **parts)


class _Uncached(SourceFileLoader):
    """Writes no bytecode beside a file of the course, where whoever grades or reads has nothing to write."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Nothing."""


def load_judge(path: Path) -> ModuleType:
    """The module of an exercise's ``judge.py``, at *path*; nothing is written there."""
    name = f"labkit_judge_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Uncached(name, str(path)))
    if spec is None or spec.loader is None:
        raise ExerciseError(f"{path}: cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
