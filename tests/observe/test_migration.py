"""A storage migration, watched to its end."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3

from labkit.cluster import Api
from labkit.errors import ApiError, CapabilityMissing, WaitTimeout
from labkit.observe import fields, migration
from labkit.observe.migration import KeyMoved
from labkit.show import views
from labkit.waiting import Seen, wait_for

from .conftest import Foreign, Stage

NAME = "colis-vers-v1"
KEYS = "/registry/cours.example.com/colis/ch54"


@pytest.fixture
def due(stage: Stage) -> Stage:
    """Two versions, principal stored in the old one and ancien in the new one; no migration yet."""
    stage.apply("04-colis-complet.yaml", "objects/principal.yaml", "05-colis-v1.yaml", "objects/ancien.yaml")
    return stage


def test_every_key_is_told_with_its_version_before_and_after(due: Stage) -> None:
    due.apply("08-migration.yaml")
    _release(due)

    seen = migration.watch(due.cluster, NAME)

    assert seen.keys is not None
    assert [(moved.key, moved.before, moved.after) for moved in seen.keys] == [
        (f"{KEYS}/ancien", "v1", "v1"),
        (f"{KEYS}/principal", "v1alpha1", "v1"),
    ]
    assert seen.succeeded
    assert {(c.type, c.status, c.reason) for c in seen.conditions} == {
        ("Running", "False", "MigrationCompleted"),
        ("Succeeded", "True", "StorageVersionMigrationSucceeded"),
    }
    assert (seen.definition, seen.storage_version, seen.stored_versions) == ("colis.cours.example.com", "v1", ("v1",))


def test_who_looks_late_still_sees_what_was_before(due: Stage) -> None:
    due.apply("08-migration.yaml")
    _release(due)
    first = migration.watch(due.cluster, NAME)
    path = "/apis/cours.example.com/v1/namespaces/ch54/colis"
    due.api.delete(f"{path}/ancien")
    due.apply("objects/mini.yaml")
    wait_for("ancien to go", lambda: Seen(due.api.get(f"{path}/ancien") is None, "there"), limit_s=60)

    late = migration.watch(due.cluster, NAME)

    assert first.keys is not None
    assert late.keys == (
        KeyMoved(f"{KEYS}/ancien", "v1", "", rewritten=False),
        KeyMoved(f"{KEYS}/mini", "", "v1", rewritten=True),
        first.keys[1],
    )


def test_what_etcd_has_forgotten_is_not_made_up(due: Stage) -> None:
    due.apply("08-migration.yaml")
    _release(due)
    migration.watch(due.cluster, NAME)
    due.apply("objects/mini.yaml")
    _compact(due)

    late = migration.watch(due.cluster, NAME)

    assert late.keys is not None
    assert {moved.before for moved in late.keys} == {"?"}
    assert {moved.after for moved in late.keys} == {"v1"}


def test_progress_tells_the_conditions_and_how_many_objects_are_done(due: Stage) -> None:
    lines: list[str] = []
    due.apply("08-migration.yaml")
    api = _Unending(due.cluster)
    with pytest.raises(WaitTimeout, match="Running True"):
        _watched(due, api).ended(_watched(due, api).definition(), lines.append, limit_s=0.05, etcd=True)
    told = [f"Running True (MigrationRunning); {done} of 2 objects stored in v1" for done in (1, 2)]
    assert lines in (told, told[:1], told[1:])  # the server may move the other one at any moment


def test_a_migration_that_does_not_end_says_what_releases_it(due: Stage) -> None:
    due.apply("08-migration.yaml")
    api = _Unending(due.cluster)
    with pytest.raises(WaitTimeout) as caught:
        _watched(due, api).ended(_watched(due, api).definition(), lambda _: None, limit_s=0.05, etcd=False)
    assert "garbage collector" in caught.value.next_act


def test_a_migration_that_fails_is_told_with_its_reason(due: Stage) -> None:
    refuse = _refusing_policy()
    due.apply("objects/mini.yaml")
    try:
        for obj in refuse:
            due.api.apply(obj)
        _in_force(due, wanted=True)
        due.apply("08-migration.yaml")
        _release(due)
        seen = migration.watch(due.cluster, NAME)
    finally:
        for obj in refuse:
            due.api.delete(due.api.path_of(obj))
        _in_force(due, wanted=False)

    assert not seen.succeeded
    assert seen.failure is not None
    assert seen.failure.reason == "StorageVersionMigrationFailed"
    assert "principal stays" in seen.failure.message
    assert [(moved.key, moved.after) for moved in seen.behind] == [(f"{KEYS}/principal", "v1alpha1")]
    # The server has shortened the list all the same, so the view says what etcd says.
    assert seen.stored_versions == ("v1",)
    assert "no longer name v1alpha1, but etcd still holds 1 of the objects" in views.text(seen)


def test_without_etcd_the_keys_are_not_shown_and_the_rest_is(due: Stage, foreign: Foreign) -> None:
    due.apply("08-migration.yaml")
    _release(due)
    seen = migration.watch(foreign, NAME)
    assert (seen.keys, seen.succeeded, seen.stored_versions) == (None, True, ("v1",))


def test_a_migration_nobody_created_is_an_error_with_the_command(due: Stage) -> None:
    with pytest.raises(ApiError) as caught:
        migration.watch(due.cluster, NAME)
    assert caught.value.code == 404
    assert "kubectl apply" in caught.value.next_act


def test_a_server_without_migrations_is_a_missing_capability(due: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "API", "storagemigration.k8s.io/v0")
    monkeypatch.setattr(migration, "MIGRATIONS", "/apis/storagemigration.k8s.io/v0/storageversionmigrations")
    with pytest.raises(CapabilityMissing) as caught:
        migration.watch(due.cluster, NAME)
    assert caught.value.capability == "storagemigration.k8s.io/v0"


def _release(stage: Stage) -> None:
    """Let the migration start at once, by a write to an object that is stored in the new version already.

    A write from before the migration took its resource version would not count.
    """

    def look() -> Seen[None]:
        now = stage.api.get(f"{migration.MIGRATIONS}/{NAME}") or {}
        return Seen("resourceVersion" in now.get("status", {}), str(now.get("status")))

    wait_for("the migration to take its resource version", look, limit_s=70)
    path = "/apis/cours.example.com/v1/namespaces/ch54/colis/ancien"
    stage.api.patch(path, {"metadata": {"annotations": {"labkit.example/touched": "1"}}})


class _Unending(Api):
    """The server, as long as a migration runs."""

    def get(self, path: str) -> dict[str, Any] | None:
        obj = super().get(path)
        self.close()
        if obj is not None and obj["kind"] == "StorageVersionMigration":
            running = {"type": "Running", "status": "True", "reason": "MigrationRunning"}
            return obj | {"status": {"conditions": [running]}}
        return obj


def _watched(stage: Stage, api: Api) -> migration._Watched:
    return migration._Watched(stage.cluster, api, NAME)


def _compact(stage: Stage) -> None:
    """Make etcd forget everything but the present."""
    access = stage.cluster.ready.etcd
    (own,) = stage.cluster.etcd_range("/registry/namespaces/ch54")
    newest = max(kv.mod_revision for kv in (own, *stage.cluster.etcd_range("/registry/cours", prefix=True)))
    files = {"ca_certs": str(access.ca), "cert_file": str(access.cert), "key_file": str(access.key)}
    with urllib3.PoolManager(**files) as http:
        answer = http.request("POST", f"{access.url}/v3/kv/compaction", json={"revision": newest})
        assert answer.status == 200, answer.data


def _refusing_policy() -> list[dict[str, Any]]:
    """Nobody may change principal any more."""
    api, name = "admissionregistration.k8s.io/v1", "labkit-test-principal-stays"
    rule = {"apiGroups": ["cours.example.com"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["colis"]}
    return [
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "validations": [{"expression": "object.metadata.name != 'principal'", "message": "principal stays"}],
            },
        },
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def _in_force(stage: Stage, *, wanted: bool) -> None:
    """The server learns of a policy, and of its end, up to a second later."""
    manifest = stage.load("objects/principal.yaml")

    def look() -> Seen[None]:
        refusal = fields.look(stage.cluster, manifest).refusal
        refused = refusal is not None and "principal stays" in refusal.message
        return Seen(refused is wanted, str(refusal))

    wait_for(f"the policy to be in force: {wanted}", look, limit_s=30)
