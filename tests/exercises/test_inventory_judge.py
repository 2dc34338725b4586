"""The judge of the inventory reads reports as a person would: by their meaning, whatever they look like."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from labkit.exercises.checks import load_judge

JUDGE = Path(__file__).parents[2] / "exercises" / "04-inventory" / "judge.py"


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    return load_judge(JUDGE)


ALIGNED = """
DEFINITION               STORED   SERVED          IN ETCD        OBJECTS   STATE
colis.cours.example.com  v1       v1alpha1*,v1    v1alpha1,v1    2         migrate v1alpha1 -> v1
memoires.example.com     v1                       v1             -         ok

2 definitions, 1 to migrate
"""
FRENCH = """
DÉFINITION                STOCKÉE  SERVIES        DANS ETCD     OBJETS  ÉTAT
colis.cours.example.com   v1       v1alpha1*, v1  v1, v1alpha1  2       migrer v1alpha1 -> v1
memoires.example.com      v1       -              v1            -       rien à migrer
2 définitions, 1 à migrer
"""
OTHER_ORDER = """
State                   Name                     Count  Storage  Served                     storedVersions
migrate                 colis.cours.example.com  2      v1       v1,v1alpha1 (deprecated)   v1,v1alpha1
nothing to migrate      memoires.example.com     -      v1       none                       v1
2 definitions, 1 to migrate
"""
BARS = """
+-------------------------+--------+------------------------------+-------------+---------+----------------+
| name                    | stored | served                       | persisted   | objects | migration      |
+=========================+========+==============================+=============+=========+================+
| colis.cours.example.com | v1     | v1alpha1 (dépréciée), v1     | v1alpha1 v1 | 2       | oui            |
| memoires.example.com    | v1     |                              | v1          |         | non            |
+-------------------------+--------+------------------------------+-------------+---------+----------------+
2 definitions, 1 to migrate
"""
MARKDOWN = """
|DEFINITION|STORED|SERVED|IN ETCD|OBJECTS|STATE|
|---|---|---|---|---|---|
|`colis.cours.example.com`|v1|v1alpha1*,v1|v1alpha1,v1|2|**migrate** v1alpha1 → v1|
|`memoires.example.com`|v1||v1||ok|
2 definitions, 1 to migrate
"""
TABS = "DEFINITION\tSTORED\tSERVED\tIN ETCD\tOBJECTS\tSTATE\n" + "".join(
    f"{line}\n"
    for line in (
        "colis.cours.example.com\tv1\t['v1alpha1*', 'v1']\t['v1alpha1', 'v1']\t2\tmigrate v1alpha1 -> v1",
        "memoires.example.com\tv1\t[]\t['v1']\t?\tok",
        "2 definitions, 1 to migrate",
    )
)
ONE_SPACE = """
DEFINITION STORED SERVED IN ETCD OBJECTS STATE
colis.cours.example.com v1 v1alpha1*,v1 v1alpha1,v1 2 migrate v1alpha1 -> v1
memoires.example.com v1 - v1 0 ok
2 definitions, 1 to migrate
"""
COLOURED = ALIGNED.replace("migrate v1alpha1", "\x1b[31mmigrate v1alpha1").replace("-> v1\n", "-> v1\x1b[0m\n")


@pytest.mark.parametrize(
    "text",
    [ALIGNED, FRENCH, OTHER_ORDER, BARS, MARKDOWN, TABS, ONE_SPACE, COLOURED],
    ids=["aligned", "french", "other-order", "bars", "markdown", "tabs", "one-space", "coloured"],
)
def test_one_report_is_read_alike_in_every_look(judge: ModuleType, text: str) -> None:
    report = judge.read(text)
    assert set(report.rows) == {"colis.cours.example.com", "memoires.example.com"}
    colis, memoires = report.rows["colis.cours.example.com"], report.rows["memoires.example.com"]
    assert judge.versions_in(colis["stored"]) == {"v1": False}
    assert judge.versions_in(colis["served"]) == {"v1alpha1": True, "v1": False}
    assert judge.versions_in(colis["persisted"]) == {"v1alpha1": False, "v1": False}
    assert "2" in colis["objects"]
    assert judge.to_migrate(colis["state"])
    assert judge.versions_in(memoires["served"]) == {}
    assert judge.versions_in(memoires["persisted"]) == {"v1": False}
    assert not judge.to_migrate(memoires["state"])
    assert report.last.startswith("2 d")


@pytest.mark.parametrize("text", ["", "\n\n", "all is well", "colis.cours.example.com v1 v1alpha1 v1", "STORED SERVED"])
def test_what_has_no_titles_is_no_table(judge: ModuleType, text: str) -> None:
    report = judge.read(text)
    assert (report.titles, report.rows) == ((), {})


@pytest.mark.parametrize("said", ["migrate v1alpha1 -> v1", "à migrer", "TO MIGRATE", "v1beta1 → v1", "Yes", "oui"])
def test_these_say_that_there_is_something_to_migrate(judge: ModuleType, said: str) -> None:
    assert judge.to_migrate(said)


@pytest.mark.parametrize(
    "said", ["", "ok", "-", "no migration", "rien à migrer", "nothing to migrate", "non", "up to date"]
)
def test_these_say_that_there_is_nothing_to_migrate(judge: ModuleType, said: str) -> None:
    assert not judge.to_migrate(said)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("v1", {"v1": False}),
        ("v1alpha1*,v1", {"v1alpha1": True, "v1": False}),
        ("v1, v1alpha1 *", {"v1": False, "v1alpha1": True}),
        ("*v1alpha1, v1", {"v1alpha1": True, "v1": False}),
        ("v1beta2 [deprecated]; v2", {"v1beta2": True, "v2": False}),
        ("v1beta1(dépréciée) v1", {"v1beta1": True, "v1": False}),
        ("v1 v1beta1 deprecated", {"v1": False, "v1beta1": True}),
        ("-", {}),
        ("", {}),
    ],
)
def test_versions_are_read_with_their_marks(judge: ModuleType, cell: str, expected: dict[str, bool]) -> None:
    assert judge.versions_in(cell) == expected


def test_of_a_report_without_end_a_part_is_read(judge: ModuleType) -> None:
    """Its patterns take the square of a line's length, and run outside of any limit."""
    titles, row = ALIGNED.strip().splitlines()[:2]
    many = judge.read("\n".join([titles, *(f"n{n}.example.com  v1" for n in range(5_000)), "5000 and 7"]))
    assert 1_000 < len(many.rows) <= judge.MOST_LINES
    assert many.last == "5000 and 7"
    long = judge.read("\n".join((titles, row + " ," * 100_000, "9" * 100_000)))
    assert max(map(len, long.rows["colis.cours.example.com"].values())) <= judge.LONGEST_LINE
    assert len(long.last) <= judge.LONGEST_LINE


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("12 definitions, 3 to migrate", {12, 3}),
        ("12 of 14: 12 and 2", {12, 14, 2}),
        ("9" * 900, set()),
        (" ".join(map(str, range(400))), set()),
    ],
)
def test_a_last_line_says_few_numbers_that_can_be_read(judge: ModuleType, line: str, numbers: set[int]) -> None:
    assert judge.numbers_in(line) == numbers
