"""What instructors hand out: the student edition, and the source of nbgrader's assignment.

release(root, Path("dist/student/en"))              # no outputs, no answers; refused when one is found in it
release_instructors(root, Path("dist/nbgrader"))    # with the solutions, as nbgrader wants them
"""

from labkit.course.handout import student_files, without_outputs, without_secrets
from labkit.release.building import Edition, LeakFound, ReleaseError
from labkit.release.instructors import release_instructors
from labkit.release.students import release

__all__ = [
    "Edition",
    "LeakFound",
    "ReleaseError",
    "release",
    "release_instructors",
    "student_files",
    "without_outputs",
    "without_secrets",
]
