"""``labkit trace`` as a person runs it: what it prints, its exit codes, and what is wrong in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster
from labkit.waiting import Seen, wait_for
from tests.cluster.helpers import remove_definitions
from tests.conftest import OURS

ROOT = Path(__file__).parents[1]
LABKIT = Path(sys.executable).parent / "labkit"
SCHEMA, COMPLETE, TWO = (f"crd/{name}.yaml" for name in ("02-colis-schema", "04-colis-complet", "05-colis-v1"))
MINI = "crd/objects/mini.yaml"


def run(*argv: str, code: int = 0, stdin: bytes = b"", **environ: str) -> tuple[str, str]:
    """Standard output and standard error of ``labkit trace ARGV…``, which must end with *code*."""
    given = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [str(LABKIT), "trace", *argv], cwd=ROOT, env=given | environ, input=stdin, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, f"{argv}: {done.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    return out, err


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


# -- what it prints --------------------------------------------------------------------------------------------------


def test_the_chapters_invalid_object_is_refused_stage_by_stage_in_the_servers_words() -> None:
    out, err = run("--crd", COMPLETE, "crd/objects/invalide.yaml", code=1)
    lines = squeezed(out)
    assert lines[0] == "Colis invalide in ch54, v1alpha1, sent as new: refused" and err == ""
    assert "3 defaulting spec.worker.min defaulted 0" in lines
    assert "4 admission none configured" in lines
    assert "spec.worker skipped: schema errors block self.min <= self.max" in lines
    said = lines[lines.index("the server's answer: 422 Invalid") + 1 :]
    assert len(said) == 6 and said == sorted(said)
    assert "spec.api.replicas: Invalid value: 0: spec.api.replicas in body should be greater than or equal to 1" in said


def test_an_accepted_object_is_told_down_to_etcd_and_back_in_the_other_version() -> None:
    lines = squeezed(run("--crd", TWO, "--version", "v1", MINI)[0])
    assert lines[0].endswith("sent as new: accepted")
    stored = json.loads(next(line for line in lines if line.startswith("in etcd: ")).removeprefix("in etcd: "))
    read = json.loads(next(line for line in lines if line.startswith("read: ")).removeprefix("read: "))
    assert stored["apiVersion"] == read["apiVersion"] == "cours.example.com/v1"
    assert "web" not in stored["spec"] and read["spec"]["web"] == {"replicas": 2}
    assert any(line.startswith("9 storing /registry/cours.example.com/colis/ch54/mini") for line in lines)


def test_an_update_forgives_what_did_not_change_and_tells_rules_their_old_value() -> None:
    wrong = "crd/objects/mauvais.yaml"
    lines = squeezed(run("--crd", SCHEMA, "--old", wrong, "--validate", "warn", wrong)[0])
    assert any(line.startswith("8 ratcheting forgiven spec.api.replicas: Invalid value") for line in lines)
    assert 'Warning: unknown field "spec.wroker"' in lines
    lines = squeezed(run("--crd", COMPLETE, "--old", MINI, MINI)[0])
    assert "7 cel 3 passed; cost 21 of 10,000,000" in lines


def test_what_lies_in_etcd_is_only_read() -> None:
    lines = squeezed(run("--crd", TWO, "--stored", "--version", "v1", "crd/objects/principal.yaml")[0])
    assert lines[0] == "Colis principal in ch54, v1alpha1, read from etcd"
    assert lines[2:6] == [
        "1 reading The object is read from etcd",
        "2 read-pruning nothing to prune",
        '3 read-defaulting spec.base.classe defaulted "standard"',
        "4 read-conversion from v1alpha1 to v1",
    ]
    assert '"web"' not in lines[6]


def test_json_has_the_stages_by_name_and_the_rules_of_the_cel_stage() -> None:
    traced = json.loads(run("--crd", COMPLETE, "-o", "json", MINI)[0])
    assert {"verdict", "stages", "stored", "read"} <= traced.keys()
    stages = {stage["name"]: stage for stage in traced["stages"]}
    assert list(stages)[:4] == ["decoding", "pruning", "defaulting", "admission"]
    assert {"path", "rule", "result", "message", "cost", "skipped"} <= stages["cel"]["rules"][0].keys()
    assert json.loads(run("--crd", SCHEMA, "-o", "json", "-", code=1, stdin=b"5")[0])["verdict"] == "refused"


def test_html_is_a_page_that_needs_nothing_else(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    crd, obj = tmp_path / "crd.yaml", tmp_path / "object.yaml"
    schema = (ROOT / SCHEMA).read_text(encoding="utf-8")
    crd.write_text(schema.replace("Une installation de l'application Colis.", evil), encoding="utf-8")
    obj.write_text(
        (ROOT / MINI).read_text(encoding="utf-8").replace("  version: 2.2.1", f'  version: "{evil}"'), encoding="utf-8"
    )
    page = run("--crd", str(crd), "-o", "html", str(obj), code=1)[0]
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_webhooks_conversion_is_unknown_and_says_why(tmp_path: Path) -> None:
    crd = tmp_path / "crd.yaml"
    webhook = (
        "strategy: Webhook\n    webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.com/c'}}"
    )
    two = (ROOT / TWO).read_text(encoding="utf-8")
    crd.write_text(two.replace("strategy: None # between the two versions only apiVersion changes", webhook), "utf-8")
    out = run("--crd", str(crd), MINI, code=1)[0]
    assert squeezed(out)[0].endswith("sent as new: unknown, because strategy: Webhook")


# -- from a cluster --------------------------------------------------------------------------------------------------


@pytest.fixture
def live(cluster: EmbeddedCluster) -> Iterator[str]:
    """The spelling of a cluster that has the definition, and ``principal``."""
    import yaml

    def load(file: str) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
        return found

    principal = load("crd/objects/principal.yaml")
    cluster.reset()  # another test may have left the type in a later form
    with Api(cluster) as api:
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ch54"}})
        api.apply(load(COMPLETE))
        wait_for("the type", lambda: Seen(api.raw("GET", OBJECTS).ok, "not served"), limit_s=120)
        api.apply(principal, path=f"{OBJECTS}/principal")
        yield f"embedded:{cluster.state_dir}"
        api.delete(f"{OBJECTS}/principal")
        remove_definitions(api, "colis.cours.example.com")
        wait_for("its end", lambda: Seen(not api.raw("GET", OBJECTS).ok, "served"), limit_s=120)


OBJECTS = "/apis/cours.example.com/v1alpha1/namespaces/ch54/colis"


def test_definition_and_old_object_come_from_the_cluster_which_is_left_as_it_is(
    live: str, cluster: EmbeddedCluster
) -> None:
    with Api(cluster) as api:
        before = api.get(f"{OBJECTS}/principal")
        shrunk = (ROOT / "crd/objects/principal.yaml").read_text(encoding="utf-8").replace("1Gi", "512Mi")
        lines = squeezed(run("--from-cluster", "--cluster", live, "-", code=1, stdin=shrunk.encode())[0])
        assert lines[0] == "Colis principal in ch54, v1alpha1, sent in place of what is stored: refused"
        assert lines[-1] == 'spec.base.taille: Invalid value: "512Mi": un volume ne rétrécit pas'
        assert squeezed(run("--from-cluster", "--cluster", live, MINI)[0])[0].endswith("sent as new: accepted")
        stored = run("--from-cluster", "--cluster", live, "--stored", "-o", "json", "crd/objects/principal.yaml")[0]
        assert json.loads(stored)["stages"][0]["name"] == "reading"
        assert api.get(f"{OBJECTS}/principal") == before


def test_a_file_goes_before_what_the_cluster_has(live: str) -> None:
    lines = squeezed(run("--from-cluster", "--cluster", live, "--crd", TWO, MINI)[0])
    assert "8 conversion from v1alpha1 to v1" in lines


def test_a_type_that_only_the_file_has_is_created(live: str, tmp_path: Path) -> None:
    crd = tmp_path / "crd.yaml"
    crd.write_text((ROOT / SCHEMA).read_text(encoding="utf-8").replace("kind: Colis\n", "kind: Lettre\n"), "utf-8")
    text = (ROOT / MINI).read_bytes().replace(b"Colis", b"Lettre")
    out = run("--from-cluster", "--cluster", live, "--crd", str(crd), "-", stdin=text)[0]
    assert squeezed(out)[0].endswith("sent as new: accepted")


def test_a_type_the_cluster_does_not_have_is_told_with_those_it_has(live: str) -> None:
    text = (ROOT / MINI).read_bytes().replace(b"Colis", b"Lettre")
    err = run("--from-cluster", "--cluster", live, "-", code=1, stdin=text)[1]
    assert "no definition of Lettre in cours.example.com: the cluster defines " in err and "--crd" in err


# -- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        [MINI],
        ["--crd", SCHEMA],
        ["--crd", SCHEMA, "--stored", "--old", MINI, MINI],
        ["--crd", SCHEMA, "-o", "x", MINI],
        ["--crd", "-", "-"],
        ["--crd", SCHEMA, "--old", "-", "-"],
    ],
)
def test_a_wrong_command_line_is_exit_code_2(argv: list[str]) -> None:
    assert run(*argv, code=2)[0] == ""


BAD = {
    "absent.yaml": (None, "cannot be read: No such file or directory"),
    "empty.yaml": (b"", "empty"),
    "latin1.yaml": ("é".encode("latin-1"), "not UTF-8: byte 0 is 0xe9"),
    "two.yaml": (b"a: 1\n---\na: 2\n", "the text holds 2 documents, one is wanted"),
    "nothing.yaml": (b"# only a comment\n", "the text holds no document"),
    "deep.json": (b'{"kind": "Colis", "spec": ' + b"[" * 100_000, "exceeded max depth"),
    "null.yaml": (b"null\n", "Object 'Kind' is missing in 'null '"),
    "big.yaml": (b"kind: Colis\nspec: " + b"x" * 2**22, "Request entity too large: limit is 3145728"),
    "version.yaml": (b"apiVersion: cours.example.com/v7\nkind: Colis\nmetadata: {name: a}", "has no version v7"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_object_gets_one_line_that_names_the_file(tmp_path: Path, name: str) -> None:
    content, said = BAD[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    out, err = run("--crd", SCHEMA, str(path), code=1)
    assert out == "" and err.startswith(f"labkit: {path}: ") and said in err.splitlines()[0]
    assert [line for line in err.splitlines()[1:] if not line.startswith("  → ")] == []


def test_a_bad_object_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "kind.yaml"
    path.write_text('apiVersion: cours.example.com/v1alpha1\nkind: "Co\\e[31m\\x9blis\\u202e"\n', encoding="utf-8")
    err = run("--crd", SCHEMA, str(path), code=1)[1]
    assert r"the object is a Co\x1b[31m\u009blis\u202e of cours" in err
    path.write_text((ROOT / MINI).read_text("utf-8").replace("2.2.1", '"\\x9b31m"'), encoding="utf-8")
    for form in ("text", "json", "html"):
        out = run("--crd", SCHEMA, "--stored", "-o", form, str(path))[0]
        assert r"\u009b31m" in out and "\x9b" not in out


def test_a_definition_that_is_refused_for_its_size_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes((ROOT / SCHEMA).read_bytes() + b"# " + b"x" * 3 * 2**20)
    said = "the server would refuse this definition: Request entity too large: limit is 3145728"
    assert run("--crd", str(path), MINI, code=1)[1] == f"labkit: {path}: {said}\n"


@pytest.mark.parametrize("option", ["--crd", "--old"])
def test_each_file_is_named_when_it_is_the_bad_one(tmp_path: Path, option: str) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("a: 1\n---\na: 2\n", encoding="utf-8")
    more = [] if option == "--crd" else ["--crd", SCHEMA]
    assert run(*more, option, str(path), MINI, code=1)[1].startswith(f"labkit: {path}: the text holds 2 documents")
    assert run(*more, option, str(tmp_path), MINI, code=1)[1].startswith(f"labkit: {tmp_path}: cannot be read")


def test_a_version_that_is_not_there_is_named() -> None:
    err = run("--crd", SCHEMA, "--version", "v9", MINI, code=1)[1]
    assert err == "labkit: version v9: the definition has no version v9, only v1alpha1\n"


def test_what_is_no_definition_and_one_the_server_refuses_are_told_apart() -> None:
    assert "not a CustomResourceDefinition: it is a Colis" in run("--crd", MINI, MINI, code=1)[1]
    err = run("--crd", "crd/03-a-default-vide.yaml", MINI, code=1)[1]
    assert err.startswith("labkit: crd/03-a-default-vide.yaml: the server would refuse this definition")
    assert "no such key: min evaluating rule: self.min <= self.max" in err


def test_without_the_control_plane_it_says_what_to_do(tmp_path: Path) -> None:
    err = run("--crd", SCHEMA, MINI, code=1, LABKIT_CONTROLPLANE=str(tmp_path / "absent"))[1]
    assert "a trace needs the control plane's program on this machine" in err and "make setup" in err
