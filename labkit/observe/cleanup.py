"""Cleaning up after the course: what was deleted, what was not there, and what is left in etcd.

Only names the course has claimed are touched, so on a cluster of one's own nothing else is at risk. "Deleted" is not
believed but looked up: the names are asked for again, and etcd is asked for keys of the course's group, of which none
may be left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from labkit.cluster import Api, Cluster, Etcd
from labkit.cluster.base import Progress, silent
from labkit.cluster.claim import COURSE_GROUP, CourseName, claimed_names
from labkit.errors import CapabilityMissing

__all__ = ["PREFIX", "CleanUp", "clean_up"]

PREFIX = f"/registry/{COURSE_GROUP}"
"""Every object of the course's group has its key under this."""


@dataclass(frozen=True)
class CleanUp:
    """What cleaning up did. Names are spelled "customresourcedefinitions/colis.cours.example.com".

    *deleted* were there and are gone; *absent* are the claimed names under which nothing was; *left* were there and
    still are. *keys_before* and *keys_left* count the keys under PREFIX, None where etcd cannot be read.
    """

    deleted: tuple[str, ...]
    absent: tuple[str, ...]
    left: tuple[str, ...]
    keys_before: int | None
    keys_left: int | None
    seconds: float

    @property
    def clean(self) -> bool:
        return not self.left and not self.keys_left


def clean_up(cluster: Cluster, progress: Progress = silent, *, names: tuple[CourseName, ...] | None = None) -> CleanUp:
    """Delete what the course made, wait until it is gone, and look again. Idempotent.

    On a foreign cluster that nobody claimed there is nothing of the course's, and nothing is deleted. The claim lies on
    ch54 and goes with it; *names* are those it had, to be looked for all the same. Raises WaitTimeout when a deletion
    is held, ApiError when one is refused.
    """
    start = time.monotonic()
    names = claimed_names(cluster) if names is None else names
    with Api(cluster) as api:
        found = {name: name.taken(api) for name in names}
        keys_before = _keys(cluster)
        cluster.reset(progress)
        left = {path for name in names for path in name.taken(api)}
    there = [path for name in names for path in found[name]]
    return CleanUp(
        deleted=tuple(_short(path) for path in there if path not in left),
        absent=tuple(str(name) for name in names if not found[name]),
        left=tuple(sorted(_short(path) for path in left)),
        keys_before=keys_before,
        keys_left=_keys(cluster),
        seconds=time.monotonic() - start,
    )


def _keys(cluster: Cluster) -> int | None:
    try:
        return len(Etcd(cluster).get(f"{PREFIX}/", prefix=True, keys_only=True).kvs)
    except CapabilityMissing:
        return None


def _short(path: str) -> str:
    """The last two parts of a URL path: the type's plural and the object's name."""
    return "/".join(path.rsplit("/", 2)[1:])
