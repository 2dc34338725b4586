"""A kubeconfig is read, never written; what is wrong with it is told before anything is asked of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from labkit.cluster import Kubectl, choose
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.existing import ExistingCluster
from labkit.errors import ClusterChoiceError, ClusterGone, ClusterStartError
from tests.cluster.backends import write_kubeconfig


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ClusterChoiceError, match=r"cannot be read.*No such file"):
        ExistingCluster(tmp_path / "nothing").start()


@pytest.mark.parametrize("text", ["[1, 2]", "just words", "a: [", "contexts: [{nam: x}]"])
def test_a_file_that_is_no_kubeconfig_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ClusterChoiceError, match="is not a kubeconfig"):
        ExistingCluster(path).start()


def test_an_unknown_context_names_those_there_are(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    write_kubeconfig(tmp_path / "config", cluster.kubeconfig, context="course")
    with pytest.raises(ClusterChoiceError, match="no context prod") as caught:
        ExistingCluster(tmp_path / "config", "prod").start()
    assert "course, nowhere" in caught.value.evidence
    assert caught.value.next_act.endswith("config#course")


def test_without_a_current_context_one_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\n")
    with pytest.raises(ClusterChoiceError, match="no current context"):
        ExistingCluster(path).start()


def test_a_cluster_that_does_not_answer_is_told_with_a_command_to_try(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "config"
    write_kubeconfig(path, cluster.kubeconfig, context="course")
    with pytest.raises(ClusterGone, match="does not answer") as caught:
        ExistingCluster(path).start()
    assert f"kubeconfig:{path}#nowhere" in caught.value.evidence
    assert caught.value.next_act == f"kubectl --kubeconfig {path} --context nowhere version"


def test_a_cluster_that_does_not_let_us_in_is_told(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "config"
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "not-a-token"}
    path.write_text(yaml.safe_dump(config))
    with pytest.raises(ClusterStartError, match="does not let this kubeconfig in") as caught:
        ExistingCluster(path).start()
    assert "HTTP 401" in caught.value.evidence


def test_the_current_context_is_fixed_when_the_cluster_is_opened(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "config"
    write_kubeconfig(path, cluster.kubeconfig, context="course")
    config = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**config, "current-context": "course"}))
    guest = ExistingCluster(path)
    guest.start()
    assert guest.name == f"kubeconfig:{path}#course"
    path.write_text(yaml.safe_dump({**config, "current-context": "nowhere"}))
    assert Kubectl(guest).run(["get", "namespace", "default"]).ok
    assert guest.info().server == cluster.ready.server


def test_a_read_only_file_is_enough_and_stays_as_it_is(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "theirs" / "config"
    write_kubeconfig(path, cluster.kubeconfig, context="course")
    path.chmod(0o400)
    before = (path.read_bytes(), path.stat().st_mtime_ns, list(path.parent.iterdir()))
    guest = choose.attach_or_start(choose.resolve(f"kubeconfig:{path}#course"), owner=choose.Owner.HELD)
    assert guest.info().backend == "kubeconfig"
    assert Kubectl(guest).run(["get", "namespace"]).ok
    guest.stop()
    assert (path.read_bytes(), path.stat().st_mtime_ns, list(path.parent.iterdir())) == before


def test_two_contexts_do_not_share_a_discovery_cache(tmp_path: Path) -> None:
    path = tmp_path / "config"
    assert ExistingCluster(path, "a").cache_dir != ExistingCluster(path, "b").cache_dir
    assert ExistingCluster(path, "a").cache_dir == ExistingCluster(path, "a").cache_dir
