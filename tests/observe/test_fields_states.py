"""What becomes of a manifest in a state of its own: an object that is there, a policy, no type at all."""

from __future__ import annotations

import pytest

from labkit.errors import ApiError
from labkit.observe import fields

from .conftest import Stage


def told(seen: fields.PrunedAndDefaulted) -> list[tuple[str, str]]:
    return [(change.dotted, change.kind) for change in seen.changes]


def test_an_object_that_is_there_is_updated_so_an_old_mistake_passes(stage: Stage) -> None:
    mauvais = stage.load("objects/mauvais.yaml")
    stage.apply("01-colis-minimal.yaml", "objects/mauvais.yaml", "02-colis-schema.yaml")

    seen = fields.look(stage.cluster, mauvais)
    renamed = fields.look(stage.cluster, mauvais | {"metadata": {"name": "mauvais-2", "namespace": "ch54"}})

    assert (seen.sent_as, seen.refusal) == ("update", None)
    assert told(seen) == [("spec.base", "defaulted"), ("spec.worker", "defaulted"), ("spec.wroker", "pruned")]
    assert renamed.sent_as == "new"
    assert renamed.refusal is not None
    assert [cause.field for cause in renamed.refusal.causes] == ["spec.api.replicas"]


def test_a_status_that_the_main_url_ignores_is_dropped_and_not_pruned(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml")
    manifest = stage.load("objects/mini.yaml") | {"status": {"observedGeneration": 1}}
    assert ("status", "dropped") in told(fields.look(stage.cluster, manifest))


def test_a_value_another_one_takes_the_place_of_is_changed(stage: Stage) -> None:
    """The third moment of defaulting: a policy takes a field away, and the default comes back for the value sent."""
    from labkit.observe import policy

    stage.apply("02-colis-schema.yaml")
    for obj in _policy():
        stage.api.apply(obj)
    manifest = stage.load("objects/mini.yaml")
    manifest["metadata"]["labels"] = {"essai": "mutation"}
    manifest["spec"]["worker"] = {"max": 9}
    policy.wait_in_force(stage.cluster, manifest, "spec.worker.max")

    (changed,) = (change for change in fields.look(stage.cluster, manifest).changes if change.kind == "changed")

    assert (changed.dotted, changed.before, changed.after) == ("spec.worker.max", 9, 5)


def _policy() -> list[dict[str, object]]:
    import yaml

    from .conftest import CRD

    return list(yaml.safe_load_all((CRD / "politique-retire-max.yaml").read_text(encoding="utf-8")))


def test_a_type_nobody_serves_is_an_error(stage: Stage) -> None:
    with pytest.raises(ApiError) as caught:
        fields.look(stage.cluster, stage.load("objects/mini.yaml"))
    assert caught.value.code == 404
    assert "no type Colis" in caught.value.state
