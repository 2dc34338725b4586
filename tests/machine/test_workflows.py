"""The workflows for a public forge, which nothing here can run: two linters read them, and what they name is there.

``actionlint`` reads form, expressions and the names of jobs, ``zizmor`` what is unsafe. Each is shown mistakes that
were planted, so that a linter that has stopped to look fails here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.machine.checkout import Checkout
from labkit.machine.go_program import ACTIONLINT
from labkit.machine.wheels import TARGETS
from tests.machine.test_repository import TARGETS as VERBS

CHECKOUT = Checkout.here()
FOLDER = CHECKOUT.root / ".github" / "workflows"
NAMES = ("ci.yml", "minikube.yml", "release.yml")
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in NAMES}
RELEASE = TEXTS["release.yml"]


def _jobs(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(TEXTS[name])["jobs"])


def _steps(job: dict[str, Any]) -> list[dict[str, Any]]:
    return list(job.get("steps", []))


@pytest.fixture(scope="session")
def actionlint() -> Path:
    return ACTIONLINT.built(CHECKOUT, print)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The workflows in a folder of their own, to be changed. actionlint looks for a repository around them."""
    (tmp_path / ".git").mkdir()
    return Path(shutil.copytree(FOLDER, tmp_path / ".github" / "workflows"))


def _said(argv: list[str | Path], folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [str(part) for part in argv], cwd=folder.parents[1], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _actionlint(program: Path, folder: Path) -> tuple[int, str]:
    # Without the linters of shell and Python, which a machine has or has not.
    return _said([program, "-oneline", "-shellcheck=", "-pyflakes=", *sorted(folder.glob("*.yml"))], folder)


def _zizmor(folder: Path) -> tuple[int, str]:
    program = Path(sys.executable).with_name("zizmor")
    argv = [program, "--offline", "--pedantic", "--strict-collection", "--no-progress", "--format=plain", folder]
    return _said(argv, folder)


def test_the_workflows_are_the_ones_that_are_looked_at() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(NAMES)


def test_actionlint_finds_nothing(actionlint: Path) -> None:
    assert _actionlint(actionlint, FOLDER) == (0, "")


def test_zizmor_finds_nothing() -> None:
    code, said = _zizmor(FOLDER)
    assert code == 0, said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("timeout-minutes: 5", "timeout_minutes: 5", 'unexpected key "timeout_minutes"'),
        ("needs: wheels", "needs: wheel", 'job "try" needs job "wheel" which does not exist'),
        ("${{ matrix.python }}\n      -", "${{ matrix.pyton }}\n      -", 'property "pyton" is not defined'),
        ("github.event_name == 'push'", "github.event_name = 'push'", "unexpected character"),
        ("windows-2025", "windows-1995", 'label "windows-1995" is unknown'),
        ("contents: write", "content: write", 'unknown permission scope "content"'),
    ],
)
def test_actionlint_finds_a_planted_mistake(actionlint: Path, copy: Path, old: str, new: str, said: str) -> None:
    _plant(copy, old, new)
    code, told = _actionlint(actionlint, copy)
    assert code == 1
    assert said in told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (re.search(r"checkout(@\w{40} # v\S+)", RELEASE)[1], "@v7", "unpinned-uses"),  # type: ignore[index]
        ('TARGETS="$TARGET"', "TARGETS=${{ github.ref_name }}", "template-injection"),
        ("permissions: {}", "permissions: write-all", "excessive-permissions"),
        ("          persist-credentials: false", "          fetch-depth: 1", "artipacked"),
    ],
)
def test_zizmor_finds_a_planted_mistake(copy: Path, old: str, new: str, said: str) -> None:
    _plant(copy, old, new)
    code, told = _zizmor(copy)
    assert code != 0
    assert f"[{said}]" in told


def _plant(folder: Path, old: str, new: str) -> None:
    assert old in RELEASE
    (folder / "release.yml").write_text(RELEASE.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_says_at_its_top_that_it_was_not_run(name: str) -> None:
    top = TEXTS[name].partition("\nname:")[0]
    assert "linted and not run" in " ".join(line.removeprefix("#").strip() for line in top.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_of_make_and_every_file_that_a_workflow_names_is_there(name: str) -> None:
    verbs = re.findall(
        r"\bmake ([a-z][a-z-]*)", "\n".join(s.get("run", "") for j in _jobs(name).values() for s in _steps(j))
    )
    assert set(verbs) <= set(VERBS)
    for path in re.findall(r"\btests/[\w./]+", TEXTS[name]):
        assert (CHECKOUT.root / path).exists(), path
    for path in re.findall(
        r"(?:uses: \./|go-version-file: |environment-file: |--notes-file |--constraint )(\S+)", TEXTS[name]
    ):
        assert (CHECKOUT.root / path).is_file(), path


def test_every_action_is_pinned_by_commit_and_names_its_version_and_one_action_has_one_commit() -> None:
    uses = re.findall(r"uses: ([\w.-]+/[\w.-]+)@(\S+)( # v\d+\.\d+\.\d+)?$", "\n".join(TEXTS.values()), re.MULTILINE)
    assert len(uses) == len(re.findall(r"uses: [^.]", "\n".join(TEXTS.values())))
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) and version for _, commit, version in uses)
    assert len({(action, commit, version) for action, commit, version in uses}) == len({action for action, *_ in uses})


def test_only_the_job_that_publishes_may_say_who_it_is_and_only_the_release_may_write() -> None:
    rights = {(name, job): one["permissions"] for name in NAMES for job, one in _jobs(name).items()}
    more = {job: one for job, one in rights.items() if one != {"contents": "read"}}
    assert more == {
        ("release.yml", "release"): {"contents": "write"},
        ("release.yml", "publish"): {"contents": "read", "id-token": "write"},
    }
    assert _jobs("release.yml")["publish"]["environment"] == "pypi"
    assert all(yaml.safe_load(text)["permissions"] == {} for text in TEXTS.values())


def test_a_release_waits_for_every_check_and_is_published_after_it() -> None:
    jobs = _jobs("release.yml")
    assert set(jobs["release"]["needs"]) == jobs.keys() - {"version", "release", "publish"}
    assert jobs["publish"]["needs"] == "release"
    assert jobs["release"]["if"] == "github.event_name == 'push'"


def test_each_wheel_is_built_and_tried_on_a_system_of_its_own_kind() -> None:
    jobs = _jobs("release.yml")
    assert jobs["wheels"]["strategy"]["matrix"]["target"] == [target.name for target in TARGETS]
    tried = jobs["try"]["strategy"]["matrix"]["include"]
    runners = {(target.name, SYSTEMS[target.system], target.machine) for target in TARGETS}
    assert {(one["target"], *_machine(one["runner"])) for one in tried} == runners
    assert {one["python"] for one in tried} >= {"3.11", "3.14"}  # the oldest and the newest of the lock


SYSTEMS = {"linux": "ubuntu", "darwin": "macos", "windows": "windows"}


def _machine(runner: str) -> tuple[str, str]:
    """System and processor of a runner of the forge: macOS is on Apple's but for "-intel", the others are not."""
    system = runner.partition("-")[0]
    arm = runner.endswith("-arm") or (system == "macos" and not runner.endswith("-intel"))
    return system, "arm64" if arm else "amd64"


def test_the_tag_that_is_wanted_is_the_version_of_pyproject() -> None:
    command = next(step["run"] for step in _steps(_jobs("release.yml")["version"]) if "run" in step)
    version = tomllib.loads(CHECKOUT.pyproject.read_text(encoding="utf-8"))["project"]["version"]
    for tag, code in ((f"v{version}", 0), ("v99.0.0", 1), (f"v{version}1", 1)):
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=CHECKOUT.root,
            env={"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag},
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, tag
