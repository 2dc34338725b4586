"""The measurements' own arithmetic: medians, budgets, the page, and which cells a shell can play."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.cluster.base import KUBERNETES_VERSION
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import notebook
from labkit.machine.bench import chapter
from labkit.machine.bench.chapter import Compared, Shell, shell_lines
from labkit.show.bench import Figure, replace_section, table

ROOT = Path(__file__).resolve().parents[2]


def test_a_figure_is_the_median_and_is_judged_as_it_is_shown() -> None:
    figure = Figure.of("ready", [3.0, 9.0, 2.0], "s", 3.5)
    assert (figure.value, figure.within) == (3.0, True)
    assert Figure("ratio", 1.154, "×", 1.15).within
    assert not Figure("ratio", 1.156, "×", 1.15).within
    assert Figure("no budget", 99.0, "s").within


def test_the_table_shows_budget_spread_and_what_is_over() -> None:
    shown = table([Figure.of("ready", [3.0, 9.0, 2.0], "s", 2.5), Figure("memory", 319.6, "MB", 350)])
    assert shown.splitlines()[2:] == [
        "| ready | 3.00 s **over** | ≤ 2.50 s | 2.00 s to 9.00 s, 3 runs |",
        "| memory | 320 MB | ≤ 350 MB |  |",
    ]


def test_a_page_s_section_is_replaced_and_the_others_stay() -> None:
    page = replace_section(replace_section("# Page\n", "a", "one"), "b", r"two \1")
    again = replace_section(page, "a", "new")
    assert again == page.replace("one", "new")
    assert again.count("<!-- begin a -->") == 1
    assert r"two \1" in again


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("%kubectl get colis -o jsonpath='{.a b}'", ["kubectl get colis -o 'jsonpath={.a b}'"]),
        ("!kubectl get ns | wc -l", ["kubectl get ns | wc -l"]),
        ("# why\n%kubectl get ns\n\n%kubectl get crd", ["kubectl get ns", "kubectl get crd"]),
        ('print(Path("crd/a").read_text())\n%kubectl apply -f crd/a', ["cat crd/a", "kubectl apply -f crd/a"]),
        ("%%kubectl apply -f -\na: 1\nb: $x", ["kubectl apply -f - <<'END-OF-CELL'", "a: 1", "b: $x", "END-OF-CELL"]),
        ("lab.stored_and_read('colis', 'x')", None),
        ("%etcd get /registry --prefix", None),
        ("%kubectl get ns\nlab.last", None),
        ('print(Path("crd/a.yaml").read_text())', None),
    ],
)
def test_a_shell_plays_cells_that_are_only_commands(source: str, lines: list[str] | None) -> None:
    assert shell_lines(source) == lines


def test_most_of_the_chapter_can_be_typed_into_a_shell() -> None:
    steps = [step for course in notebook.load_all(ROOT / "notebooks") for step in course.steps]
    assert sum(shell_lines(step.source) is not None for step in steps) > len(steps) / 2


def test_waits_of_the_server_are_apart_from_the_ratio() -> None:
    compared = [Compared("a", 0.11, 0.1), Compared("b", 2.1, 0.1), Compared("c", 0.22, 0.2), Compared("d", 5.0, 5.0)]
    figures = {figure.name: figure.value for figure in chapter.figures(compared)}
    assert figures["labkit against the shell"] == pytest.approx(1.1)
    assert figures["steps that wait for the server (2), by labkit"] == pytest.approx(7.1)


def test_the_shell_speaks_to_the_cluster_it_was_given(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    shell = Shell(cluster, tmp_path)
    try:
        seconds = shell.run(["kubectl get --raw /version > version.json"])
        shell.run(["kubectl get nonsense || echo refused > refused"])
    finally:
        shell.close()
    assert f'"gitVersion": "{KUBERNETES_VERSION}"' in (tmp_path / "version.json").read_text(encoding="utf-8")
    assert (tmp_path / "refused").read_text(encoding="utf-8") == "refused\n"
    assert 0 < seconds < 30
