"""The transcripts in ``solution.md``, played again: a recorded answer of a server is worth what it is worth today."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from labkit.cluster import Cluster, Kubectl, tools
from labkit.cluster.kubectl import environment
from labkit.exercises.model import Exercise

ROOT = Path(__file__).parents[2]
ESSAIS = ROOT / "tests" / "course" / "essais"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """A command and the answer recorded below it."""

    command: str
    answer: str


def recorded(text: str) -> tuple[Line, ...]:
    """The commands of all ``console`` blocks of a page, in order."""
    found: list[Line] = []
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, answer = part.partition("\n")
            found.append(Line(command, answer.strip()))
    return tuple(found)


def prepare(exercise: Exercise, folder: Path) -> None:
    """What the commands find: the solution among the answers, the objects of the chapter, and ``crd/``."""
    (folder / "answers").mkdir()
    (folder / "answers" / exercise.answer_name).write_text(exercise.solution or "", encoding="utf-8")
    for path in ESSAIS.glob("*.yaml"):
        shutil.copy(path, folder)
    (folder / "crd").symlink_to(ROOT / "crd", target_is_directory=True)


def played(command: str, cluster: Cluster, folder: Path) -> str:
    """What a ``kubectl`` or ``python`` command prints, the causes of a refusal sorted."""
    program, *argv = shlex.split(command, comments=True)
    if program == "kubectl":
        return Kubectl(cluster).run(argv, cwd=folder).text.strip()
    environ = environment(cluster)
    environ["PATH"] = f"{tools.find_kubectl().parent}:{environ['PATH']}"
    done = subprocess.run(
        [sys.executable, *argv],
        env=environ | {"PYTHONIOENCODING": "utf-8"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    return f"{done.stdout}{done.stderr}exit code {done.returncode}".strip()
