"""What a check found: values that can be shown, kept as JSON, and graded, the same for the same answer.

A task is passed when every probe of it holds; its points are all or nothing. What is missing is said by findings, each
with what was expected, what the server did, at which field, by which rule, and what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Finding", "Report", "TaskResult", "printable"]


def printable(text: str) -> str:
    """*text* with a sign in place of each character that is none to be seen; blanks and line ends stay."""
    return "".join(one if one.isprintable() or one in _BLANKS else "\N{REPLACEMENT CHARACTER}" for one in text)


_BLANKS = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as the task asks. *field* and *rule* are empty where they do not apply.

    *probe* is the name of what was tried, in words ("an object with five workers and one API replica"). *hidden* says
    that a student must not be shown it.
    """

    expected: str
    got: str
    field: str = ""
    rule: str = ""
    next_act: str = ""
    probe: str = ""
    hidden: bool = False

    def __post_init__(self) -> None:
        """Keep what a script printed from acting on the terminal that shows it: no control character is left."""
        for name in ("expected", "got", "field", "rule", "next_act", "probe"):
            object.__setattr__(self, name, printable(getattr(self, name)))


@dataclass(frozen=True)
class TaskResult:
    """One task judged. *findings* are in the order of the probes, and empty when it is passed."""

    task: str
    title: str
    points: int
    max_points: int
    passed: bool
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Report:
    """An exercise's answer judged. *notes* say what was not tried here, and why, and which commands failed."""

    exercise_id: str
    title: str
    tasks: tuple[TaskResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return sum(one.points for one in self.tasks)

    @property
    def max_points(self) -> int:
        return sum(one.max_points for one in self.tasks)

    @property
    def passed(self) -> bool:
        return all(one.passed for one in self.tasks)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and lists; ``from_json`` gives the same report back."""
        return {
            "exercise_id": self.exercise_id,
            "title": self.title,
            "points": self.points,
            "max_points": self.max_points,
            "tasks": [asdict(one) | {"findings": [asdict(found) for found in one.findings]} for one in self.tasks],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Raises KeyError, TypeError or ValueError when *data* is no report."""
        tasks = tuple(
            TaskResult(**{**one, "findings": tuple(Finding(**found) for found in one["findings"])})
            for one in data["tasks"]
        )
        return cls(str(data["exercise_id"]), str(data["title"]), tasks, tuple(map(str, data["notes"])))
