"""The engine: one program for many questions, its death noticed, its faults told, nothing of it left."""

from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from labkit.errors import BadDocument, DefinitionRefused, EngineDied, ToolMissing, TraceError
from labkit.show import views
from labkit.trace import Engine, Source, engine
from tests.cluster.helpers import alive, eventually

from .texts import COMPLETE, INVALID, MINI, SCHEMA, WRONG, text

ROOT = Path(__file__).parents[2]


@pytest.fixture
def one() -> Iterator[Engine]:
    with Engine() as made:
        yield made


def program(folder: Path, *lines: str) -> Path:
    """A program that does not do what it should."""
    path = folder / "program"
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o700)
    return path


def gone(pid: int) -> None:
    eventually(f"process {pid} to end", lambda: not alive(pid), limit_s=60)


# -- one program for many questions ----------------------------------------------------------------------------------


def test_one_program_answers_many_questions(one: Engine) -> None:
    assert one.pid is None, "started by the first question"
    assert one.trace(SCHEMA, MINI).verdict == "accepted"
    first = one.pid
    assert one.trace(SCHEMA, INVALID).verdict == "refused"
    assert one.pid == first


def test_answers_go_to_the_thread_that_asked(one: Engine) -> None:
    def ask(number: int) -> bool:
        name = f"colis-{number}"
        traced = one.trace(SCHEMA, MINI.replace("name: mini", f"name: {name}"))
        return bool(traced.stored["metadata"]["name"] == name)

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(ask, range(100)))


def test_the_shared_engine_is_one() -> None:
    assert engine() is engine()


# -- its death -------------------------------------------------------------------------------------------------------


def test_a_program_that_died_is_started_again_by_the_next_question(one: Engine) -> None:
    one.trace(SCHEMA, MINI)
    first = one.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert one.trace(SCHEMA, MINI).verdict == "accepted"
    assert one.pid not in (None, first)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("echo 'there is no room' >&2", "exit 3"), "exit status 3\n  there is no room"),
        (("kill -9 $$",), "killed by SIGKILL"),
        (
            ("echo begun >&2", "echo 'panic: no such stage' >&2", "echo goroutine 1 >&2", "exit 2"),
            "panic: no such stage",
        ),
        (("printf half-an-answer",), "exit status 0"),
    ],
)
def test_one_that_dies_twice_is_an_error_that_says_how(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    with Engine(program(tmp_path, "read question", *lines)) as one:
        with pytest.raises(EngineDied) as died:
            one.trace(SCHEMA, MINI)
        assert said in died.value.evidence and "make setup" in died.value.next_act
        assert one.pid is None


def test_a_program_that_is_none_and_one_that_is_not_there_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = tmp_path / "text"
    none.write_text("no program", encoding="utf-8")
    with Engine(none) as one, pytest.raises(TraceError, match=r"cannot be run.*\n.*make setup"):
        one.trace(SCHEMA, MINI)
    monkeypatch.setenv("LABKIT_CONTROLPLANE", str(tmp_path / "absent"))
    with Engine() as one, pytest.raises(ToolMissing, match=r"needs the control plane's program.*\n.*make setup"):
        one.trace(SCHEMA, MINI)


def test_a_program_that_answers_something_else_is_told_by_its_words(tmp_path: Path) -> None:
    with Engine(program(tmp_path, "read question", "echo usage: other")) as one:
        with pytest.raises(TraceError, match=r"usage: other\n.*make setup"):
            one.trace(SCHEMA, MINI)
        assert one.pid is None


def test_an_interrupted_question_leaves_no_answer_for_the_next_one(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def interrupt(*_: object) -> None:
        if pid.is_file() and pid.read_text(encoding="utf-8"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Engine(program(tmp_path, "read question", f"echo $$ > {pid}", "exec sleep 60")) as one:
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            with pytest.raises(KeyboardInterrupt):
                one.trace(SCHEMA, MINI)
            assert one.pid is None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not alive(int(pid.read_text(encoding="utf-8")))


def test_an_interrupt_while_the_program_starts_leaves_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def interrupted(process: subprocess.Popen[bytes], *given: object, **named: object) -> None:
        begin(process, *given, **named)
        started.append(process)
        raise KeyboardInterrupt

    with Engine(program(tmp_path, "exec sleep 60")) as one:
        monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)
        with pytest.raises(KeyboardInterrupt):
            one.trace(SCHEMA, MINI)
        assert one.pid is None
    assert started[0].returncode == -signal.SIGKILL and not alive(started[0].pid)


def test_an_interrupt_between_start_and_question_leaves_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    begin = Engine._start

    def interrupted(one: Engine) -> None:
        started.append(begin(one).pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "_start", interrupted)
    with Engine(program(tmp_path, "exec sleep 60")) as one:
        with pytest.raises(KeyboardInterrupt):
            one.trace(SCHEMA, MINI)
        assert one.pid is None and not alive(started[0])


# -- its silence -----------------------------------------------------------------------------------------------------

LARGE = Source("large.yaml", "# " + "x" * 2**20)
"""More than a pipe holds."""


@pytest.mark.parametrize("given", [Source("mini.yaml", MINI), LARGE], ids=lambda one: one.name)
def test_a_program_that_hangs_is_ended_after_a_limit_and_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Source
) -> None:
    monkeypatch.setattr(Engine, "ANSWER_LIMIT_S", 2.0)
    begun = tmp_path / "begun"
    with Engine(program(tmp_path, f"echo $$ >> {begun}", "echo stuck >&2", "exec sleep 60")) as one:
        with pytest.raises(
            TraceError, match=r"gave no answer for 2 s, so it was ended.*\n +stuck\n.*ask again"
        ) as hung:
            one.trace(SCHEMA, given)
        assert not isinstance(hung.value, EngineDied) and one.pid is None
    (pid,) = begun.read_text(encoding="utf-8").split()
    assert not alive(int(pid))


# -- nothing of it is left -------------------------------------------------------------------------------------------

ASK = (
    "import sys; from labkit.trace import engine; from tests.trace.texts import *\n"
    "engine().trace(SCHEMA, MINI); print(engine().pid, flush=True); {then}"
)


@pytest.mark.parametrize("then", ["pass", "sys.stdin.read()", "raise SystemExit(3)", "import os; os._exit(4)"])
def test_it_ends_with_its_starter_however_that_ends(then: str) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", ASK.format(then=then)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        if then == "sys.stdin.read()":
            assert alive(pid)
            starter.kill()
        _, complaints = starter.communicate(timeout=60)
    assert complaints == ""
    gone(pid)


def test_a_stopped_engine_is_gone_and_answers_again_when_asked() -> None:
    one = Engine()
    one.trace(SCHEMA, MINI)
    pid = one.pid
    assert pid is not None
    one.stop()
    one.stop()
    gone(pid)
    assert one.trace(SCHEMA, MINI).verdict == "accepted"
    one.stop()


# -- what is wrong with a question -----------------------------------------------------------------------------------

BIG = MINI.replace("spec:\n", f"spec:\n  api: {{replicas: 1}} # {'x' * 3 * 2**20}\n")
HEAD = '{"apiVersion": "cours.example.com/v1alpha1", "kind": "Colis", "metadata": {"name": "a"}, "spec": '
DEEP = HEAD + "[" * 100_000

BAD = {
    "an object in place of the definition": (MINI, MINI, "the definition"),
    "a list in place of the definition": ("[1]", MINI, "the definition"),
    "no YAML in place of the definition": ("a: b: c", MINI, "the definition"),
    "an empty definition": ("", MINI, "the definition"),
    "several definitions": (f"{SCHEMA}\n---\n{SCHEMA}", MINI, "the definition"),
    "several objects": (SCHEMA, f"{MINI}\n---\n{MINI}", "the object"),
    "an empty object": (SCHEMA, " \n# nothing\n", "the object"),
    "a version nobody knows": (SCHEMA, MINI.replace("v1alpha1", "v7"), "the object"),
    "an object of another group": (SCHEMA, MINI.replace("cours.example.com", "example.com"), "the object"),
    "an object of another kind": (SCHEMA, MINI.replace("Colis", "Lettre"), "the object"),
    "an old object of another kind": (SCHEMA, MINI, "the old object"),
}


@pytest.fixture(scope="module")
def lasting() -> Iterator[Engine]:
    """One engine for all bad questions: it must survive them."""
    with Engine() as made:
        made.trace(SCHEMA, MINI)
        pid = made.pid
        yield made
        assert made.pid == pid


@pytest.mark.parametrize("case", BAD)
def test_a_bad_text_gets_one_line_that_names_it_and_the_program_goes_on(lasting: Engine, case: str) -> None:
    definition, given, name = BAD[case]
    with pytest.raises(BadDocument) as bad:
        lasting.trace(definition, given, old=MINI.replace("Colis", "Lettre") if name == "the old object" else None)
    assert str(bad.value).startswith(f"{name}: ")
    assert len(str(bad.value).splitlines()) == 1 and len(str(bad.value)) < 400
    assert lasting.trace(SCHEMA, MINI).verdict == "accepted"


REFUSED = {
    "no object": ("5", 400),
    "half an object": ('{"apiVersion": "cours.example.com/v1alpha1", ', 400),
    "brackets without end": (DEEP, 400),
    "an object of 3 MiB": (BIG, 413),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_text_that_the_server_would_refuse_is_refused_in_its_words(lasting: Engine, case: str) -> None:
    given, code = REFUSED[case]
    traced = lasting.trace(SCHEMA, given)
    assert (traced.verdict, traced.status["code"], traced.decoded) == ("refused", code, False)
    assert len(traced.lines) == 1
    assert lasting.trace(SCHEMA, MINI).verdict == "accepted"


def nested(levels: int) -> str:
    """An object with so many objects inside each other, itself and its spec among them."""
    return HEAD + '{"a":' * (levels - 1) + "1" + "}" * levels


def test_an_object_too_deep_to_be_shown_is_refused_by_name_and_the_deepest_other_can_be_shown(lasting: Engine) -> None:
    loose = text("01-colis-minimal.yaml")
    with pytest.raises(BadDocument, match=r"^the object: .*nested more than 500 levels deep"):
        lasting.trace(loose, nested(5000))
    traced = lasting.trace(loose, nested(500))
    assert traced.verdict == "accepted"
    for made in (views.text, views.page):
        assert html.unescape(made(traced)).count('"a":') >= 499


def test_a_text_is_called_by_the_name_it_came_with(lasting: Engine) -> None:
    with pytest.raises(BadDocument, match=r"^mine\.yaml: "):
        lasting.trace(SCHEMA, Source("mine.yaml", f"{MINI}\n---\n{MINI}"))
    with pytest.raises(BadDocument, match=r"^old\.yaml: "):
        lasting.trace(SCHEMA, MINI, old=Source("old.yaml", "5"))


def test_a_definition_the_server_would_refuse_is_refused_in_its_words(lasting: Engine) -> None:
    refused = COMPLETE.replace("default: {min: 0, max: 5}", "default: {}")
    with pytest.raises(DefinitionRefused) as failed:
        lasting.trace(Source("crd/mine.yaml", refused), MINI)
    assert failed.value.state == "crd/mine.yaml: the server would refuse this definition"
    assert len(failed.value.lines) == 1
    assert "no such key: min evaluating rule: self.min <= self.max" in failed.value.lines[0]
    assert failed.value.lines[0] in str(failed.value)
    assert failed.value.status is not None and failed.value.status["code"] == 422


@pytest.mark.parametrize("request_", [{"operation": "delete"}, {"field_validation": "Perhaps"}])
def test_a_word_the_protocol_does_not_know_is_told(lasting: Engine, request_: dict[str, str]) -> None:
    with pytest.raises(TraceError):
        lasting.trace(SCHEMA, MINI, **request_)  # type: ignore[arg-type]


def test_the_raw_answer_is_the_traces_own_json(lasting: Engine) -> None:
    answer = lasting.ask({"id": ["any", 1], "do": "trace", "definition": SCHEMA, "object": WRONG})
    assert answer["id"] == ["any", 1]
    assert lasting.trace(SCHEMA, WRONG).to_json() == answer["result"]
    json.dumps(answer)


def test_text_that_no_json_can_say_is_refused_before_it_is_asked(lasting: Engine) -> None:
    with pytest.raises(BadDocument):
        lasting.trace(SCHEMA, "spec: \udc80")
