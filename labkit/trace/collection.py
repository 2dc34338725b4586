"""All objects of a definition, as they are stored: on a cluster, a page at a time, or in files.

Only etcd shows how an object is stored: what the API gives has been pruned, completed and converted by the definition
of today. Where etcd cannot be read the API's answer has to do, and whoever shows it must say so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.cluster import Api, Cluster, Etcd
from labkit.errors import ApiError, CapabilityMissing
from labkit.trace.documents import documents
from labkit.trace.sources import Source, Type

__all__ = ["Collection", "in_files", "stored_on"]

PAGE = 200


@dataclass(frozen=True)
class Collection:
    """*total* objects (None where the server does not say how many), to be taken once.

    *unseen* says why they are not as they are stored but as the API gives them; "" where they are.
    """

    total: int | None
    unseen: str
    objects: Iterator[Source]


def in_files(paths: Iterable[Path]) -> Collection:
    """The objects in files and folders. Raises BadDocument, before any is taken, for what cannot be read."""
    found = documents(paths)
    return Collection(len(found), "", iter(found))


def stored_on(cluster: Cluster, type_: Type) -> Collection:
    """The objects of a type, in all namespaces. Raises CapabilityMissing where neither etcd nor the API shows them.

    The iterator raises ApiError where the server refuses to list them.
    """
    version = type_.read_version
    total = _total(cluster, type_, version) if version is not None else None
    pages = Etcd(cluster).pages(f"/registry/{type_.group}/{type_.plural}/", limit=PAGE)
    try:
        first = next(pages, ())
    except CapabilityMissing as missing:
        if version is None:
            raise
        unseen = (
            f"this cluster's etcd cannot be read ({missing.evidence}), so the objects are as the API gives them in "
            f"{version}: the version they are stored in is not visible, nor what is pruned from them already"
        )
        return Collection(total, unseen, _given(cluster, type_, version))
    stored = (
        Source(f"{kv.key} in etcd", kv.value.decode("utf-8", "replace"))
        for page in itertools.chain((first,), pages)
        for kv in page
    )
    return Collection(total, "", stored)


def _given(cluster: Cluster, type_: Type, version: str) -> Iterator[Source]:
    with Api(cluster) as api:
        for page in api.pages(type_.collection(version), limit=PAGE):
            for one in page.get("items") or ():
                metadata = one["metadata"]
                named = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
                yield Source.of(f"{type_.plural} {named} as the API gives it", one)


def _total(cluster: Cluster, type_: Type, version: str) -> int | None:
    """How many there are; None where the server cannot read them, or does not count them."""
    try:
        with Api(cluster) as api:
            page = next(api.pages(type_.collection(version), limit=1), None)
    except ApiError:
        return None
    if page is None:
        return None
    return len(page.get("items") or ()) + int(page["metadata"].get("remainingItemCount") or 0)
