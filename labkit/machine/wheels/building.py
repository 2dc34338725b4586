"""Wheels built one after the other into a new folder, which takes the old one's place when all are right.

A wheel that is there and was made of today's sources is kept: compiling for another platform takes minutes. What each
was made of is told by ``sources.json`` beside them, a digest a wheel; one of other sources is not carried over, so that
a folder never holds two versions.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from labkit.course.digests import add_files, files_below
from labkit.course.handout import student_files
from labkit.course.replacing import replacing
from labkit.errors import LabkitError, MachineError, ToolMissing
from labkit.machine import control_plane
from labkit.machine.checkout import (
    CONTROL_PLANE_PACKAGE,
    Checkout,
    control_plane_digest,
    control_plane_flags,
    read_stamp,
    write_stamp,
)
from labkit.machine.jobs import Command, Failure, Job, Steps, stop_all
from labkit.machine.setup import Screen, alone, run_to_the_end
from labkit.machine.wheels import licences
from labkit.machine.wheels.targets import Target, expect_fit
from labkit.scan import read_answers, scan

__all__ = ["INTO", "MOST_BYTES", "Wheel", "build", "fitting"]

INTO = "dist/wheels"
MOST_BYTES = 45_000_000
"""Of one wheel; package indexes take up to 100 MB, a class shares one network."""

_SUMS = "SHA256SUMS"
_SOURCES = "sources.json"
_EPOCH = "1580601600"
"""The time of every file in a wheel: hatchling's own choice, 2 February 2020, whatever the machine says."""


@dataclass(frozen=True)
class Wheel:
    """A wheel file; *size* in bytes."""

    path: Path
    size: int
    sha256: str


def build(checkout: Checkout, targets: Sequence[Target], out: TextIO, *, into: Path) -> tuple[Wheel, ...]:
    """Make *into* with the wheel of labkit, those of *targets*, and any other that was there and still fits.

    Prints how far it is. Raises MachineError and ToolMissing when a wheel cannot be made, is larger than MOST_BYTES, is
    not what its name promises or holds an answer; *into* is then as it was, and nothing runs any more.
    """
    if importlib.util.find_spec("hatchling") is None:
        raise ToolMissing("hatchling, which packs wheels, is not there", next_act="make wheels installs it")
    go, found = control_plane.find_go(checkout)
    if go is None:
        raise ToolMissing("there is no Go to build the control plane with", evidence=found, next_act="make setup")
    with alone(checkout, out):
        _expect_ours(into)
        kept = {path.name: path for path in fitting(checkout, into)}
        there = {path.name for path in into.glob("*.whl")}
        if there == kept.keys() and {"any", *(target.tag for target in targets)} <= {_tag(name) for name in there}:
            return tuple(_measured(path) for path in sorted(kept.values()))
        with replacing(into) as new:
            new.mkdir()
            sources = {name: _copied(path, new) for name, path in kept.items()}
            for job in _jobs(checkout, go, targets, new, sources):
                try:
                    run_to_the_end([job], Screen(out), f"look into {job.log.relative_to(checkout.root)}")
                finally:
                    stop_all([job])
            made = tuple(_measured(path) for path in sorted(new.glob("*.whl")))
            lines = (f"{wheel.sha256}  {wheel.path.name}\n" for wheel in made)
            (new / _SUMS).write_text("".join(lines), encoding="utf-8")
            write_stamp(new / _SOURCES, dict(sorted(sources.items())))
    return tuple(Wheel(into / wheel.path.name, wheel.size, wheel.sha256) for wheel in made)


def fitting(checkout: Checkout, folder: Path) -> tuple[Path, ...]:
    """The wheels in *folder* that are whole, and were made of what the checkout holds today."""
    made = read_stamp(folder / _SOURCES)
    if not made or not checkout.pyproject.is_file():
        return ()
    try:
        lines = (folder / _SUMS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    now: dict[str, str] = {}
    good = []
    for sha256, _, name in (line.partition("  ") for line in lines):
        path = folder / name
        tag = _tag(name)
        if tag not in now:
            now[tag] = _digest(checkout, tag)
        digest = now[tag]
        if made.get(name) == digest and path.is_file() and _measured(path).sha256 == sha256:
            good.append(path)
    return tuple(good)


def _tag(name: str) -> str:
    """The platform part of a wheel's name."""
    return name.removesuffix(".whl").rpartition("-")[2]


def _digest(checkout: Checkout, tag: str) -> str:
    """Of all that goes into the wheel of *tag*: "any" is labkit's own."""
    root = checkout.root
    digest = hashlib.sha256(f"{tag}\0{_version(checkout)}\0".encode())
    own = ["LICENSE"] + (["pyproject.toml", "README.md", "hatch_build.py"] if tag == "any" else [])
    add_files(digest, ((name, (root / name).read_bytes()) for name in own))
    if tag == "any":
        add_files(digest, files_below(root / "labkit", root))
        add_files(digest, student_files(root))
    else:
        add_files(digest, files_below(checkout.go_module / "wheel", root))
        digest.update(control_plane_digest(checkout).encode())
    return digest.hexdigest()


def _version(checkout: Checkout) -> str:
    return str(tomllib.loads(checkout.pyproject.read_text(encoding="utf-8"))["project"]["version"])


def _expect_ours(into: Path) -> None:
    known = read_stamp(into / _SOURCES).keys() | {_SUMS, _SOURCES}
    strange = sorted(path.name for path in into.glob("*") if path.name not in known) if into.is_dir() else []
    if strange or (into.exists() and not into.is_dir()):
        raise MachineError(
            f"{into} is not a folder of wheels that was made here",
            evidence=f"it holds {', '.join(strange[:3])}" if strange else "it is a file",
            next_act="move that away, or name another folder with --into",
        )


def _copied(path: Path, new: Path) -> str:
    """Put a wheel that is kept into the new folder; the digest of its sources."""
    shutil.copy2(path, new)
    return str(read_stamp(path.with_name(_SOURCES))[path.name])


def _measured(path: Path) -> Wheel:
    with path.open("rb") as file:
        return Wheel(path, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


# -- the jobs ---------------------------------------------------------------------------------------------------------


def _jobs(checkout: Checkout, go: str, targets: Sequence[Target], new: Path, sources: dict[str, str]) -> Iterator[Job]:
    """One for each wheel that is not there yet; each adds its wheel to *sources*."""
    version = _version(checkout)
    wanted = [(f"labkit-{version}-py3-none-any.whl", "any", "labkit", _labkit_steps(checkout, new))]
    for target in targets:
        name = f"labkit_controlplane-{version}-py3-none-{target.tag}.whl"
        wanted.append((name, target.tag, target.name, _platform_steps(checkout, go, target, new / name)))
    for name, tag, called, steps in wanted:
        if name in sources:
            steps.close()
            continue
        digest = _digest(checkout, tag)
        yield Job(called, _checked(steps, new / name), checkout.logs / f"wheel-{called}.log")
        sources[name] = digest


def _checked(steps: Steps, wheel: Path) -> Steps:
    """The steps, and then a look at the wheel that they should have made."""
    yield from steps
    if not wheel.is_file():
        there = ", ".join(path.name for path in wheel.parent.glob("*.whl"))
        raise MachineError(f"{wheel.name} was not made", evidence=f"hatchling made {there or 'nothing'}")
    if wheel.stat().st_size > MOST_BYTES:
        raise MachineError(
            f"{wheel.name} is too large",
            evidence=f"{wheel.stat().st_size / 1e6:.1f} MB, at most {MOST_BYTES / 1e6:.0f} are wanted",
            next_act="look at what is linked in: go tool nm -size -sort size",
        )


def _labkit_steps(checkout: Checkout, new: Path) -> Steps:
    yield _packing(checkout.root, new, "wheel-labkit.log", {})
    found = scan(read_answers(checkout.root), sorted(new.glob("labkit-*.whl")))
    if not found.clean:
        places, evidence = found.told(new)
        raise MachineError(f"the wheel of labkit would tell answers ({places} places)", evidence=evidence)


def _platform_steps(checkout: Checkout, go: str, target: Target, wheel: Path) -> Steps:
    log = f"wheel-{target.name}.log"
    fails = control_plane.failure(f"the control plane for {target.name}", log, "then make wheels again")
    flags = control_plane_flags(checkout)
    listing = (go, "list", "-deps", *flags, "-f", licences.LISTED, CONTROL_PLANE_PACKAGE)
    lines = yield Command("looking what is linked", listing, fails, checkout.go_module, target.environ)
    stage = wheel.parent / f".{target.name}"
    shutil.copytree(checkout.go_module / "wheel", stage, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(checkout.root / "LICENSE", stage)
    told = licences.text(licences.linked(lines), _go_root(go, checkout))
    (stage / "THIRD_PARTY_LICENSES.txt").write_text(told, encoding="utf-8")
    program = stage / "labkit_controlplane" / target.program
    stale = sum(line.split("\t")[1:2] == ["true"] for line in lines)
    build = (go, "build", "-v", *flags, "-o", str(program), CONTROL_PLANE_PACKAGE)
    env = {**target.environ, **control_plane.gogc()}
    detail = control_plane.compiled(stale)
    yield Command("compiling", build, fails, checkout.go_module, env, detail=detail)
    expect_fit(program, target)
    yield _packing(
        stage, wheel.parent, log, {"LABKIT_WHEEL_TAG": target.tag, "LABKIT_WHEEL_VERSION": _version(checkout)}
    )
    shutil.rmtree(stage)


def _packing(project: Path, into: Path, log: str, env: Mapping[str, str]) -> Command:
    argv = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into))
    return Command("packing", argv, _not_packed(log), project, {**env, "SOURCE_DATE_EPOCH": _EPOCH})


def _not_packed(log: str) -> Failure:
    def made(code: int, lines: Sequence[str]) -> LabkitError:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        return MachineError(
            "the wheel was not packed",
            evidence=f"hatchling: exit code {code}: {last}",
            next_act=f"the whole output is in build/setup/{log}",
        )

    return made


def _go_root(go: str, checkout: Checkout) -> Path:
    asked = [go, "env", "GOROOT"]
    done = subprocess.run(asked, cwd=checkout.go_module, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MachineError("Go does not tell where it is", evidence=done.stderr.strip(), next_act=" ".join(asked))
    return Path(done.stdout.strip())
