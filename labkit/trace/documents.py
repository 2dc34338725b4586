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
from labkit.trace.sources import Source, read

__all__ = ["documents"]

SUFFIXES = (".json", ".yaml", ".yml")
"""Of the files in a folder that kubectl takes too."""

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
        raise BadDocument(f"{path}: no object in this folder", evidence=f"no file ends in {', '.join(SUFFIXES)}")
    return found


def _objects(file: Path) -> Iterator[Source]:
    source = read(file)
    texts = list(_json(source)) if source.text.lstrip().startswith("{") else _yaml(source.text)
    if not texts:
        raise BadDocument(f"{source.name}: no object in it", evidence="nothing but comments")
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
    for number, item in enumerate(_loaded(one)["items"] or (), start=1):
        if not isinstance(item, dict):
            raise BadDocument(f"{one.name}, item {number}: not an object", evidence=str(item)[:80])
        yield Source.of(f"{one.name}, item {number}", item)


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
        raise BadDocument(f"{one.name}: not YAML", evidence=" ".join(str(error).split())) from error
