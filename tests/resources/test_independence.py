"""The room stands alone: standard library only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import labkit.resources

ROOM = Path(labkit.resources.__file__).parent
HEAVY = ("kubernetes", "pandas", "matplotlib", "IPython", "yaml", "pydantic", "click", "rich")

PUBLIC = {
    "APIObject",
    "Bool",
    "DeclarationError",
    "Int",
    "IntOrStr",
    "JSON",
    "List",
    "Map",
    "Num",
    "Object",
    "Opaque",
    "Quantity",
    "Resource",
    "ResourceError",
    "SchemaOrArray",
    "SchemaOrBool",
    "SchemaOrStringArray",
    "SpecPathError",
    "Str",
    "Struct",
    "Time",
    "cel",
    "column",
    "crd",
    "declare",
    "fields",
    "from_crd",
    "from_openapi",
    "strict",
}


def test_a_fresh_interpreter_loads_nothing_heavy() -> None:
    code = (
        "import sys, labkit.resources\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "ours = [name for name in sys.modules if name.startswith('labkit.')]\n"
        "print([name for name in ours if not name.startswith('labkit.resources')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOM.parents[1])
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_only_the_standard_library_and_itself_are_imported() -> None:
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                ours = name.startswith("labkit.resources")
                assert ours or name.split(".")[0] in sys.stdlib_module_names or (path.name, name) == ("yaml.py", "yaml")


def test_the_public_names_are_those_of_the_plan_and_documented() -> None:
    assert set(labkit.resources.__all__) >= PUBLIC
    for name in labkit.resources.__all__:
        assert getattr(labkit.resources, name).__doc__, name


def test_no_module_is_longer_than_500_lines() -> None:
    assert {path.name for path in ROOM.glob("*.py") if len(path.read_text("utf-8").splitlines()) >= 500} == set()
