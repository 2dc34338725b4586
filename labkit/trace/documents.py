"""Objects in files: one or many, as they were written by hand, by ``kubectl get -o yaml``, or by a backup.

What is wanted are the texts of single objects, each with a name that a complaint can use. A file holds several
documents, a document may be a list of objects (so kubectl writes what it gets), and a folder holds files. A document is
handed on as the text it is, for the server's own decoder to read: only lists are taken apart here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from labkit.errors import BadDocument
from labkit.languages import translate
from labkit.trace.sources import Source, read

__all__ = ["documents"]

SUFFIXES = (".json", ".yaml", ".yml")
"""Of the files in a folder that kubectl takes too."""

MOST = 3 * 2**20
"""Bytes of a request that the server reads."""

_BREAK = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
_SAID = re.compile(r"^\s*[^#%\s]", re.MULTILINE)
_LIST = (re.compile(r"^kind:\s*[\"']?\w*List[\"']?\s*(?:#.*)?$", re.MULTILINE), re.compile(r"^items:", re.MULTILINE))


def documents(paths: Iterable[Path]) -> list[Source]:
    """The objects in files, and in the files of folders, in order; ``-`` is standard input.

    A list of objects gives each of its items. Raises BadDocument for what cannot be read, and where there is no object.
    """
    return [one for path in paths for file in _files(path) for one in _objects(file)]


def _files(path: Path) -> list[Path]:
    if str(path) == "-" or not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not found:
        raise BadDocument(
            translate("{path}: no object in this folder", path=path),
            evidence=translate("no file ends in {names}", names=", ".join(SUFFIXES)),
        )
    return found


def _objects(file: Path) -> Iterator[Source]:
    source = read(file)
    texts = list(_json(source)) if source.text.lstrip().startswith("{") else _yaml(source.text)
    if not texts:
        raise BadDocument(
            translate("{name}: no object in it", name=source.name), evidence=translate("nothing but comments")
        )
    for number, text in enumerate(texts, start=1):
        one = Source(source.name if len(texts) == 1 else f"{source.name}, document {number}", text)
        yield from _items(one) if _is_list(one) else (one,)


def _yaml(text: str) -> list[str]:
    return [part for part in _BREAK.split(text) if _SAID.search(part)]


def _json(source: Source) -> Iterator[str]:
    """Documents of JSON that follow one another, as they are. What is none is left to be complained of as a whole."""
    decoder, text = json.JSONDecoder(), source.text.strip()
    while text:
        try:
            _, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            end = len(text)
        yield text[:end]
        text = text[end:].lstrip()


def _is_list(one: Source) -> bool:
    """Whether it is what kubectl writes for several objects; a kind of its own may end in List too."""
    if not one.text.lstrip().startswith("{"):
        return all(pattern.search(one.text) for pattern in _LIST)
    try:
        found = json.loads(one.text)
    except (ValueError, RecursionError):
        return False
    return str(found.get("kind")).endswith("List") and isinstance(found.get("items"), list)


def _items(one: Source) -> Iterator[Source]:
    items = _loaded(one)["items"]
    if items is not None and not isinstance(items, list):
        raise BadDocument(
            translate("{name}: items is no list", name=one.name),
            evidence=translate("it is of type {type}", type=type(items).__name__),
        )
    sizes: dict[int, int] = {}
    for number, item in enumerate(items or (), start=1):
        name = f"{one.name}, item {number}"
        if not isinstance(item, dict):
            raise BadDocument(
                translate("{name}: not an object", name=name),
                evidence=translate("it is of type {type}", type=type(item).__name__),
            )
        try:
            if _size(item, sizes) > MOST:
                raise BadDocument(
                    translate("{name}: larger than any request may be", name=name),
                    evidence=translate("with its aliases written out"),
                )
        except RecursionError as error:
            raise BadDocument(translate("{name}: nested too deep", name=name)) from error
        yield Source.of(name, item)


def _size(value: Any, known: dict[int, int]) -> int:
    """Not more than the bytes of its JSON. What an alias stands for is counted once, and added as often as it stands:
    a few lines of aliases of aliases are an object that no memory holds.
    """
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = 1  # what holds itself is told by whoever writes it out
        inside = (*value.keys(), *value.values()) if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in inside)
    return known[id(value)]


def _loaded(one: Source) -> Any:
    import yaml

    if one.text.lstrip().startswith("{"):
        return json.loads(one.text)
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    dates = "tag:yaml.org,2002:timestamp"  # which the server takes for the strings that they are
    resolvers = {
        first: [each for each in found if each[0] != dates] for first, found in base.yaml_implicit_resolvers.items()
    }
    try:
        return yaml.load(one.text, Loader=type("Loader", (base,), {"yaml_implicit_resolvers": resolvers}))  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadDocument(
            translate("{name}: not YAML", name=one.name), evidence=" ".join(str(error).split())
        ) from error
