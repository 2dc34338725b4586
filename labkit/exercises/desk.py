"""A student's desk: answers kept, checked, helped with and put back, on one cluster.

Only texts and the cluster count: nothing is read from a variable of the kernel, so that a check here and a grader
elsewhere judge the same thing.
"""

from __future__ import annotations

from pathlib import Path

from labkit.cluster import Cluster
from labkit.cluster.base import Progress as Line
from labkit.cluster.base import silent
from labkit.course.begin import begin
from labkit.errors import CourseError
from labkit.exercises import checks, hints, model, views
from labkit.exercises.model import Exercise, Hint
from labkit.exercises.progress import Answers, Progress, folder
from labkit.exercises.report import Report
from labkit.exercises.texts import exercise_in
from labkit.languages import language, translate
from labkit.show import render_text

__all__ = ["Desk"]


class Desk:
    """The exercises of the course at *root*, tried on *cluster*. A name is an exercise's id, else ExerciseError."""

    def __init__(self, cluster: Cluster, root: Path) -> None:
        self._cluster = cluster
        self._root = root
        self.answers = Answers(folder(root))

    def answer(self, name: str, text: str) -> str:
        """Keep an answer; a line that says where it is kept."""
        exercise = self._find(name)
        path = self.answers.write(exercise, text)
        told = {"path": f"{path.parent.name}/{path.name}", "name": name}
        if self.answers.is_empty(exercise):
            return translate("kept in {path}: it is still the starter", **told)
        return translate('kept in {path}; next: lab.check("{name}")', **told)

    def check(self, name: str, progress: Line = silent) -> Report:
        """Judge the answer that is kept, and remember the report. Raises as ``checks.check``, and CourseError."""
        exercise = self._find(name)
        text = self.answers.read(exercise)
        if text is None:
            raise CourseError(
                translate("there is no answer to {name} yet", name=name),
                evidence=translate(
                    "{file} is not in {place}", file=self.answers.path(exercise).name, place=self.answers.place
                ),
                next_act=translate("run the cell that begins with %%answer {name}", name=name),
            )
        report = checks.check(exercise, text, self._cluster, progress=progress)
        self.answers.keep(exercise, text, report)
        return report

    def hint(self, name: str, progress: Line = silent) -> Hint:
        """The next hint. Raises as ``check``, but an exercise without an answer is looked at with its starter."""
        exercise = self._find(name)
        return hints.next_hint(
            exercise, self.answers, lambda text: checks.check(exercise, text, self._cluster, progress=progress)
        )

    def reset(self, name: str) -> str:
        """Put the starter and the cluster back; the starter's text."""
        exercise = self._find(name)
        self.answers.reset(exercise)
        begin(self._cluster, exercise.begin, root=exercise.root)
        return exercise.starter

    def progress(self) -> Progress:
        return self.answers.progress([exercise_in(language(), one) for one in model.load_all(self._root)])

    @staticmethod
    def text(report: Report) -> str:
        return render_text.render(views.report_document(report))

    def _find(self, name: str) -> Exercise:
        return exercise_in(language(), model.find(self._root, name))
