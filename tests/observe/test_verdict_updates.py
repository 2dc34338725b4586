"""Verdicts on objects with a history, each on a cluster of its own making."""

from __future__ import annotations

import json
from typing import Any

from labkit.cluster import Kubectl
from labkit.observe import verdict

from .conftest import Stage


def colis(spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "suivi", "namespace": "ch54"}
    return {"apiVersion": "cours.example.com/v1", "kind": "Colis", "metadata": metadata, "spec": spec}


def test_a_field_the_last_manifest_had_and_this_one_has_not_goes_as_with_kubectl(
    stage: Stage, kubectl: Kubectl
) -> None:
    """The removed field comes back as the default: completed, not kept."""
    stage.apply("06-colis-v1-seul.yaml")
    first = colis({"version": "2.3.0", "worker": {"max": 9}})
    assert kubectl.run(["apply", "-f", "-"], stdin=json.dumps(first)).ok
    second = colis({"version": "2.3.0"})
    seen = verdict.ask(stage.cluster, second)
    assert [(change.dotted, change.kind) for change in seen.changes] == [("spec.worker", "defaulted")]
    applied = kubectl.run(["apply", "--dry-run=server", "-o", "json", "-f", "-"], stdin=json.dumps(second))
    assert applied.json["spec"]["worker"] == seen.changes[0].after == {"min": 0, "max": 5}


def test_what_an_old_object_is_forgiven_is_told(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml", "objects/mauvais.yaml", "02-colis-schema.yaml")
    mauvais = stage.load("objects/mauvais.yaml")
    seen = verdict.ask(stage.cluster, mauvais, checking="ignore")
    assert (seen.sent_as, seen.outcomes) == ("update", ("pruned",))
    assert [(reason.field, reason.rules) for reason in seen.forgiven] == [("spec.api.replicas", ("type",))]
    mauvais["metadata"]["name"] = "mauvais-2"
    fresh = verdict.ask(stage.cluster, mauvais, checking="ignore")
    assert [(reason.field, reason.station, reason.rules) for reason in fresh.reasons] == [
        ("spec.api.replicas", "validation", ("type",))
    ]
