"""``labkit release``: the student edition, a folder that holds the course and no answer.

It is made from the positive list of ``labkit.course.handout``, with a page that says how to begin, the versions to
install and the wheels where they are built; then it is searched for answers, and is not made when there is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from labkit.errors import CourseError
from labkit.exercises import notebook as exercises_notebook
from labkit.exercises.editions import files_in
from labkit.exercises.model import load_all
from labkit.languages import speaking, translate, worded
from labkit.release.building import Edition, LeakFound, build
from labkit.release.requirements import requirements
from labkit.release.translated import expect_language
from labkit.scan import read_answers, scan

__all__ = ["release"]

_WITH_WHEELS = worded(
    "The kit itself comes with this folder, in `wheels/`, its cluster for {platforms}; everything else comes from the "
    "Python package index. On another system, install `labkit` without `labkit-controlplane`, and use a minikube."
)
_WITHOUT_WHEELS = worded(
    "This folder does not hold the kit itself: install `labkit` first, as your instructor tells you, then the versions "
    "that belong to it."
)

_SYSTEMS = {"manylinux": "Linux", "macosx": "macOS", "win": "Windows"}
_PLATFORM = re.compile(r"(?P<system>manylinux|macosx|win)(?:_\d+_\d+)?_(?P<machine>\w+)")


def release(root: Path, target: Path, *, lang: str = "en", wheels: Sequence[Path] = ()) -> Edition:
    """Make the student edition of the course at *root* in *target*, with the *wheels* to install labkit from.

    In another language than English, everything in it is of that language but commands, manifests and code.

    Raises ReleaseError (the language or a text that is not translated, the target, a stale notebook), LeakFound when an
    answer is in it, and what the course's own files raise when they are not right. *target* is then as it was.
    """
    expect_language(root, lang)
    _expect_fresh(root)
    answers = read_answers(root)

    def approve(folder: Path) -> None:
        found = scan(answers, [folder])
        if not found.clean:
            places, evidence = found.told(folder)
            raise LeakFound(
                f"the edition was not made, it would tell answers ({places} places)",
                evidence=evidence,
                next_act="take them out of these files, then release again",
            )

    with speaking(lang):
        files = list(_files(root, lang, wheels))
    return build(root, target, files, "no answer in it", approve=approve)


def _files(root: Path, lang: str, wheels: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    course = list(files_in(lang, root))
    yield from course
    yield "README.md", _readme(course, lang, wheels).encode()
    yield "requirements.txt", requirements(root, [path.name for path in wheels]).encode()
    if (root / "LICENSE").is_file():
        yield "LICENSE", (root / "LICENSE").read_bytes()
    for path in wheels:
        yield f"wheels/{path.name}", path.read_bytes()


def _readme(course: list[tuple[str, bytes]], lang: str, wheels: Sequence[Path]) -> str:
    notebooks = [(name, _title(content)) for name, content in course if name.endswith(".ipynb")]
    template = Template(resources.files("labkit.release").joinpath(f"readme.{lang}.md").read_text(encoding="utf-8"))
    return template.substitute(
        kit=translate(_WITH_WHEELS, platforms=_platforms(wheels)) if wheels else translate(_WITHOUT_WHEELS),
        notebooks="\n".join(f"- [{Path(name).name}]({name}): {title}" for name, title in notebooks),
    )


def _platforms(wheels: Sequence[Path]) -> str:
    """Those of the control plane's wheels, by the last part of their names: "Linux x86_64, macOS arm64"."""
    tags = (path.stem.rpartition("-")[2] for path in wheels)
    found = (_PLATFORM.match(tag) for tag in tags)
    return ", ".join(sorted({f"{_SYSTEMS[one['system']]} {one['machine']}" for one in found if one is not None}))


def _title(notebook: bytes) -> str:
    """The first heading of a notebook."""
    for cell in json.loads(notebook)["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line.removeprefix("# ").strip()
    return "…"


def _expect_fresh(root: Path) -> None:
    """The exercises' notebook must say what their folders say: it is made from them."""
    path = root / "notebooks" / exercises_notebook.NAME
    try:
        there = path.read_text(encoding="utf-8")
    except OSError:
        there = ""
    if there != exercises_notebook.text(load_all(root)):
        raise CourseError(
            f"{path.name} is {'not as the folders of the exercises say' if there else 'not there'}",
            next_act="labkit exercises notebook",
        )
