"""The chapter played by labkit, against the same kubectl commands typed into a shell.

Both sides run on the same cluster and from the same state: each section is begun and played twice, once with all its
cells in a kernel, once with the cells that hold nothing but commands given to one ``bash`` instead, and the others
(observations, which have no counterpart in a shell) still in a kernel, because later steps build on what they do. Only
the cells that are commands are timed, each by the median of several plays. Where one took more than a second, the
server made it wait (it holds a create for 2 s, a namespace goes after 5): these are counted apart.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from labkit.cluster import Cluster, tools
from labkit.cluster.kubectl import environment
from labkit.course.begin import begin
from labkit.course.environment import kernel_environment
from labkit.course.kernel import CourseKernel
from labkit.course.notebook import CourseNotebook, Step
from labkit.errors import CommandError
from labkit.show.bench import Figure

__all__ = ["Compared", "begin_figures", "compare", "figures", "play_seconds", "shell_lines"]

WAIT_S = 1.0
"""A kubectl command takes about 0.1 s; one that takes longer than this waits for the server."""
BEGIN_RUNS = 3
COMPARE_RUNS = 3

_CAT = re.compile(r"""print\(Path\(["']([^"']+)["']\)\.read_text\(\)(?:, end="")?\)""")


@dataclass(frozen=True)
class Compared:
    """One step that is nothing but commands, played in a kernel and typed into a shell; seconds."""

    step: str
    kernel_s: float
    shell_s: float

    @property
    def waits(self) -> bool:
        return max(self.kernel_s, self.shell_s) > WAIT_S


def shell_lines(source: str) -> list[str] | None:
    """The cell as lines for a shell, or None when it is more than kubectl commands (and files shown).

    >>> shell_lines("%kubectl get colis -o jsonpath='{.spec}'")
    ["kubectl get colis -o 'jsonpath={.spec}'"]
    """
    if source.startswith("%%kubectl "):
        head, _, body = source.partition("\n")
        return [f"{shlex.join(shlex.split(head[2:]))} <<'END-OF-CELL'", *body.splitlines(), "END-OF-CELL"]
    lines, commands = [], 0
    for line in source.splitlines():
        shown = _CAT.fullmatch(line.strip())
        if line.startswith(("%kubectl ", "!kubectl ")):
            commands += 1
            lines.append(line[1:] if line[0] == "!" else shlex.join(shlex.split(line[1:])))
        elif shown:
            lines.append(f"cat {shlex.quote(shown[1])}")
        elif line.strip() and not line.startswith("#"):
            return None
    return lines if commands else None


class Shell:
    """One bash, given a step's lines at a time, as a person would."""

    MARK = "=== end of step ==="

    def __init__(self, cluster: Cluster, cwd: Path) -> None:
        env = environment(cluster)
        env["PATH"] = f"{tools.find_kubectl().parent}:{env.get('PATH', '')}"
        self._process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc"],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, lines: Sequence[str]) -> float:
        """Seconds until the last of them has ended. Raises CommandError when bash has."""
        if self._process.stdin is None or self._process.stdout is None:
            raise CommandError("bash has no pipes")
        begun = time.perf_counter()
        self._process.stdin.write("\n".join([*lines, f"echo; echo '{self.MARK}'", ""]))
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.rstrip("\n") == self.MARK:
                return time.perf_counter() - begun
        raise CommandError("bash ended in the middle of a step", evidence="; ".join(lines))

    def close(self) -> None:
        self._process.communicate()


def compare(
    cluster: Cluster, notebooks: Sequence[CourseNotebook], root: Path, *, runs: int = COMPARE_RUNS
) -> list[Compared]:
    """Play each section in both ways on *cluster*, *runs* times in turn; the steps that are commands, in order.

    Raises LabkitError of every kind.
    """
    found = []
    for course in notebooks:
        plays = [_both(cluster, course, root) for _ in range(runs)]
        for step in plays[0][1]:
            kernel, shell = (median(play[side][step] for play in plays) for side in (0, 1))
            found.append(Compared(step, kernel, shell))
    return found


def _both(cluster: Cluster, course: CourseNotebook, root: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of the steps played in a kernel, and of those that are commands in a shell."""
    in_kernel = _play(cluster, course, None)
    shell = Shell(cluster, root)
    try:
        return in_kernel, _play(cluster, course, shell)
    finally:
        shell.close()


def _play(cluster: Cluster, course: CourseNotebook, shell: Shell | None) -> dict[str, float]:
    """Seconds of each step: of all in a kernel without a shell, of those that are commands with one."""
    kernel = CourseKernel(cwd=course.path.parent, environ=kernel_environment(cluster))
    seconds = {}
    try:
        for step in course.steps:
            lines = _lines_for(step, shell)
            if shell is not None and lines is not None:
                seconds[step.id] = shell.run(lines)
            else:
                run = kernel.run(step.source)
                if shell is None:
                    seconds[step.id] = run.seconds
    finally:
        kernel.stop()
    return seconds


def _lines_for(step: Step, shell: Shell | None) -> list[str] | None:
    return None if shell is None else shell_lines(step.source)


def figures(compared: Sequence[Compared]) -> list[Figure]:
    """The ratio, and what it is made of."""
    quick = [step for step in compared if not step.waits]
    waits = [step for step in compared if step.waits]
    kernel, shell = sum(step.kernel_s for step in quick), sum(step.shell_s for step in quick)
    return [
        Figure(f"the chapter's {len(quick)} command steps, played by labkit", kernel, "s"),
        Figure("the same kubectl commands, typed into a shell", shell, "s"),
        Figure("labkit against the shell", kernel / shell, "×", 1.15),
        Figure(f"steps that wait for the server ({len(waits)}), by labkit", sum(s.kernel_s for s in waits), "s"),
        Figure("the same, in a shell", sum(step.shell_s for step in waits), "s"),
    ]


def begin_figures(cluster: Cluster, notebooks: Sequence[CourseNotebook], root: Path) -> list[Figure]:
    """How long each section's beginning takes, from the state another section began in."""
    seconds: dict[str, list[float]] = {course.section: [] for course in notebooks}
    for _ in range(BEGIN_RUNS):
        for course in notebooks:
            begun = time.perf_counter()
            begin(cluster, course.begin, root=root)
            seconds[course.section].append(time.perf_counter() - begun)
    return [Figure.of(f'begin of "{section}"', samples, "s", 5.0) for section, samples in seconds.items()]


def play_seconds(state_dir: Path, root: Path) -> float:
    """Wall time of ``labkit play`` on the running cluster of *state_dir*: everything, kernels and beginnings too.

    Raises CommandError when a step did not behave.
    """
    argv = [sys.executable, "-c", "from labkit.cli import main; main()", "play", "--cluster", f"embedded:{state_dir}"]
    begun = time.perf_counter()
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(
            "labkit play did not pass, so its time says nothing",
            evidence="\n".join((done.stdout + done.stderr).splitlines()[-15:]),
            next_act="labkit play",
        )
    return time.perf_counter() - begun
