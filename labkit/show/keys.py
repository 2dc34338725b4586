"""What was read of etcd, printed as etcdctl prints it, and as text whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from labkit.cluster import EtcdResult

__all__ = ["readable", "some_fields"]

SHOWN_BYTES = 40
"""How much of a value that is no text ``%etcd`` prints: the head and the first fields, before any uid or time."""


def some_fields(result: EtcdResult, fields: Sequence[str]) -> str:
    """A line for each key: the key, and these of its object's fields as JSON without spaces."""
    lines = []
    for kv in result.kvs:
        shown = {field: (kv.object or {}).get(field) for field in fields}
        lines.append(f"{kv.key} {json.dumps(shown, ensure_ascii=False, separators=(',', ':'))}\n")
    return "".join(lines)


def readable(result: EtcdResult, *, print_value_only: bool, keys_only: bool) -> str:
    """What etcdctl prints, as text: values that are no UTF-8 in part and with Python's escapes."""
    printed = result.print(print_value_only=print_value_only, keys_only=keys_only)
    try:
        return printed.decode()
    except UnicodeDecodeError:
        lines = []
        for kv in result.kvs:
            if not print_value_only:
                lines.append(kv.key)
            lines.append(_escaped(kv.value))
        return "\n".join(lines) + "\n"


def _escaped(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        shown = repr(value[:SHOWN_BYTES])[2:-1]
        more = len(value) - SHOWN_BYTES
        return f"{shown}… ({more} more bytes)" if more > 0 else shown
