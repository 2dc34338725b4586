"""kubectl, run as the course shows it, with its answer as a value.

What kubectl prints depends on more than its arguments: an older kubectl on PATH, a kuberc with aliases, a discovery
cache of another cluster, a locale, KUBECTL_* settings. A run here gets a known program, an environment without those,
and a cache of its own. Its text is put in one order that does not change from run to run: the server's warnings, then
standard output, then the errors, with the causes of one refusal sorted (the server walks a Go map, so their order on
the wire is random).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml

from labkit.cluster import system, tools
from labkit.cluster.api import why_unanswered
from labkit.cluster.base import Cluster
from labkit.errors import ClusterGone, CommandError, CommandTimeout
from labkit.languages import numeral, translate

__all__ = [
    "LAST_APPLIED",
    "Kubectl",
    "KubectlResult",
    "clean_environment",
    "diagnose",
    "environment",
    "forget_discovery",
    "sort_causes",
]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which ``kubectl apply`` leaves the manifest it sent."""

_STOP_LIMIT_S = 2.0
"""From SIGTERM to SIGKILL of a command at its limit."""

_WARNING = "Warning: "
_UNANSWERED = re.compile(
    r"connection to the server|connection re(fused|set)|connect: |\bEOF\b|i/o timeout|TLS handshake|no such host"
)


@dataclass(frozen=True)
class KubectlResult:
    """What one command did. *argv* is the command as the course writes it ("kubectl", "get", …), without labkit's
    own additions; *seconds* is wall time. A refusal is a result (``ok`` is false), not an exception.
    """

    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """The server's warnings, in the order they came, without "Warning: "."""
        return tuple(line.removeprefix(_WARNING) for line in self.stderr.splitlines() if line.startswith(_WARNING))

    @cached_property
    def errors(self) -> frozenset[str]:
        """The lines of standard error that are no warnings, stripped, without the bullet of a cause."""
        return frozenset(line.strip().removeprefix("* ") for line in self._complaints() if line.strip())

    @cached_property
    def text(self) -> str:
        """What a person is shown: warnings, standard output, then the errors with the causes sorted."""
        warnings = "".join(f"{_WARNING}{warning}\n" for warning in self.warnings)
        errors = "".join(f"{line}\n" for line in sort_causes(self._complaints()))
        stdout = self.stdout + ("\n" if errors and self.stdout and not self.stdout.endswith("\n") else "")
        return warnings + stdout + errors

    @cached_property
    def json(self) -> Any:
        """Standard output decoded. Raises CommandError when it is not JSON."""
        return self._decoded("JSON", json.loads)

    @cached_property
    def yaml(self) -> Any:
        """Standard output decoded (one document). Raises CommandError when it is not YAML."""
        return self._decoded("YAML", yaml.safe_load)

    def _complaints(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if not line.startswith(_WARNING)]

    def _decoded(self, form: str, decode: Any) -> Any:
        try:
            return decode(self.stdout)
        except (ValueError, yaml.YAMLError) as cause:
            raise CommandError(
                translate("the command's output is not {form}", form=form),
                evidence=self.text.strip()[:300] or translate("it printed nothing"),
                next_act=translate("run it with -o {form}", form=form.lower()),
            ) from cause


def sort_causes(lines: Iterable[str]) -> list[str]:
    """Sort each run of "* cause" lines, a cause's further lines staying with it; all other lines keep their place."""
    ordered: list[str] = []
    causes: list[list[str]] = []
    for line in lines:
        if line.startswith("* "):
            causes.append([line])
        elif causes and line.startswith((" ", "\t", "ERROR:")):
            causes[-1].append(line)
        else:
            ordered += _joined(causes)
            causes = []
            ordered.append(line)
    return ordered + _joined(causes)


def _joined(causes: list[list[str]]) -> list[str]:
    return [line for cause in sorted(causes) for line in cause]


class Kubectl:
    """kubectl on one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        timeout_s: float = 120.0,
        cwd: Path | None = None,
    ) -> KubectlResult:
        """Run ``kubectl *argv``; *stdin* is what ``-f -`` reads.

        Raises ToolMissing without a fitting kubectl, CommandTimeout when it was stopped at its limit.
        """
        program = tools.find_kubectl()
        shown = ("kubectl", *argv)
        began = time.monotonic()
        process = subprocess.Popen(
            [str(program), *shown[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=cwd,
            env=environment(self._cluster),
            **system.aside(),
        )
        with process:
            try:
                out, err = process.communicate(stdin or "", timeout=timeout_s)
            except subprocess.TimeoutExpired:
                raise _timed_out(process, shown, timeout_s) from None
            finally:
                system.kill_group(process)
        return KubectlResult(shown, process.returncode, out, err, time.monotonic() - began)


def _timed_out(process: subprocess.Popen[str], shown: tuple[str, ...], limit_s: float) -> CommandTimeout:
    system.terminate_group(process)
    try:
        out, err = process.communicate(timeout=_STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        system.kill_group(process)
        out, err = process.communicate()
    return CommandTimeout(
        translate(
            "{command} was stopped: still running after {limit_s} s",
            command=" ".join(shown),
            limit_s=numeral(limit_s, "g"),
        ),
        evidence=(err or out).strip()[-300:] or translate("it had printed nothing"),
        next_act=translate("look at what it waits for (kubectl get … -o yaml), or give it more time"),
    )


def clean_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """*base* (this process's environment) without what changes kubectl's behaviour behind the course's back."""
    given = os.environ if base is None else base
    kept = {name: value for name, value in given.items() if not name.startswith(("KUBECTL_", "KUBE_", "KUBERC"))}
    return kept | {"LC_ALL": "C", "KUBERC": "off"}


def environment(cluster: Cluster, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which any kubectl speaks to *cluster* with a cache of its own.

    A context that is not the kubeconfig's current one is chosen by a file of our own put before it, since no variable
    names a context and the person's kubeconfig is never written.
    """
    kubeconfig = str(cluster.kubeconfig)
    if cluster.context is not None:
        kubeconfig = f"{_context_file(cluster.cache_dir, cluster.context)}{os.pathsep}{kubeconfig}"
    return clean_environment(base) | {"KUBECONFIG": kubeconfig, "KUBECACHEDIR": str(cluster.cache_dir)}


def _context_file(folder: Path, context: str) -> Path:
    path = folder / "context.yaml"
    text = json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": context}) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = folder / f"context.yaml.{os.getpid()}"  # never half a file: kubectl would take the person's own context
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    return path


def forget_discovery(cluster: Cluster, *parts: Literal["discovery", "http"]) -> None:
    """Empty kubectl's discovery cache, so that the next command asks the server which types there are.

    Of its two parts "discovery" is the list of types, "http" the answers as they came (OpenAPI too); both by default.
    """
    for name in parts or ("discovery", "http"):
        shutil.rmtree(cluster.cache_dir / name, ignore_errors=True)


def diagnose(result: KubectlResult, cluster: Cluster) -> ClusterGone | None:
    """The truth behind a "connection refused": why the cluster is gone, or None when the result stands as it is."""
    if result.ok or not _UNANSWERED.search(result.stderr):
        return None
    return why_unanswered(cluster)
