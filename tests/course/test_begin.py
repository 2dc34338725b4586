"""A section's beginning is reached from every state of a cluster, quickly, and looks as kubectl would have made it."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labkit.cluster import Api, Kubectl
from labkit.cluster.claim import ANNOTATION, COURSE_NAMES, NAMESPACE
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.course import notebook
from labkit.course.begin import begin
from labkit.course.notebook import Begin, BeginObject
from labkit.course.published import discovered, wait_documented
from labkit.errors import ClaimRefused, ManifestError
from labkit.waiting import Seen, wait_for

from .building import REPOSITORY

COLIS = "customresourcedefinitions/colis.cours.example.com"
PRINCIPAL = "crd/objects/principal.yaml"

MINIMAL = Begin("crd/01-colis-minimal.yaml", objects=(BeginObject(PRINCIPAL), BeginObject("crd/objects/mauvais.yaml")))
SCHEMA = Begin("crd/02-colis-schema.yaml", objects=(BeginObject(PRINCIPAL),))
COMPLETE = Begin(
    "crd/04-colis-complet.yaml",
    objects=(
        BeginObject(
            PRINCIPAL,
            merges=(
                {"spec": {"base": {"taille": "2Gi"}}},
                {"spec": {"version": "2.10.0"}},
                {"metadata": {"labels": {"a": "b"}}},
            ),
            status={"observedGeneration": 3},
        ),
    ),
)
ONLY_V1 = Begin(
    "crd/06-colis-v1-seul.yaml", objects=(BeginObject(PRINCIPAL, version="v1"),), also=("crd/07-roles.yaml",)
)
NOTHING = Begin(namespace=False)


@pytest.fixture
def start(cluster: EmbeddedCluster) -> Iterator[Callable[..., None]]:
    """Begin; the cluster is left without anything of the course but an empty ch54."""

    def run(wanted: Begin) -> None:
        begin(cluster, wanted, root=REPOSITORY)

    yield run
    begin(cluster, NOTHING, root=REPOSITORY)


def names(kubectl: Kubectl, *what: str) -> list[str]:
    return kubectl.run(["get", *what, "-o", "name", "--ignore-not-found"]).text.split()


def spec(kubectl: Kubectl, name: str = "principal") -> dict[str, object]:
    got: dict[str, object] = kubectl.run(["-n", "ch54", "get", "colis", name, "-o", "json"]).json["spec"]
    return got


def test_a_beginning_has_its_definition_its_objects_and_nothing_else(
    start: Callable[..., None], kubectl: Kubectl
) -> None:
    start(MINIMAL)
    assert names(kubectl, "-n", "ch54", "colis") == [f"colis.cours.example.com/{n}" for n in ("mauvais", "principal")]
    kubectl.run(["-n", "ch54", "create", "serviceaccount", "lecteur"])
    kubectl.run(["apply", "-f", str(REPOSITORY / "crd/07-roles.yaml")])
    start(SCHEMA)
    assert names(kubectl, "-n", "ch54", "colis") == ["colis.cours.example.com/principal"]
    assert names(kubectl, "-n", "ch54", "serviceaccounts") == ["serviceaccount/default"]
    assert names(kubectl, "clusterroles", "colis-lecture", "colis-ecriture") == []


def test_a_beginning_without_definition_has_no_type(start: Callable[..., None], kubectl: Kubectl) -> None:
    start(SCHEMA)
    start(NOTHING)
    assert kubectl.run(["get", "colis"]).text == 'error: the server doesn\'t have a resource type "colis"\n'


def test_objects_are_what_kubectl_apply_would_have_made(start: Callable[..., None], kubectl: Kubectl) -> None:
    start(SCHEMA)
    file = str(REPOSITORY / PRINCIPAL)
    assert kubectl.run(["apply", "-f", file]).text == "colis.cours.example.com/principal unchanged\n"
    definition = str(REPOSITORY / "crd/02-colis-schema.yaml")
    assert kubectl.run(["apply", "-f", definition]).text.endswith("colis.cours.example.com unchanged\n")
    changed = Path(file).read_text(encoding="utf-8").replace("2.2.1", "2.2.2")
    assert kubectl.run(["apply", "-f", "-"], stdin=changed).text == "colis.cours.example.com/principal configured\n"
    assert spec(kubectl)["version"] == "2.2.2"


def test_patches_raise_the_generation_and_status_is_written_as_a_controller_writes_it(
    start: Callable[..., None], kubectl: Kubectl
) -> None:
    start(MINIMAL)
    template = "{.metadata.generation} {.status}"
    read = ["-n", "ch54", "get", "colis", "principal", "-o", f"jsonpath={template}"]
    assert kubectl.run(read).text == "1 "
    start(COMPLETE)
    assert kubectl.run(read).text == '3 {"observedGeneration":3}'
    assert spec(kubectl)["version"] == "2.10.0"


def test_the_aggregated_roles_have_followed_when_a_section_begins(start: Callable[..., None], kubectl: Kubectl) -> None:
    for _ in range(3):
        for wanted, has_roles in ((ONLY_V1, True), (SCHEMA, False)):
            start(wanted)
            rules = kubectl.run(["get", "clusterrole", "view", "-o", "json"]).json["rules"]
            assert any("cours.example.com" in rule.get("apiGroups", ()) for rule in rules) == has_roles


def test_an_object_is_made_in_the_version_that_is_asked_for(start: Callable[..., None], kubectl: Kubectl) -> None:
    start(ONLY_V1)
    assert kubectl.run(["-n", "ch54", "get", "colis", "principal", "-o", "jsonpath={.apiVersion}"]).text.endswith("/v1")
    assert names(kubectl, "clusterroles", "colis-lecture") == ["clusterrole.rbac.authorization.k8s.io/colis-lecture"]
    stored = kubectl.run(["get", COLIS, "-o", "jsonpath={.status.storedVersions}"])
    assert stored.text == '["v1"]'


def test_sections_begun_one_after_another_never_see_each_other(
    start: Callable[..., None], cluster: EmbeddedCluster, kubectl: Kubectl
) -> None:
    classe = {id(MINIMAL): None, id(SCHEMA): "standard", id(COMPLETE): "standard", id(ONLY_V1): "standard"}
    for wanted in [MINIMAL, COMPLETE, ONLY_V1, NOTHING, SCHEMA, MINIMAL] * 4:
        start(wanted)
        if wanted is NOTHING:
            assert kubectl.run(["get", "colis"]).text.startswith("error: the server doesn't have a resource type")
            continue
        assert spec(kubectl)["base"].get("classe") == classe[id(wanted)]  # type: ignore[attr-defined]
        with Api(cluster) as api:
            assert discovered(api)["cours.example.com"] == {"v1" if wanted is ONLY_V1 else "v1alpha1"}


def test_the_server_takes_a_section_s_type_for_too_old_to_hold_the_first_create(
    start: Callable[..., None], kubectl: Kubectl
) -> None:
    start(SCHEMA)
    path = "{.status.conditions[?(@.type=='Established')].lastTransitionTime}"
    established = datetime.datetime.fromisoformat(kubectl.run(["get", COLIS, "-o", f"jsonpath={path}"]).text.strip())
    made = (kubectl.run(["get", COLIS, "-o", "jsonpath={.metadata.creationTimestamp}"])).text.strip()
    assert datetime.datetime.fromisoformat(made) - established > datetime.timedelta(seconds=2)
    applied = kubectl.run(["apply", "-f", str(REPOSITORY / "crd/objects/mini.yaml")])
    assert applied.text == "colis.cours.example.com/mini created\n"


def test_the_discovery_cache_of_another_section_is_forgotten(start: Callable[..., None], kubectl: Kubectl) -> None:
    start(ONLY_V1)
    assert kubectl.run(["get", "colis", "-A"]).ok
    start(SCHEMA)
    assert kubectl.run(["-n", "ch54", "get", "colis", "principal", "-o", "jsonpath={.apiVersion}"]).text.endswith(
        "v1alpha1"
    )


def hold_object(kubectl: Kubectl) -> None:
    held = '{"metadata":{"finalizers":["cours.example.com/essai"]}}'
    assert kubectl.run(["-n", "ch54", "patch", "colis", "principal", "--type=merge", "-p", held]).ok


def definition_being_deleted(kubectl: Kubectl) -> None:
    hold_object(kubectl)
    kubectl.run(["delete", COLIS, "--wait=false"])


def object_being_deleted(kubectl: Kubectl) -> None:
    hold_object(kubectl)
    kubectl.run(["-n", "ch54", "delete", "colis", "principal", "--wait=false"])


def namespace_being_deleted(kubectl: Kubectl) -> None:
    kubectl.run(["delete", "namespace", "ch54", "--wait=false"])


def namespace_deletion_held(kubectl: Kubectl) -> None:
    hold_object(kubectl)
    kubectl.run(["delete", "namespace", "ch54", "--wait=false"])

    def look() -> Seen[None]:
        conditions = kubectl.run(["get", "namespace", "ch54", "-o", "jsonpath={.status.conditions}"]).text
        return Seen("SomeFinalizersRemain" in conditions, conditions)

    wait_for("the namespace controller to have met the finalizer", look, limit_s=20)


def migration_running(kubectl: Kubectl) -> None:
    for file in ("05-colis-v1", "08-migration"):
        assert kubectl.run(["apply", "-f", str(REPOSITORY / f"crd/{file}.yaml")]).ok


def policies_in_force(kubectl: Kubectl) -> None:
    assert kubectl.run(["apply", "-f", str(REPOSITORY / "crd/politique-retire-max.yaml")]).ok
    assert kubectl.run(["apply", "-f", str(REPOSITORY / "crd/objects/pod-en-attente.yaml")]).ok


def unserved_definition(kubectl: Kubectl) -> None:
    off = '[{"op":"replace","path":"/spec/versions/0/served","value":false}]'
    assert kubectl.run(["patch", COLIS, "--type=json", "-p", off]).ok


def definitions_of_the_cost_section(kubectl: Kubectl) -> None:
    made = [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"type-{number:02}.cout.example.com"},
            "spec": {
                "group": "cout.example.com",
                "scope": "Namespaced",
                "names": {"kind": f"Type{number:02}", "plural": f"type-{number:02}"},
                "versions": [
                    {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
                ],
            },
        }
        for number in range(1, 6)
    ]
    body = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    assert kubectl.run(["create", "-f", "-"], stdin=body).ok


@pytest.mark.parametrize(
    "disturb",
    [
        definition_being_deleted,
        object_being_deleted,
        namespace_being_deleted,
        namespace_deletion_held,
        migration_running,
        policies_in_force,
        unserved_definition,
        definitions_of_the_cost_section,
    ],
)
def test_a_section_begins_from(
    disturb: Callable[[Kubectl], None], start: Callable[..., None], kubectl: Kubectl
) -> None:
    start(COMPLETE)
    disturb(kubectl)
    start(SCHEMA)
    assert names(kubectl, "crd") == ["customresourcedefinition.apiextensions.k8s.io/colis.cours.example.com"]
    assert names(kubectl, "colis", "-A") == ["colis.cours.example.com/principal"]
    assert kubectl.run(["get", "namespace", "ch54", "-o", "jsonpath={.status.phase}"]).text == "Active"
    assert kubectl.run(["get", COLIS, "-o", "jsonpath={.status.storedVersions}"]).text == '["v1alpha1"]'
    for kind in ("storageversionmigrations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"):
        assert names(kubectl, kind) == []
    assert names(kubectl, "-n", "ch54", "pods") == []


def test_explain_describes_the_definition_that_was_just_begun(
    start: Callable[..., None], cluster: EmbeddedCluster, kubectl: Kubectl
) -> None:
    for wanted, word in [(MINIMAL, "<no description>"), (SCHEMA, "-required-"), (MINIMAL, "<no description>")]:
        start(wanted)
        kubectl.run(["apply", "-f", str(REPOSITORY / PRINCIPAL)])  # leaves a copy of OpenAPI's index in kubectl's cache
        wait_documented(cluster, "cours.example.com")
        explained = kubectl.run(["explain", "colis.spec" if wanted is SCHEMA else "colis"])
        assert explained.ok, explained.text
        assert word in explained.text


def test_every_notebook_begins(start: Callable[..., None]) -> None:
    for course in notebook.load_all(REPOSITORY / "notebooks"):
        start(course.begin)


def test_a_manifest_that_is_not_there_is_said_before_anything_is_touched(
    start: Callable[..., None], cluster: EmbeddedCluster, kubectl: Kubectl
) -> None:
    start(SCHEMA)
    for wrong in (Begin("crd/none.yaml"), Begin("crd/07-roles.yaml"), Begin(also=("crd/none.yaml",))):
        with pytest.raises(ManifestError):
            begin(cluster, wrong, root=REPOSITORY)
    assert names(kubectl, "colis", "-A") == ["colis.cours.example.com/principal"]


def test_a_foreign_cluster_is_begun_on_only_when_claimed_and_keeps_its_claim(
    start: Callable[..., None], cluster: EmbeddedCluster, kubectl: Kubectl
) -> None:
    start(NOTHING)
    kubectl.run(["delete", "namespace", "ch54"])
    foreign = ExistingCluster(cluster.kubeconfig, None)
    with pytest.raises(ClaimRefused):
        begin(foreign, SCHEMA, root=REPOSITORY)
    assert names(kubectl, "crd") == [] and names(kubectl, "namespace", NAMESPACE) == []
    annotations = {ANNOTATION: json.dumps([str(name) for name in COURSE_NAMES])}
    claimed = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "annotations": annotations}}
    assert kubectl.run(["create", "-f", "-"], stdin=json.dumps(claimed)).ok
    begin(foreign, SCHEMA, root=REPOSITORY)
    kubectl.run(["delete", "namespace", "ch54", "--wait=false"])
    begin(foreign, NOTHING, root=REPOSITORY)
    begin(foreign, SCHEMA, root=REPOSITORY)
    assert names(kubectl, "colis", "-A") == ["colis.cours.example.com/principal"]
    kept = kubectl.run(["get", "namespace", NAMESPACE, "-o", "json"]).json["metadata"]["annotations"]
    assert json.loads(kept[ANNOTATION]) == [str(name) for name in COURSE_NAMES]
    kubectl.run(["delete", "namespace", "ch54"])
    assert os.environ.get("KUBECONFIG") is None


def test_a_narrow_claim_is_neither_overstepped_nor_widened(cluster: EmbeddedCluster, kubectl: Kubectl) -> None:
    kubectl.run(["create", "clusterrole", "colis-lecture", "--verb=get", "--resource=pods"])
    narrow = json.dumps([f"namespaces/{NAMESPACE}"])
    claimed = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "annotations": {ANNOTATION: narrow}},
    }
    try:
        assert kubectl.run(["create", "-f", "-"], stdin=json.dumps(claimed)).ok
        foreign = ExistingCluster(cluster.kubeconfig, None)
        begin(foreign, NOTHING, root=REPOSITORY)
        kubectl.run(["delete", "namespace", NAMESPACE, "--wait=false"])
        begin(foreign, NOTHING, root=REPOSITORY)
        assert names(kubectl, "clusterrole", "colis-lecture")
        kept = kubectl.run(["get", "namespace", NAMESPACE, "-o", "json"]).json["metadata"]["annotations"]
        assert kept[ANNOTATION] == narrow
    finally:
        cluster.reset()
