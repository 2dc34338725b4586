"""A notebook in French is the same notebook in other words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.course.catalogues import Catalogue, catalogue, notebook_in, notebook_texts
from labkit.course.notebook import SECTIONS, language_of, load
from labkit.errors import CourseError

REPOSITORY = Path(__file__).resolve().parents[2]


class _Louder(Catalogue):
    def text(self, context: str, english: str) -> str:
        return f"{english.upper()} ({context})"


@pytest.mark.parametrize("name", SECTIONS.values())
def test_only_prose_changes(name: str, tmp_path: Path) -> None:
    english = json.loads((REPOSITORY / "notebooks" / name).read_text(encoding="utf-8"))
    french = notebook_in("fr", english, _Louder({}))
    assert french["metadata"]["labkit"] == english["metadata"]["labkit"] | {"lang": "fr"}
    for one, other in zip(english["cells"], french["cells"], strict=True):
        assert (one["id"], one["metadata"]) == (other["id"], other["metadata"])
        same = one["source"] == other["source"]
        assert same if one["cell_type"] == "code" else not same
        assert not other.get("outputs")
    path = tmp_path / name
    path.write_text(json.dumps(french), encoding="utf-8")
    steps = [[step.id for step in load(one).steps] for one in (path, REPOSITORY / "notebooks" / name)]
    assert steps[0] == steps[1]
    assert language_of([tmp_path / "nothing", tmp_path]) == "fr"


def test_what_a_catalogue_does_not_have_stays_english() -> None:
    english = json.loads((REPOSITORY / "notebooks" / "04-cel.ipynb").read_text(encoding="utf-8"))
    (first, text), *_ = notebook_texts(english)
    said = Catalogue({(first, text): ("# Des règles\n",)})
    cells = [cell for cell in notebook_in("fr", english, said)["cells"] if cell["cell_type"] == "markdown"]
    assert cells[0]["source"] == ["# Des règles\n"]
    assert "".join(cells[1]["source"]) == "## Three rules"


def test_the_repository_is_english_and_its_catalogues_are_read() -> None:
    assert language_of([REPOSITORY / "notebooks"]) == "en"
    assert catalogue(REPOSITORY, "fr", "04-cel").text("cell-03", "## Three rules") == "## Trois règles"
    assert catalogue(REPOSITORY, "en", "04-cel").text("cell-03", "## Three rules") == "## Three rules"


def test_a_catalogue_that_is_none_is_named(tmp_path: Path) -> None:
    place = tmp_path / "locale" / "fr" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "04-cel.po").write_text("neither this\nnor that\n", encoding="utf-8")
    with pytest.raises(CourseError, match=r"04-cel\.po: no catalogue"):
        catalogue(tmp_path, "fr", "04-cel")
