"""kubectl's answer as a value: one text, sorted causes, parsed output, and an environment without surprises."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from labkit.cluster import Kubectl, KubectlResult
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.cluster.kubectl import clean_environment, environment, forget_discovery, sort_causes
from labkit.errors import CommandError
from tests.cluster.backends import write_kubeconfig


def result(stdout: str = "", stderr: str = "", exit_code: int = 0) -> KubectlResult:
    return KubectlResult(("kubectl", "get", "x"), exit_code, stdout, stderr, 0.1)


def test_the_causes_of_a_refusal_are_sorted_under_their_head() -> None:
    stderr = 'The Colis "a" is invalid: \n* spec.b: wrong\n* spec.a: wrong\nThe Colis "b" is invalid: spec.z: wrong\n'
    assert result(stderr=stderr, exit_code=1).text == (
        'The Colis "a" is invalid: \n* spec.a: wrong\n* spec.b: wrong\nThe Colis "b" is invalid: spec.z: wrong\n'
    )


def test_the_lines_of_one_cause_stay_together() -> None:
    lines = ["head", "* z: ERROR: <input>:1:6: undefined", " | self.x", " | ....^", "ERROR: <input>:2:1: b", "* a: bad"]
    assert sort_causes(lines) == ["head", "* a: bad", *lines[1:5]]


def test_lines_that_are_no_causes_keep_their_order() -> None:
    lines = ["error: resource mapping not found", "ensure CRDs are installed first", "Error from server: b"]
    assert sort_causes(lines) == lines


def test_the_text_has_warnings_then_output_then_errors() -> None:
    stderr = "error: second\nWarning: deprecated\n"
    told = result(stdout="created", stderr=stderr, exit_code=1)
    assert told.text == "Warning: deprecated\ncreated\nerror: second\n"
    assert told.warnings == ("deprecated",)
    assert told.errors == {"error: second"}


def test_nothing_is_added_to_output_without_errors() -> None:
    assert result(stdout="[]").text == "[]"


def test_output_is_parsed_on_demand() -> None:
    assert result(stdout='{"a": 1}').json == {"a": 1}
    assert result(stdout="a: [1, x]\n").yaml == {"a": [1, "x"]}


@pytest.mark.parametrize("stdout", ["", "colis   2s"])
def test_output_that_is_not_json_is_told_with_what_it_is(stdout: str) -> None:
    with pytest.raises(CommandError, match="not JSON") as caught:
        _ = result(stdout=stdout, stderr="error: no such thing\n").json
    assert "error: no such thing" in caught.value.evidence
    assert "-o json" in caught.value.next_act


def test_results_are_values() -> None:
    assert result(stdout="a") == result(stdout="a")
    assert len({result(stdout="a"), result(stdout="a"), result(stdout="b")}) == 2


def test_the_body_of_a_cell_is_read_from_standard_input(kubectl: Kubectl) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-stdin}\ndata: {word: été}\n"
    made = kubectl.run(["apply", "-f", "-", "-o", "json"], stdin=manifest)
    assert made.json["data"] == {"word": "été"}
    assert made.argv == ("kubectl", "apply", "-f", "-", "-o", "json")
    assert made.seconds > 0
    assert (
        kubectl.run(["delete", "configmap", "from-stdin"]).text
        == 'configmap "from-stdin" deleted from default namespace\n'
    )


def test_without_a_body_standard_input_is_empty(kubectl: Kubectl) -> None:
    assert kubectl.run(["apply", "-f", "-"]).errors == {"error: no objects passed to apply"}


def test_commands_read_files_of_the_folder_they_run_in(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")
    shown = kubectl.run(["create", "-f", "one.yaml", "--dry-run=client"], cwd=tmp_path)
    assert shown.text == "configmap/one created (dry run)\n"


def test_settings_of_the_person_do_not_reach_it(
    kubectl: Kubectl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kuberc may alias ``get`` away, and KUBECTL_* variables change what is printed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "kuberc").write_text(
        "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n"
        "defaults: [{command: get, options: [{name: output, default: json}]}]\n"
    )
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", "nonsense")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    assert kubectl.run(["get", "namespace", "default", "--no-headers"]).text.startswith("default ")


def test_the_environment_is_the_persons_without_surprises(cluster: EmbeddedCluster) -> None:
    base = {"HOME": "/h", "PATH": "/p", "KUBECTL_X": "1", "KUBERC": "/k", "KUBE_EDITOR": "vi", "LANG": "fr"}
    assert clean_environment(base) == {"HOME": "/h", "PATH": "/p", "LANG": "fr", "LC_ALL": "C", "KUBERC": "off"}
    made = environment(cluster, base)
    assert made["KUBECONFIG"] == str(cluster.kubeconfig)
    assert made["KUBECACHEDIR"] == str(cluster.state_dir / "kubectl-cache")
    assert "KUBECONFIG" not in base


def test_another_context_is_chosen_without_writing_the_kubeconfig(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    theirs = tmp_path / "config"
    write_kubeconfig(theirs, cluster.kubeconfig, context="course")
    before = theirs.read_bytes()
    guest = ExistingCluster(theirs, "course")
    kubectl = Kubectl(guest)
    assert kubectl.run(["get", "namespace", "default"]).ok
    assert kubectl.run(["config", "current-context"]).text == "course\n"
    assert kubectl.run(["config", "use-context", "nowhere"]).ok
    assert kubectl.run(["get", "namespace", "default"]).ok, "the course was moved to another cluster"
    assert theirs.read_bytes() == before
    first, second = environment(guest)["KUBECONFIG"].split(os.pathsep)
    assert yaml.safe_load(Path(first).read_text())["current-context"] == "course"
    assert second == str(theirs)


def test_a_forgotten_cache_is_asked_for_anew(cluster: EmbeddedCluster, kubectl: Kubectl) -> None:
    kubectl.run(["get", "namespace", "default"])
    assert any(cluster.cache_dir.rglob("servergroups.json"))
    forget_discovery(cluster)
    assert not any(cluster.cache_dir.rglob("*.json"))
    assert kubectl.run(["get", "namespace", "default"]).ok
    assert any(cluster.cache_dir.rglob("servergroups.json"))
    forget_discovery(cluster, "http")
    assert not (cluster.cache_dir / "http").exists()
    assert any(cluster.cache_dir.rglob("servergroups.json")), "the other part was cleared too"
