"""The Go half of the set-up: the embedded control plane, built from the module in ``controlplane/``.

The first build compiles some 2,200 packages, most of Kubernetes' API server and of etcd: about eight minutes on two
cores. So it tells how far it is: ``go list`` says which packages Go's cache lacks, ``go build -v`` names each one as it
is compiled. The cache makes a build that was broken off go on where it was.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from labkit.errors import LabkitError, MachineError
from labkit.machine.checkout import (
    CONTROL_PLANE_PACKAGE,
    Checkout,
    control_plane_digest,
    control_plane_flags,
    read_stamp,
    write_stamp,
)
from labkit.machine.jobs import Command, Failure, Pause, Steps

__all__ = [
    "compiled",
    "control_plane_steps",
    "failure",
    "find_go",
    "go_on_path",
    "go_version_wanted",
    "gogc",
    "is_fresh",
]

BUILD_BYTES = 4_000_000_000
"""Free space asked for before a first build: Go's build cache takes 2.8 GB, the modules 0.7 GB, the program 0.13 GB."""

FIRST_BUILD_PACKAGES = 1000
PLENTY_OF_MEMORY = 12_000_000_000
"""From here on the compilers may collect their garbage more rarely: a tenth less time for twice the memory."""

NO_NETWORK = ("dial tcp", "no such host", "i/o timeout", "proxyconnect", "TLS handshake", "connection refused",
              "module lookup disabled")  # fmt: skip
FULL = "no space left on device"
SHOWN_OF_A_LINE = 200
ELSE = (
    "or use another cluster: minikube (labkit play --cluster minikube), or a control plane built elsewhere (its path "
    "in LABKIT_CONTROLPLANE); python3 -m labkit.machine.setup --without-control-plane sets up the rest"
)


def is_fresh(checkout: Checkout) -> bool:
    """Whether the program is there and was built from today's sources."""
    stamp = read_stamp(checkout.control_plane_stamp)
    return os.access(checkout.control_plane, os.X_OK) and stamp.get("digest") == control_plane_digest(checkout)


def go_version_wanted(checkout: Checkout) -> tuple[int, int]:
    """The oldest Go that builds the module: the ``go`` line of its go.mod."""
    found = re.search(r"(?m)^go (\d+)\.(\d+)", (checkout.go_module / "go.mod").read_text(encoding="utf-8"))
    if found is None:
        raise MachineError("controlplane/go.mod has no go line", next_act="git checkout controlplane/go.mod")
    return int(found[1]), int(found[2])


def go_on_path(checkout: Checkout) -> tuple[str | None, str]:
    """The Go on PATH when it is new enough, else None; and what was found, in words."""
    program = shutil.which("go")
    if program is None:
        return None, "no go on PATH"
    wanted = go_version_wanted(checkout)
    try:
        said = subprocess.run(
            [program, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            cwd=checkout.root,  # not in the module: there a too old Go would fetch another one, or fail
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{program}: {error}"
    found = re.match(r"go(\d+)\.(\d+)", said)
    if found is None:
        return None, f"{program} does not tell its version"
    fits = (int(found[1]), int(found[2])) >= wanted
    return (program if fits else None), f"{program} is {said}"


def find_go(checkout: Checkout) -> tuple[str | None, str]:
    """The Go to use: the one on PATH when it is new enough, else the one in .venv; and what was found, in words."""
    program, found = go_on_path(checkout)
    if program is not None:
        return program, found
    own = checkout.venv_bin / "go"
    return (str(own), f"{found}; {own} is there") if own.exists() else (None, f"{found}, none in {checkout.venv.name}")


def control_plane_steps(checkout: Checkout, go: str | None, go_installed: Callable[[], bool]) -> Steps:
    """Build the program under another name, try it, put it in its place, and stamp it.

    *go* is the Go to use; None means the one in the environment, as soon as *go_installed* says that it is there.
    """
    while go is None:
        if go_installed():
            go = str(checkout.venv_bin / "go")
        else:
            yield Pause("waiting for Go to be installed")
    digest = control_plane_digest(checkout)
    flags = control_plane_flags(checkout)
    lacking = "{{if .Stale}}{{.ImportPath}}{{end}}"
    listing = (go, "list", "-deps", *flags, "-f", lacking, CONTROL_PLANE_PACKAGE)
    env = {"CGO_ENABLED": "0"}
    fails = failure("the control plane", "control-plane.log", ELSE)
    lines = yield Command("fetching modules", listing, fails, checkout.go_module, env, detail=_downloads())
    stale = sum(1 for line in lines if line and not line.startswith("go: "))
    if stale > FIRST_BUILD_PACKAGES:
        _check_disk(go)
    checkout.control_plane.parent.mkdir(parents=True, exist_ok=True)
    new = checkout.control_plane.with_name(f".new-{os.getpid()}")
    try:
        build = (go, "build", "-v", *flags, "-o", str(new), CONTROL_PLANE_PACKAGE)
        yield Command("compiling", build, fails, checkout.go_module, {**env, **gogc()}, detail=compiled(stale))
        yield Command("trying it", (str(new), "version"), fails, checkout.go_module)
        checkout.control_plane_stamp.unlink(missing_ok=True)
        new.replace(checkout.control_plane)
    finally:
        new.unlink(missing_ok=True)
    write_stamp(checkout.control_plane_stamp, {"digest": digest})


def gogc() -> dict[str, str]:
    if "GOGC" in os.environ:
        return {}
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return {}
    return {"GOGC": "400"} if memory >= PLENTY_OF_MEMORY else {}


def _check_disk(go: str) -> None:
    asked = [go, "env", "GOCACHE"]
    cache = Path(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "/")
    while not cache.exists():
        cache = cache.parent
    free = shutil.disk_usage(cache).free
    if free < BUILD_BYTES:
        raise MachineError(
            "the disk has too little room to build the control plane",
            evidence=f"{free / 1e9:.1f} GB free at {cache} (Go's cache), {BUILD_BYTES / 1e9:.1f} GB needed once",
            next_act="make room there, or set GOCACHE to a directory on a larger disk, then make setup again",
        )


def _downloads() -> Callable[[str], str | None]:
    seen = 0

    def detail(line: str) -> str | None:
        nonlocal seen
        if not line.startswith("go: downloading "):
            return None
        seen += 1
        return f"{seen} ({line.split()[2]})"

    return detail


def compiled(total: int) -> Callable[[str], str | None]:
    """Counts the names ``go build -v`` prints; when all are through, Go still links for some seconds."""
    seen = 0

    def detail(line: str) -> str | None:
        nonlocal seen
        if not line or " " in line or line.startswith("#"):
            return None
        seen += 1
        if seen >= total:
            return "all packages compiled; linking"
        return f"{seen:,} of {total:,} packages"

    return detail


def failure(what: str, log: str, otherwise: str) -> Failure:
    """Makes the error of a ``go`` command that ended badly: *what* was to be built, and what to do *otherwise*."""

    def made(code: int, lines: Sequence[str]) -> LabkitError:
        said = [
            line for line in lines if (" " in line or line.startswith("#")) and not line.startswith("go: downloading")
        ]
        evidence = f"exit code {code}: " + (" | ".join(line[:SHOWN_OF_A_LINE] for line in said[-2:]) or "no output")
        text = "\n".join(said)
        if FULL in text.lower():
            return MachineError(
                f"the disk is full: {what} was not built",
                evidence=evidence,
                next_act="make room (Go's cache: go env GOCACHE), then make setup again",
            )
        if any(sign in text for sign in NO_NETWORK):
            return MachineError(
                f"the Go modules of {what} could not be fetched",
                evidence=evidence,
                next_act="about 150 modules (200 MB) are needed once: connect this machine to a Go module proxy, or "
                f"point GOPROXY to a copy, then make setup again; {otherwise}",
            )
        return MachineError(
            f"{what} was not built",
            evidence=evidence,
            next_act=f"the whole output is in build/setup/{log}; {otherwise}",
        )

    return made
