"""The store of a control plane that this process holds, written behind its API server's back.

The server's caches follow etcd, whoever writes there: that is how several servers share one. So a state can be put back
by its bytes, with nothing of the work that the server has with each request, and a cluster can be compared with what it
was, whole. It is no way to treat a cluster that anybody else relies on: nothing here validates what is written.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from typing import Any, Self

from labkit.cluster.base import KeyValue
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.etcd import parse_range, range_end
from labkit.errors import ClusterGone, CommandError

__all__ = ["CHANGES_AT_ONCE", "Store"]

CHANGES_AT_ONCE = 128
"""etcd's own limit (--max-txn-ops)."""

_ROOT = b"/registry/"
_TIMEOUT_S = 10.0


class Store:
    """Everything that the API server of *cluster* has stored. Raises ValueError for a cluster held by somebody else.

    Every method raises ClusterGone when etcd does not answer, CommandError when it refuses. A context manager.
    """

    def __init__(self, cluster: EmbeddedCluster) -> None:
        import urllib3

        if not cluster.held:
            raise ValueError(f"{cluster!r} is not this process's to write to")
        self._cluster = cluster
        access = cluster.ready.etcd
        identity = ssl.create_default_context(cafile=access.ca)
        identity.load_cert_chain(access.cert, access.key)
        self._http = urllib3.PoolManager(retries=False, timeout=_TIMEOUT_S, ssl_context=identity)
        self._url = f"{access.url}/v3/kv"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.clear()

    def keys(self) -> dict[str, int]:
        """Every key, and the revision of etcd it was last written in."""
        return {one.key: one.mod_revision for one in self._range(_ROOT, range_end(_ROOT), keys_only=True)}

    def values(self) -> tuple[KeyValue, ...]:
        """Every key with its value."""
        return self._range(_ROOT, range_end(_ROOT))

    def get(self, key: str) -> KeyValue | None:
        found = self._range(_raw(key))
        return found[0] if found else None

    def put(self, key: str, value: bytes) -> int:
        """Write *value*; the revision it is written in."""
        answer = self._ask("put", {"key": _text(_raw(key)), "value": _text(value)})
        return int(answer["header"]["revision"])

    def delete(self, key: str) -> None:
        self._ask("deleterange", {"key": _text(_raw(key))})

    def change(self, changes: Mapping[str, bytes | None]) -> int:
        """Write all values, and delete the keys of those that are None, as one revision, which is returned.

        Whoever watches and is cut off within a revision loses the rest of it. At most CHANGES_AT_ONCE.
        """
        asked = [
            {"requestDeleteRange": {"key": _text(_raw(key))}}
            if value is None
            else {"requestPut": {"key": _text(_raw(key)), "value": _text(value)}}
            for key, value in changes.items()
        ]
        return int(self._ask("txn", {"success": asked})["header"]["revision"])

    def _range(self, first: bytes, end: bytes = b"", *, keys_only: bool = False) -> tuple[KeyValue, ...]:
        body: dict[str, Any] = {"key": _text(first), "keys_only": keys_only}
        return parse_range(self._ask("range", body | ({"range_end": _text(end)} if end else {})))

    def _ask(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        import urllib3

        try:
            answer = self._http.request("POST", f"{self._url}/{what}", json=body)
        except (urllib3.exceptions.HTTPError, OSError) as cause:
            gone = ClusterGone("etcd did not answer", evidence=str(cause), next_act="try once more")
            raise self._cluster.gone() or gone from cause
        if answer.status != 200:
            said = answer.data[:300].decode("utf-8", "replace")
            raise CommandError(f"etcd refused: {what}", evidence=f"HTTP {answer.status}: {said}")
        found: dict[str, Any] = json.loads(answer.data)
        return found


def _raw(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
