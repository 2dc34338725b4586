"""Definitions made for tests of costs, and what the API server says of them in a dry run."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from labkit.cluster import Api
from labkit.cluster.claim import DEFINITIONS
from labkit.trace import Source
from labkit.trace.celcost import Bound

Json = Any
GROUP = "celcost.example.com"
PAIR = {"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}}}


def definition(*specs: Json, plural: str = "things", status: bool = False) -> dict[str, Json]:
    """A definition with one version a schema; each schema is that of the objects' ``spec``."""
    versions = [
        {
            "name": f"v{number}",
            "served": True,
            "storage": number == 1,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            **({"subresources": {"status": {}}} if status else {}),
        }
        for number, spec in enumerate(specs, 1)
    ]
    return things(GROUP, plural, versions)


def things(group: str, plural: str, versions: list[Json]) -> dict[str, Json]:
    """A definition of Things in a namespace, in these versions."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": plural},
            "versions": versions,
        },
    }


def rule(text: str) -> Json:
    return {"x-kubernetes-validations": [{"rule": text}]}


def message(text: str) -> Json:
    return {"x-kubernetes-validations": [{"rule": "true", "messageExpression": text}]}


def array(items: Json, size: int | None = None, /, **more: Json) -> Json:
    return {"type": "array", "items": items, **({} if size is None else {"maxItems": size}), **more}


def mapping(values: Json, size: int | None = None, /, **more: Json) -> Json:
    extra = {} if size is None else {"maxProperties": size}
    return {"type": "object", "additionalProperties": values, **extra, **more}


def text(size: int | None = None, /, **more: Json) -> Json:
    return {"type": "string", **({} if size is None else {"maxLength": size}), **more}


def fields(properties: Json, **more: Json) -> Json:
    return {"type": "object", "properties": properties, **more}


def many(total: int, lists: int) -> Json:
    """Lists with a rule that costs 5 for each item, of *total* items together; no two of the longer ones are equal.

    The server names the four costliest rules; between equal ones it chooses by chance.
    """
    sizes = [total // lists - number * 1000 for number in range(lists - 1)]
    sizes.append(total - sum(sizes))
    return fields({f"l{n}": array({**PAIR, **rule("self.min <= self.max")}, size) for n, size in enumerate(sizes)})


def source(body: Json) -> Source:
    return Source.of("the definition", body)


def said(api: Api, body: Json, *, dry_run: bool = True) -> tuple[str, ...]:
    """The server's complaints, sorted; empty when it accepts."""
    answer = api.raw("POST", DEFINITIONS + ("?dryRun=All" if dry_run else ""), json.loads(json.dumps(body)))
    if answer.ok:
        return ()
    assert answer.code == 422, answer.text
    return plain(f"{one['field']}: {one['message']}" for one in answer.status["details"]["causes"])


def plain(lines: Any) -> tuple[str, ...]:
    """*lines* sorted, without the random number that a type has in the compiler's messages."""
    return tuple(sorted(re.sub(r"selfType\d+", "selfType", line) for line in lines))


def bounded(body: Json, bounds: tuple[Bound, ...], more: int = 0, only: Bound | None = None) -> Json:
    """A copy with the bounds set; *only* one of them, or each, greater by *more*."""
    changed = copy.deepcopy(body)
    for bound in bounds:
        schema = _schema_at(changed, bound.path)
        schema[bound.keyword] = bound.value + (more if only in (None, bound) else 0)
    return changed


def rules_at(body: Json, path: str) -> tuple[Json, str]:
    """The rule that an expression's path leads to, and its key."""
    schema, _, rest = path.rpartition(".x-kubernetes-validations")
    index, key = re.fullmatch(r"\[(\d+)\]\.(\w+)", rest).groups()  # type: ignore[union-attr]
    return _schema_at(body, schema)["x-kubernetes-validations"][int(index)], key


def _schema_at(body: Json, path: str) -> Json:
    version = re.match(r"spec\.versions\[(\d+)\]\.schema\.openAPIV3Schema", path)
    top = version or re.match(r"spec\.validation\.openAPIV3Schema", path)
    assert top is not None, path
    schema = body["spec"]["versions"][int(version[1]) if version else 0]["schema"]["openAPIV3Schema"]
    for name, word in re.findall(r"\.properties\[([^\]]*)\]|\.(\w+)", path[top.end() :]):
        schema = schema["properties"][name] if name else schema[word]
    return schema
