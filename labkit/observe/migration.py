"""A storage migration, watched from the version each key was written in to the version it is written in.

Changing the storage version rewrites nothing. A StorageVersionMigration asks a controller to write every object once
more, after which ``status.storedVersions`` loses the old version. What the object itself says of it is two conditions;
what happened is in etcd, so both are shown.

Why it may seem to hang: the controller works from the garbage collector's view of the type, and waits until that view
is as new as the migration. Where nothing else writes to the type, the view only learns of the time by a watch bookmark,
about once a minute. Any write to any object of the type makes it new at once; the course makes one with kubectl, to an
object that is already stored in the new version, so that the migration still has all its work to do.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from labkit.cluster import Api, Cluster, Etcd
from labkit.cluster.base import Progress, silent
from labkit.errors import ApiError, CapabilityMissing, CommandError
from labkit.languages import translate, worded
from labkit.observe import definition as definitions
from labkit.observe import stored
from labkit.observe.definition import Condition, Definition, conditions_of
from labkit.observe.stored import StoredVersion
from labkit.waiting import Seen, wait_for

__all__ = ["MIGRATIONS", "KeyMoved", "Migration", "watch"]

API = "storagemigration.k8s.io/v1"
MIGRATIONS = f"/apis/{API}/storageversionmigrations"
MIGRATION_KEYS = "/registry/storageversionmigrations"
"""Where etcd has the migrations themselves (built-in types of this group lie without its name)."""

LIMIT_S = 180.0
"""A bookmark comes within about a minute, and a real garbage collector learns of a new type within half a minute."""

WHY_IT_WAITS = worded(
    "a migration starts once the garbage collector's view of the type is as new as the migration; without a write to "
    "an object of the type that takes a minute or more"
)


@dataclass(frozen=True)
class KeyMoved:
    """One key of the type; *before* or *after* is "" for an object created or deleted meanwhile.

    *rewritten* says that its bytes were written again since the migration was created, by whomever.
    """

    key: str
    before: str
    after: str
    rewritten: bool


@dataclass(frozen=True)
class Migration:
    """A migration that has ended.

    *conditions* are its own; *keys* every key of the type, or None where etcd cannot be read; *stored_versions* the
    definition's list after it; *seconds* the time spent watching.
    """

    name: str
    definition: str
    storage_version: str
    conditions: tuple[Condition, ...]
    keys: tuple[KeyMoved, ...] | None
    stored_versions: tuple[str, ...]
    seconds: float

    @property
    def failure(self) -> Condition | None:
        """The condition that says it failed; None when it succeeded."""
        return next((c for c in self.conditions if c.type == "Failed" and c.status == "True"), None)

    @property
    def succeeded(self) -> bool:
        return self.failure is None

    @property
    def behind(self) -> tuple[KeyMoved, ...]:
        """Keys that are still not written in the storage version; none where etcd cannot be read.

        Not to be concluded from *stored_versions*: the controller of Kubernetes 1.37.2 shortens that list after a
        failed migration too (pkg/controller/storageversionmigrator/migrationrunner.go, finishCRDMigration).
        """
        return tuple(moved for moved in self.keys or () if moved.after not in ("", self.storage_version))


def watch(
    cluster: Cluster,
    name: str,
    progress: Progress = silent,
    *,
    limit_s: float = LIMIT_S,
) -> Migration:
    """Wait until the migration *name* has succeeded or failed, and tell what it did.

    The version each key had before is read from etcd's history, so it does not matter how late one starts to watch
    (the API server keeps about five minutes of history; older keys then show what is known). A migration that fails is
    an answer. Raises ApiError with code 404 where there is no such migration, CapabilityMissing where the cluster has
    no such API, WaitTimeout after *limit_s* seconds.
    """
    start = time.monotonic()
    with Api(cluster) as api:
        watched = _Watched(cluster, api, name)
        found = watched.definition()
        before = watched.before(found)
        last = watched.ended(found, progress, limit_s=limit_s, etcd=before is not None)
        after = stored.versions(cluster, found) if before is not None else ()
        return Migration(
            name=name,
            definition=found.name,
            storage_version=found.storage_version,
            conditions=conditions_of(last),
            keys=None if before is None else _moves(before, after),
            stored_versions=definitions.get(api, found.name).stored_versions,
            seconds=time.monotonic() - start,
        )


@dataclass(frozen=True)
class _Watched:
    """One migration on one connection, asked again and again."""

    cluster: Cluster
    api: Api
    name: str

    def get(self) -> dict[str, Any]:
        obj = self.api.get(f"{MIGRATIONS}/{self.name}")
        if obj is not None:
            return obj
        if self.api.get(f"/apis/{API}") is None:
            raise CapabilityMissing(
                translate("this cluster has no storage migration"),
                capability=API,
                evidence=translate(
                    "Kubernetes {version} does not serve {api}, which is on by default from v1.37",
                    version=self.api.version(),
                    api=API,
                ),
                next_act=translate("use a cluster of v1.37 or later: LABKIT_CLUSTER=embedded"),
            )
        raise ApiError(
            translate("no migration {name} on this cluster", name=self.name),
            code=404,
            reason="NotFound",
            evidence=translate("GET {path} answered 404", path=MIGRATIONS + "/" + self.name),
            next_act=translate("create it first: kubectl apply -f crd/08-migration.yaml"),
        )

    def definition(self) -> Definition:
        resource = self.get()["spec"]["resource"]
        return definitions.get(self.api, f"{resource['resource']}.{resource['group']}")

    def before(self, found: Definition) -> tuple[StoredVersion, ...] | None:
        """The keys as they were just before the migration was created; None where etcd cannot be read.

        Where etcd has forgotten that revision, the keys that were not written since are still known.
        """
        try:
            own = Etcd(self.cluster).get(f"{MIGRATION_KEYS}/{self.name}").kvs
            now = stored.versions(self.cluster, found)
        except CapabilityMissing:
            return None
        if not own:
            return now
        created = own[0].create_revision
        try:
            return stored.versions(self.cluster, found, revision=created - 1)
        except CommandError:
            return tuple(
                kv if kv.mod_revision < created else replace(kv, api_version="?", mod_revision=0) for kv in now
            )

    def ended(self, found: Definition, progress: Progress, *, limit_s: float, etcd: bool) -> dict[str, Any]:
        """Wait until it has succeeded or failed, and its runner has tidied up; as it then is."""

        def look() -> Seen[dict[str, Any]]:
            now = self.get()
            state = {c.type: c.status for c in conditions_of(now)}
            ended = "True" in (state.get("Succeeded"), state.get("Failed")) and state.get("Running") != "True"
            keys = stored.versions(self.cluster, found) if etcd and not ended else ()
            return Seen(ended, _sight(now, found, keys), now)

        last = wait_for(
            translate("the migration {name} to end", name=self.name),
            look,
            limit_s=limit_s,
            progress=progress,
            next_act=translate(
                "write to any object of {name}, then watch again: {why}", name=found.name, why=translate(WHY_IT_WAITS)
            ),
        )
        return last or {}


def _version_of(api_version: str) -> str:
    return api_version.rpartition("/")[2]


def _sight(migration: dict[str, Any], found: Definition, keys: tuple[StoredVersion, ...]) -> str:
    """ "Running True (MigrationRunning); 1 of 2 objects stored in v1" """
    told = [f"{c.type} {c.status} ({c.reason})" for c in conditions_of(migration)]
    if keys:
        new = sum(_version_of(key.api_version) == found.storage_version for key in keys)
        counts = {"new": new, "all": len(keys), "version": found.storage_version}
        told.append(translate("{new} of {all} objects stored in {version}", **counts))
    return "; ".join(told) or translate("no condition yet")


def _moves(before: tuple[StoredVersion, ...], after: tuple[StoredVersion, ...]) -> tuple[KeyMoved, ...]:
    old, new = {kv.key: kv for kv in before}, {kv.key: kv for kv in after}
    moves = []
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        moves.append(
            KeyMoved(
                key=key,
                before=_version_of(was.api_version) if was else "",
                after=_version_of(now.api_version) if now else "",
                rewritten=now is not None and (was is None or was.mod_revision != now.mod_revision),
            )
        )
    return tuple(moves)
