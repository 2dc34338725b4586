"""A class in which everybody attacks, or nearly: its course, what is handed in, and the command that grades it."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from labkit.grading.keeping import folder_name
from tests.grading import packing
from tests.grading.attacks.handed import CHOSEN, EXERCISES, REPOSITORY, Attack, together

MARK = "labkit-attack-mark"
SECRET = "hunter2-of-the-grader"
_DEAR = {"1-none.yaml", "2-one.yaml", "4-several.yaml"}
"""Of the states of "inventory" these are enough here: hundreds of definitions take long to make."""


@dataclass
class School:
    """Everything lies below *place*."""

    place: Path
    said: str = field(default="", init=False)
    errors: str = field(default="", init=False)
    seconds: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        for name in ("tmp", "submissions"):
            (self.place / name).mkdir(parents=True)
        self._copy_course()

    def _copy_course(self) -> None:
        course = self.place / "course"
        for name in ("crd", "notebooks"):
            shutil.copytree(REPOSITORY / name, course / name, ignore=shutil.ignore_patterns("answers", ".*"))
        for name in CHOSEN:
            folder = EXERCISES[name].folder
            shutil.copytree(folder, course / "exercises" / folder.name)
        for kind in ("probes", "hidden"):
            for path in (course / "exercises" / EXERCISES["inventory"].folder.name / kind).iterdir():
                if path.name not in _DEAR:
                    path.unlink()

    def hand_in(self, attacks: Iterable[Attack], folder: str = "submissions") -> None:
        places = {
            "COURSE": self.place / "course",
            "GRADES": self.place / "grades",
            "SUBMISSIONS": self.place / "submissions",
            "TMP": self.place / "tmp",
            "REPOSITORY": REPOSITORY,
            "MARK": MARK,
        }

        def filled(text: str | bytes) -> bytes:
            found = text.encode() if isinstance(text, str) else text
            for name, value in places.items():
                found = found.replace(f"@{name}@".encode(), str(value).encode())
            return found

        (self.place / folder).mkdir(exist_ok=True)
        submissions: dict[str, list[Attack]] = {}
        for one in attacks:
            submissions.setdefault(one.submission, []).append(one)
        for submission, those in submissions.items():
            path = self.place / folder / submission
            if callable(those[0].work):
                those[0].work(path)
                continue
            packed = packing.zipped({name: filled(content) for name, content in together(those).items()})
            path.with_name(f"{path.name}.zip").write_bytes(packed)

    def grade(self, *more: str, out: str = "grades", folder: str = "submissions", order: str = "") -> int:
        """The exit code of the command."""
        environ = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "TMPDIR": str(self.place / "tmp"),
            "GRADERS_SECRET": SECRET,
        }
        chosen = [word for name in CHOSEN for word in ("--exercise", name)]
        argv = [sys.executable, "-m", "tests.grading.attacks.program", *([order] if order else []), "grade"]
        argv += [f"../{folder}", "-o", f"../{out}", *chosen, *more]
        done = subprocess.run(
            argv, cwd=self.place / "course", env=environ, capture_output=True, text=True, timeout=900, check=False
        )
        self.said, self.errors = done.stdout, done.stderr
        return done.returncode

    # -- what came of it ----------------------------------------------------------------------------------------------

    @cached_property
    def marks(self) -> dict[str, dict[str, str]]:
        """The rows of the grade book."""
        text = (self.place / "grades" / "grades.csv").read_text(encoding="utf-8")
        return {row["student_id"].removeprefix("'"): row for row in csv.DictReader(io.StringIO(text))}

    @cached_property
    def book(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.place / "grades" / "grades.json").read_text(encoding="utf-8"))
        return told

    def result(self, name: str) -> dict[str, Any]:
        path = self.place / "grades" / folder_name(name) / "result.json"
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["result"]
        return result

    def left(self) -> list[str]:
        """Processes that know of this place, and folders of workers."""
        found = [str(path) for path in (self.place / "tmp").iterdir()]
        words = (str(self.place).encode(), MARK.encode(), SECRET.encode())
        for one in psutil.process_iter():
            try:
                about = f"{one.cmdline()} {one.environ()}".encode()
            except psutil.Error:
                continue
            if one.pid != os.getpid() and any(word in about for word in words):
                found.append(f"{one.pid} {one.cmdline()}")
        return found

    def listing(self) -> dict[str, int]:
        """All files that grading has nothing to write to, with when they were written."""
        places = [self.place / "course", self.place / "submissions", Path("/bin"), Path("/etc"), Path(sys.prefix)]
        places += [REPOSITORY / "labkit", REPOSITORY / "exercises", REPOSITORY / "crd"]
        return {
            str(path): path.lstat().st_mtime_ns
            for top in places
            for path in top.rglob("*")
            if "__pycache__" not in path.parts
        }

    def marked(self) -> list[str]:
        """Files where programs may write, of the name that attacks give them."""
        shared = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path.home(), REPOSITORY]
        found = [path for top in shared for pattern in (f"*{MARK}*", f"*/*{MARK}*") for path in top.glob(pattern)]
        return [str(path) for path in (*found, *self.place.glob(f"**/*{MARK}*"))]
