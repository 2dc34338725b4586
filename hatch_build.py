"""Puts the course, as students get it, into labkit's wheel: the lists of what that is are labkit's own.

hatchling runs this. In an editable install the course is the checkout's, so there is nothing to put anywhere.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Course(BuildHookInterface):  # type: ignore[type-arg]
    """The files of ``labkit.course.handout`` as ``labkit/handout/``: without outputs, solutions and secrets."""

    made: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from labkit.course.handout import student_files

        self.made = Path(tempfile.mkdtemp(prefix="labkit-handout-"))
        for name, content in student_files(Path(self.root)):
            path = self.made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        build_data["force_include"][str(self.made)] = "labkit/handout"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if self.made is not None:
            shutil.rmtree(self.made)
