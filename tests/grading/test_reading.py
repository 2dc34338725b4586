"""Whatever form a class is collected in, each person's work is found under their name, or told of; never guessed."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest

from labkit.grading import archives
from labkit.grading.archives import MB, Limits
from labkit.grading.errors import GradingError
from labkit.grading.reading import Handed, read
from labkit.grading.values import Note, Submission
from tests.grading.packing import NOTEBOOK, WORK, bomb, encrypted, unflagged, with_link, zipped

ANSWERS = (("rule.yaml", b"a: 1\n"),)


def folder(place: Path, contents: Mapping[str, bytes]) -> Path:
    for name, content in contents.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return place


def keys(handed: Handed) -> list[str]:
    return [one.key for one in handed.submissions]


def texts(notes: tuple[Note, ...]) -> list[str]:
    return [f"{note.code}: {note.text}" for note in notes]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "class"


NBGRADER = {
    "bob/ch54/10-exercises.ipynb": NOTEBOOK,
    "bob/ch54/timestamp.txt": b"2026-01-01",
    "bob/ch54/crd/01-colis.yaml": b"",
    "bob/ch54/.ipynb_checkpoints/10-exercises-checkpoint.ipynb": NOTEBOOK,
    "ann/ch54/10-exercises.ipynb": NOTEBOOK,
    "ann/ch54/answers/rule.yaml": b"a: 1\n",
    "ann/ch54/answers/progress.json": b"{}",
}
NBGRADER_READ = (
    Submission("ann", "{}/ann/ch54", NOTEBOOK, ANSWERS),
    Submission("bob", "{}/bob/ch54", NOTEBOOK),
)
ZIPS = {"bob.zip": zipped(WORK), "ann_1_work.ZIP": zipped({f"hand-in/{name}": data for name, data in WORK.items()})}
ZIPS_READ = (
    Submission("ann_1_work", "{}/ann_1_work.ZIP/hand-in", NOTEBOOK, ANSWERS),
    Submission("bob", "{}/bob.zip", NOTEBOOK, ANSWERS),
)
MOODLE = {
    "Zoé Ab_12_assignsubmission_file_/mine.zip": zipped(
        {**WORK, "__MACOSX/answers/._rule.yaml": b"", ".DS_Store": b""}
    ),
    "Bob C_13_assignsubmission_file_/10-exercises.ipynb": NOTEBOOK,
    "Eve D_14_assignsubmission_file_/answers/rule.yaml": b"a: 1\n",
}
MOODLE_READ = (
    Submission("Bob C_13_assignsubmission_file_", "{}/Bob C_13_assignsubmission_file_", NOTEBOOK),
    Submission("Eve D_14_assignsubmission_file_", "{}/Eve D_14_assignsubmission_file_", None, ANSWERS),
    Submission("Zoé Ab_12_assignsubmission_file_", "{}/Zoé Ab_12_assignsubmission_file_/mine.zip", NOTEBOOK, ANSWERS),
)
FLAT = {"bob.ipynb": NOTEBOOK, "ann.ipynb": NOTEBOOK}
FLAT_READ = (Submission("ann", "{}/ann.ipynb", NOTEBOOK), Submission("bob", "{}/bob.ipynb", NOTEBOOK))
FORMS = {
    "nbgrader": (NBGRADER, NBGRADER_READ),
    "zips": (ZIPS, ZIPS_READ),
    "moodle": (MOODLE, MOODLE_READ),
    "flat": (FLAT, FLAT_READ),
}


def expected(submissions: tuple[Submission, ...], name: str) -> tuple[Submission, ...]:
    return tuple(Submission(one.key, one.source.format(name), one.notebook, one.answers) for one in submissions)


@pytest.mark.parametrize("form", FORMS)
def test_a_class_is_read_from_a_folder(place: Path, form: str) -> None:
    contents, submissions = FORMS[form]
    assert read(folder(place, contents)) == Handed(expected(submissions, "class"), ())


@pytest.mark.parametrize("form", FORMS)
def test_a_class_is_read_from_one_zip(tmp_path: Path, form: str) -> None:
    contents, submissions = FORMS[form]
    path = tmp_path / "class.zip"
    path.write_bytes(zipped(contents))
    assert read(path) == Handed(expected(submissions, "class.zip"), ())


@pytest.mark.parametrize("form", FORMS)
def test_a_class_is_read_from_a_zip_of_its_folder(tmp_path: Path, form: str) -> None:
    contents, submissions = FORMS[form]
    path = tmp_path / "class.zip"
    path.write_bytes(zipped({f"class/{name}": data for name, data in contents.items()}))
    assert read(path) == Handed(expected(submissions, "class.zip"), ())


def test_submitted_is_found_in_a_course_of_nbgrader(place: Path) -> None:
    folder(place / "submitted", NBGRADER)
    folder(place / "source", {"ch54/10-exercises.ipynb": NOTEBOOK})
    assert read(place) == Handed(expected(NBGRADER_READ, "class"), ())
    assert keys(read(place / "submitted")) == ["ann", "bob"]


@pytest.mark.parametrize("inside", ["", "ann/"])
@pytest.mark.parametrize("name", ["ann.zip", "ann"])
def test_one_work_alone_is_read(tmp_path: Path, name: str, inside: str) -> None:
    path = tmp_path / name
    work = {f"{inside}{one}": data for one, data in WORK.items()}
    if path.suffix:
        path.write_bytes(zipped(work))
    else:
        folder(path, work)
    (found,) = read(path).submissions
    assert (found.key, found.notebook, found.answers) == ("ann", NOTEBOOK, ANSWERS)


def test_one_notebook_alone_is_read(tmp_path: Path) -> None:
    folder(tmp_path, {"ann.ipynb": NOTEBOOK})
    assert keys(read(tmp_path / "ann.ipynb")) == ["ann"]


def test_a_whole_student_edition_is_one_work(place: Path) -> None:
    edition = {f"notebooks/{name}": data for name, data in WORK.items()}
    more = {
        "notebooks/01-a-new-type.ipynb": b"",
        "crd/a.yaml": b"",
        "exercises/02-rule/starter.yaml": b"",
        "x.pdf": b"",
    }
    (found,) = read(folder(place, {f"ann/course/{name}": data for name, data in (edition | more).items()})).submissions
    assert (found.notebook, found.answers) == (NOTEBOOK, ANSWERS)
    assert texts(found.notes) == ["other-files: not looked at: course/x.pdf"]


def test_the_order_and_the_bytes_do_not_depend_on_how_it_was_packed(tmp_path: Path) -> None:
    contents = {**NBGRADER, "ann/ch54/answers/a.txt": b"", "ann/ch54/x": b"", "ann/ch54/y": b"", "z": b"", "y": b""}
    first, second = tmp_path / "1" / "class.zip", tmp_path / "2" / "class.zip"
    folder(tmp_path, {"1/class.zip": zipped(contents), "2/class.zip": zipped(dict(reversed(contents.items())))})
    assert read(first) == read(second)
    assert [name for name, _ in read(first).submissions[0].answers] == ["a.txt", "rule.yaml"]


# -- what is not clear ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        ({"ann/a.ipynb": b"", "ann/b.ipynb": b""}, "several notebooks: ann/a.ipynb, ann/b.ipynb"),
        ({"ann/ch54/a.ipynb": b"", "ann/ch55/a.ipynb": NOTEBOOK}, "several works (attempts, or assignments)"),
        ({"ann/1.zip": zipped(WORK), "ann/2.zip": zipped(WORK | {"answers/rule.yaml": b""})}, "ann/1.zip, ann/2.zip"),
        ({"ann/1.zip": zipped(WORK), "ann/2.zip": zipped(WORK | {"a.ipynb": b"{}"})}, "ann/1.zip, ann/2.zip"),
        ({"ann/1.zip": zipped(WORK), "ann/2.zip": zipped(WORK | {"10-exercises.ipynb": b""})}, "ann/1.zip, ann/2.zip"),
        ({"ann/1.zip": zipped(WORK), "ann/2.zip": zipped(WORK | {"answers/a.yaml": b""})}, "ann/1.zip, ann/2.zip"),
        ({"ann.zip": zipped(WORK), "ann.ipynb": NOTEBOOK}, "ann.ipynb, ann.zip"),
        ({"ann.zip": zipped(WORK), "ann/answers/rule.yaml": b""}, "ann, ann.zip"),
        ({"ann.zip": zipped([("a.zip", b"broken"), ("a.zip", zipped(WORK))])}, "two zips of one name"),
        ({"ann/1.zip": zipped(WORK), "ann/2.zip": b"broken"}, "ann/1.zip, ann/2.zip"),
        (
            {"ann.zip": zipped([*WORK.items(), ("answers/rule.yaml", b"b")])},
            "same name more than once: ann.zip/answers/rule.yaml",
        ),
    ],
)
def test_two_works_of_one_person_are_told_and_none_is_taken(place: Path, contents: dict[str, bytes], told: str) -> None:
    handed = read(folder(place, contents | {"bob.ipynb": NOTEBOOK}))
    assert keys(handed) == ["bob"]
    (problem,) = handed.problems
    assert problem.code == "double"
    assert problem.text.startswith("ann: ")
    assert told in problem.text
    assert problem.text.endswith("none is taken")


@pytest.mark.parametrize(
    "contents",
    [
        {**{f"ann/{name}": data for name, data in WORK.items()}, "ann/submission.zip": zipped(WORK)},
        {**{f"ann/course/notebooks/{name}": data for name, data in WORK.items()}, "ann/a.zip": zipped(WORK)},
        {"ann/1.zip": zipped(WORK), "ann/2.zip": zipped({"answers/rule.yaml": WORK["answers/rule.yaml"]})},
        {"ann.zip": zipped(WORK), "ann/1.zip": zipped({"x.zip": zipped(WORK)}), "ann/2.zip": zipped(WORK)},
    ],
)
def test_the_same_work_in_two_places_is_one_work(place: Path, contents: dict[str, bytes]) -> None:
    handed = read(folder(place, contents))
    assert handed.problems == ()
    (found,) = handed.submissions
    assert (found.notebook, found.answers, found.notes) == (NOTEBOOK, ANSWERS, ())


def test_two_names_that_look_the_same_are_one_person(place: Path) -> None:
    handed = read(folder(place, {"Zoe\u0301/a.ipynb": b"", "Zo\u00e9/b.ipynb": b""}))
    assert (handed.submissions, handed.problems[0].code) == ((), "double")


def test_what_is_no_submission_is_told(place: Path) -> None:
    contents = {
        "readme.pdf": b"",
        "ann/essay.txt": b"",
        "bob/01-a-new-type.ipynb": b"",
        "c/mine.zip": zipped({"x": b""}),
    }
    folder(place, contents)
    (place / "empty").mkdir()
    handed = read(place)
    assert handed.submissions == ()
    assert [one.code for one in handed.problems] == ["no-submission"] * 5
    assert "readme.pdf: neither a notebook of the exercises nor answers/" in handed.problems[-1].text
    assert handed.problems[0].text.endswith("but ann/essay.txt")


@pytest.mark.parametrize("content", [None, b"no zip"])
def test_a_class_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "class.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GradingError, match=r"class\.zip"):
        read(path)


# -- what is meant to harm ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packed", "note"),
    [
        (with_link("answers/rule.yaml", "/etc/passwd", {"10-exercises.ipynb": NOTEBOOK}), "a symbolic link"),
        (zipped({"10-exercises.ipynb": NOTEBOOK, "../bob/10-exercises.ipynb": b""}), "leads out of the archive"),
        (zipped({"10-exercises.ipynb": NOTEBOOK, "/tmp/10-exercises.ipynb": b""}), "leads out of the archive"),
        (zipped({"10-exercises.ipynb": NOTEBOOK, "answers/rule.yaml": bytes(2 * MB)}), "larger than 1 MB"),
    ],
)
def test_one_bad_member_costs_itself_alone(place: Path, packed: bytes, note: str) -> None:
    handed = read(folder(place, {"ann.zip": packed, "bob.ipynb": NOTEBOOK}))
    assert keys(handed) == ["ann", "bob"]
    ann = handed.submissions[0]
    assert (ann.notebook, ann.answers) == (NOTEBOOK, ())
    assert ann.notes[0].code == "refused"
    assert note in ann.notes[0].text
    assert handed.problems == ()


def nested(levels: int) -> bytes:
    data = zipped(WORK)
    for _ in range(levels):
        data = zipped({"inner.zip": data})
    return data


@pytest.mark.parametrize(
    ("packed", "note"),
    [
        (b"PK\x03\x04 no more", "not a whole zip"),
        (b"", "not a whole zip"),
        (encrypted(WORK), "encrypted"),
        (nested(3), "more than 3 zips"),
        (bomb("10-exercises.ipynb", 30 * MB), "cannot be read"),
        (zipped({"10-exercises.ipynb": bytes(30 * MB)}), "larger than 20 MB"),
        (zipped({f"answers/{n}.txt": bytes(MB) for n in range(60)}), "unpacks to more than 50 MB"),
        (zipped({"a.zip": zipped({"b.zip": bytes(60 * MB)})}), "unpacks to more than 50 MB"),
    ],
)
def test_a_bad_zip_costs_its_own_work_and_is_told(place: Path, packed: bytes, note: str) -> None:
    handed = read(folder(place, {"ann.zip": packed, "bob.ipynb": NOTEBOOK}))
    assert keys(handed) == ["ann", "bob"]
    ann = handed.submissions[0]
    assert (ann.notebook, ann.answers) == (None, ())
    assert any(note in one.text for one in ann.notes), texts(ann.notes)
    assert handed.problems == ()


def test_two_zips_within_the_first_are_still_one_submission(place: Path) -> None:
    assert read(folder(place, {"ann.zip": nested(2)})).submissions[0].notebook == NOTEBOOK


def test_too_many_files_are_refused(place: Path) -> None:
    folder(place, {f"ann/{n}": b"" for n in range(11)})
    folder(place, {"bob.zip": zipped({f"answers/{n}": b"" for n in range(11)})})
    handed = read(place, limits=Limits(members=10))
    assert texts(handed.problems) == ["refused: ann: more than 10 files"]
    assert texts(handed.submissions[0].notes) == ["refused: *.zip: more than 10 files in one zip"]


def test_too_many_files_are_refused_in_whatever_zips_they_lie(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = zipped({f"answers/{n}": b"" for n in range(8)})
    folder(place, {"bob.zip": zipped({f"{n}.zip": inner for n in range(8)}), "ann.ipynb": NOTEBOOK})
    listed: list[int] = []
    in_memory = archives.in_memory

    def counting(data: bytes, depth: int, limits: Limits) -> list[archives.Member]:
        found = in_memory(data, depth, limits)
        listed.append(len(found))
        return found

    monkeypatch.setattr(archives, "in_memory", counting)
    handed = read(place, limits=Limits(members=20))
    assert texts(handed.problems) == ["refused: bob: more than 20 files"]
    assert keys(handed) == ["ann"]
    assert sum(listed) <= 28, "nothing more is listed"


def test_the_same_work_of_two_people_has_one_digest(place: Path) -> None:
    odd = {"answers/rule.yaml": b"a: 1\n", "answers/large.yaml": bytes(1001), "mine.txt": b""}
    folder(place, {f"{name}/{part}": data for name in ("ann", "bob") for part, data in odd.items()})
    folder(place, {f"{name}.zip": zipped(odd) for name in ("cem", "dee")} | {"eve.zip": b"none", "fay.zip": b"none"})
    handed = read(place, limits=Limits(answer=1000))
    ann, bob, cem, dee, eve, fay = handed.submissions
    assert (ann.sha256, cem.sha256, eve.sha256) == (bob.sha256, dee.sha256, fay.sha256)
    assert texts(ann.notes) == [
        "other-files: not looked at: mine.txt",
        "refused: answers/large.yaml: larger than 0.001 MB",
    ]


def test_a_notebook_is_not_taken_for_an_answer_of_that_name() -> None:
    assert Submission("a", "a", NOTEBOOK).sha256 != Submission("a", "a", None, (("notebook", NOTEBOOK),)).sha256


def test_links_in_a_folder_are_not_followed(place: Path, tmp_path: Path) -> None:
    secret = folder(tmp_path / "secret", WORK)
    folder(place, {"ann/10-exercises.ipynb": NOTEBOOK})
    (place / "ann" / "answers").symlink_to(secret / "answers", target_is_directory=True)
    (place / "bob").mkdir()
    (place / "bob" / "10-exercises.ipynb").symlink_to(secret / "10-exercises.ipynb")
    (place / "eve").symlink_to(secret, target_is_directory=True)
    handed = read(place)
    assert [(one.key, one.notebook, one.answers) for one in handed.submissions] == [
        ("ann", NOTEBOOK, ()),
        ("bob", None, ()),
    ]
    assert texts(handed.submissions[0].notes) == ["refused: answers: a symbolic link, which is not followed"]
    assert texts(handed.problems) == ["refused: eve: a symbolic link, which is not followed"]


def test_a_notebook_of_200_mb_is_refused_by_its_size(place: Path) -> None:
    folder(place, {"ann/answers/rule.yaml": b"a: 1\n"})
    with (place / "ann" / "10-exercises.ipynb").open("wb") as file:
        file.truncate(200 * MB)
    tracemalloc.start()
    try:
        (found,) = read(place).submissions
        assert tracemalloc.get_traced_memory()[1] < 4 * MB
    finally:
        tracemalloc.stop()
    assert (found.notebook, found.answers) == (None, ANSWERS)
    assert texts(found.notes) == ["refused: 10-exercises.ipynb: larger than 20 MB"]


def test_names_are_data(place: Path, tmp_path: Path) -> None:
    raw = os.fsencode(place) + b"/b\xff\x1b[2J"
    place.mkdir()
    Path(os.fsdecode(raw)).mkdir()
    Path(os.fsdecode(raw + b"/a.ipynb")).write_bytes(NOTEBOOK)
    assert keys(read(place)) == ["b\ufffd\ufffd[2J"]
    path = tmp_path / "class.zip"
    path.write_bytes(unflagged({"Zoé/é.ipynb".encode(): NOTEBOOK, "Ünal/é.ipynb".encode("cp437"): NOTEBOOK}))
    assert keys(read(path)) == ["Zoé", "Ünal"]


def test_a_folder_that_cannot_be_listed_costs_itself_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(place, {"ann/10-exercises.ipynb": NOTEBOOK, "bob/10-exercises.ipynb": NOTEBOOK})
    scandir = os.scandir

    def refusing(where: Path) -> object:
        if Path(where).name == "ann":
            raise PermissionError(13, "Permission denied")
        return scandir(where)

    monkeypatch.setattr(os, "scandir", refusing)
    handed = read(place)
    assert keys(handed) == ["bob"]
    assert texts(handed.problems) == ["refused: ann: cannot be read: Permission denied"]
