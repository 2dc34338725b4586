"""``labkit preview`` as a person runs it: what it prints, its exit codes, and what is wrong in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from labkit.cluster import Api, Etcd
from labkit.cluster.claim import DEFINITIONS
from labkit.cluster.embedded import EmbeddedCluster
from labkit.waiting import Seen, wait_for
from tests.cluster.helpers import remove_definitions
from tests.conftest import OURS
from tests.terminal import run_in_terminal
from tests.trace import preview_world as world

ROOT = Path(__file__).parents[1]
LABKIT = Path(sys.executable).parent / "labkit"
OLD, NEW = "crd/04-colis-complet.yaml", "crd/05-colis-v1.yaml"
PRINCIPAL = "crd/objects/principal.yaml"
PLURAL = "previewed"


def environment(home: Path) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if name not in OURS}
    return given | {"LABKIT_HOME": str(home)}


def run(home: Path, *argv: str, code: int = 0) -> tuple[str, str]:
    """Standard output and standard error of ``labkit preview ARGV…``, which must end with *code*."""
    done = subprocess.run(
        [str(LABKIT), "preview", *argv],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def written(folder: Path, name: str, *values: Any) -> str:
    path = folder / name
    path.write_text(yaml.safe_dump_all(values), encoding="utf-8")
    return str(path)


# -- files -----------------------------------------------------------------------------------------------------------


def test_the_chapters_change_of_version_harms_nobody(home: Path) -> None:
    out, err = run(home, "--crd", NEW, "--old-crd", OLD, PRINCIPAL)
    lines = folded(out)
    assert lines[0] == "preview of colis.cours.example.com: 1 object; nothing is lost or refused"
    assert "the new definition: accepted in place of the old one" in lines
    assert 'next write spec.web filled in {"replicas":2}' in lines
    assert err == ""


def folded(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_what_is_lost_or_refused_ends_with_1(home: Path, tmp_path: Path) -> None:
    crd = written(tmp_path, "new.yaml", world.new(PLURAL, "v0", "v1"))
    specs = world.FATES
    forgiven = written(tmp_path, "forgiven.yaml", world.thing("v1", "enum", specs["enum"]))
    run(home, "--crd", crd, forgiven)
    for name in ("legacy", "rising"):
        file = written(
            tmp_path, f"{name}.yaml", world.thing("v1", "fine", specs["fine"]), world.thing("v1", name, specs[name])
        )
        out, _ = run(home, "--crd", crd, forgiven, file, "-o", "json", code=1)
        found = json.loads(out)
        assert [one["name"] for one in found["objects"]] == ["v1-enum", "v1-fine", f"v1-{name}"]
        assert found["objects"][2]["source"] == f"{file}, document 2"
        assert found["harmless"] is False
    assert found["objects"][2]["nextWrite"]["complaints"][0]["rule"] == "self > oldSelf"


def test_a_definition_that_is_refused_ends_with_1(home: Path, tmp_path: Path) -> None:
    without = written(tmp_path, "without.yaml", world.new(PLURAL, "v1"))
    old = written(tmp_path, "old.yaml", world.old(PLURAL, "v0"))
    thing = written(tmp_path, "thing.yaml", world.thing("v1", "fine", world.FATES["fine"]))
    out, _ = run(home, "--crd", without, "--old-crd", old, thing, code=1)
    assert "v0 was previously a storage version" in out
    assert "what follows is what it would do if it were taken" in out


def test_a_page_needs_nothing_else(home: Path) -> None:
    out, _ = run(home, "--crd", NEW, PRINCIPAL, "-o", "html")
    assert out.startswith("<!DOCTYPE html>")
    assert "spec.web" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--crd", NEW), "give files of OBJECTS, or --from-cluster"),
        (("--crd", NEW, PRINCIPAL, "--from-cluster"), "give files of OBJECTS, or --from-cluster"),
        ((PRINCIPAL,), "--crd"),
        (("--crd", NEW, PRINCIPAL, "-o", "yaml"), "yaml"),
    ],
)
def test_a_wrong_command_line_ends_with_2(home: Path, argv: tuple[str, ...], words: str) -> None:
    assert words in run(home, *argv, code=2)[1]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("absent", None, "cannot be read"),
        ("empty", b"", "empty"),
        ("latin", b"a: \xe9", "not UTF-8"),
        ("other", b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "the object is a Pod of v1"),
        ("broken", b"a: [\n", "yaml"),
        ("second", b"", "document 2: "),
        ("deep", b"", "nested"),
    ],
)
def test_bad_input_is_one_line_with_its_name(
    home: Path, tmp_path: Path, name: str, text: bytes | None, words: str
) -> None:
    good = (ROOT / PRINCIPAL).read_bytes()
    if name == "second":
        text = good + b"---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    if name == "deep":
        text = good + b"  deep: " + b"[" * 9000 + b"]" * 9000
    path = tmp_path / f"{name}.yaml"
    if text is not None:
        path.write_bytes(text)
    for form in ("text", "json"):
        out, err = run(home, "--crd", NEW, PRINCIPAL, str(path), "-o", form, code=1)
        assert out == "", "nothing half-written"
        assert err.startswith(f"labkit: {path}")
        assert words in err
        assert [line[:4] for line in err.splitlines()[1:]] in ([], ["  → "]), "and at most what to do about it"


def test_a_definition_that_is_none_is_named(home: Path) -> None:
    _, err = run(home, "--crd", PRINCIPAL, PRINCIPAL, code=1)
    assert err.startswith(f"labkit: {PRINCIPAL}: this is not a CustomResourceDefinition")
    _, err = run(home, "--crd", NEW, PRINCIPAL, "--version", "v9", code=1)
    assert "no version v9, only v1alpha1, v1" in err


# -- a cluster -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored(cluster: EmbeddedCluster) -> Iterator[EmbeddedCluster]:
    """The cluster with objects of a definition of this module, in two namespaces."""
    with Api(cluster) as api:
        api.post(DEFINITIONS, world.old(PLURAL, "v1"))

        def look() -> Seen[None]:
            return Seen(api.raw("GET", f"/apis/{world.GROUP}/v1/{PLURAL}").ok, "not served")

        wait_for("the type to be served", look, limit_s=120)
        for namespace, name in (("default", "legacy"), ("kube-public", "enum")):
            body = world.thing("v1", name, world.FATES[name])
            body["metadata"]["namespace"] = namespace
            api.post(f"/apis/{world.GROUP}/v1/namespaces/{namespace}/{PLURAL}", body)
        yield cluster
        remove_definitions(api, f"{PLURAL}.{world.GROUP}")


@pytest.fixture
def crd(tmp_path: Path) -> str:
    return written(tmp_path, "new.yaml", world.new(PLURAL, "v0", "v1"))


def test_all_objects_are_taken_from_etcd_and_nothing_is_changed(home: Path, stored: EmbeddedCluster, crd: str) -> None:
    before = Etcd(stored).get("/registry/", prefix=True, keys_only=True).kvs
    there = {kv.key: kv.mod_revision for kv in before if world.GROUP in kv.key}
    where = ("--from-cluster", "--cluster", f"embedded:{stored.state_dir}")
    found = json.loads(run(home, "--crd", crd, *where, "-o", "json", code=1)[0])
    assert [one["source"] for one in found["objects"]] == [
        f"/registry/{world.GROUP}/{PLURAL}/default/v1-legacy in etcd",
        f"/registry/{world.GROUP}/{PLURAL}/kube-public/v1-enum in etcd",
    ]
    assert found["objects"][0]["nextRead"]["pruned"] == ["spec.legacy"]
    assert (found["replaces"], found["unseen"]) == (True, "")
    after = Etcd(stored).get("/registry/", prefix=True, keys_only=True).kvs
    assert {kv.key: kv.mod_revision for kv in after if world.GROUP in kv.key} == there


def test_where_etcd_cannot_be_read_the_api_is_asked_and_that_is_said(
    home: Path, stored: EmbeddedCluster, crd: str
) -> None:
    where = ("--from-cluster", "--cluster", f"kubeconfig:{stored.kubeconfig}")
    out, _ = run(home, "--crd", crd, *where, code=1)
    assert "etcd cannot be read" in out
    assert "as the API gives them in v1" in out
    found = json.loads(run(home, "--crd", crd, *where, "-o", "json", code=1)[0])
    assert [one["storedVersion"] for one in found["objects"]] == [None, None]
    assert found["objects"][0]["nextRead"]["pruned"] == ["spec.legacy"]
    assert [one["objects"] for one in found["versions"]] == [None, None]


def test_a_definition_that_is_not_on_the_cluster_is_named(home: Path, stored: EmbeddedCluster, tmp_path: Path) -> None:
    absent = written(tmp_path, "absent.yaml", world.new("absent", "v1"))
    _, err = run(home, "--crd", absent, "--from-cluster", "--cluster", f"embedded:{stored.state_dir}", code=1)
    assert f"no definition absent.{world.GROUP} on this cluster" in err


def test_a_bar_is_drawn_in_a_terminal_only(home: Path, tmp_path: Path) -> None:
    thing = yaml.safe_load((ROOT / PRINCIPAL).read_text(encoding="utf-8"))
    many = written(tmp_path, "many.yaml", *([thing] * 400))
    assert run(home, "--crd", NEW, many)[1] == ""
    argv = [str(LABKIT), "preview", "--crd", NEW, many]
    drawn = run_in_terminal(argv, environment(home), cwd=ROOT, out=subprocess.DEVNULL)
    assert "preview of colis.cours.example.com" in drawn
    assert "400" in drawn
