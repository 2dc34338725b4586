"""The page of exercises: a box for each, made from the exercise itself.

In the notebook an exercise is four cells: a text, a cell to answer in, a check and hints. On a page it is one box: the
text, the tasks and their points, and what the answer starts from. Solution, explanation and the answers that are known
to be wrong are written for the instructors' edition alone: for students they are never made, rather than hidden.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from html import escape

from labkit.course.catalogues import catalogue
from labkit.exercises.model import Exercise, variants
from labkit.exercises.texts import catalogue_name
from labkit.languages import translate
from labkit.site.fences import fence
from labkit.site.tryit import Manifests, anchor, link

__all__ = ["box", "page"]


def page(  # noqa: PLR0913  (what a page is made of)
    head: str, exercises: list[Exercise], lang: str, manifests: Manifests, form: Callable[[str], str | None], *,
    instructor: bool,
) -> str:  # fmt: skip
    """The page as Markdown, in *lang*, which is spoken here: *head*, then a box for each exercise, whose texts are in
    *lang* already. *form* gives the form of predictions that belongs to an exercise's id, if there is one.
    """
    boxes = [box(one, lang, manifests, form(one.id), instructor=instructor) for one in exercises]
    return "\n\n".join([head.strip(), *boxes]) + "\n"


def box(exercise: Exercise, lang: str, manifests: Manifests, form: str | None, *, instructor: bool) -> str:
    """One exercise: a heading and a box below it."""
    prompt = exercise.prompt.strip()
    parts = [prompt, _tasks(exercise), *([form] if form else []), _starter(exercise, manifests)]
    if instructor:
        parts += _answers(exercise, lang)
    body = "\n\n".join(parts)
    return f"## {exercise.title}\n\n::::::{{container}} labkit-exercise\n\n{body}\n\n::::::"


def _tasks(exercise: Exercise) -> str:
    head = f"| {translate('What is judged')} | {translate('points')} |\n|---|---:|"
    rows = [f"| {task.title} | {task.points} |" for task in exercise.tasks]
    return "\n".join([head, *rows, f"| **{translate('together')}** | **{exercise.points}** |"])


def _starter(exercise: Exercise, manifests: Manifests) -> str:
    lead = translate(
        "What the answer starts from, `answers/{file}`. In the notebook `{check}` judges it and `{hint}` helps.",
        file=exercise.answer_name,
        check=f'lab.check("{exercise.id}")',
        hint=f'lab.hint("{exercise.id}")',
    )
    parts = [lead, fence(exercise.language, exercise.starter)]
    if "kind: CustomResourceDefinition" in exercise.starter:
        parts.append(_try(exercise.starter, manifests.example(exercise.starter)))
    elif exercise.begin.definition is not None and exercise.id == "predict":
        parts.append(_try(manifests.by_name[exercise.begin.definition.removeprefix("crd/")].text, ""))
    return "\n\n".join(parts)


def _try(definition: str, object_: str) -> str:
    label = translate("try it: this definition, in the playground")
    return f'<p class="labkit-manifests">{anchor(link(definition, object_), translate("try it"), label)}</p>'


def _answers(exercise: Exercise, lang: str) -> Iterator[str]:
    """For instructors: the solution, why, and each wrong answer by what it changes."""
    yield _folded(translate("Solution"), fence(exercise.language, exercise.solution or ""))
    explained = exercise.folder / "solution.md"
    if explained.is_file():
        told = catalogue(exercise.root, lang, catalogue_name(exercise))
        yield _folded(translate("Why"), told.text("solution", explained.read_text(encoding="utf-8")).strip())
    wrong = [
        f"**{name}**\n\n{fence('diff', _difference(exercise.solution or '', text))}"
        for name, text in variants(exercise, "wrong")
    ]
    if wrong:
        yield _folded(translate("Wrong answers, by what they change of the solution"), "\n\n".join(wrong))


def _difference(solution: str, other: str) -> str:
    lines = difflib.unified_diff(solution.splitlines(), other.splitlines(), n=2, lineterm="")
    return "\n".join(list(lines)[2:])


def _folded(title: str, body: str) -> str:
    return f'<details class="labkit-instructor">\n<summary>{escape(title)}</summary>\n\n{body}\n\n</details>'
