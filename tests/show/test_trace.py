"""The path of an object, shown: every stage and every word of it, as text, as a page, and page by page."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import pytest

from labkit.cluster.kubectl import LAST_APPLIED
from labkit.show import ipython, render_text, trace, trace_widget, views
from labkit.show.document import Code, Document, Fold, Part
from labkit.trace.values import Trace

from . import samples
from .test_render_html import read

RAW: dict[str, Any] = samples.TRACE.to_json()


def changed(**parts: Any) -> Trace:
    return Trace.from_answer(copy.deepcopy(RAW) | parts)


def marked(parts: tuple[Part, ...]) -> list[str]:
    """The marked lines of code in these parts, with their marks."""
    inside = [one for part in parts if isinstance(part, Fold) for one in part.parts]
    lines = [line for part in (*parts, *inside) if isinstance(part, Code) for line in part.lines]
    return [f"{line.mark} {line.text.strip()}" for line in lines if line.mark]


def test_the_text_is_a_table_with_a_line_for_each_thing_done() -> None:
    lines = [" ".join(line.split()) for line in views.text(samples.TRACE).splitlines()]
    assert lines[0] == "Colis mauvais in ch54, v1alpha1, sent as new: refused"
    assert lines[1:] == [
        "stage field what detail",
        "1 decoding spec.version given twice",
        "spec.wroker unknown",
        '2 pruning spec.wroker pruned {"max":5}',
        '3 defaulting spec.worker defaulted {"min":0,"max":5}',
        "4 admission none configured",
        "5 validation spec.api.replicas refused Invalid value: 0: spec.api.replicas in body should be greater than or "
        "equal to 1",
        "6 cel 1 passed, 1 skipped; cost 7 of 10,000,000",
        "spec.worker passed, cost 7 self.min <= self.max",
        "spec skipped: no old value self.version >= oldSelf.version",
        'Warning: unknown field "spec.wroker"',
        "the server's answer: 422 Invalid",
        "spec.api.replicas: Invalid value: 0: spec.api.replicas in body should be greater than or equal to 1",
    ]


def test_everything_the_text_says_the_html_says_too() -> None:
    html = " ".join(read(views.html(samples.TRACE)).whole().split())
    for part in trace.document(samples.TRACE).parts:
        for row in getattr(part, "rows", ()):
            for cell in row[1:]:
                assert " ".join(cell.text.split()) in html


def test_in_html_a_stage_where_something_happened_is_open_and_the_others_are_there() -> None:
    folds = [part for part in trace.full_document(samples.TRACE).parts if isinstance(part, Fold)]
    assert [fold.summary.partition(":")[0] for fold in folds if fold.opened] == [
        "1 decoding",
        "2 pruning",
        "3 defaulting",
        "5 validation",
        "6 cel",
    ]
    assert [fold.summary for fold in folds if not fold.opened] == ["4 admission: none configured"]
    assert views.html(samples.TRACE).count("<details") == 6


def test_what_changed_between_two_stages_is_marked_in_the_object() -> None:
    assert marked(trace.full_document(samples.TRACE).parts) == [
        'removed "wroker": {',
        'removed "max": 5',
        "removed }",
        'added "worker": {',
        'added "max": 5,',
        'added "min": 0',
        "added }",
    ]


@pytest.mark.parametrize("made", [views.html, views.page])
def test_a_script_in_an_object_is_shown_and_not_run(made: Any) -> None:
    reader = read(made(samples.TRACE).removeprefix("<!DOCTYPE html>\n").replace("<meta", "<hr"))
    assert samples.EVIL in reader.whole()
    assert "script" not in reader.tags


def test_a_page_needs_nothing_else_and_may_run_nothing() -> None:
    page = views.page(samples.TRACE)
    assert page.startswith("<!DOCTYPE html>") and "default-src 'none'" in page
    assert not {"src", "href"} & {name for name, _ in read(page.partition("\n")[2].replace("<meta", "<hr")).attributes}


def test_an_unknown_verdict_says_why() -> None:
    text = views.text(changed(verdict="unknown", reason="strategy: Webhook", status=None, lines=[]))
    assert text.splitlines()[0].endswith("sent as new: unknown, because strategy: Webhook")
    text = views.text(changed(verdict="accepted", reason="it cannot be read back: a b", status=None, lines=[]))
    assert text.splitlines()[0].endswith("sent as new: accepted, but it cannot be read back: a b")


def test_what_is_stored_and_read_is_told_without_the_fields_managers() -> None:
    held = {"kind": "Colis", "metadata": {"name": "a", "managedFields": [{"manager": "kubectl"}]}}
    text = views.text(changed(verdict="accepted", status=None, lines=[], stored=held, read={"kind": "Colis"}))
    assert text.splitlines()[-2:] == [
        'in etcd:   {"kind":"Colis","metadata":{"name":"a"}}',
        'read:      {"kind":"Colis"}',
    ]
    text = views.text(changed(verdict="accepted", status=None, lines=[], stored=held, read=held))
    assert text.splitlines()[-1] == 'in etcd, and read:   {"kind":"Colis","metadata":{"name":"a"}}'


def test_a_manifest_that_kubectl_keeps_in_the_object_is_not_shown_twice() -> None:
    held = {"metadata": {"annotations": {LAST_APPLIED: '{"kind": "Colis"}', "note": "essai"}}}
    assert '"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"…","note":"essai"}' in views.text(
        changed(verdict="accepted", status=None, lines=[], stored=held)
    )


def test_a_stage_that_refuses_is_marked_whatever_it_is() -> None:
    refused = changed(stages=RAW["stages"][:1], lines=["strict decoding error"])
    (fold,) = (part for part in trace.full_document(refused).parts if isinstance(part, Fold))
    assert fold.mark == "bad" and fold.opened


def test_the_decoders_own_words_stand_beside_the_field_they_are_about() -> None:
    first = RAW["stages"][0] | {"errors": ['unknown field "spec.wroker"', "line 3:\n  mapping"]}
    lines = [" ".join(line.split()) for line in views.text(changed(stages=[first])).splitlines()]
    assert lines[2:5] == [
        "1 decoding spec.version given twice",
        'spec.wroker unknown unknown field "spec.wroker"',
        "cannot be read line 3: mapping",
    ]


def test_a_stage_that_changed_nothing_is_not_given_an_object() -> None:
    assert [before is not after for _, before, after in samples.TRACE.steps] == [True, True, True, False, False, False]


# -- the widget ------------------------------------------------------------------------------------------------------


def told(box: Any) -> str:
    """What the widget shows: the heading, and the body."""
    return "".join(read(one.value).whole() for one in box.children[2:])


def test_the_widget_goes_forward_and_back_and_stays_within_the_path() -> None:
    box = trace_widget.widget(samples.TRACE)
    back, forward, chosen = box.children[1].children
    assert "stage 1 of 6, decoding: 2 fields to complain of" in told(box)
    forward.click()
    assert "stage 2 of 6, pruning: 1 field pruned" in told(box) and "wroker" in told(box)
    for _ in range(9):
        forward.click()
    assert "outcome: refused" in told(box)
    for _ in range(9):
        back.click()
    assert chosen.value == 0
    chosen.value = 4
    assert "should be greater than or equal to 1" in told(box)


def test_each_control_has_a_name_in_words_and_none_is_ever_taken_away_from_the_keyboard() -> None:
    box = trace_widget.widget(samples.TRACE)
    back, forward, chosen = box.children[1].children
    assert (back.description, forward.description, chosen.description) == ("back", "forward", "stage")
    assert [text for text, _ in chosen.options][3:] == ["4 admission", "5 validation", "6 cel", "outcome"]
    by_keys = (widgets.Button, widgets.ToggleButtons)  # lists and menus live on arrow keys, which JupyterLab takes
    assert all(isinstance(control, by_keys) for control in (back, forward, chosen))
    for _ in range(9):
        forward.click()
    assert not (back.disabled or forward.disabled or chosen.disabled)
    assert ("role", "status") in read(box.children[2].value).attributes


def test_what_is_still_to_come_is_not_told_before() -> None:
    box = trace_widget.widget(samples.TRACE)
    assert "refused" not in read(box.children[0].value).whole() + told(box)


def test_the_widget_shows_the_whole_object_at_a_stage_and_escapes_it() -> None:
    box = trace_widget.widget(samples.TRACE)
    reader = read(box.children[3].value)
    assert samples.EVIL in reader.whole() and "script" not in reader.tags
    assert "…" not in reader.whole()
    box.children[1].children[2].value = 5
    assert '"kind": "Colis"' in read(box.children[3].value).whole(), "what the rules see"


def test_a_mimebundle_of_the_widget_leaves_text_and_html_to_the_views() -> None:
    assert set(ipython.widget_view(trace_widget.widget(samples.TRACE))) == {ipython.WIDGET_VIEW}


# -- code and folds, which other views may use too -------------------------------------------------------------------


def test_text_has_all_of_a_fold_with_a_sign_before_each_marked_line() -> None:
    pages = trace.pages(samples.TRACE)
    text = render_text.render(Document("", (Fold("summary", pages[1][1].parts),)))
    assert text.startswith("summary\n  prune\n")
    assert '  -     "wroker": {' in text.splitlines()


def test_a_trace_of_nothing_can_be_shown() -> None:
    empty = replace(samples.TRACE, stages=())
    assert views.text(empty).startswith("an object")
    assert len(trace.pages(empty)) == 1
