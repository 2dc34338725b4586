"""What came of playing the course: a value, and the same as a JSON file (``labkit play --report FILE``).

Two clusters are compared, and one is looked at later, by what was played on it. So a report holds what came back as it
came (``text``), not as it was shown or judged; sanitizing is left to whoever compares.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from labkit.errors import CourseError

__all__ = ["AS_RECORDED", "DIFFERS", "FAILED", "NOT_PLAYED", "NOT_SHOWN", "PlayReport", "StepResult", "Verdict"]

Verdict = Literal["as recorded", "differs", "failed", "not shown"]
AS_RECORDED: Verdict = "as recorded"
DIFFERS: Verdict = "differs"
"""Its sanitized output is another than the recorded one."""
FAILED: Verdict = "failed"
"""An exception, a kernel or a cluster that died, or a step that could not be played for one of these reasons."""
NOT_SHOWN: Verdict = "not shown"
"""The cluster lacks what the step needs."""

NOT_PLAYED = "not played:"
"""How the reason of a failed step begins that was not reached; the cause of that follows."""

FORMAT = 1
"""Version of the file's form; a report of another is refused."""


@dataclass(frozen=True)
class StepResult:
    """One step played. *text* is what came back, as a terminal shows it; *seconds* is wall time; *reason* says why a
    verdict is not "as recorded"; *difference* holds the lines of a unified diff of sanitized text (recorded, played).
    """

    id: str
    title: str
    source: str
    text: str
    verdict: Verdict
    seconds: float
    reason: str = ""
    difference: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlayReport:
    """All steps in order; *cluster* is its ``--cluster`` spelling, *version* its Kubernetes, *seconds* wall time."""

    cluster: str
    version: str
    seconds: float
    steps: tuple[StepResult, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(step.verdict == verdict for step in self.steps)

    def good(self, *, allow_skipped: bool = False) -> bool:
        """Every step behaved as recorded. With *allow_skipped*, steps the cluster cannot show do not count."""
        fine = self.count(AS_RECORDED) + (self.count(NOT_SHOWN) if allow_skipped else 0)
        return fine == len(self.steps) and self.count(AS_RECORDED) > 0

    def write(self, path: Path) -> None:
        """Write the JSON file; whoever reads *path* sees the old content or all of the new."""
        content = json.dumps({"format": FORMAT, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"
        part = None
        try:
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as part:
                part.write(content)
            os.replace(part.name, path)  # noqa: PTH105  (it is the atomicity that counts)
        except OSError as error:
            if part is not None:
                Path(part.name).unlink(missing_ok=True)
            raise CourseError(f"{path}: the report cannot be written", evidence=error.strerror or str(error)) from error

    @classmethod
    def read(cls, path: Path) -> PlayReport:
        """Read a file that ``write`` made. Raises CourseError for any other."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise CourseError(
                    f"{path}: a report of another labkit",
                    evidence=f"format {data['format']}, wanted {FORMAT}",
                    next_act="play again with --report",
                )
            steps = tuple(_step(one) for one in data["steps"])
            return cls(str(data["cluster"]), str(data["version"]), float(data["seconds"]), steps)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CourseError(
                f"{path}: no report of labkit play",
                evidence=f"{type(error).__name__}: {error}",
                next_act="labkit play --report FILE writes one",
            ) from error


def _step(raw: dict[str, Any]) -> StepResult:
    names = {field.name for field in fields(StepResult)}
    if raw.keys() != names or raw["verdict"] not in get_args(Verdict):
        raise ValueError(f"not a step: {json.dumps(raw)[:80]}")
    return StepResult(**{**raw, "difference": tuple(raw["difference"])})
