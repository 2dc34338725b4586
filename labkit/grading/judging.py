"""An answer judged from its text, in a cluster that is clean whatever was judged in it before.

Marks come from here alone. Whoever grades judges hundreds of answers, each of which may leave anything behind: a role
for everybody, a webhook, a namespace that will not go, a control plane that is dead. So a judge holds a control plane
of its own, which no student's program ever had the rights to change, for as long as it lives.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Self

from labkit.cluster import Owner, places
from labkit.cluster.base import Progress, silent
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterGone
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.checks import check
from labkit.exercises.model import Exercise
from labkit.exercises.report import Report
from labkit.exercises.sandbox import Runner, run_script
from labkit.grading.errors import GradingError
from labkit.grading.states import NotClean, States

__all__ = ["CannotJudge", "Judge"]


class CannotJudge(GradingError):
    """An answer that could not be judged: twice its control plane died or did not answer. It has no mark, not 0."""


class Judge:
    """Judges answers one after the other; a context manager, whose cluster starts with the first answer.

    *runner* runs a script's text.
    """

    def __init__(self, runner: Runner = run_script) -> None:
        self._runner = runner
        self._stack = ExitStack()
        self._states: States | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def pid(self) -> int | None:
        """Of its control plane, None while it has none."""
        return self._states.cluster.ready.pid if self._states is not None else None

    def judge(self, exercise: Exercise, text: str, progress: Progress = silent) -> Report:
        """The report on *text*, hidden probes too: the same for the same text, whatever was judged before.

        Raises CannotJudge when the control plane dies of it, or does not answer, twice; ExerciseError for a probe that
        cannot be played; ClusterStartError.
        """
        try:
            return self._judged(exercise, text, progress)
        except ClusterGone:
            once = self._death()
            self._end()
        try:
            return self._judged(exercise, text, progress)
        except ClusterGone as again:
            twice = self._death()
            self._end()
            said = f'the answer to "{exercise.id}" could not be judged: '
            by_hand = "look at the answer, and give the points by hand (--adjust)"
            if once is not None and twice is not None:
                said += "the control plane died of it twice"
                raise CannotJudge(said, evidence=twice.evidence, next_act=by_hand) from again
            said += "its control plane did not answer, also a second one"
            again_or = f"run the command again, which tries once more, or {by_hand}"
            raise CannotJudge(said, evidence=again.evidence, next_act=again_or) from again

    def renew(self) -> None:
        """Let the next answer have a new cluster, for what became of this one is not known."""
        self._end()

    def _death(self) -> ClusterGone | None:
        """How the control plane ended; None when it did not: whoever gets no answer in time does not know that."""
        return self._states.cluster.gone() if self._states is not None else None

    def _judged(self, exercise: Exercise, text: str, progress: Progress) -> Report:
        def judged(states: Beginnings) -> Report:
            return check(
                exercise, text, states.cluster, hidden=True, progress=progress, runner=self._runner, beginnings=states
            )

        for _ in range(2):
            try:
                return judged(self._running(progress))
            except NotClean:
                self._end()
        # It is this answer that leaves what cannot be put back, between two of its probes.
        return judged(Beginnings(self._running(progress).cluster))

    def _running(self, progress: Progress) -> States:
        if self._states is None:
            with ExitStack() as stack:
                cluster = EmbeddedCluster(places.held(), owner=Owner.HELD, one_processor=True)
                stack.callback(cluster.stop)
                cluster.start(progress)
                states = States(cluster)
                stack.callback(states.close)
                self._stack = stack.pop_all()
            self._states = states
        return self._states

    def _end(self) -> None:
        self._states = None
        self._stack.close()
