"""``labkit cel-cost`` as a person runs it: what it prints, how it ends, and what it says of a file that is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.show import views
from labkit.trace import Costs, engine, sources

from .definitions import definition, source

LABKIT = Path(sys.executable).parent / "labkit"
CRD = Path(__file__).parents[2] / "crd"
GOOD = (CRD / "03-b-default-complet.yaml").read_text(encoding="utf-8")
DEFINITION = '"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"'


def run(*argv: str | Path, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run([LABKIT, "cel-cost", *argv], input=stdin, capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_an_accepted_definition_ends_with_0_and_shows_each_rule_with_its_path() -> None:
    code, shown, errors = run(CRD / "04-colis-complet.yaml")
    assert (code, errors) == (0, "")
    for one in engine().cel_cost(sources.read(CRD / "04-colis-complet.yaml")).expressions:
        assert one.path in shown
        assert one.expression in shown
        assert f"{one.estimated_cost:,}" in shown


def test_a_refused_definition_ends_with_1_with_advice_and_the_servers_words() -> None:
    code, shown, errors = run(CRD / "03-e-liste-sans-borne.yaml")
    assert (code, errors) == (1, "")
    assert "maxItems: " in shown
    for line in engine().cel_cost(sources.read(CRD / "03-e-liste-sans-borne.yaml")).lines:
        assert line in shown


def test_json_is_the_list_alone_and_other_complaints_go_to_standard_error() -> None:
    code, shown, errors = run(CRD / "03-d-message-string.yaml", "-o", "json")
    listed = json.loads(shown)
    assert (code, len(listed)) == (1, 4)
    assert all(one["error"] for one in listed if one["kind"] == "messageExpression")
    assert "03-d-message-string.yaml: spec.validation.openAPIV3Schema: Forbidden:" in errors
    code, shown, errors = run(CRD / "01-colis-minimal.yaml", "-o", "json")
    assert (code, json.loads(shown), errors) == (0, [], "")


def test_standard_input_is_read_too() -> None:
    path = CRD / "03-b-default-complet.yaml"
    code, shown, errors = run(path)
    assert run("-", stdin=GOOD.encode()) == (code, shown.replace(str(path), "standard input"), errors)


@pytest.mark.parametrize("argv", [(), ("a", "b"), ("-o", "yaml", "a"), ("--nothing", "a")])
def test_a_wrong_command_line_ends_with_2(argv: tuple[str, ...]) -> None:
    code, shown, errors = run(*argv)
    assert (code, shown) == (2, "")
    assert errors.startswith("Usage: labkit cel-cost")


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"\n", "empty"),
    "only a comment": (b"# nothing\n", "the text holds no document"),
    "several documents": (f"{GOOD}\n---\n{GOOD}".encode(), "2 documents"),
    "a list": (b"- 1\n- 2\n", "not a CustomResourceDefinition: it is a list"),
    "a plain text": (b"hello\n", "not a CustomResourceDefinition"),
    "another kind": (
        b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        'not a CustomResourceDefinition: it is a Pod of "v1"',
    ),
    "an old version": (GOOD.replace("io/v1", "io/v1beta1").encode(), "apiextensions.k8s.io/v1beta1"),
    "no YAML": (b"a: [\n b: {\n", "line 2"),
    "no UTF-8": (b"kind: \xe9\n", "byte 6 is 0xe9"),
    "an unknown field": (GOOD.replace("scope: N", "spoce: 1\n  scope: N").encode(), 'unknown field "spec.spoce"'),
    "a field twice": (GOOD.replace("scope: N", "scope: Cluster\n  scope: N").encode(), 'key "scope" already set'),
    "more than 3 MiB": (f"{GOOD}\n# {'x' * 3 * 2**20}\n".encode(), "limit is 3145728"),
    "deep JSON": (b'{%s, "spec": %s1%s}' % (DEFINITION.encode(), b'{"a":' * 20_000, b"}" * 20_000), "max depth"),
    "deep YAML": (b"kind: a\nspec: " + b"[" * 20_000 + b"]" * 20_000 + b"\n", "max depth"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_definition_is_told_by_its_name_and_what_is_wrong(name: str, tmp_path: Path) -> None:
    content, wanted = BAD[name]
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    code, shown, errors = run(path)
    assert (code, shown) == (1, "")
    assert errors.startswith(f"labkit: {path}: ")
    assert wanted in errors
    assert len(errors.splitlines()) <= 3
    assert len(errors) < 600


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_told_by_its_name(name: str, tmp_path: Path) -> None:
    code, shown, errors = run(tmp_path / name)
    assert (code, shown) == (1, "")
    assert errors.startswith(f"labkit: {tmp_path / name}: cannot be read: ")
    assert len(errors.splitlines()) == 1


def test_the_engine_survives_bad_definitions_and_answers_the_next() -> None:
    shared = engine()
    first = shared.cel_cost(source(definition({"type": "string"})))
    pid = shared.pid
    for content, _ in BAD.values():
        answer = shared.ask({"do": "cel-cost", "definition": content.decode("latin-1")})
        assert answer["error"]["kind"] == "definition"
        assert "\n" not in answer["error"]["message"]
    assert shared.cel_cost(source(definition({"type": "string"}))) == first
    assert shared.pid == pid


def test_a_schema_three_hundred_levels_deep_is_estimated() -> None:
    deep: dict[str, object] = {"type": "string", "x-kubernetes-validations": [{"rule": "self.contains(self)"}]}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep}}
    (one,) = engine().cel_cost(source(definition(deep))).expressions
    assert one.over
    assert one.advice[0].bounds[0].keyword == "maxLength"


def test_a_rule_that_holds_tags_is_shown_and_not_run() -> None:
    spec = {"type": "string", "x-kubernetes-validations": [{"rule": "self != '<script>alert(1)</script><img src=x>'"}]}
    html = views.html(engine().cel_cost(source(definition(spec))))
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_costs_compare_by_value_and_have_what_the_answer_had() -> None:
    text = sources.read(CRD / "03-d-message-string.yaml")
    one, other = engine().cel_cost(text), engine().cel_cost(text)
    assert one == other
    assert isinstance(one, Costs)
    assert [entry["path"] for entry in one.to_json()] == [entry.path for entry in one.expressions]
