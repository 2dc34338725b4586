"""A preview, shown: fates counted and told by an example, versions with what stands in their way, the JSON of all."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from labkit.show import preview, views
from labkit.trace.preview import Fate

from .samples_preview import FATES, PREVIEW


def lines(value: object) -> list[str]:
    return [" ".join(line.split()) for line in views.text(value).splitlines()]


def test_the_text_counts_fates_and_tells_each_by_an_example() -> None:
    assert lines(PREVIEW) == [
        "preview of colis.cours.example.com: 1,203 objects; 1 refused, 1,200 losing something, 2 forgiven, "
        "2 not to be created anew",
        "the new definition: refused in place of the old one",
        "the server's answer",
        'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions',
        "what follows is what it would do if it were taken",
        'Warning: unrecognized format "taille"',
        "read and written in v1:",
        "# objects stored in next read next write created anew for example",
        "1 1 v0 cannot be read refused unknown ch54/parti",
        "2 1,200 v1alpha1 1 lost, 1 null dropped, 1 filled in accepted, 1 lost, 1 filled in accepted "
        "ch54/a, ch54/b, ch54/c, …",
        "3 2 v1 as stored forgiven refused ch54/d, ch54/e",
        "while one object cannot be read, no list of them works, nor a deletion of the definition",
        "1: 1 object like ch54/parti",
        "when field what detail",
        "next read cannot be read request to convert CR from an invalid group/version: cours.example.com/v0",
        "next write refused request to convert CR from an invalid group/version: cours.example.com/v0",
        "created anew unknown it cannot be read",
        "2: 1,200 objects like ch54/a",
        "when field what detail",
        "next read spec.<vieux> lost stored now, not shown any more",
        "spec.rien null dropped may not be null",
        'spec.web filled in {"n":2}',
        "next write spec.seul lost shown now, not stored any more",
        "spec.api filled in 1",
        "3: 2 objects like ch54/d",
        "when field what detail",
        "next write spec.taille forgiven Unsupported value: 9: supported values: 1, 2",
        "created anew spec.taille refused Unsupported value: 9: supported values: 1, 2",
        "spec refused self.a <= self.b → Invalid value: too many",
        "version in the new definition objects stored in it status.storedVersions can it be removed?",
        "v1alpha1 served 0 no yes; it is still served, and who uses it would get 404",
        "v1 served, stored 1,202 yes no: new writes are stored in it; 1,202 objects are stored in it",
        "v2 neither served nor stored not visible not known nothing known stands in its way, but what is stored and "
        "storedVersions could not be seen",
        "v0 not in it 1 yes it is, too early: 1 object is stored in it",
    ]


def test_a_definition_that_is_refused_whatever_it_replaces_has_no_table() -> None:
    bare = replace(PREVIEW, version="", total=0, fates=(), replaces=False)
    assert lines(bare)[0] == "preview of colis.cours.example.com: the definition is refused"
    assert "so no object can be looked at" in lines(bare)
    assert not any(line.startswith("#") for line in lines(bare))


def test_what_could_not_be_seen_is_said() -> None:
    assert "etcd cannot be read" in lines(replace(PREVIEW, unseen="etcd cannot be read"))


def test_of_many_fates_the_rest_is_counted() -> None:
    many = replace(PREVIEW, fates=tuple(Fate(3, ("x",), FATES[2].forecast) for _ in range(23)))
    found = lines(many)
    assert "and 3 more, of 9 objects: -o json has every object" in found
    assert sum(line.endswith("like ch54/d") for line in found) == preview.FATES


def test_a_page_shows_a_field_of_that_name_and_runs_nothing() -> None:
    page = views.page(PREVIEW)
    assert "spec.&lt;vieux&gt;" in page
    assert "<vieux>" not in page


def test_the_json_has_every_object() -> None:
    written = io.StringIO()
    with preview.JsonObjects() as every:
        for fate in FATES:
            every.add(fate.forecast)
        assert written.getvalue() == "", "nothing is written before all of it is known"
        every.write(PREVIEW, written)
    found = json.loads(written.getvalue())
    assert [one["name"] for one in found["objects"]] == ["parti", "a", "d"]
    assert found["objects"][1] == FATES[1].forecast.to_json()
    assert found["counts"]["objects"] == 1203
    assert found["harmless"] is False


def test_the_json_of_no_object_is_json_too() -> None:
    written = io.StringIO()
    with preview.JsonObjects() as every:
        every.write(replace(PREVIEW, fates=()), written)
    assert json.loads(written.getvalue())["objects"] == []
