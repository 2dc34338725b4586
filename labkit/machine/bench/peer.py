"""The nearest peer of a trace: kubectl-validate, which checks objects without a cluster by Kubernetes' own libraries.

It is no dependency of the kit, so nothing but a measurement fetches it. Its libraries are those of Kubernetes 1.30 and
share no compiled package with the control plane, so the first build takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labkit.machine.checkout import Checkout
from labkit.machine.go_program import GoProgram

__all__ = ["MODULE", "NAME", "VERSION", "argv", "built", "environ"]

NAME, VERSION = "kubectl-validate", "v0.0.4"
MODULE = f"sigs.k8s.io/{NAME}"


def built(checkout: Checkout, tell: Callable[[str], None]) -> Path:
    """The program. Raises as GoProgram.built does."""
    return GoProgram(MODULE, VERSION, "some minutes: it brings a Kubernetes of its own").built(checkout, tell)


def argv(program: Path, file: Path, folder: Path, definition: str) -> list[str]:
    """Its command line; the definition goes to a folder of its own under *folder*, since it takes only folders."""
    definitions = folder / "definitions"
    definitions.mkdir(exist_ok=True)
    (definitions / "definition.yaml").write_text(definition, encoding="utf-8")
    return [str(program), "--local-crds", str(definitions), str(file)]


def environ(folder: Path) -> dict[str, str]:
    """No cluster: it would take definitions from one too."""
    return {"KUBECONFIG": str(folder / "no-kubeconfig"), "HOME": str(folder)}
