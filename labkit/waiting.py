"""Waiting on a condition, with a limit, saying what is missing.

This is the only place of the package that sleeps. A condition is a function that looks once and answers with a
``Seen``: whether it holds, and what it saw in words. When the limit passes, the error tells the last sight instead of
only "timeout"; when the thing waited for has died, the condition raises and the wait ends at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from labkit.errors import WaitTimeout
from labkit.languages import numeral, translate

__all__ = ["Seen", "let_pass", "wait_for"]

T = TypeVar("T")

FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.5


@dataclass(frozen=True)
class Seen(Generic[T]):
    """One look: *done*, what it looked like in words, and the value the caller waits for (when done)."""

    done: bool
    sight: str
    value: T | None = None


def let_pass(seconds: float) -> None:
    """Let time pass: for a measurement some seconds after an event, where there is nothing to look at."""
    time.sleep(seconds)


def wait_for(  # noqa: PLR0913  (what to say and how to look, each by name)
    what: str,
    look: Callable[[], Seen[T]],
    *,
    limit_s: float,
    progress: Callable[[str], None] | None = None,
    next_act: str = "",
    longest_pause_s: float = LONGEST_PAUSE_S,
) -> T | None:
    """Look until done, and return the value of the last look.

    *what* is a noun phrase ("the definition to be established"). The pauses grow from 10 ms to *longest_pause_s*.
    *progress* gets each new sight once. Raises WaitTimeout after *limit_s* seconds; whatever *look* raises passes.
    """
    end = time.monotonic() + limit_s
    pause = FIRST_PAUSE_S
    told = ""
    while True:
        seen = look()
        if seen.done:
            return seen.value
        if progress is not None and seen.sight != told:
            told = seen.sight
            progress(told)
        left = end - time.monotonic()
        if left <= 0:
            raise WaitTimeout(
                translate("waited {limit_s} s for {what}", limit_s=numeral(limit_s, "g"), what=what),
                evidence=translate("last seen: {sight}", sight=seen.sight),
                next_act=next_act,
            )
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, longest_pause_s)
