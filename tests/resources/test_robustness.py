"""Hostile and enormous input: an error or the right result, never a hang, never a RecursionError."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from labkit.resources import (
    JSON,
    APIObject,
    Int,
    List,
    Map,
    Object,
    Opaque,
    Resource,
    ResourceError,
    SpecPathError,
    Str,
    cel,
    crd,
    declare,
    from_crd,
    strict,
)
from labkit.resources.errors import DeclarationError, Problem


class Node(Resource):
    name = Str()
    next = Object("Node")
    nodes = List(Object("Node"))
    by_name = Map(Object("Node"))
    free = Opaque()
    any = JSON


class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
    spec = Object(Node)


DEEP = 1_000


def nested(levels: int, bottom: Any, wrap: Callable[[Any], Any]) -> Any:
    value = bottom
    for _ in range(levels):
        value = wrap(value)
    return value


def error_or_result(call: Callable[[], Any]) -> Any:
    begun = time.perf_counter()
    try:
        return call()
    except (ResourceError, DeclarationError) as error:
        assert str(error)
        return error
    finally:
        assert time.perf_counter() - begun < 10


WRAPS: list[Callable[[Any], Any]] = [
    lambda value: {"next": value},
    lambda value: {"nodes": [value]},
    lambda value: {"by_name": {"k": value}},
    lambda value: {"unknown": value},
]


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("bottom", [{"name": "x"}, {"name": []}, 5])
@pytest.mark.parametrize("levels", [50, DEEP, 20_000])
def test_deep_documents_are_built_or_refused(wrap: Any, bottom: Any, levels: int) -> None:
    document = nested(levels, bottom, wrap)
    for call in (lambda: Node(document), lambda: Node.from_dict(document), lambda: Kind(spec=document)):
        made = error_or_result(call)
        if isinstance(made, Resource):
            assert isinstance(error_or_result(made.to_dict), (dict, ResourceError))
            assert isinstance(error_or_result(made.to_json), (str, ResourceError))
            assert isinstance(error_or_result(made.to_yaml), (str, ResourceError)) or levels > DEEP
            assert repr(made)
        elif levels == 50:
            assert bottom != {"name": "x"}
            assert "name" in str(made) or "expected an object" in str(made)


def test_a_mistake_at_the_bottom_is_told_once_and_at_once() -> None:
    begun = time.perf_counter()
    with pytest.raises(ResourceError) as caught:
        Node(nested(100, {"name": []}, lambda value: {"nodes": [value], "by_name": {"a": {"name": "ok"}}}))
    assert len(caught.value.problems) == 1
    assert len(caught.value.problems[0].path) == 201
    assert time.perf_counter() - begun < 2


def test_deep_json_text_is_read_or_refused() -> None:
    for levels in (50, DEEP, 100_000):
        text = '{"next":' * levels + "{}" + "}" * levels
        error_or_result(lambda: Node.from_json(text))  # noqa: B023
        error_or_result(lambda: Node.from_json('{"free":' + "[" * levels + "]" * levels + "}"))  # noqa: B023


def test_deep_paths_are_walked() -> None:
    made = Kind()
    path = ".".join(["next"] * DEEP) + ".name"
    made.spec_set(path, "bottom")
    assert made.spec_get(path) == "bottom"
    for call in (
        made.to_dict,
        made.to_json,
        lambda: made == copy.copy(made),
        lambda: Kind().spec_merge(next=made.spec),
    ):
        error_or_result(call)
    assert repr(made).endswith("…)))))")
    assert made.spec_delete(path).spec_get(path) is None
    free = Kind().spec_set(("free", *["a", 0] * DEEP), 1)
    assert free.spec_get(("free", *["a", 0] * DEEP)) == 1
    assert isinstance(error_or_result(free.to_json), (str, ResourceError))


def test_lists_of_a_hundred_thousand() -> None:
    class Long(Resource):
        n = List(Int)
        s = Map(Str)
        rows = List({"n": Int})
        free = Opaque()

    many = 100_000
    begun = time.perf_counter()
    document = {
        "n": list(range(many)),
        "s": {str(n): "x" for n in range(many)},
        "rows": [{"n": 1}] * many,
        "free": [{"a": [1]}] * many,
    }
    made = Long(document)
    assert json.loads(made.to_json()) == document
    with pytest.raises(ResourceError) as caught:
        Long(n=["x"] * many)
    assert len(caught.value.problems) == many
    assert time.perf_counter() - begun < 30


@pytest.mark.parametrize("key", ["next", "nodes", "by_name", "free", "any", "unknown", "name"])
def test_cyclic_input_is_refused(key: str) -> None:
    document: dict[str, Any] = {}
    document[key] = {"nodes": [document], "by_name": {"k": document}}.get(key, document)
    if key in ("nodes", "by_name"):
        document[key] = [document] if key == "nodes" else {"k": document}
    for call in (lambda: Node(document), lambda: Node.from_dict(document), lambda: Kind(spec=document)):
        assert isinstance(error_or_result(call), ResourceError)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ResourceError, match=r"contains itself"):
        Node(free=loop)


def test_an_object_made_cyclic_by_hand_is_refused_when_written() -> None:
    node = Node(name="x")
    node.next = node
    made = Node(free={})
    made.free["self"] = made.free
    for call in (node.to_dict, node.to_json, node.to_yaml, made.to_json, made.to_yaml, lambda: node == copy.copy(node)):
        error_or_result(call)
    with pytest.raises(ResourceError):
        made.to_json()
    assert "…" in repr(node)


def test_names_that_are_no_python_names() -> None:
    class Odd(Resource):
        pass

    names = ["from", "$ref", "nvidia.com/gpu", "a b", "été", "", "0", "class", "None", "__init", "c\nd", "x" * 1000]
    for name in names:
        declare(Odd, name, Int)
    document = {name: number for number, name in enumerate(names)}
    assert Odd(document).to_dict() == document
    assert json.loads(Odd(document).to_json()) == document
    with pytest.raises(ResourceError) as caught:
        Odd(dict.fromkeys(names, "x"))
    assert len(caught.value.problems) == len(names)


@pytest.mark.parametrize("name", ["__init__", "__class__", "__dict__", "__labkit__", "_values", "__slots__", "$values"])
def test_names_python_needs_are_refused_and_kept_as_undeclared_keys(name: str) -> None:
    class C(Resource):
        a = Int()

    with pytest.raises(DeclarationError):
        declare(C, name, Int)
    document = {name: 1, "a": 2}
    assert C(document).to_dict() == document
    assert C(**document).to_dict() == document
    assert Kind(spec={}).spec_set((name,), 1).to_dict()["spec"] == {name: 1}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {name: {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "K", "plural": "ks"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "g.io", "names": names, "scope": "Cluster", "versions": [version]},
    }
    cls = from_crd(definition)["v1"]
    assert cls(spec={name: 1}).to_dict()["spec"] == {name: 1}
    assert crd(cls).to_dict() == definition


LONE = "\ud800"


@pytest.mark.parametrize(
    "document",
    [
        {"name": LONE},
        {"free": [LONE]},
        {"free": {LONE: 1}},
        {"unknown": LONE},
        {LONE: 1},
        {"any": LONE},
        {"by_name": {LONE: {}}},
    ],
)
def test_half_a_surrogate_pair_is_refused_with_a_message_that_can_be_printed(document: Any) -> None:
    with pytest.raises(ResourceError, match="surrogate") as caught:
        Node(document)
    str(caught.value).encode()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), pytest.param(10**400, id="10**400"), {1}, b"x", object(), {1: 2}]
)
def test_what_json_cannot_say_is_refused_everywhere(value: Any) -> None:
    for document in ({"free": {"a": [value]}}, {"unknown": {"a": [value]}}, {"any": {"a": [value]}}):
        with pytest.raises(ResourceError) as caught:
            Node(document)
        assert caught.value.problems[0].path[:3] == (next(iter(document)), "a", 0)
    late = Node(free={})
    late.free["x"] = value
    if value != {1: 2} and not (isinstance(value, int) and value < 10**4300):
        with pytest.raises(ResourceError, match=r"free\.x"):
            late.to_json()


def test_big_integers_are_kept_where_a_server_keeps_them() -> None:
    assert json.loads(Node(free=2**60).to_json()) == {"free": 2**60}
    huge = 10**5000
    for call in (
        lambda: Kind().spec_set("name", huge),
        lambda: Node(free=huge),
        lambda: Kind().spec_set(("free", huge), 1),
    ):
        error = error_or_result(call)
        assert isinstance(error, ResourceError)


def test_errors_survive_pickling_with_their_parts() -> None:
    with pytest.raises(ResourceError) as caught:
        Node(name=[], nodes=[{"name": {}}])
    with pytest.raises(SpecPathError) as by_path:
        Kind().spec_set("name", [])
    for error in (caught.value, by_path.value):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.problems == error.problems
        assert again.class_name == error.class_name
    again = pickle.loads(pickle.dumps(by_path.value))  # noqa: S301
    assert (again.spec_path, again.segment) == ("name", "name")
    assert caught.value.problems[1] == Problem(("nodes", 0, "name"), "expected a string, got a dict", "dict")
    assert isinstance(caught.value, ValueError)
    assert issubclass(DeclarationError, TypeError)


def test_a_copy_shares_no_state_and_a_pickled_object_comes_back() -> None:
    made = Kind(spec={"name": "x", "free": {"a": [1]}}, zz=None)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301
        assert again == made
        assert type(again) is Kind
        again.spec = None
        assert made.to_dict() != again.to_dict()
    assert made.to_dict()["spec"] == {"name": "x", "free": {"a": [1]}}


def test_threads_may_meet_a_new_class_at_once() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(200):

            class Fresh(APIObject, group="a.example.com", version="v1", plural="freshes"):
                spec = {"n": Int(required=True), "rows": List({"s": Str})}

            start = threading.Barrier(6)

            def work(cls: Any = Fresh, start: Any = start) -> str:
                start.wait()
                with pytest.raises(ResourceError, match=r"spec\.n: is required"):
                    cls(spec={"rows": [{"s": "é"}]})
                return str(cls(spec={"n": 1, "rows": [{"s": "é"}], "more": 2}).to_json())

            with ThreadPoolExecutor(6) as pool:
                written = {job.result() for job in [pool.submit(work) for _ in range(6)]}
            assert [json.loads(one)["spec"] for one in written] == [{"n": 1, "rows": [{"s": "é"}], "more": 2}]
    finally:
        sys.setswitchinterval(before)


def test_the_recursion_limit_is_not_touched() -> None:
    limit = sys.getrecursionlimit()
    error_or_result(lambda: Node(nested(DEEP, {}, WRAPS[0])))
    assert sys.getrecursionlimit() == limit


def test_a_class_inside_itself_emits_a_finite_schema_and_strict_mode_goes_deep() -> None:
    class Loop(APIObject, group="a.example.com", version="v1", plural="loops", rules=[cel("true")]):
        spec = Object(Node)

    assert "next" in crd(Loop).to_json()
    with strict(), pytest.raises(ResourceError, match=r"next\.next\.nope"):
        Node(next={"next": {"nope": 1}})


YAML_TRAPS = [
    "yes",
    "no",
    "on",
    "y",
    "N",
    "012",
    "1e3",
    "0o17",
    "0x1F",
    "1_000",
    "null",
    "~",
    "",
    "=",
    "<<",
    ".inf",
    "1:30",
    "- a",
    "a: b",
    "#x",
    "é",
    "a\nb",
    " x ",
    "2024-01-15",
    "@a",
    "+1",
    "-",
    "%a",
    "tab\t",
    "\x07",
]


@pytest.mark.parametrize("text", YAML_TRAPS)
def test_yaml_keeps_text_as_text(text: str) -> None:
    import yaml

    written = Node(name=text, free={text: [text]}).to_yaml()
    assert yaml.safe_load(written) == {"name": text, "free": {text: [text]}}


def test_to_yaml_names_the_package_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match="PyYAML"):
        Node(name="x").to_yaml()
