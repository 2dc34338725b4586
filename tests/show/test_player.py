"""The player's blocks: what must be seen is there, and nothing a server says can steer the terminal."""

from __future__ import annotations

import io

from rich.console import Console

from labkit.course.notebook import Step
from labkit.course.report import AS_RECORDED, DIFFERS, FAILED, NOT_SHOWN, PlayReport, StepResult, Verdict
from labkit.show.player import Screen, commands, summary


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def result(
    verdict: Verdict = AS_RECORDED, *, text: str = "colis created", reason: str = "", **more: object
) -> StepResult:
    values: dict[str, object] = {"id": "cel/a", "title": "A rule", "source": "%kubectl apply -f crd/x.yaml"} | more
    difference = values.pop("difference", ())
    return StepResult(
        str(values["id"]),
        str(values["title"]),
        str(values["source"]),
        text,
        verdict,
        0.125,
        reason,
        tuple(difference),  # type: ignore[call-overload]
    )


def shown(*results: StepResult, stream: io.StringIO | None = None, width: int | None = None) -> str:
    stream = stream or io.StringIO()
    with Screen(stream, width=width) as screen:
        for one in results:
            screen(one)
    return stream.getvalue()


def test_a_block_has_the_verdict_the_time_the_title_the_command_and_what_came_back() -> None:
    assert shown(result()) == (
        "== cel ==\n\n✔ as recorded  0.12 s  A rule  cel/a\n  $ kubectl apply -f crd/x.yaml\n    colis created\n\n"
    )


def test_a_new_section_is_announced_once() -> None:
    assert shown(result(), result(), result(id="display/a")).count("== ") == 2


def test_a_long_answer_is_trimmed_in_the_middle_and_its_last_line_stays() -> None:
    lines = shown(result(text="\n".join(f"line {n}" for n in range(100)))).splitlines()
    assert "    line 0" in lines and "    line 99" in lines and "    line 50" not in lines
    assert "    … 87 lines more" in lines
    assert len(lines) < 22


def test_a_long_line_is_cut_and_stays_one_line_where_there_is_no_terminal() -> None:
    lines = shown(result(text="x" * 5000)).splitlines()
    assert [len(line) for line in lines if "xxx" in line] == [4 + 400 + 1]


def test_a_narrow_terminal_keeps_the_indentation_and_every_word() -> None:
    printed = shown(result(text="word " * 40), stream=Terminal(), width=40)
    body = [line.rstrip() for line in printed.splitlines() if "word" in line]
    assert len(body) > 4 and all(line.startswith("    word") for line in body)
    assert sum(line.count("word") for line in body) == 40


def test_what_differs_is_shown_as_a_small_diff() -> None:
    printed = shown(result(DIFFERS, reason="another output", difference=("--- recorded", "+++ played", "-a", "+b")))
    assert "≠ differs" in printed
    assert "  another output\n" in printed
    assert "    -a\n    +b\n" in printed


def test_a_failure_and_a_step_not_shown_say_why() -> None:
    printed = shown(
        result(FAILED, text="", reason="the kernel died\n  → labkit doctor"),
        result(NOT_SHOWN, text="", reason="not shown, because this cluster has no nodes"),
    )
    assert "✘ failed" in printed and "the kernel died" in printed and "→ labkit doctor" in printed
    assert "○ not shown" in printed and "not shown, because this cluster has no nodes" in printed


def test_output_cannot_steer_the_terminal_nor_look_like_markup() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07 [bold red]no[/bold red] :smile: \u202e \r over"
    for stream in (io.StringIO(), Terminal()):
        printed = shown(result(text=hostile, title="[b]T[/b] \x1b[1m", reason="[/]"), stream=stream, width=200)
        assert "\\x1b[2J\\x1b]0;title\\x07 [bold red]no[/bold red] :smile: \\u202e" in printed
        assert "[b]T[/b] \\x1b[1m" in printed
        assert "\x1b[2J" not in printed and "\x07" not in printed and "\u202e" not in printed


def test_commands_are_shown_as_one_would_type_them() -> None:
    assert commands("%kubectl get colis -o jsonpath='{.spec}'") == ["$ kubectl get colis -o jsonpath='{.spec}'"]
    assert commands("%etcd get /registry --prefix") == ["$ labkit etcd get /registry --prefix"]
    assert commands("!kubectl get colis") == ["$ kubectl get colis"]
    assert commands("%%kubectl apply -f -\nkind: Colis\n") == ["$ kubectl apply -f - <<EOF", "  kind: Colis", "  EOF"]
    assert commands("x = 1\n%kubectl get y") == ["> x = 1", "$ kubectl get y"]


def test_the_summary_counts_by_section_and_names_what_is_not_as_recorded() -> None:
    steps = (result(), result(DIFFERS, id="cel/b", reason="its output\nmore"), result(NOT_SHOWN, id="rbac/a"))
    stream = io.StringIO()
    Screen(stream).summary(PlayReport("embedded", "v1.37.2", 12.34, steps))
    printed = stream.getvalue()
    rows = {line.split("│")[1].strip(): line.split("│")[2:-1] for line in printed.splitlines() if line.startswith("│")}
    assert [cell.strip() for cell in rows["cel"]] == ["2", "1", "1", "", "", "0.2"]
    assert [cell.strip() for cell in rows["all"]] == ["3", "1", "1", "", "1", "12.3"]
    assert "≠ cel/b  its output\n" in printed
    assert "1 of 3 steps behaved as recorded, on embedded (Kubernetes v1.37.2) in 12.3 s." in printed


def test_the_summary_of_a_good_play_says_so() -> None:
    stream = io.StringIO()
    Screen(stream).summary(PlayReport("embedded", "v1.37.2", 1.0, (result(),)))
    assert "Every step behaved as recorded, on embedded" in stream.getvalue()


def test_waiting_is_a_line_in_a_log_and_leaves_nothing_in_a_terminal() -> None:
    log = io.StringIO()
    step = Step("cel/a", "A rule", "", (), (), surprise=False, expect="shown", index=0)
    with Screen(log) as screen:
        screen.waiting("starting\x1b[2J")
        screen.starting(step)
    assert log.getvalue() == "starting\\x1b[2J\n"
    terminal = Terminal()
    with Screen(terminal, width=60) as screen:
        screen.waiting("starting")
        screen.starting(step)
    assert terminal.getvalue().endswith("\x1b[2K")


def test_steps_that_were_not_reached_are_one_line_below_the_table() -> None:
    steps = [
        StepResult("cel/begin", "CEL", "", "", "failed", 1.0, reason="the cluster died\nlast words"),
        *(
            StepResult(f"cel/{n}", "CEL", "", "", "failed", 0.0, reason="not played: the section could not be begun")
            for n in ("a", "b", "c")
        ),
        StepResult("rbac/x", "RBAC", "", "", "differs", 0.1, reason="its output is not the recorded one"),
    ]
    out = io.StringIO()
    Console(file=out, width=120).print(summary(PlayReport("embedded", "v1", 1.0, tuple(steps))))
    shown = [line.rstrip() for line in out.getvalue().splitlines()]
    assert shown[-4:-1] == [
        "✘ cel/begin  the cluster died",
        "✘ cel/a and 2 more  not played: the section could not be begun",
        "≠ rbac/x  its output is not the recorded one",
    ]
