"""The linter with states put back by their bytes, which most of its time would else go into.

An exercise has up to forty answers and ten probes, and a plain check makes a state anew for each of both. On a cluster
that this process holds they can be put back as a judge does. Answers may do what cannot be put back; such an exercise
is linted in the plain way, so that what is found is the same for all.
"""

from __future__ import annotations

from contextlib import ExitStack

from labkit.cluster.base import Progress, silent
from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises.beginnings import Beginnings
from labkit.exercises.lint import Tried, lint
from labkit.exercises.model import Exercise
from labkit.grading.states import NotClean, States

__all__ = ["linted"]


def linted(exercise: Exercise, cluster: EmbeddedCluster, progress: Progress = silent) -> list[Tried]:
    """What ``lint`` finds, and the cluster as that leaves it. *cluster* must be held by this process, and nobody else
    may use it at the time. Raises as ``lint`` does.
    """
    try:
        with Beginnings(cluster).around(exercise), ExitStack() as stack:
            states = States(cluster)
            stack.callback(states.close)
            stack.callback(states.leave)
            return list(lint(exercise, cluster, progress, states))
    except NotClean:
        return list(lint(exercise, cluster, progress))
