"""Attacks by the form of what is handed in: nothing is unpacked, followed, or read beyond its limit."""

from __future__ import annotations

from pathlib import Path

from tests.grading import packing
from tests.grading.attacks.handed import (
    HTML,
    NAMED_HTML,
    NAMES_TWICE,
    NAMES_TWICE_POINTS,
    NOTEBOOK,
    OFF_BY_ONE,
    OFF_BY_ONE_POINTS,
    RULE,
    Attack,
    worked,
)

__all__ = ["ATTACKS"]

MB = 1_000_000


def _link_in_a_zip(path: Path) -> None:
    solution = path.parents[1] / "course/exercises/02-rule/solution.yaml"
    assert solution.is_file()
    path.with_name(f"{path.name}.zip").write_bytes(packing.with_link("answers/rule.yaml", str(solution), {}))


def _link_in_a_folder(path: Path) -> None:
    (path / "answers").mkdir(parents=True)
    (path / "answers" / "rule.yaml").symlink_to(path.parents[1] / "course/exercises/02-rule/solution.yaml")


def _leads_out(path: Path) -> None:
    work = {
        "../../grades/grades.csv": b"leads,out,,8",
        str(path.parents[1] / "course/leads-out"): b"here",
        "answers/../../leads-out/answers/rule.yaml": RULE.encode(),
        "answers/rule.yaml": OFF_BY_ONE.encode(),
    }
    path.with_name(f"{path.name}.zip").write_bytes(packing.zipped(work))


def _bomb(path: Path) -> None:
    path.with_name(f"{path.name}.zip").write_bytes(packing.bomb("answers/rule.yaml", 120 * MB))


def _bomb_in_zips(path: Path) -> None:
    inner = packing.bomb("10-exercises.ipynb", 120 * MB)
    for name in ("a.zip", "b.zip", "c.zip", "d.zip"):
        inner = packing.zipped({name: inner})
    path.with_name(f"{path.name}.zip").write_bytes(inner)


def _large(path: Path) -> None:
    """A notebook of 200 MB that takes no room."""
    path.mkdir()
    with (path / NOTEBOOK).open("wb") as file:
        file.write(worked({"rule": f"%%answer rule\n{RULE}"}).encode())
        file.truncate(200 * MB)


def _many(path: Path) -> None:
    work = {f"answers/{number}.yaml": b"a: 1" for number in range(10_100)}
    path.with_name(f"{path.name}.zip").write_bytes(packing.zipped(work))


def _many_in_zips(path: Path) -> None:
    """Some kilobytes that list a hundred thousand files, none of them many for one zip."""
    inner = packing.zipped({f"answers/{number}.yaml": b"" for number in range(5_000)})
    path.with_name(f"{path.name}.zip").write_bytes(packing.zipped({f"{number}.zip": inner for number in range(20)}))


def _deep(path: Path) -> None:
    """JSON deeper than a parser's stack, and a file that is none of ours."""
    path.mkdir()
    (path / NOTEBOOK).write_text('{"nbformat": 4, "cells": ' + "[" * 200_000)


ATTACKS = (
    Attack("link-in-a-zip", _link_in_a_zip, 0, ("refused",)),
    Attack("link-in-a-folder", _link_in_a_folder, 0, ("refused",)),
    Attack("leads-out", _leads_out, OFF_BY_ONE_POINTS, ("refused",)),
    Attack("bomb", _bomb, 0, ("refused",)),
    Attack("bomb-in-zips", _bomb_in_zips, 0, ("refused",)),
    Attack("large-notebook", _large, 0, ("refused",)),
    Attack("many-files", _many, 0, ("refused",)),
    Attack("many-files-in-zips", _many_in_zips, None, ("refused",)),
    Attack("deep-notebook", _deep, 0, ("broken-notebook",)),
    Attack(
        "two-works",
        {"a/answers/rule.yaml": OFF_BY_ONE, "b/answers/rule.yaml": RULE},
        None,
        ("double",),
    ),
    Attack(
        NAMED_HTML,
        {"answers/typed.py": NAMES_TWICE, HTML: ""},
        NAMES_TWICE_POINTS,
        ("other-files",),
        exercise="typed",
    ),
)
