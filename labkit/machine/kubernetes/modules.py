"""go.mod for another release of Kubernetes: what that release's own go.mod wants, and nothing else.

Kubernetes' libraries are developed in its repository, so its go.mod requires them without a version and replaces each
by a folder of its own; whoever builds from the released modules must replace every one by its release, and the list
changes with each series. ``go mod tidy`` alone never goes back to an older version of anything. So go.mod is written
anew: the module's own requirements, each at the version that the release asks for, and a replacement for each of its
libraries; ``go mod tidy`` adds what follows from them.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import LabkitError, MachineError
from labkit.machine.control_plane import NO_NETWORK
from labkit.machine.kubernetes.places import Release

__all__ = ["Upstream", "ask", "composed", "move"]

KUBERNETES = "k8s.io/kubernetes"
LAST_LINES = 3
_UNKNOWN = ("404 Not Found", "410 Gone", "unknown revision", "not found", "no such file", "no matching versions",
            "invalid version")  # fmt: skip


@dataclass(frozen=True)
class Upstream:
    """What a release's own go.mod says: its Go ("1.26.0"), its *libraries* (module paths), and what it *requires*."""

    release: Release
    go: str
    libraries: tuple[str, ...]
    requires: Mapping[str, str]

    def wants(self, module: str, now: str) -> str:
        """The version of *module* that goes with the release; the one it has *now* where the release does not say."""
        if module == KUBERNETES:
            return str(self.release)
        if module in self.libraries:
            return self.release.libraries
        return self.requires.get(module, now)


def ask(go: str, release: Release) -> Upstream:
    """Fetch the release's module (60 MB, once) and read its go.mod. Changes nothing but Go's cache of modules.

    Raises MachineError when there is no such release, or nobody to be asked.
    """
    with tempfile.TemporaryDirectory(prefix="labkit-kubernetes-") as outside:  # in no module: none is changed
        told = _run([go, "mod", "download", "-json", f"{KUBERNETES}@{release}"], Path(outside), _no_release(release))
        said = _read(go, Path(json.loads(told)["GoMod"]), Path(outside))
    replaced = said.get("Replace") or ()
    return Upstream(
        release,
        go=said["Go"],
        libraries=tuple(one["Old"]["Path"] for one in replaced if one["New"]["Path"].startswith("./staging/")),
        requires={one["Path"]: one["Version"] for one in said["Require"]},
    )


def move(go: str, module: Path, upstream: Upstream) -> None:
    """Write go.mod and go.sum in the folder *module* for the release. Raises MachineError when Go cannot."""
    said = _read(go, module / "go.mod", module)
    own = {one["Path"]: one["Version"] for one in said["Require"] if not one.get("Indirect")}
    (module / "go.mod").write_text(composed(said["Module"]["Path"], own, upstream), encoding="utf-8")
    _run([go, "mod", "tidy"], module, _no_libraries(upstream.release))


def composed(module: str, own: Mapping[str, str], upstream: Upstream) -> str:
    """The text of go.mod before ``go mod tidy``: *own* are the module's own requirements and their versions now."""
    requires = [f"\t{path} {upstream.wants(path, version)}" for path, version in sorted(own.items())]
    replaces = [f"\t{path} => {path} {upstream.release.libraries}" for path in sorted(upstream.libraries)]
    parts = [f"module {module}", f"go {upstream.go}", _block("require", requires), _block("replace", replaces)]
    return "\n\n".join(parts) + "\n"


def _block(word: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{word} (", *lines, ")"])


def _read(go: str, path: Path, cwd: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(_run([go, "mod", "edit", "-json", str(path)], cwd, f"{path} cannot be read"))
    return said


def _run(argv: Sequence[str], cwd: Path, state: str) -> str:
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise MachineError(state, evidence=f"{argv[0]}: {error}") from error
    if done.returncode != 0:
        raise _failure(state, argv, done.stdout, done.stderr)
    return done.stdout


def _failure(state: str, argv: Sequence[str], out: str, err: str) -> LabkitError:
    lines = [line for line in err.splitlines() if line.strip() and not line.startswith("go: downloading ")]
    if out.lstrip().startswith("{"):  # go mod download -json says it there
        lines.append(str(json.loads(out).get("Error", "")))
    evidence = " | ".join(line.strip() for line in lines[-LAST_LINES:]) or "it said nothing"
    if any(sign in evidence for sign in _UNKNOWN):
        next_act = "see that it has been released, and that the Go module proxy in use (go env GOPROXY) has it"
    elif any(sign in evidence for sign in NO_NETWORK):
        next_act = "connect this machine to a Go module proxy, or point GOPROXY to one, and try again"
    else:
        next_act = "mend that, and try again"
    return MachineError(state, evidence=f"{' '.join([Path(argv[0]).name, *argv[1:3]])}: {evidence}", next_act=next_act)


def _no_release(release: Release) -> str:
    return f"Kubernetes {release} cannot be had as a Go module"


def _no_libraries(release: Release) -> str:
    return f"the libraries of Kubernetes {release} cannot be had as Go modules, or do not fit controlplane/"
