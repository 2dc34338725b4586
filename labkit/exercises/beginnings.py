"""How a check comes by the states it judges in, and leaves the cluster.

A student's check makes each state anew, through the API server, whatever the cluster was used for before. That is most
of a check's time; a grader, which judges in a control plane of its own, may come by the same states in a cheaper way
and brings a ``Beginnings`` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from labkit.cluster import Api, Cluster
from labkit.course.begin import begin
from labkit.exercises import access
from labkit.exercises.model import Exercise
from labkit.exercises.probes import Step
from labkit.exercises.territory import Territory

__all__ = ["Beginnings"]


class Beginnings:
    """The states of one cluster, each made when it is asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @contextmanager
    def around(self, exercise: Exercise) -> Iterator[None]:
        """Around one check: nothing of an earlier one is there, and the exercise's beginning is left."""
        with Api(self.cluster) as api:
            territory = Territory(self.cluster, api)
            territory.sweep()
            try:
                yield
            finally:
                territory.sweep()
                begin(self.cluster, exercise.begin, root=exercise.root)

    def bring(self, exercise: Exercise, steps: Sequence[Step], play: Callable[[], bool]) -> bool:
        """Bring the cluster to the exercise's beginning with *steps* done, which *play* does; whether all of them held.

        No answer has a part in *steps*: the same steps lead to the same state.
        """
        del steps
        begin(self.cluster, exercise.begin, root=exercise.root)
        return play()

    def reading_kubeconfig(self, api: Api, stack: ExitStack) -> Path:
        """A kubeconfig with rights to read, for a script that is run in the present state; *stack* ends it."""
        return access.reading_kubeconfig(api, self.cluster, stack)
