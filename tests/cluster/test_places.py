"""Everything labkit keeps lies under one folder of its own."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from labkit.cluster import places
from labkit.errors import MachineError


def test_the_home_is_made_for_its_owner_only(home: Path) -> None:
    assert places.home() == home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(places.clusters().stat().st_mode) == 0o700


def test_a_home_that_cannot_be_made_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(MachineError, match="state folder cannot be made") as caught:
        places.home()
    assert "LABKIT_HOME" in caught.value.next_act


def test_without_a_setting_it_is_the_platforms_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LABKIT_HOME")
    monkeypatch.setattr("platformdirs.user_state_dir", lambda name: str(tmp_path / name))
    assert places.home() == tmp_path / "labkit"


def test_no_two_held_clusters_share_a_directory() -> None:
    assert places.held() != places.held()
    assert places.lease(7).name == "lease-7"


def test_the_started_cluster_lies_where_the_pointer_leads(tmp_path: Path) -> None:
    assert places.started() == places.clusters() / "started"
    places.kept_pointer().write_text(f"{tmp_path}\n")
    assert places.started() == tmp_path
