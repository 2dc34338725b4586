"""``labkit grade`` with everything real but the grader: python -m tests.grading.whole grade SUBMISSIONS -o GRADES …"""

from __future__ import annotations

from labkit import cli
from labkit.grading import classroom
from tests.grading.looking import LookingCourse

if __name__ == "__main__":
    vars(classroom)["Course"] = LookingCourse
    cli.main()
