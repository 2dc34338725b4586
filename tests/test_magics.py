"""What a magic's line means, and what is printed when it means nothing."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.errors import CapabilityMissing, ClusterGone
from labkit.magics import ETCD_USAGE, parse_etcd, register


class Shell:
    """The calls ``register`` makes of an IPython."""

    def __init__(self) -> None:
        self.magics: dict[str, Any] = {}
        self.custom: Any = None
        self.shown: list[list[str]] = []

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        assert magic_kind == {"kubectl": "line_cell", "etcd": "line", "answer": "cell"}[magic_name]
        self.magics[magic_name] = function

    def set_custom_exc(self, kinds: tuple[type[Exception], ...], handler: Any) -> None:
        self.custom = (kinds, handler)

    def _showtraceback(self, _kind: type, _error: Exception, lines: list[str]) -> None:
        self.shown.append(lines)


class Lab:
    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[Any] = []
        self.error = error

    def kubectl(self, *argv: str, stdin: str | None = None) -> None:
        self.asked.append((argv, stdin))
        if self.error:
            raise self.error

    def etcd(self, key: str, **flags: bool) -> None:
        self.asked.append((key, flags))
        if self.error:
            raise self.error

    def answer(self, name: str, text: str) -> None:
        self.asked.append((name, text))
        if self.error:
            raise self.error


def registered(lab: Lab) -> dict[str, Any]:
    shell = Shell()
    register(shell, lab)
    return shell.magics


def test_arguments_are_split_as_a_shell_splits_them_and_nothing_is_expanded() -> None:
    lab = Lab()
    kubectl = registered(lab)["kubectl"]
    kubectl("""get colis -o jsonpath='{.spec} {"\\n"}' --as="a b" $HOME {x}""")
    assert lab.asked == [(("get", "colis", "-o", 'jsonpath={.spec} {"\\n"}', "--as=a b", "$HOME", "{x}"), None)]
    assert getattr(kubectl, "_ipython_magic_no_var_expand", False)


def test_a_cells_body_is_standard_input() -> None:
    lab = Lab()
    registered(lab)["kubectl"]("apply -f -", "kind: Colis\n")
    assert lab.asked == [(("apply", "-f", "-"), "kind: Colis\n")]


def test_an_answer_is_the_cells_body_and_names_one_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab()
    answer = registered(lab)["answer"]
    answer("rule", "kind: {x}\n")
    assert lab.asked == [("rule", "kind: {x}\n")]
    for line in ("", "rule other"):
        answer(line, "x")
        assert capsys.readouterr().out == "answer: one exercise is wanted; usage: %%answer ID\n"
    assert len(lab.asked) == 1
    assert getattr(answer, "_ipython_magic_no_var_expand", False)


@pytest.mark.parametrize("magic", ["kubectl", "etcd"])
def test_a_quote_that_does_not_close_is_said_and_nothing_is_run(magic: str, capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab()
    registered(lab)[magic]("get 'x")
    assert capsys.readouterr().out == "this line cannot be read: No closing quotation\n"
    assert lab.asked == []


def test_an_etcd_line_has_etcdctls_spellings_in_any_order() -> None:
    assert parse_etcd(["get", "/k", "--prefix"]) == (
        "/k",
        {"prefix": True, "keys_only": False, "print_value_only": False},
    )
    parsed = parse_etcd(["--keys-only", "get", "--print-value-only", "/k"])
    assert parsed == ("/k", {"prefix": False, "keys_only": True, "print_value_only": True})


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "one command, get, and one key are wanted"),
        ("get", "one command, get, and one key are wanted"),
        ("get /a /b", "one command, get, and one key are wanted"),
        ("put /a b", "one command, get, and one key are wanted"),
        ("del /a", "one command, get, and one key are wanted"),
        ("get /a --rev=3", "--rev=3 is not known here"),
        ("get /a -w json", "-w is not known here"),
    ],
)
def test_an_etcd_line_that_means_nothing_is_answered_with_the_usage(
    line: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab()
    registered(lab)["etcd"](line)
    assert capsys.readouterr().out == f"etcd: {complaint}; usage: {ETCD_USAGE}\n"
    assert lab.asked == []


def test_what_a_cluster_lacks_is_not_shown_because(capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab(CapabilityMissing("this cluster's etcd cannot be read", capability="etcd"))
    registered(lab)["etcd"]("get /a")
    assert capsys.readouterr().out == "not shown, because this cluster's etcd cannot be read\n"


def test_a_cluster_that_died_is_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab(ClusterGone("the cluster is gone", evidence="killed by SIGKILL", next_act="begin again"))
    registered(lab)["kubectl"]("get colis")
    assert capsys.readouterr().out == "the cluster is gone: killed by SIGKILL\n  → begin again\n"


def test_labkits_errors_are_shown_in_their_lines() -> None:
    shell = Shell()
    register(shell, Lab())
    kinds, handler = shell.custom
    error = ClusterGone("gone", next_act="begin again")
    assert isinstance(error, kinds)
    assert handler(shell, ClusterGone, error, None, tb_offset=1) == ["ClusterGone: gone\n  → begin again"]
    assert shell.shown == [["ClusterGone: gone\n  → begin again"]]
