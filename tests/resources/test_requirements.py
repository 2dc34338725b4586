"""The list of requirements and the tests name each other."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "requirements.toml").read_text(encoding="utf-8"))
VERDICTS = ("accepts", "refuses")


def _cases() -> dict[str, set[str]]:
    """Id → verdicts, from the decorators of all tests beside this one."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.requirement":
                    name, verdict = (ast.literal_eval(argument) for argument in mark.args)
                    assert verdict in VERDICTS, f"{path.name}: {node.name} says {verdict!r}"
                    found[name].add(verdict)
    return found


CASES = _cases()


def test_the_list_is_complete() -> None:
    assert list(LISTED) == [f"R{number:03}" for number in range(1, 191)]


def test_no_case_names_a_requirement_that_is_not_listed() -> None:
    assert set(CASES) <= set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_every_requirement_has_its_accepting_and_its_refusing_case(name: str) -> None:
    entry = LISTED[name]
    needed = {entry["only"]} if "only" in entry else set(VERDICTS)
    assert ("only" in entry) == ("why" in entry), f"{name} needs both 'only' and 'why'"
    assert needed <= CASES[name], f"{name} ({entry['says']}) has no case that {' or '.join(needed - CASES[name])}"
