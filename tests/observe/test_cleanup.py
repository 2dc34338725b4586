"""Cleaning up takes the course's names and nothing else."""

from __future__ import annotations

from labkit.cluster.claim import COURSE_NAMES
from labkit.observe import cleanup, load

from .conftest import Foreign, Stage

DEFINITION = "customresourcedefinitions/colis.cours.example.com"


def test_what_the_course_made_goes_and_the_rest_stays(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "objects/principal.yaml", "objects/mini.yaml", "07-roles.yaml")
    other = load.definition(1)
    other["metadata"]["name"] = "wagen.andere.example.com"
    other["spec"] |= {
        "group": "andere.example.com",
        "names": {"kind": "Wagen", "listKind": "WagenList", "plural": "wagen", "singular": "wagen"},
    }
    stage.api.apply(other)
    try:
        first = cleanup.clean_up(stage.cluster)
        second = cleanup.clean_up(stage.cluster)
        assert stage.api.get(stage.api.path_of(other)) is not None
        assert stage.api.get("/api/v1/namespaces/default") is not None
    finally:
        stage.api.delete(stage.api.path_of(other))

    assert {DEFINITION, "namespaces/ch54", "clusterroles/colis-lecture"} <= set(first.deleted)
    assert "storageversionmigrations/colis-vers-v1" in first.absent
    assert (first.left, first.keys_before, first.keys_left, first.clean) == ((), 2, 0, True)
    assert (second.deleted, second.left, second.keys_before) == ((), (), 0)
    assert "namespaces/ch54" in second.absent
    assert stage.api.get("/api/v1/namespaces/ch54") is None


def test_an_object_held_by_its_finalizer_is_let_go(stage: Stage) -> None:
    held = stage.load("objects/principal.yaml")
    held["metadata"]["finalizers"] = ["cours.example.com/inventaire"]
    stage.apply("01-colis-minimal.yaml")
    stage.api.apply(held)
    seen = cleanup.clean_up(stage.cluster)
    assert DEFINITION in seen.deleted
    assert (seen.keys_before, seen.keys_left) == (1, 0)


def test_on_a_foreign_cluster_nobody_claimed_nothing_is_deleted(stage: Stage, foreign: Foreign) -> None:
    stage.apply("01-colis-minimal.yaml")
    seen = cleanup.clean_up(foreign)
    assert (seen.deleted, seen.absent, seen.left) == ((), (), ())
    assert (seen.keys_before, seen.keys_left) == (None, None)
    assert stage.api.get("/apis/cours.example.com") is not None


def test_the_names_of_a_claim_that_went_with_its_namespace_are_looked_for_all_the_same(
    stage: Stage, foreign: Foreign
) -> None:
    stage.apply("07-roles.yaml")
    seen = cleanup.clean_up(foreign, names=COURSE_NAMES)
    assert seen.deleted == ()
    assert "clusterroles/colis-lecture" in seen.left
    assert "storageversionmigrations/colis-vers-v1" in seen.absent
    assert not seen.clean
