"""The files of a student edition in its language: notebooks, exercises and figures, by way of catalogues.

Names, and everything that is no language, are the same in every edition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from labkit.course.catalogues import catalogue, notebook_in
from labkit.course.handout import student_files
from labkit.exercises import model, texts
from labkit.exercises import notebook as exercises_notebook
from labkit.languages import speaking, translate
from labkit.show import figures

__all__ = ["files_in"]


def files_in(lang: str, root: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file a student gets of the course at *root*, in *lang*; what has no translation is
    English. Raises as ``student_files``, and CourseError for a catalogue that is none.
    """
    if lang == "en":
        yield from student_files(root)
        return
    exercises = {one.folder.name: one for one in model.load_all(root)}
    for name, content in student_files(root):
        yield name, _in(lang, root, name, content, exercises)


def _in(lang: str, root: Path, name: str, content: bytes, exercises: Mapping[str, model.Exercise]) -> bytes:
    folder, *inside = name.split("/")
    if folder == "exercises":
        one = exercises[inside[0]]
        return texts.file_in(name, content, one, catalogue(root, lang, texts.catalogue_name(one)))
    if inside == [exercises_notebook.NAME]:
        return exercises_notebook.text(exercises.values(), lang=lang).encode()
    if name.endswith(".ipynb"):
        notebook = notebook_in(lang, json.loads(content), catalogue(root, lang, Path(name).stem))
        return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
    if name.endswith(".svg") and Path(name).stem in figures.NAMES:
        drawn = Path(name).stem
        with speaking(lang):
            return figures.draw(drawn, {word: translate(word) for word in figures.words(drawn)}).encode()
    return content
