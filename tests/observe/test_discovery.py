"""A group as clients find it."""

from __future__ import annotations

from labkit.observe import discovery
from labkit.observe.discovery import Group, GroupVersion, ServedType

from .conftest import Stage

EIGHT = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def test_a_group_nobody_serves_is_an_answer(stage: Stage) -> None:
    seen = discovery.look(stage.cluster, "cours.example.com")
    assert not seen.served
    assert (seen.preferred, seen.versions) == (None, ())


def test_a_definition_adds_one_type_with_the_eight_verbs(stage: Stage) -> None:
    stage.api.apply(stage.load("01-colis-minimal.yaml"))
    stage.established("colis.cours.example.com")

    seen = discovery.look(stage.cluster, "cours.example.com")

    assert (seen.preferred, [v.version for v in seen.versions]) == ("v1alpha1", ["v1alpha1"])
    (served,) = seen.versions[0].types
    assert (served.plural, served.kind, served.namespaced) == ("colis", "Colis", True)
    assert served.verbs == EIGHT
    assert (served.short_names, served.categories, served.subresources) == ((), (), ())


def test_discovery_is_not_read_before_it_has_followed_the_definition(stage: Stage) -> None:
    stage.apply("01-colis-minimal.yaml")
    for file in ("04-colis-complet.yaml", "05-colis-v1.yaml"):
        stage.api.apply(stage.load(file))
        seen = discovery.look(stage.cluster, "cours.example.com")
        assert seen.versions[0].types[0].short_names == ("cl",)
    assert [v.version for v in seen.versions] == ["v1", "v1alpha1"]


def test_the_stable_version_is_preferred_and_subresources_belong_to_their_type(stage: Stage) -> None:
    stage.apply("04-colis-complet.yaml", "05-colis-v1.yaml")

    seen = discovery.look(stage.cluster, "cours.example.com")

    assert seen.preferred == "v1"
    assert [v.version for v in seen.versions] == ["v1", "v1alpha1"]
    for version in seen.versions:
        (served,) = version.types
        assert (served.short_names, served.categories) == (("cl",), ("cours",))
        below = {sub.name: sub for sub in served.subresources}
        assert set(below) == {"status", "scale"}
        assert below["scale"].kind == "Scale"
        assert set(below["status"].verbs) == {"get", "patch", "update"}


def test_a_built_in_group_is_read_as_well(stage: Stage) -> None:
    seen = discovery.look(stage.cluster, "apps")
    assert seen.preferred == "v1"
    assert "deployments" in {served.plural for served in seen.versions[0].types}


def test_a_version_whose_own_document_is_gone_is_not_taken_for_an_answer() -> None:
    v1 = GroupVersion("v1", (ServedType("colis", "colis", "Colis", True, EIGHT, (), (), ()),))
    followed = Group("cours.example.com", "v1", (v1,))
    half_way = Group("cours.example.com", "v1", (v1, GroupVersion("v1alpha1", ())))
    assert discovery._told(half_way) != discovery._told(followed)
