"""How long the costs of a large real definition's rules take, advice included.

The definitions are those of two well-known projects, one with many schemas and one with many rules. They come as pinned
Go modules through the ordinary Go client, for the bench only.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

from labkit.errors import MachineError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.checkout import Checkout
from labkit.show.bench import Figure
from labkit.trace import Engine, Source

__all__ = ["RUNS", "figures"]

RUNS = 7
BUDGET_S = 1.0
DOWNLOAD_LIMIT_S = 300
DEFINITIONS = (
    (
        "cel-cost of Argo CD's ApplicationSet, 7,095 schemas",
        "github.com/argoproj/argo-cd/v2@v2.14.21",
        "manifests/crds/applicationset-crd.yaml",
    ),
    (
        "cel-cost of Envoy Gateway's EnvoyProxy, 111 rules and messages",
        "github.com/envoyproxy/gateway@v1.5.0",
        "charts/gateway-helm/crds/generated/gateway.envoyproxy.io_envoyproxies.yaml",
    ),
)


def figures(checkout: Checkout, *, runs: int = RUNS) -> list[Figure]:
    """Seconds from the question to the values, each time a text not seen before. Raises ToolMissing, MachineError."""
    found = []
    with Engine() as engine:
        for name, module, file in DEFINITIONS:
            text = (_folder(checkout, module) / file).read_text(encoding="utf-8")
            samples = []
            for run in range(runs + 1):  # the first also starts the program
                asked = Source(file, f"{text}\n# {run}\n")
                begun = time.perf_counter()
                engine.cel_cost(asked)
                samples.append(time.perf_counter() - begun)
            found.append(Figure.of(name, samples[1:], "s", BUDGET_S))
    return found


def _folder(checkout: Checkout, module: str) -> Path:
    """Where Go keeps a module's files."""
    go, there = control_plane.find_go(checkout)
    if go is None:
        raise ToolMissing("there is no Go to download definitions with", evidence=there, next_act="install Go 1.26")
    with tempfile.TemporaryDirectory() as outside:  # of any module, whose requirements would count
        done = subprocess.run(
            [go, "mod", "download", "-json", module],
            cwd=outside,
            capture_output=True,
            text=True,
            check=False,
            timeout=DOWNLOAD_LIMIT_S,
        )
    answer = json.loads(done.stdout or "{}")
    if done.returncode != 0 or "Dir" not in answer:
        evidence = answer.get("Error") or done.stderr.strip()[-300:]
        raise MachineError(
            f"{module} was not downloaded", evidence=evidence, next_act="see if Go's proxy can be reached"
        )
    return Path(answer["Dir"])
