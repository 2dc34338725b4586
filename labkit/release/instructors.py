"""``labkit release --instructor``: the exercises with their solutions, as the source of an nbgrader assignment.

Instructors who have a course in nbgrader put ``source/ch54`` into it: ``nbgrader generate_assignment ch54`` then makes
of it what their students get, and everything a check needs lies beside the notebook. A folder of its own, because
solutions must never lie in one that is handed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labkit.exercises import notebook as exercises_notebook
from labkit.exercises.editions import files_in
from labkit.exercises.model import load_all
from labkit.exercises.notebook import ASSIGNMENT
from labkit.languages import speaking, translate, worded
from labkit.release.building import Edition, build
from labkit.release.translated import expect_language

__all__ = ["ASSIGNMENT", "release_instructors"]

_STUB = worded('# Your answer. lab.reset("…") gives you the text to begin with.')
_CONFIG = f'''"""For nbgrader, run in this folder: nbgrader generate_assignment {ASSIGNMENT}"""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "{ASSIGNMENT}"
c.ClearSolutions.code_stub = {{"python": %r}}
c.ExecutePreprocessor.timeout = 600
'''


def release_instructors(root: Path, target: Path, *, lang: str = "en") -> Edition:
    """Make *target* with ``source/ch54/10-exercises.ipynb``, solutions between nbgrader's markers, and what it needs.

    Its texts are in *lang*. Raises ReleaseError (the target, the language or a text that is not translated), and
    CourseError when an exercise has no solution or is not right.
    """
    expect_language(root, lang)
    says = "it holds the solutions: for instructors only"
    return build(root, target, list(_files(root, lang)), says, approve=lambda _: None)


def _files(root: Path, lang: str) -> Iterator[tuple[str, bytes]]:
    source = f"source/{ASSIGNMENT}"
    with speaking(lang):
        stub = translate(_STUB)
    yield "nbgrader_config.py", (_CONFIG % stub).encode()
    notebook = exercises_notebook.text(load_all(root), lang=lang, solutions=True)
    yield f"{source}/{exercises_notebook.NAME}", notebook.encode()
    for name, content in files_in(lang, root):
        if name != f"notebooks/{exercises_notebook.NAME}":
            yield f"{source}/{name}", content
