"""The cases of the differential suite: data in cases/*.yaml, made into whole definitions and objects.

A file holds topics; a topic has definitions (by name) and cases. Everything that a case does not say is filled in here
the same way for all of them, so that a line of a file shows only what it is about:

- a definition is ``properties`` (of spec), ``schema`` (of the whole object) or ``versions``; its group is the topic's;
- an object is ``spec``, ``object`` (all of it) or ``text`` (with ``$apiVersion``, ``$kind``, ``$name``, ``$head``),
  and ``old``/``oldSpec`` what was there before, created under ``first`` where the definition itself would refuse it;
- ``good`` and ``bad`` are many objects of one field each;
- ``refused`` and ``warned`` are a part of what the server must say: without them it must accept, so that a case that
  does not show what it claims is found on the server alone.

A topic whose name begins with ``define-`` is about registering: its cases edit a minimal definition.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"
ROOT = FOLDER.parents[3]
DOMAIN = "parity.example.com"
Json = Any


class _Loader(yaml.SafeLoader):
    """YAML whose plain scalars mean what they mean in JSON: "no", "1:30" and "2024-01-15" are text."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("float", r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


@dataclass(frozen=True)
class Type:
    """A definition under test, as it is registered; *first* is the one its old objects are created under."""

    name: str
    document: Json
    first: Json | None = None

    @property
    def group(self) -> str:
        return str(self.document["spec"]["group"])

    @property
    def plural(self) -> str:
        return str(self.document["spec"]["names"]["plural"])

    @property
    def namespaced(self) -> bool:
        return bool(self.document["spec"]["scope"] == "Namespaced")

    def collection(self, version: str) -> str:
        """The URL path of its objects in namespace default."""
        space = "namespaces/default/" if self.namespaced else ""
        return f"/apis/{self.group}/{version}/{space}{self.plural}"

    def key(self, name: str) -> str:
        """The etcd key of an object."""
        return f"/registry/{self.group}/{self.plural}/{'default/' if self.namespaced else ''}{name}"


def storage(document: Json) -> str:
    """The name of a definition's storage version."""
    return next(str(one["name"]) for one in document["spec"]["versions"] if one["storage"])


@dataclass(frozen=True)
class Case:
    """One play: of an object under *type*, or (``defines``) of the registration of a definition.

    *body* is the text sent, *media* "json" or "yaml"; *old* the object there before (under ``defines`` the definition).
    """

    topic: str
    id: str
    type: Type
    name: str
    operation: str
    body: Json
    media: str = "json"
    old: Json | None = None
    version: str = "v1"
    read_version: str = "v1"
    field_validation: str = "Strict"
    refused: str | None = None
    warned: str | None = None

    @property
    def defines(self) -> bool:
        return self.operation == "define"

    def __str__(self) -> str:
        return f"{self.topic}/{self.id}"


@dataclass
class _Topic:
    name: str
    content: Mapping[str, Json]
    types: dict[tuple[str, str | None], Type] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return f"{self.name.lower()}.{DOMAIN}"

    def type(self, name: str, first: str | None) -> Type:
        if (name, first) not in self.types:
            definitions = self.content["definitions"]
            plural = f"{name}{first or ''}".lower()
            document = definition(self.group, plural, definitions[name])
            before = definition(self.group, plural, definitions[first]) if first else None
            self.types[name, first] = Type(f"{self.name}/{plural}", document, before)
        return self.types[name, first]

    def cases(self) -> Iterator[Case]:
        for raw in self.content["cases"]:
            if self.name.startswith("define-"):
                yield self._registration(raw)
            elif "good" in raw or "bad" in raw:
                values = raw.get("good", raw.get("bad"))
                pairs = [(key, value) for key, many in values.items() for value in many]
                for number, (key, value) in enumerate(pairs, 1):
                    one = {**raw, "id": f"{raw['id']}-{key}-{number}", "name": f"{raw['id']}-{number}"}
                    if "bad" in raw:
                        one.setdefault("refused", "")
                    yield self._play({**one, "spec": {key: value}})
            else:
                yield self._play(raw)

    def _play(self, raw: Mapping[str, Json]) -> Case:
        only = next(iter(self.content["definitions"]))
        kind = self.type(raw.get("definition", only), raw.get("first"))
        served = kind.document["spec"]["versions"]
        version = raw.get("version", served[0]["name"] if len(served) == 1 else raw.get("oldVersion", "v1"))
        name = raw.get("name", raw["id"])
        before, now = (_content(raw, *keys) for keys in (("old", "oldSpec", "oldFile"), ("object", "spec", "file")))
        old = _object(kind, name, raw.get("oldVersion", version), before)
        body = _object(kind, name, version, now)
        if "text" in raw:
            body = _text(raw["text"], kind, name, version)
        return Case(
            topic=self.name,
            id=raw["id"],
            type=kind,
            name=name if not isinstance(body, dict) else _name(body),
            operation=raw.get("operation", "create" if old is None else "update"),
            body=body,
            media=raw.get("media", "json"),
            old=old,
            version=version,
            read_version=raw.get("readVersion", version),
            field_validation=raw.get("fieldValidation", "Strict"),
            refused=raw.get("refused"),
            warned=raw.get("warned"),
        )

    def _registration(self, raw: Mapping[str, Json]) -> Case:
        plural = raw["id"]
        old = None
        if "old" in raw:
            named = raw["old"].get("definition")
            shape = self.content["definitions"][named] if named else raw["old"]
            old = definition(self.group, plural, {"properties": {}, **shape} if "versions" not in shape else shape)
        document = edited(copy.deepcopy(old) if old else definition(self.group, plural, {"properties": {}}), raw)
        kind = Type(str(self.name), old or document)
        case = Case(self.name, raw["id"], kind, plural, "define", document, old=old)
        how = raw.get("fieldValidation", "Strict")
        return replace(case, field_validation=how, refused=raw.get("refused"), warned=raw.get("warned"))


def definition(group: str, plural: str, shape: Mapping[str, Json]) -> Json:
    """The whole definition of a *shape* of the files."""
    kind = plural.replace("-", "").capitalize()
    if "file" in shape:
        versions = _read(shape["file"])["spec"]["versions"]
        return definition(
            group, plural, {"versions": [{**one, "schema": one["schema"]["openAPIV3Schema"]} for one in versions]}
        )
    versions = [dict(one) for one in shape.get("versions", [{**shape, "name": "v1"}])]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": shape.get("scope", "Namespaced"),
            "names": {"kind": kind, "plural": plural},
            "versions": [_version(one) for one in versions],
        },
    }


def _version(shape: Mapping[str, Json]) -> Json:
    kept = ("subresources", "selectableFields", "deprecated", "deprecationWarning", "additionalPrinterColumns")
    return {
        "name": shape["name"],
        "served": shape.get("served", True),
        "storage": shape.get("storage", True),
        "schema": {"openAPIV3Schema": _schema(shape)},
        **{key: shape[key] for key in kept if key in shape},
    }


def _schema(shape: Mapping[str, Json]) -> Json:
    if "schema" in shape:
        return shape["schema"]
    spec = {"type": "object", "properties": shape["properties"]}
    if "rules" in shape:
        spec["x-kubernetes-validations"] = shape["rules"]
    return {"type": "object", "properties": {"spec": spec}}


def edited(document: Json, raw: Mapping[str, Json]) -> Json:
    """*document* with the edits of a case: ``set`` and ``drop`` by path, ``schema`` and ``properties``."""
    if "schema" in raw or "properties" in raw:
        document["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = _schema(raw)
    for path in raw.get("drop", ()):
        node, last = _walk(document, path)
        del node[last]
    for path, value in raw.get("set", {}).items():
        node, last = _walk(document, path)
        if isinstance(node, list) and last == len(node):
            node.append(value)
        else:
            node[last] = value
    names = document["spec"].get("names", {})
    told = {*raw.get("drop", ()), *raw.get("set", {})}
    if "metadata.name" not in told and "old" not in raw:
        document["metadata"]["name"] = f"{names.get('plural')}.{document['spec'].get('group')}"
    return document


def _walk(document: Json, path: str) -> tuple[Json, str | int]:
    steps: list[str | int] = [
        int(number) if number else key for number, key in re.findall(r"\[(\d+)\]|([^.\[\]]+)", path)
    ]
    node = document
    for step in steps[:-1]:
        if isinstance(node, dict) and step not in node:
            node[step] = {}
        node = node[step]
    return node, steps[-1]


def _content(raw: Mapping[str, Json], whole: str, spec: str, file: str) -> Json | None:
    """What a case says of an object: all of it, its spec, or the file it is in."""
    if file in raw:
        content = _read(raw[file])
        return {key: content[key] for key in ("spec", "status") if key in content}
    return raw[whole] if whole in raw else {"spec": raw[spec]} if spec in raw else None


def _object(kind: Type, name: str, version: str, content: Json | None) -> Json | None:
    if content is None:
        return None
    content = dict(content)
    head = {"apiVersion": f"{kind.group}/{version}", "kind": kind.document["spec"]["names"]["kind"]}
    metadata = content.pop("metadata", {})
    if isinstance(metadata, dict):
        space = {"namespace": "default"} if kind.namespaced else {}
        metadata = {key: value for key, value in {**space, "name": name, **metadata}.items() if value is not None}
    return {**head, "metadata": metadata, **content}


def _read(path: str) -> Json:
    return yaml.load((ROOT / path).read_text("utf-8"), _Loader)  # noqa: S506  (a SafeLoader)


def _name(body: Json) -> str:
    metadata = body.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _text(template: str, kind: Type, name: str, version: str) -> str:
    words = {
        "apiVersion": f"{kind.group}/{version}",
        "kind": kind.document["spec"]["names"]["kind"],
        "name": name,
    }
    head = '"apiVersion": "{apiVersion}", "kind": "{kind}", "metadata": {{"name": "{name}", "namespace": "default"}}'
    words["head"] = head.format(**words)
    return re.sub(r"\$(\w+)", lambda found: words[found[1]], template)


def _repeated(value: Json) -> Json:
    """``{$repeat: [what, times]}`` and ``{$wrap: [begin, left, times, right, end]}`` written out."""
    if isinstance(value, dict):
        if "$repeat" in value:
            what, times = value["$repeat"]
            return what * times if value.get("join") else [what] * times
        if "$wrap" in value:
            begin, left, times, right, end = value["$wrap"]
            return f"{begin}{left * times}{right * times}{end}"
        return {key: _repeated(one) for key, one in value.items()}
    return [_repeated(one) for one in value] if isinstance(value, list) else value


@cache
def load() -> tuple[Case, ...]:
    """All cases of all files, in their order."""
    found: list[Case] = []
    for path in sorted(FOLDER.glob("*.yaml")):
        with path.open(encoding="utf-8") as file:
            topics = _repeated(yaml.load(file, _Loader))  # noqa: S506  (a SafeLoader)
        for name, content in topics.items():
            found += _Topic(name, content).cases()
    return tuple(found)
