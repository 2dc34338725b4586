"""The course with limits shorter than a class has: an attack that hangs, hangs for seconds."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.grading import running, walls
from labkit.grading.grader import Course, Grader

__all__ = ["ShortCourse"]

TIMES = running.Limits(cell_s=10.0, run_s=240.0)
ROOM = walls.Limits(memory=500 << 20, processes=80, script_s=12.0, look_s=0.1)


@dataclass(frozen=True)
class ShortCourse(Course):
    """In the place of ``grader.Course``, here and in the workers."""

    def grader(self, slot: int) -> Grader:
        return Grader(self, slot, times=TIMES, room=ROOM)
