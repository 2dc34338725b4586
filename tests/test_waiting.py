"""wait_for ends with what it waited for, with the last sight, or with what the look raises."""

from __future__ import annotations

import time

import pytest

from labkit.errors import ClusterGone, WaitTimeout
from labkit.waiting import Seen, wait_for


def test_returns_the_value_of_the_last_look() -> None:
    looks = iter([Seen(False, "1 of 2"), Seen(False, "1 of 2"), Seen(True, "2 of 2", "both")])
    told: list[str] = []
    assert wait_for("two things", lambda: next(looks), limit_s=5, progress=told.append) == "both"
    assert told == ["1 of 2"], "the same sight is told once"


def test_says_what_was_seen_last_when_the_limit_passes() -> None:
    with pytest.raises(WaitTimeout) as caught:
        wait_for("the definition", lambda: Seen(False, "NamesAccepted only"), limit_s=0.05, next_act="kubectl get crd")
    assert caught.value.state == "waited 0.05 s for the definition"
    assert caught.value.evidence == "last seen: NamesAccepted only"
    assert caught.value.next_act == "kubectl get crd"


def test_a_death_ends_the_wait_at_once() -> None:
    def look() -> Seen[None]:
        raise ClusterGone("it died", evidence="killed by SIGKILL")

    began = time.monotonic()
    with pytest.raises(ClusterGone, match="killed by SIGKILL"):
        wait_for("a dead thing", look, limit_s=60)
    assert time.monotonic() - began < 5


def test_looks_once_more_after_the_last_pause() -> None:
    began = time.monotonic()
    wait_for("a moment", lambda: Seen(time.monotonic() - began >= 0.05, "too early"), limit_s=0.06)
