"""The error tree is what its docstring draws, and an error keeps its parts."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

from labkit import errors
from labkit.errors import ApiError, CapabilityMissing, ClusterGone, CommandTimeout, DefinitionRefused, LabkitError


def drawn() -> dict[str, str]:
    """Class name → parent's name, from the list in the module's docstring."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"( *)- (\w+)", line)
        if match:
            depth, name = len(match[1]), match[2]
            path = [entry for entry in path if entry[0] < depth]
            parents[name] = path[-1][1] if path else "Exception"
            path.append((depth, name))
    return parents


def defined() -> dict[str, type[LabkitError]]:
    return {
        name: kind
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, LabkitError) and kind.__module__ == errors.__name__
    }


def test_the_docstring_draws_the_tree() -> None:
    assert drawn() == {name: kind.__bases__[0].__name__ for name, kind in defined().items()}


def test_every_error_is_exported() -> None:
    assert sorted(errors.__all__) == sorted(defined())


def test_the_text_has_state_evidence_and_next_act() -> None:
    error = LabkitError("no cluster runs", evidence="no record", next_act="labkit start")
    assert str(error) == "no cluster runs: no record\n  → labkit start"
    assert str(LabkitError("no cluster runs")) == "no cluster runs"


@pytest.mark.parametrize("kind", defined().values(), ids=lambda kind: kind.__name__)
def test_an_error_survives_pickling(kind: type[LabkitError]) -> None:
    """Test workers send errors to each other."""
    more: dict[str, object] = {}
    if kind is ApiError:
        more = {"code": 409, "reason": "Conflict"}
    elif kind is CapabilityMissing:
        more = {"capability": "etcd"}
    elif kind is DefinitionRefused:
        more = {"lines": ("spec.group: Required value",), "status": {"code": 422}}
    error = kind("a state", evidence="evidence", next_act="act", **more)  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_errors_refine_those_of_the_standard_library() -> None:
    assert issubclass(ClusterGone, ConnectionError)
    assert issubclass(CommandTimeout, TimeoutError)
