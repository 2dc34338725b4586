"""Texts with their names: from files, from Python, and from a cluster, with etcd and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.cluster import Api
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.errors import ApiError, BadDocument, CapabilityMissing
from labkit.trace import Source, sources
from labkit.waiting import Seen, wait_for
from tests.cluster.helpers import remove_definitions

from .texts import MINI

WIDE = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "phares.sources.example.com"},
    "spec": {
        "group": "sources.example.com",
        "scope": "Cluster",
        "names": {"kind": "Phare", "plural": "phares"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"portee": {"type": "integer", "default": 9}},
                    }
                },
            }
        ],
    },
}
OBJECTS = "/apis/sources.example.com/v1/phares"


@pytest.fixture(scope="module")
def lit(cluster: EmbeddedCluster) -> Iterator[EmbeddedCluster]:
    """A cluster with a type that has no namespaces, and one object stored before the type had a default."""
    bare = json.loads(json.dumps(WIDE))
    del bare["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["portee"]["default"]
    with Api(cluster) as api:
        api.apply(bare)
        wait_for("the type", lambda: Seen(api.raw("GET", OBJECTS).ok, "not served"), limit_s=120)
        phare = {"apiVersion": "sources.example.com/v1", "kind": "Phare", "metadata": {"name": "armen"}}
        api.apply(phare, path=f"{OBJECTS}/armen")
        api.apply(WIDE)

        def completed() -> Seen[None]:
            return Seen((api.get(f"{OBJECTS}/armen") or {}).get("portee") == 9, "without the default")

        wait_for("the default", completed, limit_s=120)
        yield cluster
        remove_definitions(api, "phares.sources.example.com")


def test_a_type_is_found_by_group_and_kind_or_by_its_plural(lit: EmbeddedCluster) -> None:
    found = sources.type_on(lit, "sources.example.com", "Phare")
    assert found == sources.type_on(lit, "", "phares")
    assert (found.plural, found.namespaced, found.storage_version) == ("phares", False, "v1")
    definition = yaml.safe_load(found.definition.text)
    assert (definition["kind"], definition["apiVersion"]) == ("CustomResourceDefinition", "apiextensions.k8s.io/v1")
    with pytest.raises(ApiError, match=r"no definition of Phare in other\.example\.com: the cluster defines .*phares"):
        sources.type_on(lit, "other.example.com", "Phare")


def test_of_two_definitions_of_a_kind_the_established_one_is_taken(lit: EmbeddedCluster) -> None:
    rival = json.loads(json.dumps(WIDE))
    rival["metadata"]["name"], rival["spec"]["names"]["plural"] = "abris.sources.example.com", "abris"
    with Api(lit) as api:
        made = f"{DEFINITIONS}/abris.sources.example.com"
        api.apply(rival)

        def judged() -> Seen[None]:
            found = ((api.get(made) or {}).get("status") or {}).get("conditions") or []
            return Seen(any(one["type"] == "Established" for one in found), f"{found}")

        wait_for("its names to be judged", judged, limit_s=60)
        try:
            assert sources.type_on(lit, "sources.example.com", "Phare").plural == "phares"
        finally:
            remove_definitions(api, "abris.sources.example.com")


def test_an_object_without_namespace_is_found_in_etcd_as_it_lies_there(lit: EmbeddedCluster) -> None:
    given = Source(
        "mine", json.dumps({"apiVersion": "sources.example.com/v1", "kind": "Phare", "metadata": {"name": "armen"}})
    )
    _, there = sources.live(lit, given, namespace="ch54")
    assert there is not None and there.name == "/registry/sources.example.com/phares/armen in etcd"
    assert "portee" not in json.loads(there.text)
    found = sources.type_on(lit, "sources.example.com", "Phare")
    assert sources.stored_on(lit, found, "", "nobody") is None


def test_an_object_of_a_type_that_only_the_given_definition_has_is_a_new_one(lit: EmbeddedCluster) -> None:
    text = json.dumps({"apiVersion": "sources.example.com/v1", "kind": "Balise", "metadata": {"name": "armen"}})
    new = Source("new", "")
    assert sources.live(lit, Source("mine", text), namespace="ch54", definition=new) == (new, None)
    with pytest.raises(ApiError, match="no definition of Balise in "):
        sources.live(lit, Source("mine", text), namespace="ch54")
    lying = sources.live(lit, Source("mine", text.replace("Balise", "Phare")), namespace="ch54", definition=new)
    assert lying[0] is new and lying[1] is not None


def test_where_etcd_cannot_be_read_the_object_is_taken_as_the_api_gives_it(lit: EmbeddedCluster) -> None:
    guest = ExistingCluster(lit.kubeconfig)
    guest.start()
    found = sources.type_on(guest, "sources.example.com", "Phare")
    there = sources.stored_on(guest, found, "", "armen")
    assert there is not None and there.name == "phares/armen as the API gives it"
    assert json.loads(there.text)["portee"] == 9
    assert sources.stored_on(guest, found, "", "nobody") is None
    with pytest.raises(CapabilityMissing):
        sources.in_etcd(guest, found, "", "armen")


@pytest.mark.parametrize(
    ("served", "version"), [(("v1", "v2"), "v1"), (("v2", "v3"), "v3"), ((), None)], ids=["stored", "last", "none"]
)
def test_the_api_is_asked_in_a_version_that_is_served(served: tuple[str, ...], version: str | None) -> None:
    assert sources.Type(Source("a", ""), "g", "phares", True, "v1", served).read_version == version


def test_an_object_says_what_it_is_in_yaml_and_in_json() -> None:
    told = sources.identify(Source("a", MINI))
    assert told == sources.identify(Source("a", json.dumps(yaml.safe_load(MINI))))
    assert (told.group, told.version, told.kind, told.namespace, told.name) == (
        "cours.example.com", "v1alpha1", "Colis", "ch54", "mini",
    )  # fmt: skip
    core = sources.identify(Source("a", "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}"))
    assert (core.group, core.version, core.namespace, core.name) == ("", "v1", "", "")


SILENT = ["5", "", "kind: Colis", "a: [", "{apiVersion: v1, kind: Pod, metadata: 3}", "a: 1\n---\nb: 2", "[" * 50_000]


@pytest.mark.parametrize("text", SILENT, ids=lambda text: text[:12])
def test_what_does_not_say_what_it_is_is_named(text: str) -> None:
    with pytest.raises(BadDocument, match=r"^mine\.yaml: not (an|one) object"):
        sources.identify(Source("mine.yaml", text))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "object.yaml"
    path.write_text(MINI, encoding="utf-8-sig")
    assert sources.read(path).text == MINI


@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": float("nan")}, {"a": b"x"}])
def test_an_object_that_is_no_json_is_refused_by_name(value: dict[str, Any]) -> None:
    with pytest.raises(BadDocument, match=r"^the object: no object of JSON: "):
        Source.of("the object", value)
