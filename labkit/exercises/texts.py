"""The texts of an exercise in another language: read by a check, and written into the files that students get.

An exercise is written in English, in a folder; a student reads it in a notebook, in hints, and in what a check says. So
each text has a place (title, task, prompt, hint, name and advice of a probe, remark in the starter) under which its
catalogue ``exercises-NN-slug.po`` has it, and the same places serve both ways: ``exercise_in`` for the instructors'
repository, where checks speak the student's language, and ``file_in`` for an edition, whose files simply are French.

What is hidden is for instructors, and stays English. Of a starter only remarks are translated, and what its own script
says; a remark that comes from a manifest of the course stays as it is there.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from labkit import languages
from labkit.course.catalogues import Catalogue, catalogue
from labkit.exercises.model import Exercise
from labkit.exercises.probes import Probe

__all__ = ["catalogue_name", "exercise_in", "file_in", "texts", "translate"]

Say = Callable[[str, str], str]
"""Context and English text → the text in the language."""

_REMARK = re.compile(r'(?<=# )\S.*|(?<=""")[^"\n]+(?=""")|(?<=help=")[^"]+(?=")')
_STEP_KEYS = ("name", "otherwise")
"""Keys of a step that hold words for people."""


def translate(text: str, lang: str = "en") -> str:
    """A message of labkit's own in *lang*, where the process speaks another (``labkit.languages``)."""
    with languages.speaking(lang):
        return languages.translate(text)


def catalogue_name(exercise: Exercise) -> str:
    """The catalogue of an exercise: "exercises-02-rule"."""
    return f"exercises-{exercise.folder.name}"


def texts(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Context and text of everything that is translated, in the order in which a student meets it."""
    found: dict[tuple[str, str], None] = {}

    def note(context: str, text: str) -> str:
        if text.strip():
            found[context, text] = None
        return text

    _said(exercise, note)
    explained = exercise.folder / "solution.md"
    if explained.is_file():
        note("solution", explained.read_text(encoding="utf-8"))
    return iter(found)


def exercise_in(lang: str, exercise: Exercise) -> Exercise:
    """*exercise* with its texts in *lang*, as far as its repository has them; else as it is. Raises CourseError."""
    if lang == "en":
        return exercise
    return _said(exercise, catalogue(exercise.root, lang, catalogue_name(exercise)).text)


def file_in(name: str, content: bytes, exercise: Exercise, told: Catalogue) -> bytes:
    """The file *name* of an edition ("exercises/02-rule/prompt.md") with the texts of *told*."""
    kind = name.split("/")[2]
    text = content.decode()
    if kind == "exercise.toml":
        return _toml(text, told).encode()
    if kind == "prompt.md":
        return told.text("prompt", text).encode()
    if kind == "hints.md":
        return _hints(exercise, told).encode()
    if kind.startswith("starter."):
        return _starter(exercise.root, text, told.text).encode()
    return _probe_file(text, told).encode() if kind == "probes" else content


def _said(exercise: Exercise, say: Say) -> Exercise:
    return replace(
        exercise,
        title=say("title", exercise.title),
        tasks=tuple(replace(task, title=say(f"task {task.id}", task.title)) for task in exercise.tasks),
        prompt=say("prompt", exercise.prompt),
        starter=_starter(exercise.root, exercise.starter, say),
        hints={task: tuple(say(f"hint {task}", one) for one in hints) for task, hints in exercise.hints.items()},
        probes=tuple(_probe(probe, say) for probe in exercise.probes),
    )


def _probe(probe: Probe, say: Say) -> Probe:
    """Its steps' names and advice; a step may have neither."""
    steps = (replace(one, name=say("name", one.name), otherwise=say("otherwise", one.otherwise)) for one in probe.steps)
    return replace(probe, steps=tuple(steps))


def _starter(root: Path, starter: str, say: Say) -> str:
    manifests = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "crd").glob("*.yaml")))
    return _REMARK.sub(lambda one: one[0] if f"# {one[0]}" in manifests else say("starter", one[0]), starter)


def _toml(text: str, told: Catalogue) -> str:
    """Titles replaced where they stand: the file is written by ``labkit.course.handout``, a value a line."""
    read = tomllib.loads(text)
    pairs = [(read["title"], told.text("title", read["title"]))]
    pairs += [(task["title"], told.text(f"task {task['id']}", task["title"])) for task in read["tasks"]]
    for english, said in pairs:
        old, new = (json.dumps(one, ensure_ascii=False) for one in (english, said))
        text = text.replace(f"title = {old}\n", f"title = {new}\n", 1)
    return text


def _hints(exercise: Exercise, told: Catalogue) -> str:
    sections = [
        "\n".join((f"## {task}", "", *(f"{n}. {told.text(f'hint {task}', one)}" for n, one in enumerate(hints, 1)), ""))
        for task, hints in exercise.hints.items()
    ]
    return "\n".join(sections)


def _probe_file(text: str, told: Catalogue) -> str:
    """Names and advice replaced where they stand, so that all else keeps its bytes."""
    steps: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    said = [(key.value, value) for step in steps.value for key, value in step.value if key.value in _STEP_KEYS]
    for key, value in reversed(said):
        start, end = value.start_mark.index, value.end_mark.index
        end -= len(text[start:end]) - len(text[start:end].rstrip())  # a block's text has the line break after it
        text = f"{text[:start]}{json.dumps(told.text(key, value.value), ensure_ascii=False)}{text[end:]}"
    return text
