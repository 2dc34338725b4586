"""environment.yml: the same packages in the same versions as pyproject.toml, and instructions that are true."""

from __future__ import annotations

import re
import shlex

import pytest
from packaging.requirements import InvalidRequirement

from labkit.machine.checkout import Checkout
from labkit.machine.conda import misfits
from tests.machine.conftest import Miniature

CHECKOUT = Checkout.here()
PYPROJECT = CHECKOUT.pyproject.read_text(encoding="utf-8")
GO_MOD = (CHECKOUT.go_module / "go.mod").read_text(encoding="utf-8")
ENVIRONMENT = (CHECKOUT.root / "environment.yml").read_text(encoding="utf-8")


def test_environment_yml_has_what_pyproject_and_go_mod_say_and_nothing_more() -> None:
    assert misfits(PYPROJECT, GO_MOD, ENVIRONMENT) == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  - pandas>=2.2\n", "", "pandas: not in environment.yml; pyproject.toml has pandas>=2.2"),
        ("pandas>=2.2", "pandas>=2.1", "pandas: environment.yml has >=2.1, pyproject.toml >=2.2"),
        ("nbval>=0.11,<0.12", "nbval>=0.11", "nbval: environment.yml has >=0.11, pyproject.toml <0.12,>=0.11"),
        ("  - rich>=13.7", "  - rich", "rich: environment.yml has any version, pyproject.toml >=13.7"),
        ("pyyaml>=6.0", "pyyaml>=6.0\n  - polars>=1", "polars: in environment.yml and not in pyproject.toml"),
        ("kubernetes>=37,<38", "kubernetes>=36", "kubernetes: environment.yml has >=36, pyproject.toml <38,>=37"),
        ("  - go>", "  - python-kubernetes>=37,<38\n  - go>", "kubernetes: both from conda-forge and by pip"),
        ("      # conda-forge calls this one python-kubernetes, and has it later\n", "",
         "pip's kubernetes: a comment above it must say why it is not taken from conda-forge"),
        ("go>=1.26", "go>=1.20", "go: environment.yml has >=1.20, and needs >=1.26"),
        ("python>=3.11", "python>=3.9", "python: environment.yml has >=3.9, and needs >=3.11"),
        ("  - minikube\n", "", "minikube: not in environment.yml"),
        ("  - kubernetes-client\n", "  - kubernetes-client<2\n",
         "kubernetes-client: environment.yml has <2, and needs any version"),
        ("      - -e .[kubectl]\n", "", "pip's part does not install this checkout: add -e .[kubectl]"),
    ],
)  # fmt: skip
def test_a_copy_that_says_something_else_is_found_out(old: str, new: str, said: str) -> None:
    assert ENVIRONMENT.count(old) == 1
    assert misfits(PYPROJECT, GO_MOD, ENVIRONMENT.replace(old, new)) == (said,)


def test_a_new_dependency_of_pyproject_is_missed() -> None:
    more = PYPROJECT.replace('dependencies = [\n    "jupyterlab', 'dependencies = [\n    "httpx>=1",\n    "jupyterlab')
    assert misfits(more, GO_MOD, ENVIRONMENT) == ("httpx: not in environment.yml; pyproject.toml has httpx>=1",)


def test_a_line_that_conda_would_read_otherwise_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequirement, match=r"environment\.yml: 'pandas=2\.2'"):
        misfits(PYPROJECT, GO_MOD, ENVIRONMENT.replace("pandas>=2.2", "pandas=2.2"))


def test_what_the_file_tells_to_run_makes_the_control_plane_and_no_packages(miniature: Miniature) -> None:
    told = re.findall(r"(?m)^#   (.*)$", ENVIRONMENT)
    commands = [command for line in told for command in line.split(" && ")]
    assert commands[:2] == ["conda env create -f environment.yml", "conda activate labkit"]
    python, flag, module, *options = shlex.split(commands[2])
    assert (python, flag) == ("python", "-m")
    code, _, err = miniature.run(*options, module=module)
    assert (code, err) == (0, "")
    assert miniature.checkout.control_plane.exists()
    assert not any(" pip " in call for call in miniature.calls)
    assert commands[3:] == ["labkit play --cluster embedded"]
