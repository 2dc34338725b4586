"""Objects in files: each document, each item of a list, and each file of a folder, with a name to complain by."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from labkit.errors import BadDocument
from labkit.trace.documents import documents

ONE = "apiVersion: t.example.com/v1\nkind: Thing\nmetadata: {name: a}\n"
ITEM = '{"apiVersion": "t.example.com/v1", "kind": "Thing", "metadata": {"name": "b"}}'


BOMB = "[&a [x, x, x, x, x, x, x, x, x, x]" + "".join(
    f", &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in pairwise("abcdefghij")
) + "]\n"  # fmt: skip
"""Half a kilobyte that stands for ten thousand million values."""


def named(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_document_stays_the_text_it_is(tmp_path: Path) -> None:
    path = named(tmp_path, "one.yaml", f"# mine\n{ONE}")
    (one,) = documents([path])
    assert (one.name, one.text) == (str(path), f"# mine\n{ONE}")


def test_documents_are_numbered_and_empty_ones_do_not_count(tmp_path: Path) -> None:
    path = named(tmp_path, "many.yaml", f"---\n# nothing\n--- # first\n{ONE}---\n\n---\n{ONE}note: |\n  ---\n")
    found = documents([path])
    assert [one.name for one in found] == [f"{path}, document 1", f"{path}, document 2"]
    assert "  ---" in found[1].text


def test_documents_of_json_may_follow_one_another(tmp_path: Path) -> None:
    path = named(tmp_path, "many.json", f"{ITEM}\n{ITEM} {{ broken")
    found = documents([path])
    assert [one.text for one in found] == [ITEM, ITEM, "{ broken"], "what is broken is left to the server's words"


@pytest.mark.parametrize("kind", ["List", '"ThingList"'])
def test_what_kubectl_writes_for_several_objects_is_taken_apart(tmp_path: Path, kind: str) -> None:
    text = f"apiVersion: v1\nitems:\n- {ITEM}\n- {ITEM[:-1]}, on: 2026-01-02}}\nkind: {kind}\n"
    path = named(tmp_path, "list.yaml", text)
    found = documents([path])
    assert [one.name for one in found] == [f"{path}, item 1", f"{path}, item 2"]
    assert json.loads(found[0].text) == json.loads(ITEM)
    assert list(json.loads(found[1].text).values())[-1] == "2026-01-02", "a date is a string for the server"
    again = named(tmp_path, "list.json", json.dumps({"kind": kind.strip('"'), "items": [json.loads(ITEM)]}))
    assert [json.loads(one.text) for one in documents([again])] == [json.loads(ITEM)]


def test_a_kind_of_ones_own_may_end_in_list(tmp_path: Path) -> None:
    text = "apiVersion: t.example.com/v1\nkind: PriceList\nmetadata: {name: a}\nspec: {items: []}\n"
    assert [one.text for one in documents([named(tmp_path, "price.yaml", text)])] == [text]


def test_a_folder_gives_its_files_in_order_and_no_others(tmp_path: Path) -> None:
    for name in ("b.yml", "a.json", "note.txt"):
        named(tmp_path, name, ITEM)
    (tmp_path / "inner.yaml").mkdir()
    assert [one.name for one in documents([tmp_path])] == [str(tmp_path / "a.json"), str(tmp_path / "b.yml")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("# nothing\n---\n", "no object in it"),
        ("kind: List\nitems: [1]\n", "item 1: not an object"),
        ("kind: List\nitems: [\n", "not YAML"),
        ("kind: List\nitems: 5\n", "items is no list: it is of type int"),
        (f"kind: List\nitems:\n- spec: {BOMB}", "item 1: larger than any request may be"),
        (f"kind: List\nitems:\n- {BOMB}", "item 1: not an object"),
        ("kind: List\nitems:\n- &a {self: *a}\n", "item 1: no object of JSON"),
        (
            json.dumps({"kind": "List", "items": [json.loads('{"a":' * 600 + "1" + "}" * 600)]}),
            "item 1: nested too deep",
        ),
    ],
)
def test_what_holds_no_object_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = named(tmp_path, "bad.yaml", text)
    with pytest.raises(BadDocument) as bad:
        documents([path])
    assert str(bad.value).startswith(str(path))
    assert words in str(bad.value)


def test_a_folder_without_objects_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadDocument, match="no object in this folder"):
        documents([tmp_path])
    with pytest.raises(BadDocument, match="cannot be read"):
        documents([tmp_path / "nowhere.yaml"])
