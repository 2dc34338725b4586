"""Definitions as projects really write them, read into classes and emitted again.

They come as Go modules, pinned in definitions/modules.toml, through the ordinary Go client and its cache. Where there
is no Go, or a module cannot be had, the tests say so and are skipped; a module of other content than its pin fails.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.machine import control_plane
from labkit.machine.checkout import Checkout
from labkit.resources import crd, from_crd

PINS = Path(__file__).with_name("definitions") / "modules.toml"
MODULES: list[dict[str, Any]] = tomllib.loads(PINS.read_text(encoding="utf-8"))["module"]
AT_LEAST = 100
DOWNLOAD_LIMIT_S = 300


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads as the API server's tools do: ``=`` and dates are texts, which YAML 1.1 has other types for."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith((":value", ":timestamp"))]
    for first, found in Loader.yaml_implicit_resolvers.items()
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Module path → its folder in Go's module cache, for every module of the list."""
    go, found = control_plane.find_go(Checkout.here())
    if go is None:
        pytest.skip(f"there is no Go to download definitions with: {found}")
    pinned = {module["path"]: module for module in MODULES}
    argv = [go, "mod", "download", "-json", *(f"{path}@{module['version']}" for path, module in pinned.items())]
    outside = tmp_path_factory.mktemp("outside-of-modules")
    try:
        done = subprocess.run(argv, cwd=outside, capture_output=True, text=True, check=False, timeout=DOWNLOAD_LIMIT_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"the definitions were not downloaded within {DOWNLOAD_LIMIT_S} s")
    answers = list(_documents(done.stdout))
    for answer in answers:
        if answer.get("Error"):
            pytest.skip(f"the definitions cannot be downloaded: {answer['Error']}")
        assert answer["Sum"] == pinned[answer["Path"]]["sum"], f"{answer['Path']} is not what was pinned"
    if len(answers) < len(pinned):
        pytest.skip(f"the definitions cannot be downloaded: {done.stderr.strip()}")
    return {answer["Path"]: Path(answer["Dir"]) for answer in answers}


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """JSON documents one after the other."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def definitions(folder: Path, files: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """File name and document of each definition."""
    for path in sorted(folder.glob(files)):
        with path.open(encoding="utf-8") as stream:
            for document in yaml.load_all(stream, Loader):
                if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                    yield path.name, document


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)


def test_the_list_has_definitions_enough() -> None:
    assert sum(module["definitions"] for module in MODULES) >= AT_LEAST


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module["path"])
def test_definitions_of_well_known_projects_come_back_equal(folders: dict[str, Path], module: dict[str, Any]) -> None:
    read = list(definitions(folders[module["path"]], module["files"]))
    differing = []
    for name, document in read:
        before = as_json(document)
        classes = from_crd(document)
        emitted = crd(*classes.values()).to_dict()
        served = [version["name"] for version in document["spec"]["versions"] if version["served"]]
        if list(classes) != served or not before == as_json(document) == as_json(emitted):
            differing.append(name)
        crd(*classes.values(), check=True)  # a server has accepted it, so nothing in it is refused here
    assert differing == []
    assert len(read) == module["definitions"]
