"""Who ends an embedded cluster: its holder, its lessee, or the person; and that nothing is left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import psutil
import pytest

from labkit.cluster import Api, Owner, choose, embedded, places, process
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import ClusterBusy, ClusterChoiceError, ClusterGone, ClusterStartError
from tests.cluster.helpers import end, eventually, kill, line_of, nothing_left, python

HOLD = """
from labkit.cluster import Owner, choose
cluster = choose.attach_or_start(choose.resolve("embedded"), owner=Owner.HELD)
print(cluster.state_dir, flush=True)
input()
"""
LEASE = """
import sys
from labkit.cluster import Owner, choose
spec = choose.resolve("embedded")
cluster = choose.attach_or_start(spec, owner=Owner.LEASED, lessee=int(sys.argv[1]))
print(cluster.state_dir, cluster.ready.pid, flush=True)
"""
IDLE = "input()"


def note(cluster: EmbeddedCluster, name: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
    with Api(cluster) as api:
        api.apply(body)


def noted(cluster: EmbeddedCluster, name: str) -> bool:
    with Api(cluster) as api:
        return api.get(f"/api/v1/namespaces/default/configmaps/{name}") is not None


def test_a_killed_holder_leaves_neither_process_nor_directory() -> None:
    child = python(HOLD)
    state_dir = Path(line_of(child))
    assert process.find(state_dir) is not None
    end(child)
    nothing_left(state_dir)


def test_two_held_clusters_run_at_once_and_know_nothing_of_each_other() -> None:
    with (
        choose.opened(choose.resolve("embedded")) as one,
        choose.opened(choose.resolve("embedded")) as other,
    ):
        assert isinstance(one, EmbeddedCluster)
        assert isinstance(other, EmbeddedCluster)
        assert one.ready.server != other.ready.server
        note(one, "mine")
        assert noted(one, "mine")
        assert not noted(other, "mine")
        assert {record.state_dir for record in embedded.running()} == {one.state_dir, other.state_dir}
        with pytest.raises(ClusterChoiceError, match="several clusters run") as caught:
            choose.attach(choose.resolve(None))
        assert f"embedded:{one.state_dir}" in caught.value.evidence
    nothing_left(one.state_dir)
    nothing_left(other.state_dir)


def test_a_leased_cluster_outlives_its_starter_and_ends_with_its_lessee() -> None:
    lessee = python(IDLE)
    try:
        starter = python(LEASE, lessee.pid)
        state_dir = Path(line_of(starter).split()[0])
        starter.communicate()
        assert state_dir == places.lease(lessee.pid)
        assert process.find(state_dir) is not None, "it ended with the process that started it"
        found = choose.attach_or_start(choose.resolve(None), owner=Owner.LEASED, lessee=lessee.pid)
        assert isinstance(found, EmbeddedCluster)
        assert found.state_dir == state_dir
    finally:
        end(lessee)
    nothing_left(state_dir)
    gone = found.gone()
    assert gone is not None
    assert "first cell" in gone.next_act


def test_two_starters_of_one_lease_end_with_one_cluster() -> None:
    lessee = python(IDLE)
    try:
        starters = [python(LEASE, lessee.pid) for _ in range(2)]
        answers = {line_of(starter) for starter in starters}
        for starter in starters:
            starter.communicate()
        assert len(answers) == 1, f"they started two: {answers}"
        assert [record.state_dir for record in embedded.running()] == [places.lease(lessee.pid)]
    finally:
        end(lessee)
    nothing_left(places.lease(lessee.pid))


def test_a_left_cluster_runs_until_it_is_stopped_and_notebooks_find_it() -> None:
    left = choose.attach_or_start(choose.resolve("embedded"), owner=Owner.LEFT)
    assert isinstance(left, EmbeddedCluster)
    try:
        note(left, "before")
        again = choose.attach_or_start(choose.resolve("embedded"), owner=Owner.LEFT)
        notebook = choose.attach_or_start(choose.resolve(None), owner=Owner.LEASED, lessee=os.getpid())
        for found in (again, notebook):
            assert isinstance(found, EmbeddedCluster)
            assert found.state_dir == left.state_dir == places.started()
            assert noted(found, "before")
        notebook.stop()
        assert left.gone() is None, "a notebook stopped the person's cluster"
    finally:
        left.stop()
    nothing_left(left.state_dir)
    left.stop()


def test_a_kept_cluster_keeps_its_objects_over_a_stop_and_a_kill(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    spec = choose.resolve("embedded")
    first = choose.attach_or_start(spec, owner=Owner.LEFT, keep=keep)
    assert isinstance(first, EmbeddedCluster)
    try:
        note(first, "one")
        with pytest.raises(ClusterBusy, match="another started cluster"):
            choose.attach_or_start(spec, owner=Owner.LEFT, keep=tmp_path / "other")
        EmbeddedCluster(places.started(), owner=Owner.LEFT).stop()
        assert (keep / "etcd").is_dir()
        assert places.started() == places.clusters() / "started", "the pointer outlived the cluster"

        second = choose.attach_or_start(spec, owner=Owner.LEFT, keep=keep)
        assert isinstance(second, EmbeddedCluster)
        assert noted(second, "one")
        note(second, "two")
        kill(second.ready.pid)
        assert embedded.leftovers() == (), "a kept directory counts as left over"

        third = choose.attach_or_start(spec, owner=Owner.LEFT, keep=keep)
        assert isinstance(third, EmbeddedCluster)
        assert noted(third, "two")
    finally:
        embedded.stop_directory(keep)
    assert process.find(keep) is None


def test_what_killed_processes_left_is_listed_and_removed() -> None:
    child = python(HOLD)
    state_dir = Path(line_of(child))
    assert embedded.leftovers() == (), "a running cluster counts as left over"
    pid = process.find(state_dir)
    assert pid is not None
    kill(pid)
    end(child)
    assert embedded.leftovers() == (state_dir,)
    assert embedded.running() == ()
    assert embedded.remove_leftovers() == (state_dir,)
    assert not state_dir.exists()


def test_a_stale_lease_is_cleaned_by_the_next_start() -> None:
    spec = choose.resolve("embedded")
    one = choose.attach_or_start(spec, owner=Owner.LEASED, lessee=os.getpid())
    assert isinstance(one, EmbeddedCluster)
    kill(one.ready.pid)
    other = choose.attach_or_start(spec, owner=Owner.LEASED, lessee=os.getpid())
    assert isinstance(other, EmbeddedCluster)
    try:
        assert other.state_dir == one.state_dir
        assert other.gone() is None
        assert other.info().version
    finally:
        other.stop()
    nothing_left(other.state_dir)


def test_a_record_that_names_another_process_is_not_believed(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    record = json.loads((cluster.state_dir / "cluster.json").read_text())
    stale = tmp_path / "stale"
    stale.mkdir()
    (stale / "cluster.json").write_text(json.dumps({**record, "pid": os.getpid(), "stateDir": str(stale)}))
    with pytest.raises(ClusterGone, match="has ended"):
        embedded.attach(stale)
    embedded.stop_directory(stale)
    assert cluster.gone() is None


def test_a_directory_in_use_is_refused_to_a_second_holder(cluster: EmbeddedCluster) -> None:
    with pytest.raises(ClusterBusy, match="in use") as caught:
        EmbeddedCluster(cluster.state_dir, owner=Owner.HELD).start()
    assert f"embedded:{cluster.state_dir}" in caught.value.next_act
    assert cluster.gone() is None


def test_with_no_cluster_running_there_is_none_to_attach_to() -> None:
    with pytest.raises(ClusterGone, match="no cluster runs") as caught:
        choose.attach(choose.resolve(None))
    assert "labkit start" in caught.value.next_act


def test_attaching_to_an_empty_directory_says_that_nothing_runs_there(tmp_path: Path) -> None:
    with pytest.raises(ClusterGone, match="no embedded cluster runs there"):
        choose.attach_or_start(choose.resolve(f"embedded:{tmp_path}"), owner=Owner.HELD)


def test_a_directory_with_somebodys_files_is_neither_used_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    cluster = EmbeddedCluster(tmp_path, owner=Owner.HELD)
    with pytest.raises(ClusterStartError, match="did not start"):
        cluster.start()
    cluster.stop()
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_the_person_can_stop_it_by_signal_and_is_told_so() -> None:
    held = EmbeddedCluster(places.held(), owner=Owner.HELD)
    held.start()
    try:
        process.terminate(held.ready.pid, held.state_dir)
        eventually("the child's end to be seen", lambda: held.gone() is not None)
        gone = held.gone()
        assert gone is not None
        assert (gone.state, gone.evidence) == ("the embedded control plane was stopped", "exit status 0")
    finally:
        held.stop()
    nothing_left(held.state_dir)


def test_a_start_that_was_begun_is_waited_for_or_given_up(home: Path) -> None:
    cluster = EmbeddedCluster(home / "clusters" / "begun", owner=Owner.HELD)
    cluster.begin()
    begun = cluster.pid
    try:
        cluster.start()
        assert cluster.ready.pid == begun
    finally:
        cluster.stop()
    cluster.begin()
    again = cluster.pid
    cluster.stop(at_once=True)
    assert again not in (None, begun)
    assert not psutil.pid_exists(again or 0)
    assert not cluster.state_dir.exists()
