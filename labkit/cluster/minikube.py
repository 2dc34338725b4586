"""minikube as a cluster: a real node, started in minutes, kept between sessions.

minikube is a program with a life of its own: profiles of other people's making, clusters that are half there, drivers
that are missing. Labkit uses a profile only if it started it itself (it keeps a record), gives minikube a kubeconfig
of labkit's own to write, and turns each state into a sentence with the command that mends it. What minikube says while
it starts is read from its ``--output=json`` events.

Sources: minikube's cmd/minikube/cmd/{status,start}.go and cmd/config/profile_list.go, pkg/minikube/out/register and
pkg/minikube/reason (August 2026): the fields and states of ``status -o json``, the event types, the reason ids.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.cluster import places, system
from labkit.cluster.base import KUBERNETES_VERSION, WHOLE, ClusterInfo, KeyValue, Page, Progress, silent
from labkit.errors import (
    ClaimRefused,
    ClusterGone,
    ClusterStartError,
    CommandError,
    CommandTimeout,
    LabkitError,
    ToolMissing,
    ToolUnfit,
    WaitTimeout,
)
from labkit.waiting import Seen, wait_for

__all__ = ["MinikubeCluster", "MinikubeStatus", "parse_status"]

START_LIMIT_S = 900.0
"""A first start downloads an image of more than a gigabyte."""

STOP_LIMIT_S = 180.0
ASK_LIMIT_S = 60.0

_EVENT = "io.k8s.sigs.minikube."
_DRIVERS = "https://minikube.sigs.k8s.io/docs/drivers/"


@dataclass(frozen=True)
class MinikubeStatus:
    """A profile's parts, in minikube's words ("Running", "Stopped", "Paused", "Nonexistent", …)."""

    host: str
    kubelet: str
    apiserver: str
    kubeconfig: str

    @property
    def runs(self) -> bool:
        return self.host == self.kubelet == self.apiserver == "Running"

    @property
    def words(self) -> str:
        return f"host {self.host}, kubelet {self.kubelet}, API server {self.apiserver}, kubeconfig {self.kubeconfig}"


def parse_status(text: str) -> MinikubeStatus | None:
    """From ``minikube status -o json`` (its exit code tells the same in bits); None when there is no such profile.

    One node gives an object, several a list, whose first is the control plane; an unknown profile gives events only.
    """
    for value in _json_lines(text):
        node = value[0] if isinstance(value, list) and value else value
        if isinstance(node, dict) and "Host" in node:
            return MinikubeStatus(*(str(node.get(part, "")) for part in ("Host", "Kubelet", "APIServer", "Kubeconfig")))
    return None


def find_minikube() -> Path:
    """The minikube on PATH. Raises ToolMissing."""
    found = shutil.which("minikube")
    if found is None:
        raise ToolMissing(
            "minikube is not installed",
            evidence="none on PATH",
            next_act="install it (conda install -c conda-forge minikube), or use --cluster embedded",
        )
    return Path(found)


class MinikubeCluster:
    """A minikube profile of labkit's own."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    def __repr__(self) -> str:
        return f"MinikubeCluster({self._profile!r})"

    @property
    def kubeconfig(self) -> Path:
        return places.minikube(self._profile) / "kubeconfig"

    @property
    def context(self) -> str:
        return self._profile

    @property
    def cache_dir(self) -> Path:
        return places.kubectl_cache(f"minikube-{self._profile}")

    @property
    def owned(self) -> bool:
        return self._record.is_file()

    @property
    def _record(self) -> Path:
        return places.minikube(self._profile) / "started-by-labkit"

    def runs(self) -> bool:
        """Whether labkit started this profile and all its parts run. Asks no program when there is no record."""
        if not self.owned:
            return False
        try:
            status = self.status()
        except (ToolMissing, CommandError):
            return False
        return status is not None and status.runs

    def status(self) -> MinikubeStatus | None:
        """What ``minikube status`` says; None when the profile does not exist."""
        return parse_status(self._ask(["status", "-p", self._profile, "-o", "json"]))

    def profiles(self) -> tuple[str, ...]:
        """The names of all profiles of this machine, also of broken ones."""
        for value in _json_lines(self._ask(["profile", "list", "-o", "json"])):
            if isinstance(value, dict) and ("valid" in value or "invalid" in value):
                return tuple(entry["Name"] for part in ("valid", "invalid") for entry in value.get(part) or ())
        return ()

    def start(self, progress: Progress = silent) -> None:
        """Start the profile, or what is missing of it; returns at once when it runs.

        Raises ClaimRefused (somebody else's profile), ToolMissing (minikube or its driver), ToolUnfit (a driver that
        does not work, a minikube that does not know this Kubernetes), ClusterStartError.
        """
        lock = places.made(places.minikube(self._profile)) / "lock"
        with system.exclusive(lock, what="another start of this profile to end", limit_s=START_LIMIT_S):
            exists = self._profile in self.profiles()
            if exists and not self.owned:
                raise self._foreign()
            status = self.status() if exists else None
            if status is not None and status.runs:
                self._write_kubeconfig()
                return
            progress(f"minikube profile {self._profile}: {status.words if status else 'not there yet'}")
            self._record.write_text(KUBERNETES_VERSION + "\n", encoding="utf-8")
            try:
                self._run_start(progress)
            finally:
                if not exists and self._profile not in self.profiles():
                    self._record.unlink()
            self._expect_running()

    def stop(self) -> None:
        """Stop the profile if labkit started it; its objects stay in it. Does nothing when it does not run."""
        if not self.owned:
            return
        status = self.status()
        if status is not None and status.host != "Stopped":
            self._must(["stop", "-p", self._profile])

    def delete(self) -> None:
        """Delete the profile with all its objects, if labkit started it."""
        if not self.owned:
            return
        if self._profile in self.profiles():
            self._must(["delete", "-p", self._profile])
        shutil.rmtree(self.cache_dir, ignore_errors=True)
        shutil.rmtree(places.minikube(self._profile), ignore_errors=True)

    def reset(self, progress: Progress = silent) -> None:
        from labkit.cluster import cleaning

        cleaning.reset(self, progress)

    def info(self) -> ClusterInfo:
        from labkit.cluster.capabilities import describe_with_nodes

        return describe_with_nodes(self, name=f"minikube:{self._profile}", backend="minikube")

    def gone(self) -> ClusterGone | None:
        try:
            status = self.status()
        except (ToolMissing, CommandError) as cause:
            return ClusterGone("the minikube cluster cannot be asked", evidence=str(cause), next_act=cause.next_act)
        if status is None:
            return ClusterGone(
                f"the minikube profile {self._profile} does not exist any more", next_act=self._start_command()
            )
        return None if status.runs else self._not_running(status)

    def etcd_range(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, revision: int = 0, page: Page = WHOLE
    ) -> tuple[KeyValue, ...]:
        from labkit.cluster.etcd import range_by_pod

        return range_by_pod(self, key, prefix=prefix, keys_only=keys_only, revision=revision, page=page)

    def _start_command(self) -> str:
        return f"labkit start --cluster minikube:{self._profile}"

    def _not_running(self, status: MinikubeStatus) -> ClusterGone:
        if status.host == "Stopped":
            state, act = "is stopped", self._start_command()
        elif "Paused" in (status.apiserver, status.kubelet, status.host):
            state, act = "is paused", f"minikube unpause -p {self._profile}"
        else:
            state = "runs only in part"
            act = f"{self._start_command()}; if that does not mend it: minikube delete -p {self._profile}"
        return ClusterGone(f"the minikube profile {self._profile} {state}", evidence=status.words, next_act=act)

    def _foreign(self) -> ClaimRefused:
        return ClaimRefused(
            f"there is a minikube profile {self._profile} that labkit did not start",
            evidence="minikube profile list has it, labkit has no record of it",
            next_act=f"use another (--cluster minikube:PROFILE), or delete it: minikube delete -p {self._profile}; "
            f"or name it as any cluster: --cluster kubeconfig:PATH#{self._profile}",
        )

    def _write_kubeconfig(self) -> None:
        if not self.kubeconfig.is_file():
            self._must(["update-context", "-p", self._profile])

    def _expect_running(self) -> None:
        status = self.status()
        if status is None or not status.runs:
            raise ClusterStartError(
                f"minikube ended its start of profile {self._profile}, but not all of it runs",
                evidence=status.words if status else "there is no such profile",
                next_act=f"minikube delete -p {self._profile}, then {self._start_command()}",
            )
        self._write_kubeconfig()

    def _run_start(self, progress: Progress) -> None:
        argv = ["start", "-p", self._profile, "--kubernetes-version", KUBERNETES_VERSION]
        argv += ["--output", "json", "--interactive=false"]
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err, ExitStack() as stack:
            process = subprocess.Popen(
                [str(find_minikube()), *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=self._environment(),
                **system.apart(),
            )
            said, complaints = (stack.enter_context(system.reopen(Path(one.name))) for one in (out, err))

            def look() -> Seen[int]:
                status = process.poll()
                return Seen(status is not None, _last_step(system.read_whole(said)), status)

            try:
                status = wait_for("minikube to start", look, limit_s=START_LIMIT_S, progress=progress)
            except WaitTimeout as cause:
                raise ClusterStartError(
                    "minikube was stopped: it took too long to start",
                    evidence=cause.evidence,
                    next_act=f"minikube logs -p {self._profile}; then {self._start_command()}",
                ) from cause
            finally:
                system.terminate_group(process)
                process.wait()
            if status != 0:
                raise _start_failure(status or 0, system.read_whole(said), system.read_whole(complaints))

    def _ask(self, argv: Sequence[str]) -> str:
        """Standard output of a question; the exit code belongs to the answer."""
        return self._call(argv, ASK_LIMIT_S).stdout

    def _must(self, argv: Sequence[str]) -> None:
        done = self._call(argv, STOP_LIMIT_S)
        if done.returncode != 0:
            raise CommandError(
                f"minikube {' '.join(argv)} failed",
                evidence=f"{system.describe_exit(done.returncode)}: {(done.stderr or done.stdout).strip()[-300:]}",
                next_act=f"minikube {' '.join(argv)} shows all it says",
            )

    def _call(self, argv: Sequence[str], limit_s: float) -> subprocess.CompletedProcess[str]:
        program = find_minikube()
        try:
            return subprocess.run(
                [str(program), *argv],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=limit_s,
                check=False,
                env=self._environment(),
                **system.apart(),
            )
        except subprocess.TimeoutExpired as cause:
            raise CommandTimeout(
                f"minikube {' '.join(argv)} was stopped: still running after {limit_s:g} s",
                next_act="look whether its driver (docker info, for example) answers",
            ) from cause
        except OSError as cause:
            raise ToolMissing("minikube cannot be run", evidence=str(cause), next_act="install it anew") from cause

    def _environment(self) -> dict[str, str]:
        """minikube writes the context of a profile into KUBECONFIG: a file of ours, never the person's."""
        return dict(os.environ) | {"KUBECONFIG": str(self.kubeconfig), "LC_ALL": "C", "MINIKUBE_IN_STYLE": "false"}


def _json_lines(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _events(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for value in _json_lines(text):
        if isinstance(value, dict) and str(value.get("type", "")).startswith(_EVENT):
            yield value["type"].removeprefix(_EVENT), value.get("data") or {}


def _last_step(text: str) -> str:
    """The last thing minikube said it does, in one line."""
    said = "minikube is starting"
    for kind, data in _events(text):
        if kind == "step":
            said = f"minikube {data.get('currentstep', '?')}/{data.get('totalsteps', '?')}: {data.get('message', '')}"
        elif kind.startswith("download"):
            said = f"minikube downloads {data.get('artifact', '')} {_percent(data.get('progress', ''))}".rstrip()
    return said


def _percent(share: str) -> str:
    try:
        return f"{float(share):.0%}"
    except ValueError:
        return ""


def _start_failure(status: int, text: str, complaints: str) -> LabkitError:
    """The error of a failed start, by the reason id that minikube gave."""
    errors = [data for kind, data in _events(text) if kind == "error"]
    error = next((data for data in reversed(errors) if data.get("name")), errors[-1] if errors else {})
    reason = error.get("name", "")
    words = error.get("message") or complaints.strip()[-300:] or "it gave no reason"
    evidence = f"{reason or system.describe_exit(status)}: {words}"
    advice = error.get("advice") or ""
    if reason.startswith(("DRV_", "PROVIDER_")):
        if reason.endswith(("_NOT_FOUND", "_NOT_DETECTED")):
            return ToolMissing(
                "minikube has no driver to make a machine with",
                evidence=evidence,
                next_act=advice or f"install Docker or another driver ({_DRIVERS}), or use --cluster embedded",
            )
        return ToolUnfit(
            "minikube's driver does not work",
            evidence=evidence,
            next_act=advice or f"mend it ({_DRIVERS}), or use --cluster embedded",
        )
    if reason == "K8S_NEW_UNSUPPORTED":
        return ToolUnfit(
            f"this minikube does not know Kubernetes {KUBERNETES_VERSION}",
            evidence=evidence,
            next_act="update minikube, or use --cluster embedded",
        )
    return ClusterStartError("minikube did not start", evidence=evidence, next_act=advice or "minikube logs")
