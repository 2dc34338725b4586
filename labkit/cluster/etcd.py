"""Stored bytes: what the API server has written to etcd, read without it.

Three programs answer: the embedded etcd's HTTP gateway, ``etcdctl`` in a Pod of a real cluster, and the person who
types the chapter's command line. All three speak of the same key, so there is one parser (the gateway and
``etcdctl -w json`` give the same JSON in base64, which is how bytes survive a terminal) and one printer, equal to
etcdctl's. Reading only: nothing here can write.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labkit.cluster.base import WHOLE, Cluster, KeyValue, Page, ReadsEtcd
from labkit.errors import CapabilityMissing, ClusterGone, CommandError
from labkit.languages import translate

if TYPE_CHECKING:
    from labkit.cluster.process import EtcdAccess

__all__ = ["Etcd", "EtcdResult", "find_pod", "parse_range", "range_by_gateway", "range_by_pod"]

_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class EtcdResult:
    """What a read gave: *kvs* in key order (empty when there is no such key)."""

    key: str
    prefix: bool
    keys_only: bool
    kvs: tuple[KeyValue, ...]

    def print(self, *, print_value_only: bool = False, keys_only: bool | None = None) -> bytes:
        """Exactly what ``etcdctl get`` prints: a line with the key, a line with the value (an empty one with
        ``--keys-only``); with *print_value_only* no line with the key. Source: etcdctl 3.7, ctlv3/command/util.go.
        """
        without_values = self.keys_only if keys_only is None else keys_only
        printed = b""
        for kv in self.kvs:
            printed += b"" if print_value_only else kv.key.encode("utf-8", "surrogateescape") + b"\n"
            printed += (b"" if without_values else kv.value) + b"\n"
        return printed


class Etcd:
    """The etcd of one cluster, read only."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def get(self, key: str, *, prefix: bool = False, keys_only: bool = False, revision: int = 0) -> EtcdResult:
        """The key, or all keys that begin with it; with *revision*, as of that earlier revision of etcd.

        Raises CapabilityMissing where etcd cannot be read, CommandError where it has forgotten that revision.
        """
        kvs = self._readable().etcd_range(key, prefix=prefix, keys_only=keys_only, revision=revision)
        return EtcdResult(key, prefix, keys_only, kvs)

    def pages(self, prefix: str, *, limit: int, keys_only: bool = False) -> Iterator[tuple[KeyValue, ...]]:
        """All keys that begin with *prefix*, at most *limit* at a time, each page as it is when it is asked for.

        What is written meanwhile behind the page may be in a later one; no key comes twice. Raises as ``get`` does.
        """
        readable, page = self._readable(), Page(limit)
        while kvs := readable.etcd_range(prefix, prefix=True, keys_only=keys_only, page=page):
            yield kvs
            if len(kvs) < limit:
                return
            page = Page(limit, after=kvs[-1].key)

    def _readable(self) -> ReadsEtcd:
        if not isinstance(self._cluster, ReadsEtcd):
            raise unreadable("this kind of cluster offers no way to it")
        return self._cluster


def unreadable(evidence: str) -> CapabilityMissing:
    """The error of a cluster whose etcd cannot be read."""
    return CapabilityMissing(
        translate("this cluster's etcd cannot be read"),
        capability="etcd",
        evidence=evidence,
        next_act=translate("play this step on the embedded cluster or on minikube"),
    )


def parse_range(answer: Mapping[str, Any]) -> tuple[KeyValue, ...]:
    """Keys of a range response, as the HTTP gateway (numbers as text) or ``etcdctl -w json`` (numbers) writes it."""
    return tuple(
        KeyValue(
            key=base64.b64decode(kv["key"]).decode("utf-8", "surrogateescape"),
            value=base64.b64decode(kv.get("value", "")),
            create_revision=int(kv["create_revision"]),
            mod_revision=int(kv["mod_revision"]),
            version=int(kv["version"]),
        )
        for kv in answer.get("kvs") or ()
    )


def range_end(prefix: bytes) -> bytes:
    """The first key after all keys with *prefix*: its last byte below 255 raised by one ("\\0": to the end)."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b"\0"


def range_by_gateway(  # noqa: PLR0913  (a range has these parts)
    access: EtcdAccess, key: str, *, prefix: bool, keys_only: bool, revision: int = 0, page: Page = WHOLE
) -> tuple[KeyValue, ...]:
    """Read through etcd's HTTP gateway with the client certificate. Raises ClusterGone when nobody answers."""
    import urllib3

    raw = key.encode("utf-8", "surrogateescape")
    first = page.after.encode("utf-8", "surrogateescape") or raw or b"\0"
    body: dict[str, Any] = {"key": base64.b64encode(first).decode()}
    if prefix:
        body["range_end"] = base64.b64encode(range_end(raw)).decode()
    if page.limit:
        body["limit"] = _asked(page)
    if keys_only:
        body["keys_only"] = True
    if revision:
        body["revision"] = revision
    url = f"{access.url}/v3/kv/range"
    try:
        identity = ssl.create_default_context(cafile=access.ca)
        identity.load_cert_chain(access.cert, access.key)
        with urllib3.PoolManager(retries=False, timeout=_TIMEOUT_S, ssl_context=identity) as http:
            answer = http.request("POST", url, json=body)
            text = answer.data
    except (urllib3.exceptions.HTTPError, OSError) as cause:
        raise ClusterGone(
            translate("etcd did not answer"), evidence=str(cause), next_act=translate("try once more")
        ) from cause
    if answer.status != 200:
        raise CommandError(
            translate("etcd refused to read"),
            evidence=f"HTTP {answer.status}: {text[:300].decode('utf-8', 'replace')}",
        )
    return _cut(parse_range(json.loads(text)), page)


@dataclass(frozen=True)
class EtcdPod:
    """A Pod that runs etcd, and the certificate files in it (paths inside the Pod)."""

    namespace: str
    name: str
    ca: str
    cert: str
    key: str


def find_pod(cluster: Cluster) -> EtcdPod | None:
    """The Pod labelled ``component=etcd`` in kube-system (kubeadm's static Pod; minikube, kind), running ones first.

    The paths of the certificates are etcd's own arguments. None when there is no such Pod, or it has no such arguments.
    """
    from labkit.cluster.api import Api

    with Api(cluster) as api:
        pods = api.list("/api/v1/namespaces/kube-system/pods", selector="component=etcd")
    pods.sort(key=lambda pod: (pod.get("status", {}).get("phase") != "Running", pod["metadata"]["name"]))
    for pod in pods:
        flags = _flags(pod["spec"]["containers"][0])
        try:
            ca, cert, key = flags["--trusted-ca-file"], flags["--cert-file"], flags["--key-file"]
        except KeyError:
            continue
        return EtcdPod("kube-system", pod["metadata"]["name"], ca, cert, key)
    return None


def _flags(container: Mapping[str, Any]) -> dict[str, str]:
    words: Sequence[str] = [*container.get("command", ()), *container.get("args", ())]
    return {name: value for name, found, value in (word.partition("=") for word in words) if found}


def range_by_pod(  # noqa: PLR0913  (a range has these parts)
    cluster: Cluster, key: str, *, prefix: bool, keys_only: bool, revision: int = 0, page: Page = WHOLE
) -> tuple[KeyValue, ...]:
    """Read by ``kubectl exec`` of etcdctl in the etcd Pod. Raises CapabilityMissing when there is no such Pod."""
    from labkit.cluster.kubectl import Kubectl, diagnose

    pod = find_pod(cluster)
    if pod is None:
        raise unreadable("no Pod labelled component=etcd in kube-system")
    argv = ["exec", "-n", pod.namespace, pod.name, "--", "etcdctl"]
    argv += [f"--cacert={pod.ca}", f"--cert={pod.cert}", f"--key={pod.key}", "get"]
    if page.after:
        argv += [page.after, range_end(key.encode()).decode(), "-w", "json"]
    else:
        argv += [key, "-w", "json", *(["--prefix"] if prefix else ())]
    argv += [f"--limit={_asked(page)}"] if page.limit else []
    argv += ["--keys-only"] if keys_only else []
    argv += [f"--rev={revision}"] if revision else []
    result = Kubectl(cluster).run(argv)
    if not result.ok and "revision has been compacted" in result.text:
        raise CommandError(translate("etcd no longer has that revision"), evidence=result.text.strip()[-300:])
    if not result.ok:
        raise diagnose(result, cluster) or unreadable(result.text.strip()[-300:])
    return _cut(parse_range(result.json), page)


def _asked(page: Page) -> int:
    """A page is asked for from the last key of the one before: the one behind it ends in a zero byte, which no command
    line can hold.
    """
    return page.limit + bool(page.after)


def _cut(kvs: tuple[KeyValue, ...], page: Page) -> tuple[KeyValue, ...]:
    """Without the key that the page comes after; that may have been deleted meanwhile."""
    kept = tuple(kv for kv in kvs if kv.key != page.after)
    return kept[: page.limit] if page.limit else kept
