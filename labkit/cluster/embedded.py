"""The embedded control plane as a cluster: etcd, API server and a few controllers in one process, ready in seconds.

Three kinds of owners want three kinds of lives (``base.Owner``), and all of them leave traces when a process is killed:
a state directory whose process is gone, a record that names a number another process has now. So a state directory is
believed only when its process is alive, is its control plane, and answers; what is left of others can be listed and
removed. Two starters of a shared cluster take turns, and the second finds the first one's.
"""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from labkit.cluster import places, process, system, tools
from labkit.cluster.api import Api
from labkit.cluster.base import WHOLE, ClusterInfo, KeyValue, Owner, Page, Progress, silent
from labkit.cluster.process import ControlPlane, Ready
from labkit.errors import ClusterBusy, ClusterGone, WaitTimeout
from labkit.languages import translate
from labkit.waiting import Seen, wait_for

__all__ = ["EmbeddedCluster", "attach", "leftovers", "remove_leftovers", "running", "stop_directory"]

LACKS = (
    "nodes: Pods are stored but never run",
    "a scheduler: a Pod stays Pending",
    "controllers of Deployments, ReplicaSets, Jobs, Services and other built-in workloads",
    "DNS, networking, storage classes, metrics (kubectl top)",
)
"""What the embedded cluster has not; everything without nodes behaves like a real one."""

_LOCK_LIMIT_S = 90.0
_SETTLE_LIMIT_S = 15.0
_PROBE_LIMIT_S = 5.0


class EmbeddedCluster:
    """One embedded control plane, by its state directory.

    *owner* says who ends it; None means that it is somebody else's and this object only attaches. *throw_away* false
    keeps the directory's objects over a stop (``labkit start --keep``). *lessee* is the process a LEASED one lives as
    long as. *port* fixes the API server's port (else a free one). *one_processor* is for who has many at work at once
    (``process.Terms``).
    """

    def __init__(  # noqa: PLR0913  (how it lives, each by name)
        self,
        state_dir: Path,
        *,
        owner: Owner | None,
        throw_away: bool = True,
        lessee: int | None = None,
        port: int | None = None,
        one_processor: bool = False,
    ) -> None:
        self._state_dir = state_dir.absolute()
        self._owner = owner
        self._throw_away = throw_away
        self._lessee = lessee if lessee is not None else os.getppid()
        self._port = port
        self._one_processor = one_processor
        self._child: ControlPlane | None = None
        self._vacant = False
        self._ready: Ready | None = None

    def __repr__(self) -> str:
        return f"EmbeddedCluster({str(self._state_dir)!r}, owner={self._owner})"

    @property
    def state_dir(self) -> Path:
        return self._state_dir

    @property
    def kubeconfig(self) -> Path:
        return self._running().kubeconfig

    @property
    def context(self) -> None:
        return None

    @property
    def cache_dir(self) -> Path:
        return self._state_dir / "kubectl-cache"

    @property
    def owned(self) -> bool:
        return True

    @property
    def held(self) -> bool:
        """This process started it for itself, and nobody else knows of it."""
        return self._owner is Owner.HELD and self._child is not None

    @property
    def ready(self) -> Ready:
        """What the control plane said of itself. Raises ClusterGone when this cluster was not started."""
        return self._running()

    @property
    def pid(self) -> int | None:
        """Of its process, while this object knows one: also of one that was only begun."""
        return self._child.pid if self._child is not None else self._ready.pid if self._ready is not None else None

    def begin(self) -> None:
        """Let the start of a HELD one begin, for ``start`` to wait less later. Raises as ``start``."""
        self._begin("stdin")

    def start(self, progress: Progress = silent) -> None:
        """Start it, or find it running (LEASED, LEFT and somebody else's).

        Raises ClusterStartError, ClusterBusy (a HELD one whose directory is in use), ClusterGone (somebody else's that
        is not running).
        """
        if self._ready is not None and self.gone() is None:
            return
        if self._owner is None:
            self._attach()
        elif self._owner is Owner.HELD:
            self._start_anew("stdin", progress)
        else:
            with _turn():
                if not self._find(progress):
                    until = f"pid:{self._lessee}" if self._owner is Owner.LEASED else "signal"
                    self._start_anew(until, progress)

    def stop(self, *, at_once: bool = False) -> None:
        """End the control plane and remove what a throw-away one left. Does nothing when it has ended and is cleaned.

        Somebody else's cluster (no owner here) is only let go. *at_once* saves a held throw-away one the second and a
        half of an orderly end, of which nothing would be left.
        """
        if self._owner is Owner.HELD and self._child is not None:
            self._child.stop(at_once=at_once and self._throw_away)
            self._remove_remains(ours=True)
        elif self._owner in (Owner.LEASED, Owner.LEFT):
            stop_directory(self._state_dir)
        self._child, self._ready = None, None

    def reset(self, progress: Progress = silent) -> None:
        from labkit.cluster import cleaning

        cleaning.reset(self, progress)

    def info(self) -> ClusterInfo:
        from labkit.cluster.capabilities import describe

        return describe(
            self, name=f"embedded:{self._state_dir}", backend="embedded", extra=frozenset({"etcd"}), lacks=LACKS
        )

    def gone(self) -> ClusterGone | None:
        if self._ready is None:
            return ClusterGone(translate("this embedded cluster was not started"), next_act=self._again())
        status = self._child.exit_status() if self._child is not None else None
        lives = status is None if self._child is not None else process.serves(self._ready.pid, self._state_dir)
        if lives:
            return None
        words = system.describe_exit(status) if status is not None else process.words_of(self._ready.pid)
        if status == 0 or not self._state_dir.is_dir():
            return ClusterGone(
                translate("the embedded control plane was stopped"), evidence=words, next_act=self._again()
            )
        complaints = self._child.complaints() if self._child is not None else ()
        lines = (words, *(complaints or process.last_lines(self._state_dir)))
        return ClusterGone(
            translate("the embedded control plane died"), evidence="\n".join(lines), next_act=self._again()
        )

    def etcd_range(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, revision: int = 0, page: Page = WHOLE
    ) -> tuple[KeyValue, ...]:
        from labkit.cluster.etcd import range_by_gateway

        try:
            access = self._running().etcd
            return range_by_gateway(access, key, prefix=prefix, keys_only=keys_only, revision=revision, page=page)
        except ClusterGone as unanswered:
            raise self.gone() or unanswered from unanswered

    def _running(self) -> Ready:
        if self._ready is None:
            raise ClusterGone(translate("this embedded cluster was not started"), next_act=self._again())
        return self._ready

    def _again(self) -> str:
        return {
            Owner.HELD: "run the command again: it starts a new cluster",
            Owner.LEASED: "run the notebook's first cell again: it starts a new cluster",
            Owner.LEFT: "labkit start",
            None: "start it again as it was started (make lab, labkit start), then run the first cell again",
        }[self._owner]

    def _attach(self) -> None:
        """Believe the record after the process has been recognised and has answered. Raises ClusterGone."""
        ready = process.read_record(self._state_dir)
        again = self._again()
        if ready is None:
            raise ClusterGone(
                translate("no embedded cluster runs there"),
                evidence=translate("no record in {state_dir}", state_dir=self._state_dir),
                next_act=again,
            )
        if not process.serves(ready.pid, self._state_dir):
            evidence = "\n".join((process.words_of(ready.pid), *process.last_lines(self._state_dir)))
            raise ClusterGone(
                translate("the embedded cluster of this directory has ended"), evidence=evidence, next_act=again
            )
        self._ready = ready
        try:
            with Api(self, timeout_s=_PROBE_LIMIT_S) as api:
                answer = api.raw("GET", "/readyz")
        except ClusterGone:
            self._ready = None
            raise
        if not answer.ok:
            self._ready = None
            raise ClusterGone(
                translate("the embedded cluster is not ready"), evidence=answer.text.strip()[:300], next_act=again
            )

    def _find(self, progress: Progress) -> bool:
        """Whether it runs already (then this object leads to it); one that is starting or stopping is waited for."""

        def look() -> Seen[bool]:
            pid = process.find(self._state_dir)
            if pid is None:
                return Seen(True, "not running", False)
            try:
                self._attach()
            except ClusterGone as gone:
                return Seen(False, translate("process {pid} does not answer: {state}", pid=pid, state=gone.state))
            return Seen(True, "running", True)

        try:
            found = wait_for(
                translate("the running cluster to answer"), look, limit_s=_SETTLE_LIMIT_S, progress=progress
            )
        except WaitTimeout as cause:
            raise ClusterBusy(
                translate("the state directory belongs to a control plane that does not answer"),
                evidence=f"{self._state_dir}: {cause.evidence}",
                next_act=translate("labkit stop, then start again"),
            ) from cause
        return found is True

    def _start_anew(self, until: str, progress: Progress) -> None:
        child = self._child
        if child is None or self._ready is not None:  # what there was has ended
            child = self._begin(until)
        try:
            self._ready = process.await_ready(child, self._state_dir, progress=progress)
        except BaseException:
            self._child = None
            self._remove_remains(ours=self._vacant)
            raise
        if self._owner is Owner.LEFT:
            self._point_here()

    def _begin(self, until: str) -> ControlPlane:
        pid = process.find(self._state_dir)
        if pid is not None:
            raise ClusterBusy(
                translate("the state directory is in use by a running cluster"),
                evidence=translate("process {pid}, {state_dir}", pid=pid, state_dir=self._state_dir),
                next_act=translate("stop it, or attach with --cluster embedded:{state_dir}", state_dir=self._state_dir),
            )
        self._remove_remains(ours=self._state_dir.parent == places.clusters())
        self._vacant = _vacant(self._state_dir)
        terms = process.Terms(until, self._throw_away, self._port, self._one_processor)
        self._child, self._ready = process.begin(tools.find_controlplane(), self._state_dir, terms), None
        return self._child

    def _point_here(self) -> None:
        """Let ``places.started`` lead to this cluster."""
        pointer = places.kept_pointer()
        if self._throw_away:
            pointer.unlink(missing_ok=True)
        else:
            pointer.write_text(f"{self._state_dir}\n", encoding="utf-8")

    def _remove_remains(self, *, ours: bool) -> None:
        """Remove a directory without a process, if it is a throw-away one and its content is ours."""
        if self._throw_away and ours:
            shutil.rmtree(self._state_dir, ignore_errors=True)


def _vacant(state_dir: Path) -> bool:
    """Whether there is nothing at this place, or an empty folder: what a control plane leaves there is ours then."""
    try:
        return not any(state_dir.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def attach(state_dir: Path) -> EmbeddedCluster:
    """A running cluster of somebody else, by its state directory. Raises ClusterGone when none runs there."""
    cluster = EmbeddedCluster(state_dir, owner=None)
    cluster.start()
    return cluster


def stop_directory(state_dir: Path) -> bool:
    """Stop the control plane of *state_dir*, whoever started it, and remove what a throw-away one left.

    A directory recorded as kept stays with its objects. Returns whether one was running. Idempotent.
    """
    with _turn():
        throw_away = _is_throw_away(state_dir)
        pid = process.find(state_dir)
        if pid is not None:
            process.terminate(pid, state_dir)
        if throw_away:
            shutil.rmtree(state_dir, ignore_errors=True)
        if places.started() == state_dir:
            places.kept_pointer().unlink(missing_ok=True)
    return pid is not None


def running() -> tuple[Ready, ...]:
    """The embedded clusters of this labkit home that run now (started, leased and held)."""
    records = (process.read_record(state_dir) for state_dir in _state_dirs())
    return tuple(record for record in records if record is not None and process.serves(record.pid, record.state_dir))


def leftovers() -> tuple[Path, ...]:
    """State directories of this labkit home whose process is gone: what killed processes left."""
    return tuple(
        state_dir for state_dir in _state_dirs() if _is_throw_away(state_dir) and process.find(state_dir) is None
    )


def remove_leftovers() -> tuple[Path, ...]:
    """Remove ``leftovers()``; returns what was removed."""
    with _turn():
        removed = leftovers()
        for state_dir in removed:
            shutil.rmtree(state_dir, ignore_errors=True)
    return removed


def _state_dirs() -> list[Path]:
    found = sorted(path for path in places.clusters().iterdir() if path.is_dir())
    kept = places.started()
    return found if kept in found or not kept.is_dir() else [*found, kept]


def _is_throw_away(state_dir: Path) -> bool:
    record = process.read_record(state_dir)
    return record.throw_away if record is not None else state_dir.parent == places.clusters()


def _turn() -> AbstractContextManager[None]:
    return system.exclusive(
        places.lock(), what="another start or stop of a shared cluster to end", limit_s=_LOCK_LIMIT_S
    )
