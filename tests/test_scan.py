"""An answer is found in whatever it was packed into, and what everyone is given is not taken for one."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.scan import Answers, Limits, Scan, ScanError, read_answers, scan

REPOSITORY = Path(__file__).resolve().parents[1]
LABKIT = Path(sys.executable).parent / "labkit"

TOML = """id = "limit"
title = "A limit on workers"
definition = "crd/06-colis-v1-seul.yaml"
answer = "yaml"
secrets = ["self.worker.max < 5 * self.api.replicas"]

[[tasks]]
id = "refuses"
title = "Too many workers are refused"
points = 2
"""
PROBE = "- {do: answer, task: refuses, name: taken, otherwise: Not taken.}\n"
STARTER = "kind: CustomResourceDefinition\nspec:\n  type: object\n"
LINE = """message: "jamais plus de <cinq> fois l'API, prête ou non (%d)" # à dire"""
SOLUTION = f"""kind: CustomResourceDefinition
spec:
  type: object
  rule: self.worker.max < 5 * self.api.replicas
  {LINE}
  a: 11
  required: [bornes, taille]
  maximum: 12000
  minimum: 3
  description: the course says this as well, in a notebook
"""
WHY = """# Why

A rule can only see what lies below it, so it [must stand](https://example.com/) in the schema of spec.

```console
$ kubectl apply -f a.yaml
The Colis "a" is invalid:
spec: Invalid value: null: more than the server allows
```
"""


def _exercise(root: Path) -> Path:
    folder = root / "exercises" / "02-limit"
    (folder / "probes").mkdir(parents=True)
    (folder / "hidden").mkdir()
    (folder / "wrong").mkdir()
    for name, text in {
        "exercise.toml": TOML,
        "prompt.md": "Limit the workers.\n",
        "hints.md": "## refuses\n- Look where both are seen.\n",
        "starter.yaml": STARTER,
        "solution.yaml": SOLUTION,
        "solution.md": WHY,
        "probes/one.yaml": PROBE,
        "hidden/two.yaml": PROBE + "# played in grading only: seven workers for one replica\n",
        "wrong/reversed.yaml": "# fails: refuses: taken\nrule: self.worker.max > 5 * self.api.replicas\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instructors' repository with one exercise."""
    root = tmp_path_factory.mktemp("course")
    _exercise(root)
    (root / "crd").mkdir()
    (root / "notebooks").mkdir()
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["The course says this as well,\n", "in a notebook.\n"]}
    told = {
        "cell_type": "markdown",
        "metadata": {},
        "source": ["description: the course says this as well, in a notebook"],
    }
    notebook = {"cells": [cell, told], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "notebooks" / "04-cel.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    # a leak in the generated notebook must not make the answer public
    told["source"] = [SOLUTION]
    (root / "notebooks" / "10-exercises.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def known(course: Path) -> Answers:
    return read_answers(course)


def _look(known: Answers, path: Path, content: bytes, limits: Limits | None = None) -> Scan:
    path.write_bytes(content)
    return scan(known, [path], limits or Limits())


# -- what is in a file ----------------------------------------------------------------------------------------------


def _highlighted(text: str) -> str:
    words = "".join(f'<span class="nt">{html.escape(word)}</span><span class="w"> </span>' for word in text.split())
    return f"<!doctype html>\n<pre>{words}</pre>"


def _in_pieces(text: str) -> str:
    plain = text.replace("'", "\\'")
    return " +\n".join(f"'{plain[start : start + 7]}'" for start in range(0, len(plain), 7))


WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "indented anew": lambda text: "\n".join(f"\t\t  {line}" for line in text.splitlines()),
    "wrapped at another column": lambda text: text.replace(" ", "\n        "),
    "HTML": html.escape,
    "HTML in numbers": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "highlighted HTML": _highlighted,
    "JSON": lambda text: json.dumps({"a": [text]}),
    "JSON in UTF-8, from Go": lambda text: json.dumps(text, ensure_ascii=False).replace("<", "\\u003c"),
    "JSON in JSON in an attribute": lambda text: (
        f'<a data-x="{html.escape(json.dumps(json.dumps(_highlighted(text))))}">'
    ),
    "a link": lambda text: "https://example.com/#" + urllib.parse.quote(text, safe=""),
    "a form's link": urllib.parse.quote_plus,
    "smart quotes": lambda text: text.replace("'", "\u2019").replace('"', "\u201c").replace("-", "\u2013"),
    "letters with their accents apart": lambda text: text.replace("ê", "e\u0302").replace("à", "a\u0300"),
    "a JavaScript string in pieces": _in_pieces,
    "Python's escapes": ascii,
}


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("answer", ["self.worker.max < 5 * self.api.replicas", LINE], ids=["secret", "line"])
def test_an_answer_is_found_however_it_is_written(known: Answers, tmp_path: Path, way: str, answer: str) -> None:
    found = _look(known, tmp_path / "page", f"before\nit {WRITTEN[way](answer)} after\n".encode())
    assert [(one.exercise, one.line is not None and one.line >= 2) for one in found.findings] == [("limit", True)], way
    assert not found.clean


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_an_answer_is_found_in_every_encoding(known: Answers, tmp_path: Path, encoding: str) -> None:
    assert len(_look(known, tmp_path / "a.txt", f"one\n{LINE}\n".encode(encoding)).findings) == 1


def _zip(data: bytes, name: str = "deep/inside.txt", *, comment: bytes = b"", stored: bool = False) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        archive.comment = comment
    return target.getvalue()


def _tar(data: bytes, mode: str) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:
        info = tarfile.TarInfo("deep/inside.txt")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def _notebook(**cell: object) -> bytes:
    whole = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["x"], **cell}
    return json.dumps({"cells": [whole], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def _mo(data: bytes) -> bytes:
    """A catalogue of one message."""
    original = b"Why?"
    begin = 28 + 16
    table = struct.pack("<7I", 0x950412DE, 0, 1, 28, 36, 0, 44)
    table += struct.pack("<4I", len(original), begin, len(data), begin + len(original) + 1)
    return table + original + b"\0" + data + b"\0"


def _po(data: bytes) -> bytes:
    lines = "".join(f'"{line} "\n' for line in data.decode().replace("\\", "\\\\").replace('"', '\\"').split())
    return f'msgid "Why?"\nmsgstr ""\n{lines}'.encode()


def _output(data: bytes) -> bytes:
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": _highlighted(data.decode())}}
    return _notebook(cell_type="code", outputs=[output], execution_count=1)


def _data_uri(data: bytes) -> bytes:
    return b'<img src="data:image/svg+xml;base64,' + base64.b64encode(data) + b'">'


def _search_index(data: bytes) -> bytes:
    return b'Search.setIndex({"titles":["x"],"alltitles":{' + json.dumps(data.decode()).encode() + b":[[0,null]]}})"


def _wasm(data: bytes) -> bytes:
    return b"\0asm\1\0\0\0" + os.urandom(3001) + data + os.urandom(70_000)


def _bundle(data: bytes) -> bytes:
    """As the playground carries its module: gzipped, in base64, in a script."""
    packed = base64.b64encode(gzip.compress(_wasm(data)))
    return b'globalThis.crdtrace = "' + packed + b'";\n'


CONTAINERS: dict[str, Callable[[bytes], bytes]] = {
    "a.zip": _zip,
    "labkit-1-py3-none-any.whl": lambda data: _zip(data, "labkit/exercises/answers.py", stored=True),
    "comment.zip": lambda data: _zip(b"x", comment=data),
    "prefixed.pyz": lambda data: b"#!/usr/bin/env python\n" + _zip(data),
    "a.tar": lambda data: _tar(data, "w"),
    "a.tar.gz": lambda data: _tar(data, "w:gz"),
    "a.tar.xz": lambda data: _tar(data, "w:xz"),
    "a.gz": gzip.compress,
    "a.bz2": bz2.compress,
    "a.xz": lzma.compress,
    "a.lzma": lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
    "base64": base64.b64encode,
    "wrapped.base64": lambda data: base64.encodebytes(data * 3),
    "url-safe.base64": base64.urlsafe_b64encode,
    "behind-letters.base64": lambda data: b"token" + base64.b64encode(data),
    "twice.base64": lambda data: base64.b64encode(b"x" + base64.b64encode(data)),
    "slashes.json": lambda data: json.dumps(base64.b64encode(b"\xff\xff" + data).decode()).replace("/", "\\/").encode(),
    "data-uri.html": _data_uri,
    "attachment.ipynb": lambda data: _notebook(
        attachments={"a.svg": {"image/svg+xml": base64.b64encode(data).decode()}}
    ),
    "lines-of-an-attachment.ipynb": lambda data: _notebook(
        attachments={"a.svg": {"image/svg+xml": base64.encodebytes(data * 3).decode().splitlines(keepends=True)}}
    ),
    "metadata.ipynb": lambda data: _notebook(metadata={"labkit": {"was": data.decode()}}),
    "output.ipynb": _output,
    "source.ipynb": lambda data: _notebook(source=data.decode().splitlines(keepends=True)),
    "page.html": lambda data: _highlighted(data.decode()).encode(),
    "searchindex.js": _search_index,
    "objects.inv": lambda data: (
        b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib\n" + zlib.compress(data)
    ),
    "page.doctree": lambda data: pickle.dumps({"text": data.decode(), "other": [1, 2.5]}),
    "messages.mo": _mo,
    "messages.po": _po,
    "module.js": lambda data: b"const a = `" + data + b"`;",
    "module.wasm": _wasm,
    "utf-16.wasm": lambda data: _wasm(data.decode().encode("utf-16-le")),
    "bundle.js": _bundle,
    "wheel-in-a-zip.zip": lambda data: _zip(_zip(_tar(gzip.compress(data), "w:gz")), "wheels/a.whl"),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("answer", ["rule: self.worker.max < 5 * self.api.replicas", LINE], ids=["secret", "line"])
def test_an_answer_is_found_in_every_container(known: Answers, tmp_path: Path, name: str, answer: str) -> None:
    found = _look(known, tmp_path / name, CONTAINERS[name](f"one\n{answer}\n".encode()))
    assert {one.exercise for one in found.findings} == {"limit"}, found.text
    assert not found.unexamined
    clean = _look(
        known, tmp_path / name, CONTAINERS[name](b"one\ntype: object, and nothing that anyone may not know\n")
    )
    assert clean.clean, clean.text


def test_the_place_of_an_answer_is_told(known: Answers, tmp_path: Path) -> None:
    text = f"one\ntwo {LINE}\n".encode()
    found = _look(known, tmp_path / "a.zip", _zip(gzip.compress(text), "en/page.html.gz"))
    assert found.findings[0].text.startswith(
        f"{(tmp_path / 'a.zip').as_posix()}!en/page.html.gz!gzip:2: the answer of 'limit'"
    )
    assert found.findings[0].sources == ("solution.yaml:5",)
    assert LINE not in found.text
    page = _look(known, tmp_path / "page.html", b"\n\n" + _data_uri(text))
    assert page.findings[0].text.startswith(f"{(tmp_path / 'page.html').as_posix()}!base64:3: ")
    binary = _look(known, tmp_path / "a.bin", b"\0" * 5000 + LINE.encode())
    assert binary.findings[0].text.startswith(f"{(tmp_path / 'a.bin').as_posix()}: offset 5000: ")


def test_an_answer_across_slices_and_far_inside_is_found_at_its_line(known: Answers, tmp_path: Path) -> None:
    lines = b"type: object\n" * (8 * 1024 * 1024 // 13)
    found = _look(known, tmp_path / "a.txt", lines + f"a\n{LINE}\n".encode() + lines)
    assert [one.line for one in found.findings] == [lines.count(b"\n") + 2]


def test_short_lines_count_when_they_follow_each_other(known: Answers, tmp_path: Path) -> None:
    three = '{"a": 11, "required": ["bornes", "taille"], "maximum": 12000, "minimum": 3}'.replace("{", "").encode()
    assert _look(known, tmp_path / "a.json", three).findings[0].sources == ("solution.yaml:6-9",)
    assert _look(
        known, tmp_path / "a.json", b"a: 11\nrequired: [bornes, taille]\nother: 1\nmaximum: 12000\nminimum: 3\n"
    ).clean


def test_the_reasons_and_what_is_hidden_count_as_answers(known: Answers, tmp_path: Path) -> None:
    prose = "<p>A rule can only see what lies below it, so it <a href='x'>must stand</a> in the schema of spec.</p>"
    assert _look(known, tmp_path / "a.html", prose.encode()).findings[0].sources == ("solution.md:3",)
    quoted = "spec: Invalid value: null: more than the server allows"
    assert _look(known, tmp_path / "a.txt", quoted.encode()).clean  # it is said on any page about the server
    transcript = WHY.split("```console\n")[1]
    assert _look(known, tmp_path / "a.txt", transcript.encode()).findings[0].sources == ("solution.md:6-8",)
    hidden = _look(known, tmp_path / "a.txt", b"Played in grading only: seven workers for one replica.")
    assert hidden.findings[0].sources == ("hidden/two.yaml:2",)


def test_what_students_are_given_and_the_wrong_answers_are_no_answers(known: Answers, tmp_path: Path) -> None:
    given = [STARTER, "description: the course says this as well, in a notebook", "Limit the workers.", PROBE]
    given.append("rule: self.worker.max > 5 * self.api.replicas")
    assert _look(known, tmp_path / "a.txt", "\n".join(given).encode()).clean


def test_the_instructors_files_are_known_by_their_names(known: Answers, tmp_path: Path) -> None:
    for name in ("solution.md", "hidden/x.yaml", "wrong/y.yaml", "right/z.yaml", "judge.py"):
        found = _look(known, tmp_path / "a.zip", _zip(b"nothing", f"exercises/02-limit/{name}"))
        assert [one.where for one in found.findings] == [f"{(tmp_path / 'a.zip').as_posix()}!exercises/02-limit/{name}"]
    assert _look(known, tmp_path / "a.zip", _zip(b"nothing", "exercises/02-limit/probes/x.yaml")).clean


# -- limits ---------------------------------------------------------------------------------------------------------


def test_a_zip_bomb_is_not_unpacked_but_told(known: Answers, tmp_path: Path) -> None:
    limits = Limits(file=1 << 20, total=3 << 20, depth=3, members=10)
    bomb = _look(known, tmp_path / "a.zip", _zip(bytes(2 << 20)), limits)
    assert not bomb.clean
    assert bomb.unexamined[0].text.endswith("a.zip: not looked into: unpacks to more than 1 MiB (one member)")
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}", bytes(1 << 20))
    assert "unpacks to more than" in _look(known, tmp_path / "b.zip", many.getvalue(), limits).text
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(11):
            archive.writestr(f"{number}", b"")
    assert "more than 10 members" in _look(known, tmp_path / "c.zip", many.getvalue(), limits).text


def test_nesting_is_bounded(known: Answers, tmp_path: Path) -> None:
    nested = LINE.encode()
    for _ in range(5):
        nested = gzip.compress(nested)
    deep = _look(known, tmp_path / "a.gz", nested, Limits(depth=3))
    assert "more than 3 containers in each other" in deep.text
    assert not deep.clean
    assert len(_look(known, tmp_path / "a.gz", nested).findings) == 1


def test_what_cannot_be_looked_into_is_not_called_clean(known: Answers, tmp_path: Path) -> None:
    for name, data in {
        "a.zst": b"\x28\xb5\x2f\xfd" + b"x" * 20,
        "a.gz": gzip.compress(os.urandom(5000))[:-300],
        "a.zip": b"PK\x03\x04 no zip at all",
        "large": bytes(3 << 20),
    }.items():
        found = _look(known, tmp_path / name, data, Limits(file=2 << 20))
        assert [one.where for one in found.unexamined] == [(tmp_path / name).as_posix()], name
        assert not found.clean
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "gone").symlink_to("nowhere")
    (tmp_path / "folder" / "there").symlink_to(tmp_path)
    links = scan(known, [tmp_path / "folder"]).unexamined
    assert [one.reason for one in links] == ["a link to a folder", "neither a file nor a folder, or a broken link"]


def test_a_large_picture_in_a_line_takes_no_time(known: Answers, tmp_path: Path) -> None:
    """A pattern that looks back would take hours."""
    assert _look(known, tmp_path / "a.ipynb", b'"' + base64.b64encode(os.urandom(3 << 20)) + b'"').clean


# -- the real course ------------------------------------------------------------------------------------------------


def test_a_secret_that_says_too_little_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crd").mkdir()
    folder = _exercise(tmp_path)
    (folder / "exercise.toml").write_text(TOML.replace("self.worker.max < 5 * self.api.replicas", "- max"))
    with pytest.raises(ScanError, match="secret 1 is too short"):
        read_answers(tmp_path)


def test_a_student_edition_has_no_answers_to_look_for(tmp_path: Path) -> None:
    (tmp_path / "crd").mkdir()
    folder = _exercise(tmp_path)
    for name in ("hidden", "wrong"):
        shutil.rmtree(folder / name)
    for path in folder.glob("solution*"):
        path.unlink()
    text = (folder / "exercise.toml").read_text()
    (folder / "exercise.toml").write_text("\n".join(line for line in text.splitlines() if "secrets" not in line))
    with pytest.raises(ScanError, match="no answers here"):
        read_answers(tmp_path)


def _command(cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LABKIT), "scan", *argv], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_command_says_by_its_exit_code_what_it_found(course: Path, tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("type: object\n")
    (tmp_path / "leak.txt").write_text(f"{LINE}\n")
    clean = _command(course, str(tmp_path / "clean.txt"))
    assert (clean.returncode, clean.stderr) == (0, "")
    assert "no answer in them" in clean.stdout
    both = _command(course, str(tmp_path))
    assert both.returncode == 1
    assert f"{(tmp_path / 'leak.txt').as_posix()}:1: the answer of 'limit' (solution.yaml:5)" in both.stdout
    assert _command(course).returncode == 2
    assert _command(course, str(tmp_path / "absent")).returncode == 2
