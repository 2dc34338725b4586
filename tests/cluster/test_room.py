"""The room as a whole: its public names, what importing it costs, and the version it is for."""

from __future__ import annotations

import re
import subprocess
import sys

from labkit import cluster
from labkit.cluster.base import KUBERNETES_VERSION
from tests.cluster.helpers import ROOT


def test_every_public_name_can_be_had() -> None:
    missing = [name for name in cluster.__all__ if getattr(cluster, name, None) is None]
    assert not missing
    assert cluster.__all__ == sorted(cluster.__all__)


def test_importing_the_room_loads_no_part_of_it() -> None:
    code = (
        "import sys, labkit.cluster; print([m for m in sys.modules if m.startswith(('labkit.cluster.', 'kubernetes'))])"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"


def test_choosing_a_cluster_does_not_load_the_kubernetes_client() -> None:
    """It takes a third of a second, and ``labkit --help`` and a refused spelling need none of it."""
    code = (
        "import sys; from labkit.cluster import choose; choose.resolve('embedded'); print('kubernetes' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "False"


def test_the_control_plane_is_built_from_the_version_the_course_names() -> None:
    required = re.search(r"^\s*k8s\.io/kubernetes (v\S+)", (ROOT / "controlplane" / "go.mod").read_text(), re.MULTILINE)
    assert required is not None
    assert required[1] == KUBERNETES_VERSION
