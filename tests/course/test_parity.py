"""Two plays: what differs is told once, with its kind; what only looks different is not."""

from __future__ import annotations

from labkit.course.parity import compare
from labkit.course.report import AS_RECORDED, DIFFERS, FAILED, NOT_SHOWN

from .test_report import report, step


def test_plays_that_say_the_same_have_no_difference() -> None:
    one = report(step("cel/a", text="x   1s\nin 3.0 s"), step("cel/b", text="x"))
    other = report(step("cel/a", text="x   25m\nin 9.1 s"), step("cel/b", DIFFERS, text="x"), cluster="minikube")
    assert compare(one, other) == ()


def test_another_output_is_told_with_its_lines() -> None:
    (found,) = compare(report(step("cel/a", text="same\nold   1s")), report(step("cel/a", text="same\nnew   9s")))
    assert (found.id, found.kind) == ("cel/a", "output")
    assert [line for line in found.diff if line[0] in "+-"] == ["--- first", "+++ second", "-old AGE", "+new AGE"]


def test_a_beginning_names_its_cluster_and_is_not_compared() -> None:
    one = report(step("cel/begin", text="embedded cluster"))
    assert compare(one, report(step("cel/begin", text="minikube cluster"))) == ()
    (found,) = compare(one, report(step("cel/begin", FAILED, reason="no cluster")))
    assert found.kind == "verdict" and found.evidence.endswith("failed: no cluster")


def test_a_step_one_cluster_cannot_show_is_told_apart_with_the_cluster() -> None:
    lacking = step("cel/a", NOT_SHOWN, text="", reason="its etcd cannot be read")
    (found,) = compare(report(step("cel/a")), report(lacking, cluster="kubeconfig:x", version="v1.36.0"))
    assert found.kind == "not shown"
    assert found.evidence == "the second (kubeconfig:x, v1.36.0): not shown: its etcd cannot be read"
    assert compare(report(lacking), report(lacking)) == ()


def test_a_failure_on_one_side_is_a_difference_whatever_was_printed() -> None:
    (found,) = compare(report(step("cel/a", FAILED, reason="E: x")), report(step("cel/a", AS_RECORDED)))
    assert found.kind == "verdict" and found.evidence.startswith("the first")


def test_a_step_only_one_report_has_is_missing_in_the_other() -> None:
    found = compare(report(step("cel/a"), step("cel/b")), report(step("cel/b"), step("cel/c")))
    assert [(one.id, one.kind, one.evidence.partition(" (")[0]) for one in found] == [
        ("cel/a", "missing", "the second"),
        ("cel/c", "missing", "the first"),
    ]
