"""``make bench-upstream``: the embedded control plane against etcd and kube-apiserver as two programs.

Both are built from the very modules that the embedded one is built from, so that only the wiring differs. The two
programs start as anybody would start them without controllers: etcd, then kube-apiserver as soon as etcd listens, which
is ready when ``/readyz`` says so. The starts of both sides alternate in one run; the ratio is what counts.
"""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from labkit.cluster import tools
from labkit.errors import ClusterStartError, LabkitError, MachineError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.bench import start
from labkit.machine.bench.__main__ import load, publish
from labkit.machine.checkout import Checkout, control_plane_flags
from labkit.show.bench import Figure
from labkit.waiting import Seen, let_pass, wait_for

__all__ = ["build", "main"]

RUNS = 7
START_LIMIT_S = 60.0
LOOK_EVERY_S = 0.02
STOP_LIMIT_S = 20.0
PROGRAMS = {"etcd": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"}


def build(checkout: Checkout, folder: Path) -> dict[str, Path]:
    """Build both programs from the module's own requirements. Raises ToolMissing without Go, MachineError."""
    go, found = control_plane.find_go(checkout)
    if go is None:
        raise ToolMissing("there is no Go to build them with", evidence=found, next_act="install Go 1.26 or newer")
    folder.mkdir(parents=True, exist_ok=True)
    built = {}
    for name, package in PROGRAMS.items():
        built[name] = folder / name
        argv = [go, "build", *control_plane_flags(checkout), "-o", str(built[name]), package]
        done = subprocess.run(
            ["/usr/bin/env", "CGO_ENABLED=0", *argv],
            cwd=checkout.go_module,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise MachineError(f"{name} was not built", evidence=done.stderr.strip()[-600:])
    return built


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _running(argv: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out, subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _etcd_argv(program: Path, folder: Path, ports: tuple[int, int]) -> list[str]:
    client, peer = (f"http://127.0.0.1:{port}" for port in ports)
    return [str(program), f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={client}", "--unsafe-no-fsync",
            f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"]  # fmt: skip


def _apiserver_argv(program: Path, pki: Path, port: int, etcd_port: int) -> list[str]:
    return [str(program), f"--etcd-servers=http://127.0.0.1:{etcd_port}", "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1", f"--secure-port={port}", f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}", f"--client-ca-file={pki / 'ca.crt'}",
            "--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki / 'service-accounts.key'}",
            f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
            "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none"]  # fmt: skip


def _two_programs(built: dict[str, Path], pki: Path, folder: Path) -> tuple[float, float]:
    """Seconds until the API server is ready, and resident memory of both in MB a while later."""
    folder.mkdir()
    etcd_port, peer_port, port = _free_port(), _free_port(), _free_port()
    begun = time.perf_counter()
    with _running(_etcd_argv(built["etcd"], folder, (etcd_port, peer_port)), folder / "etcd.log") as etcd:
        _wait(lambda: _listens(etcd_port), "etcd", etcd, folder / "etcd.log")
        argv = _apiserver_argv(built["kube-apiserver"], pki, port, etcd_port)
        with _running(argv, folder / "apiserver.log") as apiserver:
            trust = ssl.create_default_context(cafile=str(pki / "ca.crt"))
            trust.load_cert_chain(pki / "admin.crt", pki / "admin.key")
            _wait(lambda: _is_ready(port, trust), "kube-apiserver", apiserver, folder / "apiserver.log")
            seconds = time.perf_counter() - begun
            let_pass(start.SETTLE_S)
            return seconds, start.memory_mb(etcd.pid) + start.memory_mb(apiserver.pid)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _is_ready(port: int, trust: ssl.SSLContext) -> bool:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trust)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    return False


def _wait(done: Callable[[], bool], name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Looks every 20 ms, as the control plane itself does. Raises ClusterStartError when the program has ended."""

    def look() -> Seen[None]:
        if process.poll() is not None:
            last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:]
            raise ClusterStartError(f"{name} ended before it was ready", evidence="\n".join(last))
        return Seen(done(), "not ready")

    wait_for(f"{name} to be ready", look, limit_s=START_LIMIT_S, longest_pause_s=LOOK_EVERY_S)


def _measure(built: dict[str, Path], folder: Path) -> list[Figure]:
    program = tools.find_controlplane()
    ours, ours_mb, theirs, theirs_mb = [], [], [], []
    pki = folder / "pki"
    for number in range(RUNS):
        print(f"bench: run {number + 1} of {RUNS} …", file=sys.stderr, flush=True)
        with start.serving(program, folder / f"embedded-{number}", throw_away=True) as started:
            if not pki.exists():
                shutil.copytree(started.state_dir / "pki", pki)
            ours.append(started.seconds)
            let_pass(start.SETTLE_S)
            ours_mb.append(start.memory_mb(started.pid))
        seconds, memory = _two_programs(built, pki, folder / f"programs-{number}")
        theirs.append(seconds)
        theirs_mb.append(memory)
    return [
        Figure.of("embedded control plane (with its controllers), ready", ours, "s"),
        Figure.of("etcd and kube-apiserver as two programs (no controllers), ready", theirs, "s"),
        Figure("two programs against the embedded one, ready", median(theirs) / median(ours), "×"),
        Figure.of("embedded control plane, resident memory", ours_mb, "MB"),
        Figure.of("two programs, resident memory", theirs_mb, "MB"),
    ]


def main() -> int:
    """Exit code 0 when both could be measured."""
    try:
        checkout = Checkout.here()
        print("bench: building etcd and kube-apiserver (quick after make setup) …", file=sys.stderr, flush=True)
        before = load()
        built = build(checkout, checkout.control_plane.parent / "upstream")
        with tempfile.TemporaryDirectory(prefix="labkit-bench-") as folder:
            figures = _measure(built, Path(folder))
    except LabkitError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    publish(checkout, "upstream", figures, before)
    return 0


if __name__ == "__main__":
    sys.exit(main())
