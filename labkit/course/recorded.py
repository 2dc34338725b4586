"""Two recordings of the same notebooks compared: what does the chapter say otherwise?

A diff of the files themselves shows line numbers of JSON. An author who reads what a new Kubernetes changed wants the
notebook, the step, and the lines before and after; so the recorded outputs are compared, sanitized, step by step.
"""

from __future__ import annotations

from pathlib import Path

from labkit.course import notebook
from labkit.course.notebook import Step
from labkit.course.outputs import Output
from labkit.course.parity import Difference
from labkit.course.player import difference

__all__ = ["changes"]


def changes(before: Path, after: Path) -> tuple[Difference, ...]:
    """The steps whose recorded output in the folder *after* says something else than in *before*, in order.

    A step that only one of them has is "missing". Raises NotebookError for a folder that holds no course.
    """
    olds, news = (
        {step.id: (course.path.name, step) for course in notebook.load_all(folder) for step in course.steps}
        for folder in (before, after)
    )
    found = []
    for step_id, (name, step) in (olds | news).items():
        if step_id not in olds or step_id not in news:
            gone = "there is no such step any more" if step_id in olds else "the step is new"
            found.append(Difference(step_id, step.title, "missing", f"{name}: {gone}"))
            continue
        lines = _difference(olds[step_id][1], step)
        if lines:
            found.append(Difference(step_id, step.title, "output", f"{name}: another output is recorded", lines))
    return tuple(found)


def _difference(before: Step, after: Step) -> tuple[str, ...]:
    """In words where it is one of words: the same in HTML is left out then."""
    names = ("before", "after")
    words = difference(map(_words, before.outputs), map(_words, after.outputs), names)
    return words or difference(before.outputs, after.outputs, names)


def _words(output: Output) -> Output:
    data = output.get("data", {})
    if "text/plain" not in data:
        return output
    return {**output, "data": {mime: value for mime, value in data.items() if mime != "text/html"}}
