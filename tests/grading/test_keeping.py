"""What is kept of a grading: safe names, whole files, and no result that is not one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.grading import keeping
from labkit.grading.errors import GradingError
from labkit.grading.keeping import RECORD, folder_name
from labkit.grading.values import NOT_JUDGED, Note, Result, Submission
from tests.grading.doubles import handed_in, result_of

ONE = handed_in("ada", "replicas: 2")


def _kept(root: Path, submission: Submission = ONE, course: str = "c1") -> Path:
    with keeping.opened(root, course) as store:
        store.keep(submission, result_of(submission))
        return store.folder(submission.key) / "result.json"


def _load(root: Path, submission: Submission = ONE, course: str = "c1") -> Result | None:
    with keeping.opened(root, course) as store:
        return store.load(submission)


# -- results ---------------------------------------------------------------------------------------------------------


def test_what_was_kept_is_loaded_again(tmp_path: Path) -> None:
    _kept(tmp_path / "grades")
    assert _load(tmp_path / "grades") == result_of(ONE)


def test_a_result_found_in_another_place_is_told_with_that_place(tmp_path: Path) -> None:
    _kept(tmp_path)
    moved = Submission(ONE.key, "elsewhere/ada.zip", ONE.notebook, ONE.answers)
    loaded = _load(tmp_path, moved)
    assert loaded is not None
    assert loaded.source == "elsewhere/ada.zip"


def test_other_bytes_another_course_and_another_person_have_no_result(tmp_path: Path) -> None:
    _kept(tmp_path)
    assert _load(tmp_path, handed_in("ada", "replicas: 3")) is None
    assert _load(tmp_path, course="c2") is None
    assert _load(tmp_path, handed_in("bob", "replicas: 2")) is None


def test_what_could_not_be_judged_is_judged_again_the_next_time(tmp_path: Path) -> None:
    result = result_of(ONE, 0)
    unjudged = replace(result.exercises[0], notes=(Note(NOT_JUDGED, "its control plane did not answer"),))
    with keeping.opened(tmp_path, "c1") as store:
        store.keep(ONE, replace(result, exercises=(unjudged,)))
        assert store.load(ONE) is None
        store.keep(ONE, result)
        assert store.load(ONE) == result


def test_a_result_of_somebody_else_put_in_its_place_is_not_believed(tmp_path: Path) -> None:
    twin = handed_in("bob", "replicas: 2")
    written = _kept(tmp_path)
    with keeping.opened(tmp_path, "c1") as store:
        store.folder("bob").mkdir()
        (store.folder("bob") / "result.json").write_bytes(written.read_bytes())
        assert store.load(twin) is None
        assert store.load(ONE) is not None


def test_no_half_of_a_result_is_believed(tmp_path: Path) -> None:
    written = _kept(tmp_path)
    whole = written.read_bytes()
    for size in range(len(whole) - 1):  # the last byte is the line's end
        written.write_bytes(whole[:size])
        assert _load_file(tmp_path) is None, f"{size} bytes"


def test_a_result_in_which_a_mark_was_changed_is_not_believed(tmp_path: Path) -> None:
    written = _kept(tmp_path)
    told = json.loads(written.read_text())
    told["result"]["exercises"][0]["points"] = 100
    written.write_text(json.dumps(told))
    assert _load(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b'{"made": {}}', b"\xff\xfe", b"[" * 100_000, b"{}"])
def test_what_is_no_result_is_not_believed_and_is_written_over(tmp_path: Path, content: bytes) -> None:
    written = _kept(tmp_path)
    written.write_bytes(content)
    assert _load(tmp_path) is None
    _kept(tmp_path)
    assert _load(tmp_path) == result_of(ONE)


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = _kept(tmp_path)
    before = written.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GradingError, match="No space left on device") as caught:
        keeping.write_whole(written, b"new")
    monkeypatch.undo()
    assert "what is graded is kept" in caught.value.next_act
    assert written.read_bytes() == before
    assert [path.name for path in written.parent.iterdir()] == ["result.json"]


def _load_file(root: Path) -> Result | None:
    return keeping.Store(root, "c1").load(ONE)


# -- the folder ------------------------------------------------------------------------------------------------------


def test_a_new_folder_an_empty_one_and_ours_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new/below", "empty", "empty"):
        with keeping.opened(tmp_path / name, "c1") as store:
            assert (store.root / RECORD).is_file()


def test_a_folder_with_other_things_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with (
        pytest.raises(GradingError, match=r"no folder of labkit's grades: it holds thesis\.txt"),
        keeping.opened(tmp_path, "c1"),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_and_a_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("file", "link"):
        with pytest.raises(GradingError, match="is no folder"), keeping.opened(tmp_path / name, "c1"):
            pass
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_start_that_was_killed_does_not_close_the_folder(tmp_path: Path) -> None:
    (tmp_path / f".{RECORD}.new").write_text("half of")
    _kept(tmp_path)
    assert _load(tmp_path) is not None


def test_two_gradings_at_once_into_one_folder_are_refused(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from labkit.grading import keeping
with keeping.opened(Path({str(tmp_path)!r}), "c1"):
    pass
"""
    argv = [sys.executable, "-c", code]
    with keeping.opened(tmp_path, "c1"):
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "another process is grading into" in done.stderr
    subprocess.run(argv, check=True)


# -- names -----------------------------------------------------------------------------------------------------------

HOSTILE: tuple[str, ...] = (
    "",
    ".",
    "..",
    "../../etc",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "con",
    "NUL",
    "com1",
    "x" * 5000,
    "é" * 300,
    "-rf",
)
HOSTILE += (
    "\0",
    "a\nb",
    "\ud800",
    "\u202egnp.exe",
    "~",
    "grades.csv",
    "index.html",
    ".labkit-grades.json",
    " ",
    "日本",
)


def test_a_plain_key_is_its_own_name() -> None:
    for key in ("ada", "s012345", "ada_lovelace", "a-b"):
        assert folder_name(key) == key


@pytest.mark.parametrize("key", HOSTILE, ids=range(len(HOSTILE)))
def test_any_key_has_a_safe_name(key: str, tmp_path: Path) -> None:
    name = folder_name(key)
    assert len(name.encode()) <= 180
    assert not name.startswith((".", "-"))
    assert not set(name) & set('/\\:*?"<>|\0\n .')
    (tmp_path / name).mkdir()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@given(st.lists(st.text(max_size=30), unique=True, max_size=8))
def test_no_two_keys_share_a_name_where_capitals_and_accents_are_no_difference(keys: list[str]) -> None:
    names = {unicodedata.normalize("NFKD", folder_name(key)).casefold() for key in keys}
    assert len(names) == len(keys)


def test_keys_that_differ_in_capitals_accents_or_their_end_have_other_names() -> None:
    keys = ["Ada", "ADA", "ada", "ad\u00e4", "ada\u0308", "x" * 200, "x" * 201, "a b", "a/b", "a-b"]
    assert len({folder_name(key).casefold() for key in keys}) == len(keys)


def test_nobody_can_name_himself_like_the_folder_of_another() -> None:
    assert folder_name(folder_name("Ada")) != folder_name("Ada")
