"""The same submissions handed to a Dask cluster that is there already: for a class that one machine is too slow for.

Dask moves bytes, notices machines that go, and gives their work to others; everything else is as on one machine. Each
of its workers keeps a crew of one (``pool.Crew``), so that a submission is held, limited and tried again as it is
anywhere, and never touches Dask's own process. Results come back to the client, which writes them as they come. A
machine whose exercises, labkit or control plane are others than the client's would give other marks: it is found out
before anything is graded. Needs the extra ``labkit[dask]`` here and on the workers.
"""

from __future__ import annotations

import contextlib
import importlib
import secrets
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from labkit.grading.errors import GradingError
from labkit.grading.pool import Crew, Outcome, remove_leftovers
from labkit.grading.values import Result, Submission
from labkit.grading.worker import Units

__all__ = ["run"]

CONNECT_LIMIT_S = 15.0
WORKERS_LIMIT_S = 30.0


def run(
    course: Units, submissions: Sequence[Submission], scheduler: str, progress: Callable[[str], None]
) -> Generator[Outcome]:
    """Each submission's outcome, as they come, graded by the workers of *scheduler* ("tcp://host:8786").

    Raises GradingError when the extra is missing, the scheduler does not answer or goes, it has no workers, or one of
    them would grade by something else. When it is closed, nothing of this class is left on the workers.
    """
    with _client(scheduler) as client:
        _expect_workers(client, course, scheduler)
        progress(f"handing {len(submissions)} to {len(client.nthreads())} workers")
        waiting: dict[Any, Submission] = {}
        token = secrets.token_hex()
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")  # a notebook may have pictures
                for one in submissions:
                    waiting[client.submit(_grade, token, course, one, pure=False)] = one
            for future in _distributed().as_completed(list(waiting), loop=client.loop):
                yield _outcome(waiting.pop(future), future, scheduler)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone, and its workers with it
                client.cancel(list(waiting))
                client.run(_dismiss, token)


def _distributed() -> Any:
    """The package, of which nothing has types; it takes a second to import, so only who needs it does."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise GradingError(
            "the package distributed is not installed", evidence=str(error), next_act="pip install 'labkit[dask]'"
        ) from error


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    distributed = _distributed()
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_LIMIT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise GradingError(
            f"no Dask scheduler answers at {scheduler}", evidence=str(error), next_act="start it, or name another"
        ) from error
    with client:
        yield client


def _expect_workers(client: Any, course: Units, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_LIMIT_S)
    except TimeoutError as error:
        raise GradingError(
            f"the Dask scheduler at {scheduler} has no workers", next_act=f"start some: dask worker {scheduler}"
        ) from error
    found = client.run(_misfit, course, on_error="return")
    wrong = {name: str(said) for name, said in found.items() if said}
    if wrong:
        raise GradingError(
            f"{len(wrong)} of {len(found)} Dask workers cannot grade this class",
            evidence="; ".join(f"{name}: {said}" for name, said in sorted(wrong.items())[:3]),
            next_act="bring the same checkout, set up the same way, to each of them, or stop them",
        )


def _outcome(submission: Submission, future: Any, scheduler: str) -> Outcome:
    if future.cancelled():
        raise GradingError(
            f"the Dask scheduler at {scheduler} is gone",
            next_act="start it and run the command again: what is graded is kept",
        )
    error = future.exception()
    if error is not None:  # its workers died, several times
        return Outcome(submission, None, f"{type(error).__name__}: {error}")
    result, problem = future.result()
    return Outcome(submission, result, problem)


# -- on a worker -----------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_idle: list[tuple[str, Crew]] = []
"""Crews of this process that are doing nothing, with the token of the run they are for. A thread uses one at a time."""
_over: set[str] = set()
"""Runs that are over: a crew that is still at work for one of them leaves when it is done."""


def _grade(token: str, course: Units, submission: Submission) -> tuple[Result | None, str]:
    crew = _taken(token, course)
    kept = False
    try:
        (outcome,) = crew.run([submission], lambda _: None)
        with _lock:
            kept = token not in _over
            if kept:
                _idle.append((token, crew))
    finally:
        if not kept:
            crew.end()
    return outcome.result, outcome.problem


def _taken(token: str, course: Units) -> Crew:
    with _lock:
        for number, (run_of, crew) in enumerate(_idle):
            if run_of == token:
                del _idle[number]
                return crew
    remove_leftovers()
    return Crew(course, 1)


def _dismiss(token: str) -> None:
    with _lock:
        _over.add(token)
        mine = [crew for run_of, crew in _idle if run_of == token]
        _idle[:] = [(run_of, crew) for run_of, crew in _idle if run_of != token]
    for crew in mine:
        crew.end()


def _misfit(course: Units) -> str:
    """Why this machine cannot grade it; empty when it can."""
    try:
        course.expect_here()
    except GradingError as error:
        return str(error)
    return ""
