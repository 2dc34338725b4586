"""The measurements of traces: programs timed beside each other, the peer built once, and the table on the page true."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cluster import Owner
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import CommandError, MachineError
from labkit.machine.bench import __main__ as bench
from labkit.machine.bench import peer, reports, trace
from labkit.machine.bench.reports import ABSENT, TOOLS, Case, Report
from labkit.machine.bench.trace import COMMAND, ENGINE, KUBECTL, PEER, Measured, Program
from labkit.machine.checkout import Checkout
from labkit.show.bench import Figure
from labkit.trace import Engine, sources

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
CASES = {case.name: case for case in reports.cases(ROOT)}
AGAIN = "measure again: .venv/bin/python -m labkit.machine.bench --only trace"
Rows = dict[str, dict[str, tuple[str, ...]]]


def parsed(text: str) -> Rows:
    """Case → finding → a cell for each tool, from the last table of *text*."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    begin = max(number for number, line in enumerate(lines) if line.startswith("| object |"))
    found: Rows = {}
    name = ""
    for line in lines[begin + 2 :]:
        first, finding, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name = first or name
        found.setdefault(name, {})[finding] = tuple(cells)
    return found


ON_PAGE = parsed(PAGE.partition("<!-- begin trace -->")[2].partition("<!-- end trace -->")[0])


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    """A cluster of its own: the measurement changes the chapter's definition on it."""
    one = EmbeddedCluster(tmp_path_factory.mktemp("bench") / "cluster", owner=Owner.HELD)
    one.start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def said(ours: EmbeddedCluster) -> dict[str, tuple[Report, Report]]:
    """What kubectl and the trace say of each case, now."""
    reports.define(ours, ROOT, list(CASES.values()))
    definition = sources.read(ROOT / reports.DEFINITION).text
    found = {}
    with Engine() as engine:
        for name, case in CASES.items():
            traced = reports.by_trace(engine, definition, case)
            found[name] = (reports.by_kubectl(ours, case, traced), traced)
    return found


# -- what each reports -----------------------------------------------------------------------------------------------


def test_the_page_has_every_case_and_a_verdict_of_every_tool() -> None:
    assert list(ON_PAGE) == list(CASES), AGAIN
    for rows in ON_PAGE.values():
        assert all(len(cells) == len(TOOLS) for cells in rows.values())
        assert all(cell.startswith(("accepted", "refused")) for cell in rows[reports.VERDICT])


@pytest.mark.parametrize("name", CASES)
def test_the_page_says_what_kubectl_and_the_trace_report_today(
    name: str, said: dict[str, tuple[Report, Report]]
) -> None:
    for column, report in zip((0, 2), said[name], strict=True):
        rows = {finding: cells[column] for finding, cells in ON_PAGE[name].items()}
        assert rows.pop(reports.VERDICT) == report.verdict, AGAIN
        assert {finding: cell for finding, cell in rows.items() if cell != ABSENT} == report.found, AGAIN


@pytest.mark.parametrize("name", CASES)
def test_the_trace_finds_all_that_kubectl_is_told_by_the_server(
    name: str, said: dict[str, tuple[Report, Report]]
) -> None:
    kubectl, traced = said[name]
    assert kubectl.found.keys() <= traced.found.keys()
    if name != "a key given twice":  # kubectl reads the file itself, and sends the last of the two
        assert kubectl.verdict == traced.verdict


def test_the_cases_are_of_every_kind_of_finding(said: dict[str, tuple[Report, Report]]) -> None:
    found = {finding.partition(" ")[0] for _, traced in said.values() for finding in traced.found}
    assert {"default", "dropped", "unknown", "duplicate", "forgiven", "rules"} <= found
    assert {traced.verdict for _, traced in said.values()} == {"accepted", "refused"}


def test_the_table_comes_back_as_it_was_given_and_says_what_was_not_measured() -> None:
    row = (Report("refused", {"`b`": "yes", "`a`": "yes"}), None, Report("accepted", {"`z`": "yes"}))
    assert parsed(reports.table({"one": row, "two": (Report("accepted"),) * 3})) == {
        "one": {
            "verdict": ("refused", "not measured", "accepted"),
            "`z`": (ABSENT, "", "yes"),
            "`a`": ("yes", "", ABSENT),
            "`b`": ("yes", "", ABSENT),
        },
        "two": {"verdict": ("accepted",) * 3},
    }


PEER_SAYS = """#!/bin/sh
grep -q semver "$2/definition.yaml" && broken=yes
cause() { printf '{"field": "%s", "message": "%s"}' "$1" "$2"; }
printf '{"object.yaml": [{"status": "Failure", "details": {"causes": ['
if [ "$broken" ]; then
    cause spec "Invalid value: rule compile error: no semver: $(grep -o '!has.*>= 0' "$2/definition.yaml")"
else
    cause spec.wroker "Invalid value: value provided for unknown field"; printf ,
    cause '' 'line 16: key \\"version\\" already set in map'; printf ,
    cause spec.worker 'Invalid value: \\"object\\": min'
fi
printf ']}}]}'
exit 1
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_peer_that_cannot_compile_a_rule_is_asked_again_without_it(tmp_path: Path) -> None:
    program = script(tmp_path / "peer", PEER_SAYS)
    assert reports.by_peer(program, Case("one", "{}"), tmp_path, ROOT) == Report(
        "refused; refused without that rule",
        {
            "`spec`: a rule that it cannot compile": "yes",
            "unknown field `spec.wroker`": "yes",
            "duplicate field `version`": "yes, with its line",
            "`spec.worker: Invalid value`": "yes",
        },
    )


def test_a_peer_without_a_report_is_an_error_with_its_words(tmp_path: Path) -> None:
    program = script(tmp_path / "peer", "#!/bin/sh\necho no such flag >&2\nexit 1\n")
    with pytest.raises(CommandError, match="no such flag"):
        reports.by_peer(program, Case("one", "{}"), tmp_path, ROOT)


# -- the peer ---------------------------------------------------------------------------------------------------------

GO = """#!/bin/sh
[ "$1" = env ] && { echo go1.26.8; exit; }
echo "$@" >> {calls}
[ -e {broken} ] && { echo 'no route to the module' >&2; exit 1; }
touch "$GOBIN/kubectl-validate"; chmod +x "$GOBIN/kubectl-validate"
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """One with nothing in it, and a Go on PATH that notes how it is called."""
    text = GO.replace("{calls}", str(tmp_path / "calls")).replace("{broken}", str(tmp_path / "broken"))
    script(tmp_path / "bin" / "go", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "controlplane").mkdir()
    (tmp_path / "controlplane" / "go.mod").write_text("module example\n\ngo 1.26.0\n", encoding="utf-8")
    return Checkout(tmp_path)


def test_the_peer_is_built_once_at_its_version_and_told_before(checkout: Checkout, tmp_path: Path) -> None:
    told: list[str] = []
    program = trace.peer_if_there(checkout, told.append)
    assert program is not None and os.access(program, os.X_OK)
    assert peer.built(checkout, told.append) == program
    assert told == ["building kubectl-validate v0.0.4, once (some minutes: it brings a Kubernetes of its own)"]
    (call,) = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert call.startswith("install -trimpath") and call.endswith(" sigs.k8s.io/kubectl-validate@v0.0.4")


def test_a_peer_that_cannot_be_built_is_told_in_one_line_and_left_out(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with pytest.raises(MachineError, match="no route to the module"):
        peer.built(checkout, lambda _: None)
    told: list[str] = []
    assert trace.peer_if_there(checkout, told.append) is None
    assert told[1].startswith("kubectl-validate is not measured: ") and "no route to the module" in told[1]


# -- figures ----------------------------------------------------------------------------------------------------------


def python(code: str, *, accepted: tuple[int, ...] = (0,)) -> Program:
    return Program([sys.executable, "-S", "-c", code], {}, accepted=accepted)


def test_programs_are_compared_with_a_trace_and_with_ours_and_one_that_is_missing_is_left_out() -> None:
    beside = {KUBECTL: python("import json"), COMMAND: python(""), ENGINE: python("")}
    figures = {figure.name: figure for figure in trace.compared("mini", beside, 0.5, 3)}
    kubectl = figures[f"mini.yaml as a process: {KUBECTL}"]
    assert (kubectl.unit, len(kubectl.samples)) == ("ms", 3)
    assert figures[f"… {KUBECTL} against a trace once running"].value == pytest.approx(kubectl.value / 0.5)
    own = figures[f"mini.yaml as a process: {COMMAND}"]
    ratios = figures[f"… {KUBECTL} against {COMMAND}"].samples
    assert ratios == tuple(one / other for one, other in zip(kubectl.samples, own.samples, strict=True))
    assert not any(PEER in name for name in figures)


def test_the_time_of_a_program_that_fails_is_no_figure() -> None:
    assert python("raise SystemExit(1)", accepted=(1,)).run() > 0
    with pytest.raises(CommandError, match=r"ended with 3.*no cluster"):
        python("import sys; print('no cluster', file=sys.stderr); sys.exit(3)", accepted=(0, 1)).run()


HOLD = "held = bytearray({mb} * 10**6); held[::1024] = bytes(len(held[::1024])); {then}"
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {code!r}], check=True)"


def test_the_most_memory_of_a_process_and_of_its_child_is_seen(tmp_path: Path) -> None:
    wait = "import time; time.sleep(1.5)"
    child = CHILD.format(code=HOLD.format(mb=200, then=wait))
    code = HOLD.format(mb=60, then=f"{wait}; del held; print('said'); {child}")
    seconds, text, (own, childs) = trace.watched([sys.executable, "-S", "-c", code], tmp_path / "out")
    assert text == "said\n"
    assert seconds > 3
    assert 60 < own < 150
    assert 200 < childs < 290


def test_a_preview_that_fails_is_no_figure(tmp_path: Path) -> None:
    argv = [sys.executable, "-S", "-c", "print('no such cluster'); raise SystemExit(2)"]
    with pytest.raises(CommandError, match=r"ended with 2.*no such cluster"):
        trace.watched(argv, tmp_path / "out")


@pytest.mark.parametrize(("argv", "parts"), [(["--only", "trace"], ["trace"]), ([], ["kit", "trace"])])
def test_one_part_can_be_measured_alone(
    argv: list[str], parts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Measured([Figure("slow", 9.0, "s", 5.0)], "| a table |\n")
    published = []
    monkeypatch.setattr(bench, "PARTS", dict.fromkeys(("kit", "trace"), lambda *_, **__: measured))
    monkeypatch.setattr(bench, "publish", lambda _, part, figures, __, also: published.append((part, figures, also)))
    assert bench.main(argv) == 1
    assert published == [(part, measured.figures, measured.table) for part in parts]
    assert "over budget: slow" in capsys.readouterr().err
