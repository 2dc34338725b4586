"""Every observation has a view, in text and in HTML, that says the same."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pkgutil
from importlib import import_module

import pytest

import labkit.observe
from labkit.observe.definition import Condition
from labkit.observe.migration import KeyMoved
from labkit.show import views
from labkit.show.document import Code, Document, Facts, Fold, Note

from . import samples
from .test_render_html import read


def words(document: Document) -> list[str]:
    """Every text of a document, cell by cell."""
    found = [document.title]
    for part in document.parts:
        if isinstance(part, Note):
            found.append(part.text)
        elif isinstance(part, Facts):
            found += [text for name, value in part.pairs for text in (name, value.text)]
        elif isinstance(part, Code):
            found += [part.caption, *(line.text for line in part.lines)]
        elif isinstance(part, Fold):
            found += [part.summary, *words(Document("", part.parts))]
        else:
            found += [*part.columns, *(cell.text for row in part.rows for cell in row)]
    return found


@pytest.mark.parametrize("value", samples.ALL, ids=lambda value: type(value).__name__)
def test_text_and_html_both_say_all_of_it(value: object) -> None:
    text, html = views.text(value), read(views.html(value)).whole()
    for word in words(views.document(value)):
        assert word in html
        assert word in text


@pytest.mark.parametrize("value", samples.ALL, ids=lambda value: type(value).__name__)
def test_a_view_is_pure(value: object) -> None:
    before = copy.deepcopy(value)
    assert (views.text(value), views.html(value)) == (views.text(before), views.html(before))
    assert value == before


def test_every_sample_is_frozen_and_every_view_has_a_sample() -> None:
    assert {type(value) for value in samples.ALL} == set(views.VIEWS)
    for value in samples.ALL:
        assert dataclasses.is_dataclass(value)
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.anything = 1  # type: ignore[attr-defined]


def test_what_an_observation_returns_has_a_view() -> None:
    """Each public function of the observing modules that returns one of our values returns one that can be shown."""
    unshown = []
    for module in (import_module(f"labkit.observe.{m.name}") for m in pkgutil.iter_modules(labkit.observe.__path__)):
        for name in ("look", "watch", "measure", "clean_up"):
            function = getattr(module, name, None)
            if function is not None and inspect.isfunction(function) and function.__module__ == module.__name__:
                returns = inspect.get_annotations(function, eval_str=True)["return"]
                if returns not in views.VIEWS:
                    unshown.append(f"{module.__name__}.{name}")
    assert unshown == []


def test_a_value_without_a_view_is_a_type_error_that_names_those_with_one() -> None:
    with pytest.raises(TypeError, match=r"int has no view; those that have: .*Migration"):
        views.text(5)


def test_conditions_stand_in_the_order_of_the_server() -> None:
    lines = views.text(samples.DEFINITION).splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["NamesAccepted", "Established"]
    assert "short cl; in cours" in lines[4]
    assert "v1alpha1 (served, deprecated), v1 (served, stored)" in lines[5]


def test_names_nobody_accepted_and_conditions_nobody_set_are_said() -> None:
    bare = dataclasses.replace(
        samples.DEFINITION,
        conditions=(),
        accepted_names=dataclasses.replace(samples.DEFINITION.accepted_names, plural=""),
    )
    assert "no condition yet" in views.text(bare)
    assert "none yet" in views.text(bare)


def test_stored_and_read_stand_side_by_side_with_what_happened_to_each_field() -> None:
    lines = {line.split()[0]: line.split()[1:] for line in views.text(samples.STORED).splitlines() if line}
    assert lines["apiVersion"] == ['"cours.example.com/v1alpha1"', '"cours.example.com/v1"', "(converted)"]
    assert lines["spec.base.n"] == ["–", "1", "(defaulted)"]
    assert lines["spec.wroker.max"] == ["5", "–", "(pruned)"]
    assert lines["spec.l"] == ["[1]", "[1]"]
    assert "mod revision 417" in views.text(samples.STORED)


def test_a_refusal_is_shown_by_field_and_one_without_causes_by_its_message() -> None:
    assert "refused (422)" in views.text(samples.REFUSED)
    assert "spec    Required value" in views.text(samples.REFUSED)
    assert samples.REFUSED.refusal is not None
    bare = dataclasses.replace(samples.REFUSED, refusal=dataclasses.replace(samples.REFUSED.refusal, causes=()))
    assert "refused (422): all of it" in views.text(bare)


def test_a_manifest_that_is_stored_as_it_is_has_no_changes_to_show() -> None:
    same = dataclasses.replace(samples.FIELDS, changes=(), warnings=())
    assert "nothing was pruned and nothing filled in" in views.text(same)


def test_a_failed_migration_says_so_in_its_title_and_warns_of_what_the_list_no_longer_names() -> None:
    failed = dataclasses.replace(
        samples.MIGRATION,
        conditions=(Condition("Failed", "True", "StorageVersionMigrationFailed", "principal stays"),),
        keys=(KeyMoved("/k", "v1alpha1", "v1alpha1", rewritten=False),),
    )
    title, *rest = views.text(failed).splitlines()
    assert title.endswith("failed: principal stays")
    assert any("no longer name v1alpha1" in line for line in rest)


def test_keys_that_came_or_went_and_those_that_cannot_be_read_are_told_apart() -> None:
    moved = (KeyMoved("/new", "", "v1", rewritten=True), KeyMoved("/gone", "v1", "", rewritten=False))
    text = views.text(dataclasses.replace(samples.MIGRATION, keys=moved))
    assert "created meanwhile" in text
    assert "deleted meanwhile" in text
    assert "not shown, because" in views.text(dataclasses.replace(samples.MIGRATION, keys=None))


def test_the_cost_is_shown_with_units_and_its_noise_only_when_it_was_repeated() -> None:
    title, *rest = views.text(samples.COST).splitlines()
    assert title == "1, 10 and 50 definitions, sent through the API, 2 rounds on one server"
    text = "\n".join(rest)
    assert "+235 bytes   R² 1.000" in text
    assert "+71.9 MiB" in text
    assert "-41.7 MiB" in text
    assert "API server, etcd and controllers in one process" in text
    assert "the noise" not in views.text(dataclasses.replace(samples.COST, rounds=samples.COST.rounds[:1]))


def test_whose_memory_it_is_and_whether_rounds_began_alike_is_said() -> None:
    real = dataclasses.replace(samples.COST, whole=False)
    assert "Memory is that of the API server's process" in views.text(real)
    title = views.text(samples.OBJECTS_COST).splitlines()[0]
    assert title == "1 definition with 0, 100 and 1000 objects, sent through the API, 1 round each on a new cluster"


def test_what_cleaning_up_left_is_not_called_clean() -> None:
    assert views.text(samples.CLEANED).startswith("cleaned up\n")
    dirty = dataclasses.replace(samples.CLEANED, left=("namespaces/ch54",), keys_left=3)
    assert views.text(dirty).startswith("not everything is gone\n")
    assert "3 (of 2 before)" in views.text(dirty)
    nothing = dataclasses.replace(samples.CLEANED, deleted=(), absent=())
    assert "nothing was deleted" in views.text(nothing)
    closed = dataclasses.replace(samples.CLEANED, keys_before=None, keys_left=None)
    assert "etcd cannot be read" in views.text(closed)
