"""No name of an archive becomes a path, and nothing is inflated further than a limit, whatever a header says."""

from __future__ import annotations

import os
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from labkit.grading.archives import LIMITS, MB, Budget, Limits, Member, Refused, in_folder, in_memory
from tests.grading import packing


def one(data: bytes) -> Member:
    (member,) = in_memory(data, 1, LIMITS)
    return member


def refusal(member: Member, limits: Limits = LIMITS) -> str:
    with pytest.raises(Refused) as refused:
        Budget(limits).read(member, limits.notebook)
    return str(refused.value)


@pytest.mark.parametrize("name", ["../x.ipynb", "/etc/x.ipynb", "a/../../x.ipynb", "C:\\x.ipynb", "..\\x.ipynb"])
def test_a_name_that_leads_out_is_only_told_of(name: str) -> None:
    member = one(packing.zipped({name: b"a"}))
    assert not member.is_file
    assert member.suffix == ""
    assert refusal(member) == "a name that leads out of the archive"


def test_a_link_in_a_zip_is_not_followed() -> None:
    assert "symbolic link" in refusal(one(packing.with_link("10-exercises.ipynb", "/etc/passwd", {})))


def test_an_encrypted_member_is_refused() -> None:
    assert refusal(one(packing.encrypted({"a.ipynb": b"a"}))) == "encrypted"


def test_a_bomb_is_inflated_no_further_than_the_limit() -> None:
    data = packing.zipped({"a.ipynb": bytes(60 * MB)})
    assert len(data) < 100_000
    limits = Limits(notebook=MB)
    tracemalloc.start()
    try:
        assert refusal(one(data), limits) == "larger than 1 MB"
        assert tracemalloc.get_traced_memory()[1] < 4 * MB
    finally:
        tracemalloc.stop()


def test_a_header_that_lies_about_the_size_is_not_believed() -> None:
    assert "cannot be read" in refusal(one(packing.bomb("a.ipynb", 5 * MB)))


def test_what_is_refused_counts_as_read() -> None:
    """Or a thousand bombs, each a little too large, would keep the grader inflating."""
    limits = Limits(notebook=MB, unpacked=3 * MB)
    budget = Budget(limits)
    members = in_memory(packing.zipped({f"{n}.ipynb": bytes(2 * MB) for n in range(5)}), 1, limits)
    said = []
    for member in members:
        with pytest.raises(Refused) as refused:
            budget.read(member, limits.notebook)
        said.append(str(refused.value))
    assert said == ["larger than 1 MB"] * 2 + ["unpacks to more than 3 MB"] * 3


def test_zips_are_opened_three_deep_and_no_deeper() -> None:
    data = packing.zipped({"a": b""})
    assert in_memory(data, 3, LIMITS)
    with pytest.raises(Refused, match="more than 3 zips"):
        in_memory(data, 4, LIMITS)


def test_a_zip_of_too_many_files_is_not_listed() -> None:
    with pytest.raises(Refused, match="more than 10 files"):
        in_memory(packing.zipped({str(n): b"" for n in range(11)}), 1, Limits(members=10))


@pytest.mark.parametrize("raw", ["Zoé/é.ipynb".encode(), "Zoé/é.ipynb".encode("cp437"), "Zoe\u0301/é.ipynb".encode()])
def test_a_name_is_read_in_the_encoding_it_was_written_in(raw: bytes) -> None:
    assert one(packing.unflagged({raw: b""})).parts == ("Zoé", "é.ipynb")
    assert one(packing.zipped({"Zoé/é.ipynb": b""})).parts == ("Zoé", "é.ipynb")


def test_a_name_cannot_act_on_a_terminal() -> None:
    assert one(packing.zipped({"a\x1b[31m\nb.ipynb": b""})).name == "a\ufffd[31m\ufffdb.ipynb"


def test_words_are_parted_as_on_any_system() -> None:
    assert one(packing.zipped({"./answers\\rule.yaml": b""})).parts == ("answers", "rule.yaml")


def test_broken_zips_are_refused_and_nothing_else_happens() -> None:
    """Five hundred zips, each with three bytes changed, or cut (seed 7)."""
    rng = random.Random(7)  # noqa: S311
    whole = packing.zipped({**packing.WORK, "more.zip": packing.zipped(packing.WORK)})
    read = refused = 0
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(3):
            data[rng.randrange(len(data))] = rng.randrange(256)
        budget = Budget(LIMITS)
        try:
            for member in in_memory(bytes(data[: rng.choice([len(data), rng.randrange(len(data))])]), 1, LIMITS):
                budget.read(member, LIMITS.notebook)
                read += 1
        except Refused:
            refused += 1
    assert read > 50
    assert refused > 50


def test_an_unknown_compression_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.ipynb", b"a")
    assert "not read here" in refusal(one((tmp_path / "a.zip").read_bytes()))


def test_links_pipes_and_large_files_in_a_folder_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the grader's")
    folder = tmp_path / "work"
    (folder / "empty").mkdir(parents=True)
    (folder / "link.ipynb").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "pipe.ipynb")
    with (folder / "large.ipynb").open("wb") as file:
        file.truncate(200 * MB)
    (folder / "good.ipynb").write_bytes(b"a")
    members = {one.name: one for one in in_folder(folder)}
    assert sorted(members) == ["empty", "good.ipynb", "large.ipynb", "link.ipynb", "pipe.ipynb", "up"]
    assert not members["empty"].is_file
    assert "symbolic link" in refusal(members["link.ipynb"])
    assert "symbolic link" in refusal(members["up"])
    assert "neither a file nor a folder" in refusal(members["pipe.ipynb"])
    assert refusal(members["large.ipynb"]) == "larger than 20 MB"
    assert Budget(LIMITS).read(members["good.ipynb"], MB) == b"a"


def test_a_file_that_grows_or_goes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"a")
    (member,) = in_folder(tmp_path)
    path.write_bytes(bytes(2 * MB))
    assert refusal(member, Limits(notebook=MB)) == "larger than 1 MB"
    path.unlink()
    assert refusal(member) == "cannot be read: No such file or directory"
