"""Everything that people read of a graded class, written into the folder of its results.

    GRADES/grades.csv  grades.json  junit.xml      the grade book, the instructor's
    GRADES/class.html                              the class on one page, the instructor's
    GRADES/<name>/feedback.html                    one student's page
    GRADES/<name>/10-exercises.ipynb               the notebook as it ran

Each file is the old one or the new one whenever it is looked at; all of them are made before the first is written, so
a class that cannot be put together leaves what was there. Files of students who are not in the book are taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from labkit.errors import CourseError
from labkit.exercises.model import Exercise
from labkit.exercises.notebook import NAME
from labkit.exercises.texts import exercise_in
from labkit.grading import classpage, feedback, gradebook
from labkit.grading.errors import GradingError
from labkit.grading.gradebook import Gradebook
from labkit.grading.keeping import write_whole
from labkit.grading.roster import Adjustment, Person
from labkit.grading.values import Note, Result
from labkit.languages import speaking
from labkit.show import render_html

__all__ = ["CLASS_PAGE", "FEEDBACK", "STUDENT_FILES", "write"]

CLASS_PAGE = "class.html"
FEEDBACK = "feedback.html"
STUDENT_FILES = (FEEDBACK, NAME)
"""What of a student's folder may go to the student."""


def write(  # noqa: PLR0913  (what a grade book is made of)
    out: Path,
    people: Sequence[Person],
    results: Iterable[Result],
    adjustments: Iterable[Adjustment],
    problems: Iterable[Note],
    *,
    exercises: Sequence[Exercise],
    lang: str = "en",
    with_solutions: bool = False,
) -> Gradebook:
    """Write all files into *out*, which is made if it is not there; what they were made from, put together.

    *people* is the roster, empty without one; *results* are those of the class in any order; *problems* what was noted
    on the way; *exercises* those that were graded, in order. Raises GradingError when names clash, or a file cannot be
    written, and CourseError for a catalogue of *lang* that is none.
    """
    with speaking(lang):
        told = [exercise_in(lang, one) for one in exercises]
        book = gradebook.make(people, results, adjustments, problems, told)
        files, failed = _students_files(book, lang, with_solutions=with_solutions)
        book = replace(book, problems=(*book.problems, *failed))
        files |= dict(_class_files(book, lang))
    for name, content in files.items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradingError(f"{path.parent} cannot be made", evidence=error.strerror or str(error)) from error
        write_whole(path, content.encode())
    for path in (path for name in STUDENT_FILES for path in out.glob(f"*/{name}")):
        if path.relative_to(out).as_posix() not in files:  # of a submission that does not count any more
            path.unlink()
    return book


def _students_files(book: Gradebook, lang: str, *, with_solutions: bool) -> tuple[dict[str, str], list[Note]]:
    """Names below the folder, and contents; and whose cannot be made, which must not cost the others theirs."""
    files: dict[str, str] = {}
    failed = []
    for one in book.everybody:
        try:
            page = render_html.page(feedback.document(one, with_solutions=with_solutions), lang=lang)
            notebook = feedback.executed(one)
        except CourseError:
            raise
        except Exception as error:  # a slip of ours, about what one student wrote
            failed.append(Note("no-page", f"{one.person.id}: no page can be made: {type(error).__name__}: {error}"))
            continue
        files[f"{one.folder}/{FEEDBACK}"] = page
        if notebook is not None:
            files[f"{one.folder}/{NAME}"] = notebook
    return files, failed


def _class_files(book: Gradebook, lang: str) -> Iterator[tuple[str, str]]:
    yield CLASS_PAGE, render_html.page(classpage.document(book, page=FEEDBACK), lang=lang)
    yield "junit.xml", gradebook.junit_xml(book)
    yield "grades.json", gradebook.grades_json(book)
    yield "grades.csv", gradebook.grades_csv(book)
