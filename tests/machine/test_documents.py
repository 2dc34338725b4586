"""The documents are true: their commands run, print what is shown below them, and their links lead somewhere.

The commands are the lines that begin with ``$ `` in blocks marked ``console``. Those of one page run one after the
other in one shell, in a working copy of the repository of the page's own, with a home of its own, as somebody does who
reads the page from its top. What a page shows below a command must be printed; ``…`` stands for anything. What is not
run here is in NOT_RUN, with the reason and the test that runs it.

Decisions are left out: each is the record of a day, and is not rewritten. Their links are followed.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from labkit import cli
from labkit.cluster.base import KUBERNETES_VERSION
from tests.machine.test_repository import ROOT, TARGETS

DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
PAGES = [name for name in DOCUMENTS if not name.startswith("docs/decisions/")]
LIMIT_S = 240.0


@dataclass(frozen=True)
class Elsewhere:
    """A command, as a regular expression, that is not run here, and *why*; *run_by* is the file of tests that runs it,
    or None where nothing here can, which the reason then says."""

    command: str
    why: str
    run_by: str | None


NOT_RUN = (
    Elsewhere(r"make (setup|lint|test)( && source \.venv/bin/activate)?", "it makes what these tests run in (.ci/run)",
              "tests/machine/test_setup.py"),
    Elsewhere(r"make play|labkit play --(report|cluster embedded).*", "a minute: the whole chapter",
              "tests/course/test_player.py"),
    Elsewhere(r"(make|labkit) lab|jupyter lab notebooks", "runs until it is closed",
              "tests/course/test_students_way.py"),
    Elsewhere(r"make record|labkit record .*", "a minute: a notebook on a cluster", "tests/course/test_record.py"),
    Elsewhere(r"make site(-instructor)?", "minutes: all pages, twice", "tests/site/test_pages.py"),
    Elsewhere(r"make figures", "it writes what the tests compare", "tests/show/test_figures.py"),
    Elsewhere(r"make kinds", "it writes what the tests compare", "tests/machine/test_generate_k8s.py"),
    Elsewhere(r"make kubernetes VERSION=\S+", "minutes: it builds, records and plays on another release",
              "tests/machine/test_kubernetes_version.py"),
    Elsewhere(r"make test-minikube|labkit \w+ --cluster minikube.*", "needs minikube and a driver; the tests "
              "have a stand-in for it", "tests/cluster/test_minikube.py"),
    Elsewhere(r"labkit parity .*", "needs two reports of the chapter", "tests/course/test_parity.py"),
    Elsewhere(r"labkit cost.*", "half a minute to minutes", "tests/test_cli_cost.py"),
    Elsewhere(r"labkit exercises check", "a minute: every answer there is", "tests/exercises/test_own_exercises.py"),
    Elsewhere(r"labkit release --lang fr .*", "as the English one, and longer", "tests/release/test_students.py"),
    Elsewhere(r"LABKIT_TEST_SHOTS=.*", "the test itself, with pictures", "tests/course/test_students_way.py"),
    Elsewhere(r"(cd dist/nbgrader|nbgrader .*|labkit release --instructor .*)", "half a minute in nbgrader",
              "tests/release/test_nbgrader.py"),
    Elsewhere(r"labkit preview --crd new\.yaml --from-cluster .*", "needs a cluster of the reader's",
              "tests/test_cli_preview.py"),
    Elsewhere(r"python3? -m (venv \.venv|pip install .*)", "a clean room does it", "tests/machine/test_clean_room.py"),
    Elsewhere(r"lint-imports", "it is one of the checks before these tests", "tests/machine/test_verify.py"),
    Elsewhere(r"\(cd grades && zip .*\)", "zip is a program of the reader's, which not every machine has", None),
)  # fmt: skip

CODES = {
    "labkit kubectl apply -f crd/objects/invalide.yaml": 1,
    "labkit trace --crd crd/04-colis-complet.yaml crd/objects/invalide.yaml": 1,
    "labkit preview --crd crd/05-colis-v1.yaml --old-crd crd/04-colis-complet.yaml crd/objects/principal.yaml "
    "crd/objects/invalide.yaml": 1,
    "labkit cel-cost crd/03-e-liste-sans-borne.yaml": 1,
}
"""Commands that end with another exit code than 0, because what they show is refused."""

STAGED: dict[str, dict[str, str]] = {
    "README.md": {
        "my-crd.yaml": "crd/04-colis-complet.yaml",
        "my-object.yaml": "crd/objects/mini.yaml",
        "my-new-crd.yaml": "crd/05-colis-v1.yaml",
        "objects.yaml": "crd/objects/mini.yaml",
    },
    "docs/trace.md": {
        "new.yaml": "crd/05-colis-v1.yaml",
        "old.yaml": "crd/04-colis-complet.yaml",
        "backup/principal.yaml": "crd/objects/principal.yaml",
        "more-objects.yaml": "crd/objects/mini.yaml",
    },
}
"""Files that a page takes to be the reader's, and what is put in their place."""


@dataclass(frozen=True)
class Line:
    """A command, without its remark, and what is shown below it."""

    command: str
    shown: str


def lines(text: str) -> list[Line]:
    """The commands of all ``console`` blocks, in order."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        head, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert head == "", f"a console block begins with a command: {block[:60]!r}"
        for part in parts:
            command, _, shown = part.partition("\n")
            found.append(Line(re.sub(r"\s+#\s.*$", "", command).strip(), shown.rstrip()))
    return found


def _reason(command: str) -> Elsewhere | None:
    return next((one for one in NOT_RUN if re.fullmatch(one.command, command)), None)


ALL = {page: lines((ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
TO_RUN = {page: [line for line in found if _reason(line.command) is None] for page, found in ALL.items()}


# -- the commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Path]:
    """A working copy: the files of the repository, with this one's environment and control plane. Nothing of what was
    started in it is left running."""
    root = tmp_path / "labkit"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    (root / "controlplane" / "bin").symlink_to(ROOT / "controlplane" / "bin", target_is_directory=True)
    yield root
    subprocess.run(["labkit", "stop"], cwd=root, env=_environment(root), capture_output=True, check=True)


def _environment(copy: Path) -> dict[str, str]:
    home = copy.parent / "home"
    home.mkdir(exist_ok=True)
    elsewhere = {name: value for name, value in os.environ.items() if name == "LABKIT_CONTROLPLANE"}
    return {
        **elsewhere,
        "PATH": f"{copy / '.venv' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(copy),  # the environment's labkit is this repository's
        "HOME": str(home),
        "LABKIT_HOME": str(copy.parent / "state"),
        "LANG": "C.UTF-8",
    }


MARK = "\x1e"


def _script(commands: list[str]) -> str:
    """A script that stops at the first command whose exit code is another than it should be. Each ends with a line of
    MARK, its number and its code."""
    parts = []
    for number, command in enumerate(commands):
        parts.append(
            f"code=0\n{{ {command}\n}} || code=$?\nprintf '\\n%s%d %d\\n' '{MARK}' {number} $code\n"
            f"[ $code -eq {CODES.get(command, 0)} ] || exit 1\n"
        )
    return "".join(parts)


def play(commands: list[str], copy: Path) -> list[tuple[int, str]]:
    """Exit code and what was printed of each command that was run, in order; a session of its own is ended whole."""
    shell = subprocess.Popen(
        ["bash", "-e", "-c", _script(commands)],
        cwd=copy,
        env=_environment(copy),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",  # what etcd stores of a built-in type is no text
        start_new_session=True,
    )
    try:
        printed, _ = shell.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        printed, _ = shell.communicate()
        printed += f"\n(ended after {LIMIT_S:.0f} s)"
        pytest.fail(printed)
    parts = re.split(rf"\n{MARK}(\d+) (\d+)\n", printed)
    return [(int(code), text) for text, _, code in zip(parts[::3], parts[1::3], parts[2::3], strict=False)]


def fits(shown: str, printed: str) -> bool:
    """Whether *printed* is what is *shown*, in which … stands for anything; blanks at ends of lines do not count."""
    want = "\n".join(line.rstrip() for line in shown.strip("\n").splitlines())
    there = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    return re.fullmatch(".*".join(map(re.escape, want.split("…"))), there, flags=re.DOTALL) is not None


@pytest.mark.parametrize("page", [page for page, found in TO_RUN.items() if found])
def test_the_commands_of_a_page_run_and_print_what_it_shows(page: str, copy: Path) -> None:
    for name, source in STAGED.get(page, {}).items():
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / source, copy / name)
    commands = [line.command for line in TO_RUN[page]]
    done = play(commands, copy)
    for line, (code, printed) in zip(TO_RUN[page], done, strict=False):
        assert code == CODES.get(line.command, 0), f"$ {line.command}\n{printed}"
        assert not line.shown or fits(line.shown, printed), f"$ {line.command}\n{printed}"
    assert len(done) == len(commands), f"it ended at: {commands[len(done)]}"


def test_a_command_that_fails_or_prints_something_else_is_found_out(copy: Path) -> None:
    text = (
        "```console\n$ cd crd   # there\n$ test -f 01-\nshown\n```\n"
        "```console\n$ false || echo one two\n$ false\n$ true\n```\n"
    )
    (copy / "crd" / "01-").touch()
    commands = [line.command for line in lines(text)]
    assert commands == ["cd crd", "test -f 01-", "false || echo one two", "false", "true"]
    done = play(commands, copy)
    assert [(code, printed.strip()) for code, printed in done] == [(0, ""), (0, ""), (0, "one two"), (1, "")]
    assert not fits(lines(text)[1].shown, done[1][1])
    assert fits("one …", "one two \n") and fits("…\nthree", "one\n\ntwo\nthree") and not fits("one", "one two")


def test_every_exception_still_names_a_command_and_a_test_that_is_there() -> None:
    every = {line.command for found in ALL.values() for line in found}
    for one in NOT_RUN:
        assert any(_reason(command) is one for command in every), f"nothing fits any more: {one}"
        assert one.why and (one.run_by is None or (ROOT / one.run_by).is_file()), one
    for command in CODES:
        assert any(command == line.command for found in TO_RUN.values() for line in found), command
    assert STAGED.keys() <= TO_RUN.keys()


# -- the links -----------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """Those of a page's headings, as forges make them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", prose, flags=re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(next(name for name in (slug, *(f"{slug}-{n}" for n in range(1, 99))) if name not in found))
    return found


def broken(page: Path) -> list[str]:
    """Links of a page to a file or a heading that is not there. Addresses of the web are not looked up."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            found.append(target)
    return found


@pytest.mark.parametrize("page", [name for name in DOCUMENTS if not name.startswith("docs/pages/")])
def test_the_links_of_a_page_lead_to_files_and_headings_that_are_there(page: str) -> None:
    assert broken(ROOT / page) == []


def test_a_link_to_nothing_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    (tmp_path / "other.md").write_text(
        "# `One` and [two](x)\n\n## Again\n\n## Again\n\n```\n# no\n```\n", encoding="utf-8"
    )
    links = ("other.md#one-and-two", "other.md#again-1", "#here", "https://example.com/", "no.md", "#no", "other.md#no")
    page.write_text("# Here\n\n" + " ".join(f"[x]({link})" for link in links) + "\n`[x](y)`\n", encoding="utf-8")
    assert broken(page) == ["no.md", "#no", "other.md#no"]


@pytest.mark.parametrize("page", DOCUMENTS)
def test_the_verbs_of_make_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^\$ |`|&& )make ([a-z][a-z-]*)", text, flags=re.MULTILINE)) <= set(TARGETS)


def test_every_document_is_reached_from_the_readme() -> None:
    seen, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        targets = re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        left += [(page.parent / target).resolve() for target in targets]
    assert [name for name in DOCUMENTS if not name.startswith("docs/pages/") and ROOT / name not in seen] == []


# -- what stands in a document and in another file -----------------------------------------------------------------


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _rooms(page: str, layers: list[set[str]]) -> list[set[str]]:
    """The lines of the figure of rooms, from the top; a name that ends with * stands for all of them in *layers*."""
    figure = re.search(r"^```text\n(cli .*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert figure is not None
    alone = {room for row in layers if len(row) == 1 for room in row}  # never meant by a *
    every = sorted(set().union(*layers) - alone)
    rows = [re.split(r" {2,}", line)[0].split(" | ") for line in figure[1].splitlines()]
    return [{room for name in row for room in (fnmatch.filter(every, name) or [name])} for row in rows]


def _layers() -> list[set[str]]:
    contract = tomllib.loads(_text("pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    return [{room.strip(" ()").removeprefix("labkit.") for room in line.split("|")} for line in contract["layers"]]


def test_the_figure_of_the_rooms_is_what_the_import_linter_holds_them_to() -> None:
    assert _rooms(_text("docs/architecture.md"), _layers()) == _layers()


def test_a_room_in_another_place_of_the_figure_is_found_out() -> None:
    page, layers = _text("docs/architecture.md"), _layers()
    moved = re.sub(r"^waiting .*\n(errors .*\n)", r"\1waiting  x\n", page, flags=re.MULTILINE)
    assert moved != page
    assert _rooms(moved, layers) != _rooms(page, layers)
    assert _rooms(page.replace("\ncluster  ", "\ncluster | more  "), layers) != _rooms(page, layers)


def test_every_room_and_folder_of_the_repository_is_in_the_architecture() -> None:
    rooms = set().union(*_layers())
    inside = {
        path.stem for path in (ROOT / "labkit").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert inside - rooms == {"__init__"}
    page = _text("docs/architecture.md")
    for folder in re.findall(r"^\| (`[^|]*`) \|", page, flags=re.MULTILINE):
        for name in re.findall(r"`([^`]+)/`", folder):
            assert (ROOT / name).is_dir(), name


def test_the_changelog_and_the_citation_are_of_the_version_that_is_built() -> None:
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    log = _text("CHANGELOG.md")
    heading = r"^## \[(\d+\.\d+\.\d+)\] – (unreleased|\d{4}-\d\d-\d\d), Kubernetes (v1\.\d+\.\d+)$"
    sections = re.findall(heading, log, flags=re.MULTILINE)
    assert len(sections) == log.count("\n## ")
    assert (sections[0][0], sections[0][2]) == (project["version"], KUBERNETES_VERSION)
    assert set(re.findall(r"^### (.*)$", log, re.MULTILINE)) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed",
                                                               "Security", "Known limits"}  # fmt: skip
    cited = yaml.safe_load(_text("CITATION.cff"))
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    assert cited["cff-version"] == "1.2.0" and cited["type"] == "software"
    assert cited["authors"] == [{"name": "The labkit authors"}] and cited["message"] and cited["title"]


def test_every_verb_of_labkit_is_in_a_document_for_its_readers() -> None:
    pages = "\n".join(_text(name) for name in PAGES)
    assert [name for name in sorted(cli.cli.commands) if not re.search(rf"`?labkit {name}\b", pages)] == []
