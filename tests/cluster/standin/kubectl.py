"""A kubectl that answers ``exec … etcdctl`` for the stand-in of minikube, whose etcd Pod runs nowhere.

Everything else goes to the real kubectl unchanged. It says on standard error that it stood in.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from labkit.cluster import KeyValue, process
from labkit.cluster.base import Page
from labkit.cluster.etcd import range_by_gateway
from labkit.errors import CommandError

CERTS = "/var/lib/minikube/certs/etcd"


def etcdctl(words: list[str]) -> int:
    """``etcdctl … get KEY [END] -w json [--prefix] [--limit=N] [--keys-only] [--rev=N]``, in etcdctl's own form.

    There numbers are numbers.
    """
    wanted = {f"--cacert={CERTS}/ca.crt", f"--cert={CERTS}/server.crt", f"--key={CERTS}/server.key"}
    if not wanted | {"get", "-w", "json"} <= set(words):
        print(f"stand-in for etcdctl: unexpected command line {words}", file=sys.stderr)
        return 1
    context = yaml.safe_load(Path(os.environ["KUBECONFIG"].split(os.pathsep)[0]).read_text())["current-context"]
    record = process.read_record(Path(os.environ["MINIKUBE_HOME"]) / "machines" / context)
    if record is None:
        print("stand-in for etcdctl: connection refused", file=sys.stderr)
        return 1
    print("stand-in for minikube: kubectl exec … etcdctl is answered by the embedded etcd", file=sys.stderr)
    key, end = words[words.index("get") + 1 :][:2]
    prefix, keys_only = "--prefix" in words, "--keys-only" in words
    revision, limit = _number(words, "--rev="), _number(words, "--limit=")
    page = Page(limit)
    if not end.startswith("-"):  # all from KEY on that come before END, which ends a prefix
        prefix, page, key = True, Page(limit - 1, after=key), end[:-1] + chr(ord(end[-1]) - 1)
    try:
        kvs = range_by_gateway(record.etcd, key, prefix=prefix, keys_only=keys_only, revision=revision, page=page)
    except CommandError as refused:
        print(f"Error: {refused.evidence}", file=sys.stderr)
        return 1
    print(json.dumps({"header": {"revision": 1}, "kvs": [as_etcdctl(kv) for kv in kvs], "count": len(kvs)}))
    return 0


def _number(words: list[str], option: str) -> int:
    return next((int(word.removeprefix(option)) for word in words if word.startswith(option)), 0)


def as_etcdctl(kv: KeyValue) -> dict[str, object]:
    written: dict[str, object] = {"key": base64.b64encode(kv.key.encode()).decode()}
    written |= {"create_revision": kv.create_revision, "mod_revision": kv.mod_revision, "version": kv.version}
    return written | ({"value": base64.b64encode(kv.value).decode()} if kv.value else {})


def main() -> int:
    words = sys.argv[1:]
    if "exec" in words and "etcdctl" in words:
        return etcdctl(words[words.index("etcdctl") + 1 :])
    real = Path(sys.executable).parent / "kubectl"
    return subprocess.run([str(real), *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
