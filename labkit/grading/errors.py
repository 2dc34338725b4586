"""What goes wrong in grading, apart from what students hand in: that is never an error, but a note or a finding."""

from __future__ import annotations

from labkit.errors import CourseError

__all__ = ["GradingError"]


class GradingError(CourseError):
    """A class cannot be graded, or a part of it."""
