"""What a student hands in: one zip with the answers and the notebook, and a word on what is empty.

The answers' texts are what is judged; the notebook goes along because people look at it. Nothing else is taken, and
the record of progress is not: no mark is read from it.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from labkit.errors import CourseError
from labkit.exercises import model
from labkit.exercises.notebook import NAME
from labkit.exercises.progress import Answers, folder
from labkit.languages import translate

__all__ = ["Submission", "make"]

_WHEN = (1980, 1, 1, 0, 0, 0)
"""The same answers give the same bytes."""


@dataclass(frozen=True)
class Submission:
    """A zip that was written: the names in it, and the ids of exercises without an answer of one's own."""

    path: Path
    names: tuple[str, ...]
    empty: tuple[str, ...]

    @property
    def text(self) -> str:
        """For people."""
        lines = [f"{self.path}: {', '.join(self.names)}"]
        empty = (
            translate("empty: {exercise} (no answer, or the starter as it was)", exercise=one) for one in self.empty
        )
        lines += [f"  {one}" for one in empty]
        return "\n".join([*lines, translate("this one file is what you hand in")])


def make(root: Path, target: Path) -> Submission:
    """Zip the answers of the course at *root* into *target*, whole or not at all.

    Raises CourseError when there is nothing to hand in, or the file cannot be written, and ExerciseError.
    """
    exercises = model.load_all(root)
    answers = Answers(folder(root))
    contents: dict[str, bytes] = {}
    for one in exercises:
        text = answers.read(one)
        if text is not None:
            contents[f"answers/{one.answer_name}"] = text.encode()
    if not contents:
        raise CourseError(
            translate("there is no answer to hand in"),
            evidence=translate("{place} has none", place=answers.place),
            next_act=translate("run an answer's cell in the notebook of the exercises first"),
        )
    notebook = root / "notebooks" / NAME
    if notebook.is_file():
        contents[NAME] = notebook.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)
    new = target.with_name(f".{target.name}.new")
    try:
        new.write_bytes(packed.getvalue())
        new.replace(target)
    except OSError as error:
        raise CourseError(
            translate("{target}: cannot be written", target=target), evidence=error.strerror or str(error)
        ) from error
    return Submission(target, tuple(sorted(contents)), tuple(one.id for one in exercises if answers.is_empty(one)))
