"""The first exercise's objects, and the lines that kubectl printed for each on the chapter's final definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .conftest import ROOT

_COMMAND = re.compile(
    r"^\$ kubectl apply -f essai-(?P<name>\w)\.yaml(?P<flag> --validate=false)?(?: # spec: (?P<spec>.*))?\n"
    r"(?P<said>(?:(?!\$|```).*\n)+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Recorded:
    """A command: its object (*name* and text), ``fieldValidation``, and what kubectl said (of ``object.yaml``)."""

    name: str
    object: str
    validate: str
    said: tuple[str, ...]


def recorded() -> Iterator[Recorded]:
    """Each command in the solution of the exercise."""
    text = (ROOT / "exercises/01-predict/solution.md").read_text("utf-8")
    specs: dict[str, str] = {}
    for one in _COMMAND.finditer(text):
        name = one["name"]
        spec = specs.setdefault(name, one["spec"])
        body = f"apiVersion: cours.example.com/v1\nkind: Colis\nmetadata: {{name: essai-{name}, namespace: ch54}}\n"
        said = (line.replace(f"essai-{name}.yaml", "object.yaml").rstrip() for line in one["said"].splitlines())
        yield Recorded(name, f"{body}spec: {spec}\n", "Ignore" if one["flag"] else "Strict", tuple(said))
