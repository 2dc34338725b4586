"""Paths of fields, however they are spelled."""

from __future__ import annotations

import pytest

from labkit.observe.fieldpaths import compare, is_path, parse, steps_of


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("spec.worker.max", ("spec", "worker", "max")),
        (" .spec.worker ", ("spec", "worker")),
        ("`spec.worker`", ("spec", "worker")),
        ("$.spec.worker", ("spec", "worker")),
        ("spec.worker:", ("spec", "worker")),
        ("/spec/worker/max", ("spec", "worker", "max")),
        ("/spec/a~1b/c~0d", ("spec", "a/b", "c~d")),
        ("spec.ports[0].name", ("spec", "ports", "0", "name")),
        ("spec.selector[a.b]", ("spec", "selector", "a.b")),
        ("spec['worker'][\"max\"]", ("spec", "worker", "max")),
        (".worker['x.y']", ("worker", "x.y")),
        ("", ()),
        (".", ()),
        ("$", ()),
        ("...", ()),
        ("spec..worker", ("spec", "worker")),
        ("spec.rétrécit", ("spec", "rétrécit")),
        ("[", ()),
    ],
)
def test_a_path_becomes_its_steps(text: str, steps: tuple[str, ...]) -> None:
    assert parse(text) == steps


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "$", "/", "spec", " .spec.worker ", "`spec.worker`", "$.spec.worker", "spec.worker:", "/spec/a~1b/0",
        "spec.ports[0].name", "spec.ports.[0]", "[0].name", "spec.selector[a.b]", "spec['worker'][\"max\"]",
        "['x.y'][ 0 ]", "metadata.annotations[example.com/a]", "spec.rétrécit", "spec.$ref", "spec.x-kubernetes",
    ],
)  # fmt: skip
def test_what_can_be_a_path_is_taken_for_one(text: str) -> None:
    assert is_path(text)


@pytest.mark.parametrize(
    "text",
    ["spec..[", "..", "...", "spec..worker", "spec.worker..", "[", "]", "spec[", "spec[0", "spec]0[", "spec.ports[]",
     "spec[ ]", "spec['']", "spec[[0]]", "spec[0]name", "$$.", "spec.worker.[]."],
)  # fmt: skip
def test_what_cannot_be_a_path_is_told_apart(text: str) -> None:
    assert not is_path(text)


def test_indices_and_names_are_alike() -> None:
    assert steps_of(("spec", "ports", 0, "name")) == parse("spec.ports[0].name") == parse("spec.ports.0.name")


@pytest.mark.parametrize(
    ("said", "meant", "nearness"),
    [
        ("spec.worker.max", "spec.worker.max", "same"),
        ("spec.Worker.max", "spec.worker.max", "case"),
        ("worker.max", "spec.worker.max", "tail"),
        ("max", "spec.worker.max", "tail"),
        ("spec.worker", "spec.worker.max", "above"),
        ("spec", "spec.worker.max", "far"),
        ("spec.worker.max", "spec.worker", "below"),
        ("spec.worker.max.x", "spec.worker", "far"),
        ("spec.api", "spec.worker", "far"),
        ("", "spec", "far"),
        ("spec", "", "far"),
        ("", "", "same"),
    ],
)
def test_how_near_a_path_is(said: str, meant: str, nearness: str) -> None:
    assert compare(parse(said), parse(meant)) == nearness
