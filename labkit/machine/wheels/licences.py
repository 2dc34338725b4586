"""The licences of everything that is linked into the program, found where the compiler found the code.

A wheel hands out other people's code, and their licences ask that their text goes along. What is linked is known from
``go list -deps`` for the wheel's own platform, not from go.mod, which names more. A module's licence lies at its root;
code that a module has taken from elsewhere has a licence of its own in a folder on the way to the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import MachineError

__all__ = ["LISTED", "Linked", "linked", "text"]

LISTED = (
    "{{if .Standard}}{{else}}{{.ImportPath}}\t{{.Stale}}\t{{with .Module}}{{.Path}}\t"
    "{{if .Replace}}{{.Replace.Version}}{{else}}{{.Version}}{{end}}\t{{.Main}}\t{{.Dir}}{{end}}\t{{.Dir}}{{end}}"
)
"""The format of ``go list -deps``: a line a package that is not Go's own. An empty line is one of Go's."""

_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "COPYRIGHT")
_NOT_TEXTS = {".go", ".sh", ".py", ".json", ".yaml", ".yml", ".tmpl", ".header"}
_RULE = "=" * 100


@dataclass(frozen=True)
class Linked:
    """A module that is linked in: its *name* with its version, its *root*, and the *folders* of the packages used."""

    name: str
    root: Path
    folders: tuple[Path, ...]


def linked(lines: Iterable[str]) -> tuple[Linked, ...]:
    """The modules of what ``go list`` said in the form ``LISTED``, sorted, without the program's own."""
    found: dict[tuple[str, Path], set[Path]] = {}
    for line in lines:
        parts = line.split("\t")
        if len(parts) == 7 and parts[4] != "true":
            found.setdefault((f"{parts[2]} {parts[3]}", Path(parts[5])), set()).add(Path(parts[6]))
    return tuple(Linked(name, root, tuple(sorted(folders))) for (name, root), folders in sorted(found.items()))


def text(modules: Iterable[Linked], go_root: Path) -> str:
    """All licences in one text, each once, below the names of whom it is; first of all Go's own, whose runtime is in
    every program.

    Raises MachineError when a module has none: then nobody may hand it out.
    """
    own = next((path for folder in (go_root, go_root.parent) if (path := folder / "LICENSE").is_file()), None)
    if own is None:
        raise MachineError("Go's own licence is not there", evidence=f"no LICENSE in {go_root}")
    said: dict[str, list[str]] = {_read(own): ["The Go runtime and standard library"]}
    without = []
    for module in modules:
        files = list(_files(module))
        if not any(path.parent == module.root and not _is_notice(path) for path in files):
            without.append(module.name)
        for path in files:
            where = f"{module.name}: {path.relative_to(module.root).as_posix()}"
            said.setdefault(_read(path), []).append(where)
    if without:
        raise MachineError(
            "modules without a licence are linked in, and may not be handed out", evidence=", ".join(without)
        )
    return "\n".join(f"{_RULE}\n{chr(10).join(whose)}\n{_RULE}\n\n{licence}\n" for licence, whose in said.items())


def _files(module: Linked) -> Iterator[Path]:
    """The licences at the module's root, and in each folder on the way to a package of it that is used."""
    places = {module.root}
    for folder in module.folders:
        places |= {place for place in (folder, *folder.parents) if place.is_relative_to(module.root)}
    for place in sorted(places):
        for path in sorted(place.iterdir()):
            if path.name.upper().startswith(_NAMES) and path.suffix.lower() not in _NOT_TEXTS and path.is_file():
                yield path


def _is_notice(path: Path) -> bool:
    return path.name.upper().startswith(("NOTICE", "PATENTS"))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
