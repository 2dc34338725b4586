"""``make lab``, ``labkit lab``: JupyterLab on the working copy, with a cluster that lives as long as it does.

One owner: this process holds the cluster through its standard input, and Jupyter is its child. Whatever ends Jupyter
(its own "Shut down", Ctrl-C, a closed terminal) ends the cluster too; the kernels find it by ``LABKIT_CLUSTER``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from labkit.cluster import Cluster, choose, claim, system, tools
from labkit.cluster.base import Progress, silent
from labkit.cluster.kubectl import environment
from labkit.course.environment import kernel_environment
from labkit.course.notebook import find_root
from labkit.course.shared import shared_course
from labkit.errors import MachineError, NotebookError, ToolMissing
from labkit.machine.checkout import Checkout
from labkit.machine.lab_copy import make_copy

__all__ = ["open_lab"]


def open_lab(progress: Progress = silent) -> int:
    """Make or refresh the working copy, start a cluster, run JupyterLab there; returns Jupyter's exit status.

    The copy is ``lab/`` in the checkout; where labkit was installed, in the folder of a course, or else right here.
    ``LABKIT_CLUSTER`` and ``LABKIT_CLAIM`` are followed when they are set. Raises MachineError and
    ClusterError of every kind, before Jupyter runs.
    """
    program = Path(sys.executable).parent / "jupyter-lab"
    if not program.is_file():
        raise ToolMissing(
            "JupyterLab is not there", evidence=f"no {program.name} beside {sys.executable}", next_act="make setup"
        )
    copy = make_copy(*_places())
    progress(copy.text)
    with choose.opened(choose.resolve(None), progress=progress) as cluster:
        claim.claim(cluster, yes=os.environ.get("LABKIT_CLAIM") == "1")
        info = cluster.info()
        progress(f"{info.backend} cluster, Kubernetes {info.version}; JupyterLab opens on {copy.root}")
        return _run([str(program), *_options(copy.root)], copy.root, _environment(cluster))


def _places() -> tuple[Path, Path]:
    """The course to be copied, and where to."""
    try:
        course = Checkout.here().root
    except MachineError:
        try:
            course = find_root(Path.cwd())
        except NotebookError:
            return shared_course(), Path.cwd() / "lab"
    return course, course / "lab"


def _options(root: Path) -> list[str]:
    """Serve the whole copy, so that manifests can be opened too, and show the notebooks first; to this machine only."""
    options = [f"--ServerApp.root_dir={root}", f"--ServerApp.preferred_dir={root / 'notebooks'}"]
    options.append("--ServerApp.ip=127.0.0.1")
    if system.is_root():  # a container; Jupyter refuses root unless told
        options.append("--allow-root")
    return options


def _environment(cluster: Cluster) -> dict[str, str]:
    """For kernels the cluster's name; for JupyterLab's terminals the cluster's kubectl, and labkit, on PATH."""
    folders = [str(Path(sys.executable).parent), str(tools.find_kubectl().parent), os.environ.get("PATH", os.defpath)]
    path = {"PATH": os.pathsep.join(dict.fromkeys(folders))}
    kubectl = {name: value for name, value in environment(cluster, {}).items() if name.startswith("KUBE")}
    return os.environ | kubectl | kernel_environment(cluster) | path


def _run(argv: list[str], cwd: Path, environ: dict[str, str]) -> int:
    """Run Jupyter in this terminal. It asks for itself what Ctrl-C means, so this process leaves that to it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN: Jupyter would inherit that
    try:
        with subprocess.Popen(argv, cwd=cwd, env=environ) as jupyter:
            terminated = signal.signal(signal.SIGTERM, lambda *_: jupyter.terminate())
            try:
                return jupyter.wait()
            finally:
                signal.signal(signal.SIGTERM, terminated)
    finally:
        signal.signal(signal.SIGINT, before)
