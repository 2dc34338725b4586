"""The notebook front: ``lab = labkit.begin("cel")`` and everything a cell says after it.

A notebook must read like the chapter: real commands, their real answers, no plumbing. So ``begin`` finds or starts a
cluster, brings it to the beginning of the section, moves to the folder that holds ``crd/``, points plain ``!kubectl``
at the cluster, and registers ``%kubectl``, ``%%kubectl`` and ``%etcd``. What a command answers is printed, a refusal
too (it is the lesson, not an alarm), and stays at hand as a value in ``lab.last``.

This is the one module that changes ``os.environ`` and the working directory: a kernel is a process of its own.
Without IPython everything works but the magics.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.cluster import Cluster, Etcd, EtcdResult, Kubectl, KubectlResult, Owner, choose, claim, tools
from labkit.cluster.kubectl import diagnose, environment, forget_discovery
from labkit.course import manifests, notebook
from labkit.course.begin import begin as begin_section
from labkit.errors import NotebookError

if TYPE_CHECKING:
    from labkit.cluster import ClusterInfo

__all__ = ["Lab", "begin"]

Stdin = str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None

SHOWN_BYTES = 40
"""How much of a value that is no text ``%etcd`` prints: the head and the first fields, before any uid or time."""


def begin(section: str) -> Lab:
    """Bring the cluster to the beginning of *section*, prepare this process for its commands, and say so in one line.

    The cluster is the one ``LABKIT_CLUSTER`` names, else a running one, else an embedded one started here and kept
    for the kernel's parent (a restarted kernel finds its objects). Raises LabkitError when it cannot be had.
    """
    root = find_root(Path.cwd())
    _, section_begin = notebook.find(section, [Path.cwd(), root / "notebooks", root])
    cluster = choose.attach_or_start(
        choose.resolve(os.environ.get("LABKIT_CLUSTER")), owner=Owner.LEASED, progress=_say
    )
    info = cluster.info()
    if not info.owned:
        claim.claim(cluster, yes=os.environ.get("LABKIT_CLAIM") == "1")
    begin_section(cluster, section_begin, root=root)
    _prepare_process(cluster, root)
    lab = Lab(cluster, info, root)
    _register_magics(lab)
    _say(f'{info.backend} cluster, Kubernetes {info.version}: at the beginning of "{section}"')
    return lab


class Lab:
    """A cluster at a section, with what a cell can ask of it. ``last`` is what the last command brought."""

    def __init__(self, cluster: Cluster, info: ClusterInfo, root: Path) -> None:
        self.cluster = cluster
        self.info = info
        self.root = root
        self.last: KubectlResult | EtcdResult | None = None

    def __repr__(self) -> str:
        return f"<lab on {self.info.name}, Kubernetes {self.info.version}>"

    # -- commands -----------------------------------------------------------------------------------------------------

    def kubectl(
        self, *argv: str, stdin: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> KubectlResult:
        """Run ``kubectl ARGV…`` and print what it printed. *stdin* may be text, an object or several (sent as YAML).

        Raises LabkitError only when kubectl could not be run to an end; a refusal is a result.
        """
        if argv[:1] == ("explain",):
            self._wait_documented()
        result = Kubectl(self.cluster).run(argv, stdin=_as_yaml(stdin))
        self.last = result
        if gone := diagnose(result, self.cluster):
            raise gone
        _print(result.text)
        return result

    def etcd(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, print_value_only: bool = False
    ) -> EtcdResult:
        """Read a key, or every key with a prefix, straight from etcd, and print it as etcdctl does.

        A value that is no text is printed in part, with escapes (``k8s\\x00…``); ``lab.last.kvs[0].value`` has it all.
        Raises CapabilityMissing where the cluster's etcd cannot be read.
        """
        result = Etcd(self.cluster).get(key, prefix=prefix, keys_only=keys_only)
        self.last = result
        _print(_readable(result, print_value_only=print_value_only, keys_only=keys_only))
        return result

    def forget_discovery(self) -> None:
        """Clear what kubectl has cached of the cluster's types: the next command asks anew, like a fresh machine."""
        forget_discovery(self.cluster)
        _say("kubectl's discovery cache is cleared")

    def load(self, path: str) -> dict[str, Any]:
        """The object of a manifest file, as Python has it; *path* as in the commands (``crd/…``)."""
        found = manifests.documents(self.root / path)
        return found[0]

    def _wait_documented(self) -> None:
        from labkit.cluster import Api
        from labkit.course.published import wait_documented

        wait_documented(Api(self.cluster), "cours.example.com")


def find_root(start: Path) -> Path:
    """The nearest folder from *start* upwards that holds ``crd/``. Raises NotebookError."""
    for folder in [start, *start.parents]:
        if (folder / "crd").is_dir():
            return folder
    raise NotebookError(
        "no course here",
        evidence=f"neither {start} nor a folder above it holds crd/",
        next_act="start the notebook from the course's folder",
    )


# -- printing -------------------------------------------------------------------------------------------------------


def _say(line: str) -> None:
    print(line, flush=True)


def _print(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") or not text else f"{text}\n")
    sys.stdout.flush()


def _as_yaml(stdin: Stdin) -> str | None:
    if stdin is None or isinstance(stdin, str):
        return stdin
    import yaml

    objects = [stdin] if isinstance(stdin, Mapping) else list(stdin)
    return yaml.safe_dump_all(objects, allow_unicode=True, sort_keys=False)


def _readable(result: EtcdResult, *, print_value_only: bool, keys_only: bool) -> str:
    """What etcdctl prints, as text: values that are no UTF-8 in part and with Python's escapes."""
    printed = result.print(print_value_only=print_value_only, keys_only=keys_only)
    try:
        return printed.decode()
    except UnicodeDecodeError:
        lines = []
        for kv in result.kvs:
            if not print_value_only:
                lines.append(kv.key)
            lines.append(_escaped(kv.value))
        return "\n".join(lines) + "\n"


def _escaped(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        shown = repr(value[:SHOWN_BYTES])[2:-1]
        more = len(value) - SHOWN_BYTES
        return f"{shown}… ({more} more bytes)" if more > 0 else shown


# -- the process and its magics -------------------------------------------------------------------------------------


def _prepare_process(cluster: Cluster, root: Path) -> None:
    """Move to the course's folder, and let a plain ``kubectl`` reach the cluster."""
    os.chdir(root)
    wanted = environment(cluster)
    os.environ.update({name: wanted[name] for name in ("KUBECONFIG", "KUBECACHEDIR", "KUBERC") if name in wanted})
    folder = str(tools.find_kubectl().parent)
    path = os.environ.get("PATH", os.defpath)
    if path.split(os.pathsep)[0] != folder:
        os.environ["PATH"] = f"{folder}{os.pathsep}{path}"


def _register_magics(lab: Lab) -> None:
    """Register ``%kubectl``, ``%%kubectl`` and ``%etcd`` where there is an IPython."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None:
        from labkit.magics import register

        register(shell, lab)
