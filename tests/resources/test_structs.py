"""Inline structs, nested coercion, and what is copied."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from labkit.resources import (
    Bool,
    DeclarationError,
    Int,
    List,
    Map,
    Object,
    Opaque,
    Resource,
    ResourceError,
    Str,
    Struct,
    fields,
)


class MyClass(Resource):
    spec = {
        "replicas": Int,
        "selector": Str,
        "template": Map(Str),
        "mode": Str(enum=["fast", "safe"]),
        "hosts": List(Str, pattern=r"^[a-z.]+$"),
        "on": Bool,
        "tls": {"inner": {"name": Str}},
        "free": Opaque,
    }
    other = Struct({"n": Int(required=True)}, description="another")


class Leaf(Resource):
    flag = Bool()


class Branch(Resource):
    leaf = Object(Leaf)
    leaves = List(Object(Leaf))
    by_name = Map(Object(Leaf))


class Tree(Resource):
    branch = Object(Branch)


@pytest.mark.requirement("R032", "accepts")
@pytest.mark.requirement("R033", "accepts")
@pytest.mark.requirement("R036", "accepts")
def test_a_struct_is_a_class_named_after_its_place() -> None:
    made = MyClass(spec={"replicas": 2, "tls": {"inner": {"name": "x"}}})
    assert type(made.spec) is MyClass._Spec
    assert MyClass._Spec.__qualname__ == "MyClass._Spec"
    assert type(made.spec.tls.inner) is MyClass._Spec._Tls._Inner
    assert made.spec.replicas == 2
    assert list(fields(MyClass._Spec)) == ["replicas", "selector", "template", "mode", "hosts", "on", "tls", "free"]


@pytest.mark.requirement("R032", "refuses")
def test_a_struct_whose_name_is_taken_is_refused() -> None:
    with pytest.raises(DeclarationError, match="'_Spec'"):

        class Taken(Resource):
            _Spec = 3
            spec = {"n": Int}


@pytest.mark.requirement("R033", "refuses")
@pytest.mark.requirement("R036", "refuses")
def test_the_place_inside_a_struct_is_named() -> None:
    with pytest.raises(ResourceError, match=r"spec: expected an object of class MyClass\._Spec, got the string 'x'"):
        MyClass(spec="x")
    with pytest.raises(ResourceError, match=r"spec\.tls\.inner\.name: expected a string"):
        MyClass(spec={"tls": {"inner": {"name": []}}})


@pytest.mark.requirement("R034", "accepts")
@pytest.mark.requirement("R035", "accepts")
def test_every_route_gives_the_same_object_and_aliases_nothing() -> None:
    def document() -> dict[str, Any]:
        return {"spec": {"template": {"a": "b"}, "hosts": ["a.b"], "free": {"x": [1]}, "later": {"y": 1}}}

    given = [document() for _ in range(4)]
    assigned = MyClass()
    assigned.spec = given[2]["spec"]
    made = [MyClass(**given[0]), MyClass.from_dict(given[1]), assigned, MyClass.from_json(json.dumps(given[3]))]
    for one in given:
        one["spec"]["template"]["a"] = "changed"
        one["spec"]["hosts"].append("more")
        one["spec"]["free"]["new"] = 1
        one["spec"]["later"]["new"] = 1
    assert all(one == made[0] for one in made)
    assert all(one.to_dict() == document() for one in made)


@pytest.mark.requirement("R037", "accepts")
@pytest.mark.requirement("R037", "refuses")
@pytest.mark.requirement("R063", "accepts")
@pytest.mark.requirement("R063", "refuses")
def test_options_inside_a_struct_are_recorded_and_enforced() -> None:
    assert fields(MyClass._Spec)["mode"].options["enum"] == ["fast", "safe"]
    assert MyClass(spec={"mode": "fast", "hosts": ["a"]}).spec.mode == "fast"
    with pytest.raises(ResourceError) as caught:
        MyClass(spec={"mode": "slow", "hosts": ["a", "B"]})
    assert caught.value.paths == ("spec.mode", "spec.hosts[1]")


@pytest.mark.requirement("R038", "accepts")
def test_a_struct_not_given_is_absent() -> None:
    assert MyClass().spec is None
    assert MyClass().to_dict() == {}


@pytest.mark.requirement("R039", "accepts")
@pytest.mark.requirement("R041", "accepts")
@pytest.mark.requirement("R042", "accepts")
def test_plain_dicts_become_objects_at_every_level() -> None:
    tree = Tree(branch={"leaf": {"flag": 1}, "leaves": [{"flag": 0}], "by_name": {"a": {"flag": "true"}}})
    assert isinstance(tree.branch, Branch)
    assert isinstance(tree.branch.leaf, Leaf)
    assert tree.to_dict() == {
        "branch": {"leaf": {"flag": True}, "leaves": [{"flag": False}], "by_name": {"a": {"flag": True}}}
    }


@pytest.mark.requirement("R040", "accepts")
@pytest.mark.requirement("R040", "refuses")
def test_assignment_builds_and_refuses() -> None:
    tree = Tree()
    tree.branch = {"leaf": {"flag": True}}
    assert isinstance(tree.branch, Branch)
    with pytest.raises(ResourceError, match=r"Tree: branch\.leaf\.flag: expected a boolean"):
        tree.branch = {"leaf": {"flag": "maybe"}}
    assert tree.to_dict() == {"branch": {"leaf": {"flag": True}}}


@pytest.mark.requirement("R039", "refuses")
@pytest.mark.requirement("R041", "refuses")
@pytest.mark.requirement("R042", "refuses")
@pytest.mark.requirement("R045", "refuses")
@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"branch": "x"}, "branch"),
        ({"branch": {"leaf": 3}}, "branch.leaf"),
        ({"branch": {"leaves": [{}, []]}}, "branch.leaves[1]"),
        ({"branch": {"by_name": {"k": "v"}}}, "branch.by_name.k"),
    ],
)
def test_what_is_no_object_is_told_with_class_and_place(document: Any, path: str) -> None:
    with pytest.raises(ResourceError, match="expected an object of class") as caught:
        Tree(document)
    assert caught.value.paths == (path,)


@pytest.mark.requirement("R043", "accepts")
def test_spellings_and_unknown_keys_inside_are_as_from_dict_has_them() -> None:
    document = {"branch": {"leaf": {"flag": "false", "new": 1}, "extra": [1]}}
    assert Tree(**document) == Tree.from_dict(document)
    assert Tree(**document).to_dict() == {"branch": {"leaf": {"flag": False, "new": 1}, "extra": [1]}}


@pytest.mark.requirement("R043", "refuses")
def test_a_bad_spelling_inside_is_refused_alike() -> None:
    document = {"branch": {"leaf": {"flag": "maybe"}}}
    for route in (lambda: Tree(**document), lambda: Tree.from_dict(document), lambda: Tree(document)):
        with pytest.raises(ResourceError, match=r"branch\.leaf\.flag"):
            route()


@pytest.mark.requirement("R044", "accepts")
def test_an_instance_is_kept() -> None:
    leaf = Leaf(flag=True)
    branch = Branch(leaf=leaf, leaves=[leaf])
    assert branch.leaf is leaf
    assert (branch.leaves or [])[0] is leaf


@pytest.mark.requirement("R046", "accepts")
@pytest.mark.requirement("R046", "refuses")
def test_an_object_of_another_class_is_converted() -> None:
    class Other(Resource):
        flag = Str()
        more = Int()

    branch = Branch(leaf=Other(flag="true", more=3))
    assert isinstance(branch.leaf, Leaf)
    assert branch.to_dict() == {"leaf": {"flag": True, "more": 3}}
    with pytest.raises(ResourceError, match=r"leaf\.flag"):
        Branch(leaf=Other(flag="maybe"))


@pytest.mark.requirement("R047", "accepts")
def test_the_wire_form_is_the_callers_to_change() -> None:
    made = MyClass(spec={"hosts": ["a"], "free": {"x": 1}, "later": [1]})
    wire = made.to_dict()
    wire["spec"]["hosts"].append("b")
    wire["spec"]["free"]["y"] = 1
    wire["spec"]["later"].append(2)
    assert made.to_dict() == {"spec": {"hosts": ["a"], "free": {"x": 1}, "later": [1]}}


def test_objects_survive_pickling_and_show_themselves() -> None:
    made = MyClass(spec={"replicas": 2})
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301
    assert repr(made) == "MyClass(spec=MyClass._Spec(replicas=2))"
    assert made != MyClass()
    assert made != {"spec": {"replicas": 2}}
