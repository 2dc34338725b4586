"""Wheels: what is in them, that they are the same from everywhere, and that nothing half-made is ever left.

The real ones of this platform are built once (``built_wheels``). Builds for other platforms, and builds that go wrong,
are those of a stand-in for Go, which tells a licence, and writes the header of a program instead of a program.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from labkit.course.handout import student_files
from labkit.errors import MachineError
from labkit.machine import control_plane, wheels
from labkit.machine.checkout import Checkout
from labkit.machine.kubernetes.working_copy import files_of
from labkit.machine.wheels import TARGETS, Target, Wheel, building, licences
from labkit.machine.wheels.headers import Executable, read_header
from labkit.machine.wheels.targets import chosen, expect_fit
from labkit.waiting import Seen, wait_for
from tests.machine import built_wheels
from tests.machine.conftest import gone

CHECKOUT = built_wheels.CHECKOUT
ROOT = CHECKOUT.root


# -- headers ----------------------------------------------------------------------------------------------------------


def elf(machine: int, *, width: int = 2, kind: int = 2, segments: tuple[int, ...] = (1, 1)) -> bytes:
    head = b"\x7fELF" + bytes([width, 1, 1, 0]) + bytes(8) + struct.pack("<HHIQQ", kind, machine, 1, 0x401000, 64)
    head += bytes(14) + struct.pack("<HH", 56, len(segments))
    return head.ljust(64, b"\0") + b"".join(struct.pack("<I", one) + bytes(52) for one in segments)


def macho(machine: int, *, kind: int = 2, oldest: int = 12 << 16, signed: bool = True) -> bytes:
    commands = [struct.pack("<6I", 0x32, 24, 1, oldest, 0, 0)] + [struct.pack("<4I", 0x1D, 16, 0, 0)] * signed
    return struct.pack("<8I", 0xFEEDFACF, machine, 0, kind, len(commands), 0, 0, 0) + b"".join(commands)


def pe(machine: int, *, flags: int = 0x22, magic: int = 0x20B) -> bytes:
    return b"MZ".ljust(0x3C, b"\0") + struct.pack("<I4sHHIIIHHH", 64, b"PE\0\0", machine, 8, 0, 0, 0, 240, flags, magic)


HEADERS = {
    "manylinux_x86_64": elf(62),
    "manylinux_aarch64": elf(183),
    "macos_arm64": macho(0x0100000C),
    "macos_x86_64": macho(0x01000007, signed=False),
    "windows_amd64": pe(0x8664),
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_program_fits_its_own_target_and_no_other(target: Target, tmp_path: Path) -> None:
    program = tmp_path / target.program
    program.write_bytes(HEADERS[target.name])
    expect_fit(program, target)
    for other in TARGETS:
        if other != target:
            with pytest.raises(MachineError, match=f"not built for {other.name}: it is for {target.system}/"):
                expect_fit(program, other)


@pytest.mark.parametrize(
    ("name", "header", "why"),
    [
        ("manylinux_x86_64", elf(62, segments=(1, 3)), "wants a dynamic loader"),
        (
            "macos_arm64",
            macho(0x0100000C, oldest=13 << 16 | 1 << 8),
            r"wants macOS \(13, 1\), the wheel says \(12, 0\)",
        ),
        ("macos_arm64", macho(0x0100000C, signed=False), "no signature"),
        ("manylinux_x86_64", elf(62, width=1), "no 64-bit program of Linux"),
        ("manylinux_x86_64", elf(243), "machine of number 0xf3"),
        ("macos_arm64", macho(0x0100000C, kind=6), r"no program \(file type 6\)"),
        ("windows_amd64", pe(0x8664, flags=0x2022), "no 64-bit program of Windows"),
        ("windows_amd64", pe(0x14C, magic=0x10B), "no 64-bit program of Windows"),
        ("windows_amd64", pe(0x8664)[:70], "cut off"),
        ("manylinux_x86_64", b"#!/bin/sh\n", "begins with 23 21 2f 62"),
        ("manylinux_x86_64", b"", "begins with nothing"),
    ],
)
def test_what_a_wheel_s_name_does_not_promise_is_refused(name: str, header: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(header)
    with pytest.raises(MachineError, match=why):
        expect_fit(tmp_path / "program", chosen([name])[0])


def test_the_python_that_runs_this_is_read_as_what_it_is() -> None:
    with Path(sys.executable).open("rb") as file:
        found = read_header(file.read(1 << 16))
    own = built_wheels.own_target()
    assert (found.system, found.machine) == (own.system, own.machine)
    assert found.loader == (own.system == "linux")  # it wants a C library, unlike the control plane
    assert read_header(HEADERS["macos_arm64"]) == Executable("darwin", "arm64", oldest=(12, 0), signed=True)


def test_an_unknown_target_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(MachineError, match=r"no target linux_riscv64.*there are manylinux_x86_64, .*, windows_amd64"):
        chosen(["macos_arm64", "linux_riscv64"])
    assert chosen([]) == TARGETS
    assert [one.name for one in chosen(["windows_amd64", "macos_arm64"])] == ["macos_arm64", "windows_amd64"]


# -- licences ---------------------------------------------------------------------------------------------------------


def _module(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_each_licence_is_told_once_with_all_whose_it_is_and_that_of_taken_code_too(tmp_path: Path) -> None:
    one = _module(tmp_path / "one", {"LICENSE": "be kind\n", "used/x.go": "", "taken/LICENSE.txt": "be brief\n"})
    two = _module(tmp_path / "two", {"COPYING": "be kind", "NOTICE": "by two", "forked/LICENSE": "be far", "a.go": ""})
    go = _module(tmp_path / "go", {"LICENSE": "be simple"})
    lines = [
        "",
        f"one/used\tfalse\tone\tv1.0.0\tfalse\t{one}\t{one / 'used'}",
        f"one/taken\ttrue\tone\tv1.0.0\tfalse\t{one}\t{one / 'taken'}",
        f"two\tfalse\ttwo\tv0.2.0\tfalse\t{two}\t{two}",
        f"own\tfalse\town\t\ttrue\t{tmp_path}\t{tmp_path}",
        "go: downloading two v0.2.0",
    ]
    text = licences.text(licences.linked(lines), go)
    parts = [part.strip() for part in re.split(r"=+\n", text) if part.strip()]
    assert parts == [
        "The Go runtime and standard library", "be simple",
        "one v1.0.0: LICENSE\ntwo v0.2.0: COPYING", "be kind",
        "one v1.0.0: taken/LICENSE.txt", "be brief",
        "two v0.2.0: NOTICE", "by two",
    ]  # fmt: skip


def test_a_module_without_a_licence_may_not_be_handed_out(tmp_path: Path) -> None:
    bare = _module(tmp_path / "bare", {"NOTICE": "by me", "LICENSE.go": "package bare", "a.go": ""})
    found = licences.linked([f"bare\tfalse\tbare\tv3.0.0\tfalse\t{bare}\t{bare}"])
    with pytest.raises(MachineError, match=r"without a licence.*bare v3\.0\.0"):
        licences.text(found, _module(tmp_path / "go", {"LICENSE": "be simple"}))
    with pytest.raises(MachineError, match="Go's own licence is not there"):
        licences.text((), tmp_path / "nowhere")


# -- the real ones ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> dict[str, Wheel]:
    """By the name of the project."""
    return {wheel.path.name.partition("-")[0]: wheel for wheel in built_wheels.own_wheels()}


def _text(wheel: zipfile.ZipFile, end: str) -> str:
    (name,) = (name for name in wheel.namelist() if name.endswith(end))
    return wheel.read(name).decode()


def test_labkit_s_wheel_has_the_course_as_handed_out_and_what_the_package_reads(made: dict[str, Wheel]) -> None:
    with zipfile.ZipFile(made["labkit"].path) as wheel:
        names = set(wheel.namelist())
        handout = {name.removeprefix("labkit/handout/") for name in names if name.startswith("labkit/handout/")}
        course = dict(student_files(ROOT))
        assert handout == course.keys()
        assert all(wheel.read(f"labkit/handout/{name}") == content for name, content in course.items())
        assert "Requires-Dist: kubernetes" in _text(wheel, "/METADATA")
        assert "Tag: py3-none-any" in _text(wheel, "/WHEEL")
    read = {path.relative_to(ROOT).as_posix() for path in (ROOT / "labkit").rglob("*") if path.is_file()}
    assert {name for name in read if "__pycache__" not in name} <= names
    assert not [name for name in names if re.search(r"solution|/wrong/|/hidden/|/right/|judge\.py|\.pyc$", name)]


def test_a_wheel_of_labkit_that_would_tell_an_answer_is_not_made(tmp_path: Path) -> None:
    steps = building._labkit_steps(CHECKOUT, tmp_path)
    next(steps)  # hatchling's turn: it packs an exercise's solution
    solution = ROOT / "exercises" / "02-rule" / "solution.yaml"
    with zipfile.ZipFile(tmp_path / "labkit-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(solution, "labkit/handout/crd/example.yaml")
    with pytest.raises(MachineError, match=r"(?s)would tell answers.*labkit/handout/crd/example\.yaml"):
        steps.send([])


def test_the_control_plane_s_wheel_has_the_program_and_every_linked_module_s_licence(
    made: dict[str, Wheel], tmp_path: Path
) -> None:
    target = built_wheels.own_target()
    with zipfile.ZipFile(made["labkit_controlplane"].path) as wheel:
        info = wheel.getinfo(f"labkit_controlplane/{target.program}")
        assert stat.S_IMODE(info.external_attr >> 16) == 0o755
        told = _text(wheel, "/licenses/THIRD_PARTY_LICENSES.txt")
        assert _text(wheel, "/licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")
        tags = re.findall(r"(?m)^Tag: py3-none-(.*)$", _text(wheel, "/WHEEL"))
        assert ".".join(tags) == target.tag
        assert "Root-Is-Purelib: false" in _text(wheel, "/WHEEL")
        source = _text(wheel, "labkit_controlplane/__init__.py")
        program = Path(wheel.extract(info, tmp_path))
    expect_fit(program, target)
    go, _ = control_plane.find_go(CHECKOUT)
    assert go is not None
    listed = subprocess.run([go, "version", "-m", str(program)], capture_output=True, text=True, check=True).stdout
    modules = re.findall(r"(?m)^\s+dep\s+(\S+)\s+(\S+).*$(?:\n\s+=>\s+\S+\s+(\S+))?", listed)
    assert len(modules) > 100
    lacking = [name for name, version, instead in modules if f"\n{name} {instead or version}: " not in told]
    assert lacking == []
    assert {type(node) for node in ast.parse(source).body} <= {ast.Expr, ast.ImportFrom, ast.Assign, ast.FunctionDef}


def test_no_wheel_is_larger_than_a_class_can_load_and_the_sums_are_right(made: dict[str, Wheel]) -> None:
    folder = made["labkit"].path.parent
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert sums == [f"{wheel.sha256}  {wheel.path.name}" for wheel in sorted(made.values(), key=lambda one: one.path)]
    for wheel in made.values():
        assert hashlib.sha256(wheel.path.read_bytes()).hexdigest() == wheel.sha256
        assert wheel.size == wheel.path.stat().st_size <= wheels.MOST_BYTES


def test_a_checkout_elsewhere_makes_the_same_bytes(made: dict[str, Wheel], tmp_path: Path) -> None:
    copy = tmp_path / "a longer way" / "to a checkout"
    for name in files_of(ROOT):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for path in copy.rglob("*.py"):
        path.chmod(0o600)  # as another umask would have it
    environ = {**os.environ, "PATH": f"{os.environ['PATH']}:{CHECKOUT.venv_bin}", "SOURCE_DATE_EPOCH": "1700000000"}
    argv = [sys.executable, "-m", "labkit.machine.wheels", built_wheels.own_target().name]
    done = subprocess.run(argv, cwd=copy, env=environ, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    for wheel in made.values():
        assert (copy / "dist" / "wheels" / wheel.path.name).read_bytes() == wheel.path.read_bytes(), wheel.path.name
        assert f"{wheel.path.name:<20}" in done.stdout
        assert wheel.sha256 in done.stdout


# -- builds that go wrong, by a stand-in for Go --------------------------------------------------------------------

GO = """#!{python}
import os, pathlib, signal, sys
here = pathlib.Path({here!r})
order = (here / "order").read_text() if (here / "order").exists() else ""
if sys.argv[1] == "env":
    print("go1.26.8" if sys.argv[2] == "GOVERSION" else here)
elif sys.argv[1] == "list":
    licensed = here / ("bare" if order == "no licence" else "module")
    print("", f"m/p\\ttrue\\tm\\tv1.0.0\\tfalse\\t{{licensed}}\\t{{licensed}}", sep="\\n")
else:
    if order == "fail":
        sys.exit("p.go:1: this does not compile")
    if order == "hang":
        (here / "hangs").write_text(str(os.getpid()))
        signal.pause()
    header = (here / "header").read_bytes()
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(header)
    (here / "built").write_text(" ".join(f"{{n}}={{os.environ[n]}}" for n in ("CGO_ENABLED", "GOOS", "GOARCH")))
"""


@dataclass(frozen=True)
class StandIn:
    """*folder* is what it obeys; *into* holds the wheels of before, which fit."""

    folder: Path
    into: Path

    def tell(self, order: str, header: bytes = b"") -> None:
        (self.folder / "order").write_text(order, encoding="utf-8")
        (self.folder / "header").write_bytes(header)

    def build(self, name: str) -> dict[str, Wheel]:
        made = wheels.build(CHECKOUT, chosen([name]), io.StringIO(), into=self.into)
        return {wheel.path.name: wheel for wheel in made}

    def seen(self) -> dict[str, bytes]:
        """Every file beside and in the folder of wheels."""
        place = self.into.parent
        return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture
def stand_in(made: dict[str, Wheel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    folder = tmp_path / "go"
    _module(folder, {"module/LICENSE": "be kind", "bare/README": "", "LICENSE": "be simple", "bin/go": ""})
    (folder / "bin" / "go").write_text(GO.format(python=sys.executable, here=str(folder)), encoding="utf-8")
    (folder / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(building, "_digest", lambda _, tag: f"as today: {tag}")
    into = tmp_path / "dist" / "wheels"
    shutil.copytree(made["labkit"].path.parent, into)
    tags = {made["labkit"].path.name: "any", made["labkit_controlplane"].path.name: built_wheels.own_target().tag}
    lines = ", ".join(f'"{name}": "as today: {tag}"' for name, tag in tags.items())
    (into / "sources.json").write_text(f"{{{lines}}}", encoding="utf-8")
    yield StandIn(folder, into)


@pytest.mark.parametrize("name", ["macos_arm64", "windows_amd64", "manylinux_aarch64"])
def test_a_wheel_for_another_platform_joins_those_that_still_fit(stand_in: StandIn, name: str) -> None:
    (target,) = chosen([name])
    before = stand_in.seen()
    stand_in.tell("", HEADERS[name])
    made = stand_in.build(name)
    new = f"labkit_controlplane-{building._version(CHECKOUT)}-py3-none-{target.tag}.whl"
    assert made.keys() == {Path(one).name for one in before if one.endswith(".whl")} | {new}
    assert (stand_in.folder / "built").read_text() == f"CGO_ENABLED=0 GOOS={target.system} GOARCH={target.machine}"
    with zipfile.ZipFile(made[new].path) as wheel:
        assert wheel.read(f"labkit_controlplane/{target.program}") == HEADERS[name]
        assert "m v1.0.0: LICENSE" in _text(wheel, "THIRD_PARTY_LICENSES.txt")
    after = stand_in.seen()
    assert {one: after[one] for one in before if one.endswith(".whl")} == {
        one: content for one, content in before.items() if one.endswith(".whl")
    }
    assert [path.name for path in stand_in.into.parent.iterdir()] == ["wheels"]
    assert wheels.fitting(CHECKOUT, stand_in.into) == tuple(sorted(wheel.path for wheel in made.values()))


@pytest.mark.parametrize(
    ("order", "header", "why"),
    [
        ("fail", b"", "the control plane for macos_arm64 was not built: exit code 1: p.go:1: this does not compile"),
        ("no licence", b"", "without a licence are linked in, and may not be handed out: m v1.0.0"),
        ("", HEADERS["manylinux_x86_64"], "was not built for macos_arm64: it is for linux/amd64"),
    ],
)
def test_a_build_that_goes_wrong_leaves_the_wheels_as_they_were(
    stand_in: StandIn, order: str, header: bytes, why: str
) -> None:
    stand_in.tell(order, header)
    before = stand_in.seen()
    with pytest.raises(MachineError, match=re.escape(why)):
        stand_in.build("macos_arm64")
    assert stand_in.seen() == before


def test_a_wheel_that_is_too_large_is_not_made(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_BYTES", 1_000)
    stand_in.tell("", HEADERS["macos_x86_64"])
    before = stand_in.seen()
    with pytest.raises(MachineError, match=r"macosx_12_0_x86_64\.whl is too large"):
        stand_in.build("macos_x86_64")
    assert stand_in.seen() == before


def test_an_interrupt_ends_the_compiler_and_leaves_the_wheels_as_they_were(stand_in: StandIn) -> None:
    stand_in.tell("hang")
    before = stand_in.seen()
    code = (
        "import sys; from labkit.machine.wheels import __main__ as m, building; "
        "building._digest = lambda _, tag: f'as today: {tag}'; sys.exit(m.main(sys.argv[1:]))"
    )
    argv = [sys.executable, "-c", code, "macos_arm64", "--into", str(stand_in.into)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)

    def look() -> Seen[int]:
        assert process.poll() is None, process.communicate()
        there = stand_in.folder / "hangs"
        text = there.read_text() if there.exists() else ""
        return Seen(bool(text), "the stand-in has not come to compiling", int(text or 0))

    pid = wait_for("Go to compile", look, limit_s=60)
    assert pid is not None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "wheels: interrupted; nothing is left running" in err
    assert gone([pid])
    assert stand_in.seen() == before


def test_wheels_that_all_fit_stay_where_they_are(stand_in: StandIn) -> None:
    stand_in.tell("fail")
    before = stand_in.into.stat().st_ino
    assert len(stand_in.build(built_wheels.own_target().name)) == 2
    assert stand_in.into.stat().st_ino == before


def test_wheels_of_other_sources_are_not_carried_over(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_digest", lambda _, tag: f"tomorrow: {tag}" if tag != "any" else "as today: any")
    stand_in.tell("", HEADERS["windows_amd64"])
    made = stand_in.build("windows_amd64")
    assert sorted(name.rpartition("-")[2] for name in made) == ["any.whl", "win_amd64.whl"]


def test_a_wheel_whose_bytes_have_changed_does_not_fit(stand_in: StandIn) -> None:
    fits = wheels.fitting(CHECKOUT, stand_in.into)
    assert len(fits) == 2
    fits[0].write_bytes(fits[0].read_bytes() + b"\0")
    assert wheels.fitting(CHECKOUT, stand_in.into) == fits[1:]
    assert wheels.fitting(CHECKOUT, stand_in.into.parent / "nowhere") == ()


def test_a_folder_of_somebody_else_is_left_alone(stand_in: StandIn) -> None:
    (stand_in.into / "thesis.tex").write_text("years of work", encoding="utf-8")
    before = stand_in.seen()
    with pytest.raises(MachineError, match=r"not a folder of wheels that was made here: it holds thesis\.tex"):
        stand_in.build("macos_arm64")
    assert stand_in.seen() == before


def test_what_a_wheel_is_made_of_decides_whether_it_fits(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    for name in files_of(ROOT):
        if not name.startswith(("docs/", "tests/")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    digests: Callable[[], tuple[str, str]] = lambda: (  # noqa: E731
        building._digest(Checkout(copy), "any"),
        building._digest(Checkout(copy), "win_amd64"),
    )
    pure, platform = digests()
    assert (pure, platform) == digests()
    (copy / "exercises" / "notes.md").write_text("for authors", encoding="utf-8")
    assert digests() == (pure, platform)
    (copy / "crd" / "new.yaml").write_text("a: b\n", encoding="utf-8")
    assert digests()[0] != pure
    assert digests()[1] == platform
    with (copy / "controlplane" / "go.mod").open("a", encoding="utf-8") as file:
        file.write("// new\n")
    assert digests()[1] != platform
