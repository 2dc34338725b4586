"""The seven verbs on dotted paths."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from labkit.resources import (
    APIObject,
    Bool,
    Int,
    List,
    Map,
    Object,
    Opaque,
    Quantity,
    Resource,
    ResourceError,
    SpecPathError,
    Str,
    from_crd,
)


class Needy(Resource):
    name = Str(required=True)
    note = Str(nullable=True)


class Route(Resource):
    match = Str()
    weights = List(Int)
    needy = Object(Needy)


class Spec(Resource):
    _ref = Str(key="$ref")
    version = Str()
    needed = Str(required="schema")
    routes = List(Object(Route))
    by_name = Map(Object(Route))
    flags = List(Bool)
    limits = Map(Quantity)
    raw = Opaque()
    needy = Object(Needy)
    tls = {"secretName": Str, "deep": {"n": Int}}
    note = Str(nullable=True)
    matrix = List(List(Int))
    few = List(Int, max_items=2)


class Kind(APIObject, group="a.example.com", version="v1", plural="kinds"):
    spec = Object(Spec)


class Free(APIObject, group="a.example.com", version="v1", plural="frees"):
    spec = Opaque()


class ConfigMap(APIObject, version="v1", plural="configmaps"):
    data = Map(Str)


class Strict(APIObject, group="a.example.com", version="v1", plural="stricts"):
    spec = Object(Needy)


def spec(obj: Any) -> Any:
    return obj.to_dict().get("spec")


class Something:
    def __repr__(self) -> str:  # without an address, which would name the test anew in each process
        return "something"


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def kind(**values: Any) -> Kind:
    return Kind(spec=values)


def fails(call: Callable[[], Any], *words: str) -> SpecPathError:
    with pytest.raises(SpecPathError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    return caught.value


@pytest.mark.requirement("R146", "accepts")
def test_every_kind_has_the_verbs() -> None:
    document = {
        "spec": {
            "group": "g.io",
            "names": {"kind": "Read", "plural": "reads"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
                }
            ],
        }
    }
    for cls in (Kind, Free, from_crd(document)["v1"]):
        assert spec(cls().spec_set("a.b", 1)) == {"a": {"b": 1}}


@pytest.mark.requirement("R147", "refuses")
@pytest.mark.parametrize("verb", ["get", "set", "array", "hash", "push", "delete", "merge"])
def test_a_kind_without_spec_says_so(verb: str) -> None:
    arguments: dict[str, Any] = {"set": ("a", 1), "merge": ()}
    call = getattr(ConfigMap(data={}), f"spec_{verb}")
    fails(lambda: call(*arguments.get(verb, ("a",))), "ConfigMap has no spec field", "need one")


@pytest.mark.requirement("R148", "accepts")
@pytest.mark.requirement("R158", "accepts")
@pytest.mark.requirement("R160", "accepts")
def test_dots_separate_keys_and_indexes_and_missing_nodes_are_made() -> None:
    free = Free().spec_set("a.b.0.c", 1).spec_set("a.b.-1.d", 2)
    assert spec(free) == {"a": {"b": [{"c": 1, "d": 2}]}}
    assert free.spec_get("a.b.0.c") == 1
    assert spec(Kind().spec_set("version", "1")) == {"version": "1"}


def test_a_tuple_reaches_keys_with_dots() -> None:
    free = Free().spec_set(("resources", "nvidia.com/gpu"), 1).spec_set(("list", 0, "a.b"), 2)
    assert spec(free) == {"resources": {"nvidia.com/gpu": 1}, "list": [{"a.b": 2}]}
    assert free.spec_get(("resources", "nvidia.com/gpu")) == 1


def test_a_number_is_a_key_where_the_node_is_a_map() -> None:
    free = Free(spec={"data": {}}).spec_set("data.8080", "x")
    assert spec(free) == {"data": {"8080": "x"}}
    assert spec(kind(limits={}).spec_set(("limits", 5), "1Gi")) == {"limits": {"5": "1Gi"}}


@pytest.mark.requirement("R149", "accepts")
@pytest.mark.requirement("R150", "accepts")
@pytest.mark.requirement("R161", "accepts")
def test_a_segment_on_a_typed_node_is_a_json_key_or_an_undeclared_one() -> None:
    made = kind().spec_set("$ref", "r").spec_set("_ref", "bag").spec_set("other.deep", [1])
    assert spec(made) == {"$ref": "r", "_ref": "bag", "other": {"deep": [1]}}
    assert made.spec_get("other.deep.0") == 1
    assert made.spec._ref == "r"  # type: ignore[union-attr]
    assert made.spec._unknown_fields == {"_ref": "bag", "other": {"deep": [1]}}  # type: ignore[union-attr]


@pytest.mark.requirement("R151", "accepts")
@pytest.mark.requirement("R152", "accepts")
@pytest.mark.requirement("R153", "accepts")
def test_indexes_count_append_and_create_the_first() -> None:
    made = kind().spec_set("flags.-1", "true").spec_set("flags.1", 0).spec_set("flags.-2", False)
    assert spec(made) == {"flags": [False, False]}
    assert made.spec_get("flags.-1") is False
    created = kind().spec_set("routes.-1.match", "a").spec_set("routes.1.match", "b").spec_push("routes.-1.weights", 1)
    assert spec(created) == {"routes": [{"match": "a"}, {"match": "b", "weights": [1]}]}
    assert kind().spec_array("matrix.-1") == []


@pytest.mark.requirement("R154", "refuses")
@pytest.mark.parametrize("index", ["2", "-2", "99999999999999999999", "-3"])
def test_any_other_index_is_refused(index: str) -> None:
    for made in (kind(flags=[True]), Free(spec={"flags": [True]})):
        error = fails(lambda: made.spec_set(f"flags.{index}", True), f"'flags.{index}'", index, "1 elements")  # noqa: B023
        assert error.segment == index
        assert spec(made) == {"flags": [True]}
        assert made.spec_get(f"flags.{index}") is None
    fails(lambda: kind(flags=[]).spec_set("flags.-2", True), "0 elements")


@pytest.mark.requirement("R155", "accepts")
@pytest.mark.requirement("R155", "refuses")
def test_a_word_on_a_list() -> None:
    made = kind(flags=[True])
    fails(lambda: made.spec_set("flags.first", True), "'flags.first'", "'first'", "not an array index")
    fails(lambda: made.spec_set("flags.first.deeper", True), "not an array index")
    assert made.spec_get("flags.first") is None


@pytest.mark.requirement("R156", "refuses")
def test_the_empty_path_is_refused_where_something_is_written() -> None:
    made = kind()
    for call in (
        lambda: made.spec_set("", 1),
        lambda: made.spec_array(""),
        lambda: made.spec_hash(()),
        lambda: made.spec_push("", 1),
    ):
        assert str(fails(call)) == "spec path '' is empty"


@pytest.mark.requirement("R157", "accepts")
def test_the_empty_path_is_the_spec() -> None:
    made = kind(version="1")
    assert made.spec_get("") is made.spec
    assert Kind().spec_get("") is None


@pytest.mark.parametrize("path", ["a.", ".a", "a..b", (), ("a", ""), ("a", True), ("a", 1.5), 5])
def test_a_path_that_is_none_is_refused(path: Any) -> None:
    with pytest.raises(SpecPathError):
        kind().spec_set(path, 1)


@pytest.mark.requirement("R159", "accepts")
def test_missing_typed_nodes_become_what_is_declared() -> None:
    made = kind().spec_set("tls.deep.n", 1).spec_set("by_name.x.match", "m").spec_set("matrix.0.0", 5)
    assert spec(made) == {"tls": {"deep": {"n": 1}}, "by_name": {"x": {"match": "m"}}, "matrix": [[5]]}
    assert isinstance(made.spec_get("by_name.x"), Route)
    fails(lambda: made.spec_set("matrix.0.1", "x"), "cannot set '1' in 'matrix'")


@pytest.mark.requirement("R162", "refuses")
def test_a_class_with_required_fields_cannot_be_created_on_the_way() -> None:
    made = kind()
    error = fails(
        lambda: made.spec_set("needy.note", "x"), "'needy.note'", "cannot create Needy for 'needy'", "name: is required"
    )
    assert error.segment == "needy"
    assert spec(made) == {}
    fails(lambda: Strict().spec_set("note", "x"), "cannot create Needy for 'spec'")
    assert "spec" not in Strict().to_dict()


@pytest.mark.requirement("R163", "accepts")
@pytest.mark.requirement("R163", "refuses")
@pytest.mark.requirement("R164", "refuses")
def test_a_scalar_on_the_way() -> None:
    for made in (kind(version="1"), Free(spec={"version": "1"})):
        assert made.spec_get("version.major") is None
        assert made.spec_delete("version.major.x") is made
        for path in ("version.major", "version.major.x"):
            error = fails(lambda: made.spec_set(path, 1), f"'{path}'", "scalar", "'version'")  # noqa: B023
            assert error.segment == "version"
        fails(lambda: made.spec_push("version.list", 1), "scalar")  # noqa: B023
        assert spec(made) == {"version": "1"}
    fails(lambda: kind().spec_set("version.x", 1), "scalar field 'version'")


@pytest.mark.requirement("R165", "accepts")
@pytest.mark.requirement("R185", "accepts")
def test_get_and_delete_create_nothing() -> None:
    made = Kind()
    assert made.spec_get("tls.deep.n") is None
    assert made.spec_delete("tls.deep.n") is made
    assert "spec" not in made.to_dict()
    there = kind(flags=[True])
    for path in ("flags.5", "flags.-2", "flags.x", "tls", "nope.x", "version"):
        assert there.spec_delete(path) is there
    assert spec(there) == {"flags": [True]}


@pytest.mark.requirement("R166", "refuses")
@pytest.mark.requirement("R172", "refuses")
@pytest.mark.requirement("R179", "refuses")
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda k: k.spec_set("version", []),
            "spec path 'version': cannot set 'version': expected a string, got a list",
        ),
        (
            lambda k: k.spec_set("needy.x", 1),
            "spec path 'needy.x': cannot create Needy for 'needy': name: is required by Needy and missing",
        ),
        (
            lambda k: k.spec_set("limits.cpu", "nope"),
            "spec path 'limits.cpu': cannot set 'cpu' in 'limits': Value \"nope\" is not",
        ),
        (
            lambda k: k.spec_set("flags.0", "maybe"),
            "spec path 'flags.0': cannot set '0' in 'flags': expected a boolean",
        ),
        (
            lambda k: k.spec_push("flags", "maybe"),
            "spec path 'flags': cannot push onto 'flags': [0]: expected a boolean",
        ),
        (
            lambda k: k.spec_push("routes", "x"),
            "spec path 'routes': cannot push onto 'routes': [0]: expected an object of class Route",
        ),
        (lambda k: k.spec_merge(flags=["maybe"]), "spec path 'flags': cannot set 'flags': [0]: expected a boolean"),
        (lambda k: k.spec_push("few", 1, 2, 3), "spec path 'few': cannot push onto 'few'"),
        (lambda k: k.spec_set("routes", "x"), "spec path 'routes': cannot set 'routes': expected a list of Route"),
    ],
)
def test_messages_begin_with_the_path_and_say_what_was_attempted(act: Any, message: str) -> None:
    made = kind()
    error = fails(lambda: act(made), message)
    assert str(error).startswith(message[: len("spec path")])
    assert spec(made) == {}


@pytest.mark.requirement("R167", "refuses")
@pytest.mark.parametrize(
    "act",
    [
        lambda k: k.spec_set("version", []),
        lambda k: k.spec_push("flags", 1, "maybe"),
        lambda k: k.spec_set("needy", {}),
        lambda k: k.spec_merge(version=[]),
        lambda k: k.spec_get("a..b"),
        lambda k: k.spec_array("version"),
        lambda k: k.spec_hash("flags"),
        lambda k: setattr(k.spec, "version", []),
        lambda _: Kind(spec=3),
        lambda _: Kind.from_dict({"spec": 3}),
    ],
)
def test_no_line_of_the_package_is_between_the_message_and_the_caller(act: Any) -> None:
    made = kind()
    with pytest.raises(ResourceError) as caught:
        act(made)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len(frames) == 3  # the test, the lambda, and the public entry that raised
    assert frames[1].name == "<lambda>"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert ".py" not in str(caught.value)


@pytest.mark.requirement("R168", "refuses")
@pytest.mark.requirement("R169", "refuses")
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda k: k.spec_set("needy", {}), "Spec: needy.name: is required by Needy and missing"),
        (lambda k: k.spec_merge(needy={}), "Spec: needy.name: is required by Needy and missing"),
        (lambda k: k.spec_set("routes", [{"match": []}]), "Spec: routes[0].match: expected a string, got a list"),
        (lambda k: k.spec_set("by_name.x", {"match": []}), "Spec: by_name.x.match: expected a string, got a list"),
    ],
)
def test_a_dict_that_does_not_inflate_fails_without_the_prefix(act: Any, message: str) -> None:
    made = kind(version="1", routes=[{"match": "a"}])
    before = made.to_json()
    with pytest.raises(ResourceError) as caught:
        act(made)
    assert not isinstance(caught.value, SpecPathError)
    assert str(caught.value) == message
    assert made.to_json() == before


@pytest.mark.requirement("R170", "accepts")
def test_get_gives_what_is_held() -> None:
    made = kind(routes=[{"match": "a"}], tls={"secretName": "s"}, note=None)
    assert made.spec_get("routes.0") is made.spec.routes[0]  # type: ignore[union-attr,index]
    assert made.spec_get("tls") is made.spec.tls  # type: ignore[union-attr]
    assert made.spec_get("tls.secretName") == "s"
    for path in ("note", "nope", "routes.5", "routes.0.weights.0", "tls.deep.n"):
        assert made.spec_get(path) is None


@pytest.mark.requirement("R171", "accepts")
@pytest.mark.requirement("R180", "accepts")
def test_set_writes_through_the_field_and_chains() -> None:
    made = (
        kind()
        .spec_set("routes", [{"match": "a"}])
        .spec_set("by_name", {"x": {"match": "b"}})
        .spec_set("flags", ["false"])
    )
    assert isinstance(made.spec_get("routes.0"), Route)
    assert isinstance(made.spec_get("by_name.x"), Route)
    piecewise = (
        kind().spec_push("routes", {"match": "a"}).spec_set("by_name.x", {"match": "b"}).spec_set("flags.0", "false")
    )
    assert piecewise.to_dict() == made.to_dict()


@pytest.mark.requirement("R171", "refuses")
def test_set_refuses_what_the_field_refuses() -> None:
    made = kind(version="1")
    fails(lambda: made.spec_set("version", True), "expected a string, got the boolean true")
    fails(lambda: made.spec_set("spec_x.\ud800", 1), "surrogate")
    assert made.spec_get("version") == "1"


@pytest.mark.requirement("R173", "accepts")
@pytest.mark.requirement("R173", "refuses")
def test_none_by_path() -> None:
    made = kind(note="x", version="1", needy={"name": "n"}, limits={"cpu": "1"}, flags=[True])
    made.spec_set("note", None).spec_set("version", None).spec_set("limits.cpu", None)
    assert spec(made) == {"note": None, "needy": {"name": "n"}, "limits": {}, "flags": [True]}
    fails(lambda: made.spec_set("needy.name", None), "cannot set 'name'", "required")
    fails(lambda: made.spec_set("flags.0", None), "cannot set '0' in 'flags'")
    assert spec(Free().spec_set("a", None)) == {"a": None}


@pytest.mark.requirement("R174", "accepts")
@pytest.mark.requirement("R175", "accepts")
@pytest.mark.requirement("R176", "accepts")
def test_array_and_hash_give_the_container_itself_unchecked() -> None:
    made = kind()
    flags = made.spec_array("flags")
    assert made.spec_array("flags") is flags
    flags.append("maybe")
    assert made.to_json().endswith('{"flags":["maybe"]}}')
    limits = made.spec_hash("limits")
    limits["cpu"] = "nope"
    assert made.spec_get("limits.cpu") == "nope"
    assert made.spec_hash("tls") is made.spec_get("tls")
    assert isinstance(made.spec_hash("raw"), dict)
    assert Free().spec_array("a.b") == []
    assert Free().spec_hash("a.0") == {}


@pytest.mark.requirement("R174", "refuses")
@pytest.mark.requirement("R175", "refuses")
def test_array_and_hash_refuse_what_is_there_already() -> None:
    made = kind(version="1", tls={}, flags=[])
    fails(lambda: made.spec_array("version"), "'version'", "not an array")
    fails(lambda: made.spec_array("tls"), "'tls'", "not an array")
    fails(lambda: made.spec_hash("version"), "'version'", "not a hash")
    fails(lambda: made.spec_hash("flags"), "'flags'", "not a hash")
    fails(lambda: kind().spec_array("tls"), "not an array")
    assert spec(made) == {"version": "1", "tls": {}, "flags": []}


@pytest.mark.requirement("R177", "accepts")
@pytest.mark.requirement("R177", "refuses")
def test_push_appends_in_order() -> None:
    kept = Route(match="c")
    made = kind().spec_push("routes", {"match": "a"}, {"match": "b"}).spec_push("routes", kept)
    assert [one.match for one in made.spec_get("routes")] == ["a", "b", "c"]
    assert made.spec_get("routes.2") is kept
    assert spec(Free().spec_push("a.b", 1, [2])) == {"a": {"b": [1, [2]]}}
    fails(lambda: made.spec_push("tls", 1), "not an array")
    fails(lambda: made.spec_push("version", 1), "scalar")


@pytest.mark.requirement("R178", "refuses")
def test_one_bad_value_of_several_appends_none() -> None:
    made = kind(flags=[True])
    before = made.spec_array("flags")
    fails(lambda: made.spec_push("flags", "false", "maybe"), "[1]")
    assert made.spec_array("flags") is before
    assert before == [True]
    absent = kind()
    fails(lambda: absent.spec_push("flags", "maybe"))
    assert spec(absent) == {}


@pytest.mark.requirement("R179", "accepts")
def test_element_writes_are_converted_as_the_whole_is() -> None:
    made = kind(flags=[True]).spec_set("flags.0", "false").spec_set("limits.cpu", "1").spec_push("flags", 1)
    assert made.spec_get("flags") == [False, True]


@pytest.mark.requirement("R181", "accepts")
def test_elements_in_free_json_are_free() -> None:
    made = kind().spec_set("raw.a", [1]).spec_push("raw.a", "x", None, True).spec_set("bag.x.0", {"y": 1.5})
    assert spec(made) == {"raw": {"a": [1, "x", None, True]}, "bag": {"x": [{"y": 1.5}]}}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, Something(), {1: 2}, "\ud800", CYCLE], ids=repr)
def test_what_is_no_json_is_refused_where_it_is_written(value: Any) -> None:
    made = kind(raw={"a": [1]}, bag={"x": [2]})
    before = made.to_dict()
    for path in ("raw.b", "raw.a.0", "bag.x.-1", "undeclared", "union.z"):
        fails(lambda: made.spec_set(path, value), f"spec path '{path}': cannot set")  # noqa: B023
    for path in ("raw.a", "bag.x", "undeclared"):
        fails(lambda: made.spec_push(path, 1, [value]), f"spec path '{path}': cannot push onto")  # noqa: B023
    fails(lambda: made.spec_merge(version="2", undeclared=[value]), "spec path 'undeclared': cannot set")
    str(fails(lambda: made.spec_merge({"\ud800": 1}), "half of a surrogate pair")).encode()
    assert made.to_dict() == before


@pytest.mark.requirement("R182", "accepts")
@pytest.mark.requirement("R182", "refuses")
def test_merge_writes_top_level_keys_all_or_none() -> None:
    made = Kind().spec_merge({"$ref": "r"}, version="1", flags=["true"], web={"replicas": 3}, **{"a.b": 1})
    assert spec(made) == {"$ref": "r", "version": "1", "flags": [True], "web": {"replicas": 3}, "a.b": 1}
    made.spec_merge(version="2")
    assert made.spec_get("version") == "2"
    assert made.spec_get(("a.b",)) == 1
    fails(lambda: made.spec_merge(version="3", flags="x"), "spec path 'flags': cannot set 'flags'")
    assert made.spec_get("version") == "2"


@pytest.mark.requirement("R183", "accepts")
@pytest.mark.requirement("R184", "accepts")
def test_delete_removes_keys_elements_and_fields() -> None:
    made = kind(flags=[True, False, True], limits={"a": "1", "b": "2"}, version="1", note=None, bag={"x": [1, 2]})
    for path in ("flags.0", "flags.-1", "limits.a", "version", "note", "bag.x.0"):
        assert made.spec_delete(path) is made
    assert spec(made) == {"flags": [False], "limits": {"b": "2"}, "bag": {"x": [2]}}
    assert not made.spec.has_note()  # type: ignore[union-attr]
    assert spec(made.spec_delete("bag")) == {"flags": [False], "limits": {"b": "2"}}


@pytest.mark.requirement("R184", "refuses")
def test_a_required_field_cannot_be_deleted() -> None:
    made = kind(needy={"name": "n"})
    fails(lambda: made.spec_delete("needy.name"), "spec path 'needy.name': cannot clear 'name'")
    assert spec(made) == {"needy": {"name": "n"}}
