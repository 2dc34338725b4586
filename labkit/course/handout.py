"""The positive list: which files of the repository a student gets, and what is taken out of them.

What is not named here is not handed out, whatever an author puts beside it: a list of what to leave out would miss the
next new thing. Recorded outputs spoil the surprises, so notebooks go without them; an exercise's ``secrets`` would tell
its answer. The working copy of ``make lab`` and the student edition are both made from this list. It needs the standard
library only, because that copy is made by what sets the machine up.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labkit.errors import CourseError, NotebookError

__all__ = ["COURSE_FOLDERS", "student_files", "without_outputs", "without_secrets"]

_HANDED_OUT = (
    ("notebooks", "[0-9][0-9]-*.ipynb"),
    ("notebooks", "figures/*.svg"),
    ("crd", "**/*.yaml"),
    ("exercises", "[0-9][0-9]-*/exercise.toml"),
    ("exercises", "[0-9][0-9]-*/prompt.md"),
    ("exercises", "[0-9][0-9]-*/hints.md"),
    ("exercises", "[0-9][0-9]-*/starter.[a-z]*"),
    ("exercises", "[0-9][0-9]-*/probes/*.yaml"),
)
"""Folders of the repository and what of them is handed out, under the same names."""

COURSE_FOLDERS = tuple(dict.fromkeys(folder for folder, _ in _HANDED_OUT))

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def student_files(root: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file a student gets of the course, sorted within a folder.

    Raises CourseError for a link, which may lead to anything, and what the two functions below raise.
    """
    for folder, pattern in _HANDED_OUT:
        for path in sorted((root / folder).glob(pattern)):
            name = path.relative_to(root).as_posix()
            if any(part.startswith(".") for part in name.split("/")):
                continue
            if path.is_symlink():
                raise CourseError(f"{name} is a link", next_act="put the file itself there")
            if path.is_file():
                yield name, _for_students(name, path.read_bytes())


def _for_students(name: str, content: bytes) -> bytes:
    if name.endswith(".ipynb"):
        return without_outputs(name, content)
    return without_secrets(name, content) if name.endswith("/exercise.toml") else content


def without_outputs(name: str, content: bytes) -> bytes:
    """The notebook without outputs, execution counts and saved widget states. *name* is for the error only.

    Raises NotebookError when *content* is no notebook of format 4.
    """
    try:
        notebook = json.loads(content)
    except ValueError:
        notebook = None
    if not (isinstance(notebook, dict) and isinstance(notebook.get("cells"), list) and notebook.get("nbformat") == 4):
        raise NotebookError(f"{name} is not a notebook of format 4", next_act=f"restore it: git checkout {name}")
    for cell in notebook["cells"]:
        if cell.get("cell_type") == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
            cell.get("metadata", {}).pop("execution", None)
    notebook.get("metadata", {}).pop("widgets", None)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def without_secrets(name: str, content: bytes) -> bytes:
    """An ``exercise.toml`` without its ``secrets``, and without comments, which may tell as much.

    Raises CourseError when it is not TOML, or holds what is not in such a file (dates).
    """
    try:
        told = tomllib.loads(content.decode())
        told.pop("secrets", None)
        text = _toml(told)
        if tomllib.loads(text) != told:
            raise ValueError("it cannot be written anew")  # noqa: TRY301  (one answer for all that can go wrong)
    except (ValueError, TypeError) as error:
        raise CourseError(f"{name}: not as an exercise's file must be", evidence=str(error)) from error
    return text.encode()


def _toml(table: Mapping[str, Any]) -> str:
    """Lists of tables come last, each table with its own heading, as authors write them."""
    tables = {key: value for key, value in table.items() if isinstance(value, list) and value and _all_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if key not in tables]
    for key, several in tables.items():
        for one in several:
            lines += ["", f"[[{_key(key)}]]", *(f"{_key(name)} = {_value(value)}" for name, value in one.items())]
    return "\n".join([*lines, ""])


def _all_tables(values: list[Any]) -> bool:
    return all(isinstance(one, dict) for one in values)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
