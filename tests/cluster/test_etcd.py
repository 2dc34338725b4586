"""Stored bytes survive, are recognised by their head, and are printed as etcdctl prints them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from labkit.cluster import EtcdResult, KeyValue
from labkit.cluster.base import Encoding
from labkit.cluster.embedded import EmbeddedCluster
from labkit.cluster.etcd import Etcd, find_pod, parse_range, range_end
from labkit.errors import CapabilityMissing


def stored(value: bytes, key: str = "/registry/a") -> KeyValue:
    return KeyValue(key, value, create_revision=3, mod_revision=9, version=2)


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (b'{"kind":"Colis"}\n', "json"),
        (b"k8s\x00\n\x09\n\x02v1", "protobuf"),
        (b"", "none"),
        (b"{not json", "other"),
        (b"[1]", "other"),
        (b"\xff\xfe", "other"),
    ],
)
def test_the_encoding_is_told_by_the_value(value: bytes, encoding: Encoding) -> None:
    assert stored(value).encoding == encoding


def test_only_json_has_a_decoded_object() -> None:
    assert stored(b'{"kind":"Colis"}').object == {"kind": "Colis"}
    assert stored(b"k8s\x00").object is None


def test_both_forms_of_a_range_answer_are_read() -> None:
    raw = base64.b64encode(b"\x00\xff").decode()
    key = base64.b64encode(b"/k").decode()
    gateway = {"kvs": [{"key": key, "create_revision": "3", "mod_revision": "9", "version": "2", "value": raw}]}
    etcdctl = {"kvs": [{"key": key, "create_revision": 3, "mod_revision": 9, "version": 2, "value": raw}], "count": 1}
    assert parse_range(gateway) == parse_range(etcdctl) == (stored(b"\x00\xff", "/k"),)
    assert parse_range({"header": {}}) == ()


@pytest.mark.parametrize(
    ("prefix", "end"), [(b"/a/", b"/a0"), (b"a\xff", b"b"), (b"\xff\xff", b"\0"), (b"", b"\0"), (b"z", b"{")]
)
def test_a_prefix_ends_before_the_next_sibling(prefix: bytes, end: bytes) -> None:
    assert range_end(prefix) == end


def test_it_prints_as_etcdctl_does() -> None:
    found = EtcdResult(
        "/r", prefix=True, keys_only=False, kvs=(stored(b"k8s\x00\xff", "/r/a"), stored(b"{}\n", "/r/b"))
    )
    assert found.print() == b"/r/a\nk8s\x00\xff\n/r/b\n{}\n\n"
    assert found.print(print_value_only=True) == b"k8s\x00\xff\n{}\n\n"
    assert found.print(keys_only=True) == b"/r/a\n\n/r/b\n\n"
    keys = EtcdResult("/r", prefix=True, keys_only=True, kvs=(stored(b"", "/r/a"),))
    assert keys.print() == b"/r/a\n\n"
    assert EtcdResult("/r", prefix=False, keys_only=False, kvs=()).print() == b""


def test_a_prefix_is_not_a_key(cluster: EmbeddedCluster) -> None:
    etcd = Etcd(cluster)
    assert etcd.get("/registry/namespaces").kvs == ()
    under = {kv.key for kv in etcd.get("/registry/namespaces/", prefix=True).kvs}
    assert "/registry/namespaces/default" in under
    assert all(key.startswith("/registry/namespaces/") for key in under)
    everything = {kv.key for kv in etcd.get("", prefix=True, keys_only=True).kvs}
    assert under < everything


def test_a_cluster_without_an_etcd_pod_has_none(cluster: EmbeddedCluster) -> None:
    assert find_pod(cluster) is None


class Blind:
    """A cluster that offers no way to its etcd."""


def test_a_cluster_that_offers_no_way_to_it_says_which_do(tmp_path: Path) -> None:
    with pytest.raises(CapabilityMissing, match="no way to it") as caught:
        Etcd(Blind()).get(str(tmp_path))  # type: ignore[arg-type]
    assert caught.value.capability == "etcd"
    assert "embedded" in caught.value.next_act
