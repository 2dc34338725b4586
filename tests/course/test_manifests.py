"""Manifests are read and written as kubectl reads and writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.cluster import Kubectl
from labkit.cluster.kubectl import LAST_APPLIED
from labkit.course import manifests
from labkit.course.begin import begin
from labkit.course.notebook import Begin
from labkit.errors import ManifestError

from .building import REPOSITORY


def manifest_file(folder: Path, text: str) -> Path:
    path = folder / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    return path


HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_an_unquoted_timestamp_is_a_string_as_in_json(tmp_path: Path) -> None:
    (read,) = manifests.documents(manifest_file(tmp_path, f"{HEAD}at: 2026-10-08T20:00:00Z\nday: 2026-10-08\n"))
    assert (read["at"], read["day"]) == ("2026-10-08T20:00:00Z", "2026-10-08")


def test_what_is_not_yaml_is_told_with_its_line_and_without_the_parsers_own_words() -> None:
    with pytest.raises(ManifestError) as refused:
        manifests.parsed("spec:\n  a: b: c\n", "the answer")
    assert refused.value.evidence == "mapping values are not allowed in this context (line 2, column 7)"


@pytest.mark.parametrize(
    "value", ["!!int x", "!!float x", "!!bool x", "!!timestamp x", f"1{'0' * 5000}"], ids=lambda value: value[:12]
)
def test_a_value_that_is_not_what_it_is_said_to_be_is_no_yaml(value: str) -> None:
    with pytest.raises(ManifestError) as refused:
        manifests.parsed(f"{HEAD}data: {value}\n", "the answer")
    assert refused.value.state == "the answer: not YAML"
    assert refused.value.evidence


def test_empty_documents_are_left_out(tmp_path: Path) -> None:
    assert len(manifests.documents(manifest_file(tmp_path, f"---\n{HEAD}---\n# nothing\n---\n{HEAD}"))) == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("a: [", "not YAML"), ("- a", "not a manifest"), ("kind: A", "not a manifest"), ("# nothing", "no object in it")],
)
def test_what_is_no_manifest_is_refused_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    path = manifest_file(tmp_path, text)
    with pytest.raises(ManifestError, match=complaint) as refused:
        manifests.documents(path)
    assert str(path) in refused.value.state


def test_a_manifest_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot be read: No such file"):
        manifests.documents(tmp_path / "none.yaml")


def test_another_version_keeps_the_group() -> None:
    assert manifests.with_version({"apiVersion": "g.example/v1"}, "v2") == {"apiVersion": "g.example/v2"}
    assert manifests.with_version({"apiVersion": "v1"}, "v2") == {"apiVersion": "v2"}
    assert manifests.with_version({"apiVersion": "g/v1"}, None) == {"apiVersion": "g/v1"}


@pytest.mark.parametrize(
    ("kind", "version", "namespace", "path"),
    [
        ("Pod", "v1", "ch54", "/api/v1/namespaces/ch54/pods"),
        ("ClusterRole", "rbac.authorization.k8s.io/v1", None, "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
        ("MutatingAdmissionPolicy", "a/v1", None, "/apis/a/v1/mutatingadmissionpolicies"),
        ("Ingress", "n/v1", "x", "/apis/n/v1/namespaces/x/ingresses"),
    ],
)
def test_the_path_of_a_collection_is_guessed_as_client_go_guesses(
    kind: str, version: str, namespace: str | None, path: str
) -> None:
    metadata = {"name": "a"} | ({"namespace": namespace} if namespace else {})
    assert manifests.collection_path({"apiVersion": version, "kind": kind, "metadata": metadata}) == path


@pytest.mark.parametrize(
    "file",
    [
        "04-colis-complet.yaml",
        "07-roles.yaml",
        "politique-retire-max.yaml",
        "objects/principal.yaml",
        "objects/pod-en-attente.yaml",
    ],
)
def test_the_annotation_has_the_bytes_that_kubectl_writes(cluster, kubectl: Kubectl, file: str) -> None:
    begin(cluster, Begin("crd/01-colis-minimal.yaml"), root=REPOSITORY)
    documents = manifests.documents(REPOSITORY / "crd" / file)
    assert kubectl.run(["apply", "-f", str(REPOSITORY / "crd" / file)]).ok
    for document in documents:
        metadata = document["metadata"]
        where = ["-n", metadata["namespace"]] if "namespace" in metadata else []
        live = kubectl.run([*where, "get", f"{document['kind']}", metadata["name"], "-o", "json"]).json
        ours = manifests.as_applied(document)["metadata"]["annotations"]
        assert live["metadata"]["annotations"][LAST_APPLIED] == ours[LAST_APPLIED]
