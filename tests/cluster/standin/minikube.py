"""A stand-in for the ``minikube`` command, for machines that cannot run it. It says so in everything it prints.

It takes the command lines labkit gives to minikube, answers in minikube's formats, and starts the embedded control
plane instead of a node. Like minikube it keeps its profiles under MINIKUBE_HOME, writes a context into KUBECONFIG, and
leaves a Pod labelled ``component=etcd`` in kube-system. STANDIN_FAULT makes it fail the way minikube does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from labkit.cluster import process, tools
from labkit.cluster.api import Api
from labkit.cluster.base import silent
from labkit.cluster.embedded import attach, stop_directory
from labkit.errors import ApiError
from labkit.waiting import Seen, wait_for

HOME = Path(os.environ["MINIKUBE_HOME"])
CERTS = "/var/lib/minikube/certs/etcd"
STANDIN = "stand-in for minikube"


def machine(profile: str) -> Path:
    return HOME / "machines" / profile


def config(profile: str) -> Path:
    return HOME / "profiles" / profile / "config.json"


def event(kind: str, **data: str) -> None:
    said = {"specversion": "1.0", "type": f"io.k8s.sigs.minikube.{kind}", "data": data}
    print(json.dumps(said), flush=True)


def step(number: int, message: str) -> None:
    event("step", currentstep=str(number), totalsteps="19", name=message, message=f"{STANDIN}: {message}")


def fail(code: int, reason: str, message: str, advice: str = "") -> int:
    event("error", name=reason, message=f"{STANDIN}: {message}", exitcode=str(code), advice=advice)
    return code


def start(options: argparse.Namespace) -> int:
    fault = os.environ.get("STANDIN_FAULT", "")
    step(0, f"minikube v0.0.0 on {sys.platform}")
    if fault == "no-driver":
        return fail(55, "DRV_NOT_DETECTED", "No possible driver was detected.")
    if fault == "driver-off":
        return fail(63, "PROVIDER_DOCKER_NOT_RUNNING", "deadline exceeded", "Start the Docker service")
    if fault == "too-new":
        return fail(106, "K8S_NEW_UNSUPPORTED", f"Kubernetes {options.kubernetes_version} is not supported")
    config(options.profile).parent.mkdir(parents=True, exist_ok=True)
    config(options.profile).write_text(json.dumps({"Name": options.profile, "fault": fault}))
    if fault == "half":
        step(11, "Preparing Kubernetes")
        return fail(80, "GUEST_START", "failed to start node")
    step(8, "Creating Container")
    if process.find(machine(options.profile)) is None:
        terms = process.Terms(f"pid:{os.environ['STANDIN_UNTIL_PID']}", throw_away=False)
        child = process.begin(tools.find_controlplane(), machine(options.profile), terms)
        process.await_ready(child, machine(options.profile), progress=silent)
    step(13, "Booting control plane")
    add_etcd_pod(machine(options.profile))
    update_context(options)
    step(19, "Done")
    return 0


def add_etcd_pod(state_dir: Path) -> None:
    """What kubeadm's static Pod looks like in the API, as far as labkit reads it; nothing runs it here."""
    flags = [f"--trusted-ca-file={CERTS}/ca.crt", f"--cert-file={CERTS}/server.crt", f"--key-file={CERTS}/server.key"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "etcd-stand-in", "namespace": "kube-system", "labels": {"component": "etcd"}},
        "spec": {
            "containers": [{"name": "etcd", "image": "etcd", "command": ["etcd", *flags]}],
            "schedulingGates": [{"name": "labkit.example/stand-in"}],
        },
    }
    with Api(attach(state_dir)) as api:

        def look() -> Seen[None]:
            try:
                api.apply(pod)
            except ApiError as refused:
                return Seen(False, refused.evidence)
            return Seen(True, "made")

        wait_for("kube-system to take Pods", look, limit_s=20)


def update_context(options: argparse.Namespace) -> int:
    path = Path(os.environ["KUBECONFIG"])
    merged: dict[str, Any] = (
        yaml.safe_load(path.read_text()) if path.is_file() else {"apiVersion": "v1", "kind": "Config"}
    )
    ours = yaml.safe_load((machine(options.profile) / "kubeconfig").read_text())
    for plural, body in (("clusters", "cluster"), ("users", "user")):
        entry = {"name": options.profile, body: ours[plural][0][body]}
        merged[plural] = [old for old in merged.get(plural) or () if old["name"] != options.profile] + [entry]
    context = {"name": options.profile, "context": {"cluster": options.profile, "user": options.profile}}
    merged["contexts"] = [old for old in merged.get("contexts") or () if old["name"] != options.profile] + [context]
    merged["current-context"] = options.profile
    path.write_text(yaml.safe_dump(merged))
    return 0


def status(options: argparse.Namespace) -> int:
    if not config(options.profile).is_file():
        event("info", message=f'{STANDIN}: Profile "{options.profile}" not found.')
        return 85
    fault = json.loads(config(options.profile).read_text())["fault"]
    running = process.find(machine(options.profile)) is not None
    host = "Running" if running or fault == "half" else "Stopped"
    inside = "Running" if running else "Stopped"
    kubeconfig = "Configured" if running else host
    parts = {"Host": host, "Kubelet": inside, "APIServer": inside, "Kubeconfig": kubeconfig}
    print(json.dumps({"Name": options.profile, **parts, "Worker": False}), end="")
    return (host != "Running") | (inside != "Running") << 1 | (kubeconfig != "Configured") << 2


def profile_list(_: argparse.Namespace) -> int:
    found = sorted((HOME / "profiles").glob("*/config.json"))
    valid = [{"Name": path.parent.name, "Status": "OK", "Config": {"Name": path.parent.name}} for path in found]
    print(json.dumps({"invalid": [], "valid": valid}), end="")
    return 0


def stop(options: argparse.Namespace) -> int:
    stop_directory(machine(options.profile))
    print(f"{STANDIN}: stopped")
    return 0


def delete(options: argparse.Namespace) -> int:
    stop(options)
    shutil.rmtree(machine(options.profile), ignore_errors=True)
    shutil.rmtree(config(options.profile).parent, ignore_errors=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog=STANDIN)
    verbs = parser.add_subparsers(required=True)
    for name, act in (("start", start), ("status", status), ("stop", stop), ("delete", delete)):
        verb = verbs.add_parser(name)
        verb.set_defaults(act=act)
        verb.add_argument("-p", dest="profile", required=True)
        if name == "status":
            verb.add_argument("-o", choices=["json"], required=True)
        if name == "start":
            verb.add_argument("--kubernetes-version", required=True)
            verb.add_argument("--output", choices=["json"], required=True)
            verb.add_argument("--interactive", choices=["false"], required=True)
    update = verbs.add_parser("update-context")
    update.set_defaults(act=update_context)
    update.add_argument("-p", dest="profile", required=True)
    listing = verbs.add_parser("profile").add_subparsers(required=True).add_parser("list")
    listing.set_defaults(act=profile_list)
    listing.add_argument("-o", choices=["json"], required=True)
    options = parser.parse_args()
    return int(options.act(options))


if __name__ == "__main__":
    sys.exit(main())
