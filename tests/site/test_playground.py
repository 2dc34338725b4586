"""The verdict in the page is the API server's: as the native trace has it, and as kubectl printed it."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from labkit.languages import speaking
from labkit.show import celcost, trace, trace_words
from labkit.show.document import Code, Document, Facts, Fold, Note, Part, Table
from labkit.trace import engine
from labkit.trace.celcost import Costs
from labkit.trace.values import Trace
from tests.trace.advised import ADVISED
from tests.trace.parity.cases import Case, load
from tests.trace.parity.server import plain

from .conftest import CRD, EXAMPLE, ROOT, Visits, judged, printed, verdict
from .first_exercise import recorded

OF_EACH_TOPIC = 3
ASK = """async (requests) => {
    const answers = [];
    for (const request of requests) answers.push((await engine.put({ask: request}, () => {})).answer);
    return answers;
}"""
JUDGE = """async (questions) => {
    const views = [];
    for (const judge of questions) {
        const view = {};
        await engine.put({judge}, (message) => Object.assign(view, message));
        views.push(view);
    }
    return views;
}"""


def requests() -> list[dict[str, Any]]:
    """Of each topic of the recorded cases some, spread over it, as the trace is asked."""
    found = []
    for _, group in groupby(load(), key=lambda case: case.topic):
        cases = list(group)
        found += [_request(case) for case in cases[:: max(1, len(cases) // OF_EACH_TOPIC)][:OF_EACH_TOPIC]]
    return found


def _request(case: Case) -> dict[str, Any]:
    old = {} if case.old is None else {"old": json.dumps(case.old)}
    if case.defines:
        before = {} if case.old is None else {"oldDefinition": old["old"]}
        return {"do": "define", "definition": json.dumps(case.body), "fieldValidation": case.field_validation} | before
    body = case.body if isinstance(case.body, str) else json.dumps(case.body)
    request = {
        "do": "trace",
        "definition": json.dumps(case.type.document),
        "object": old["old"] if case.operation == "read" else body,
        "operation": case.operation,
        "readVersion": case.read_version,
        "fieldValidation": case.field_validation,
    }
    return request | (old if case.operation == "update" else {})


def test_the_recorded_cases_get_the_same_answers_in_the_page_as_natively(loaded: Page) -> None:
    asked = requests()
    answers = loaded.evaluate(ASK, asked)
    native = [engine().ask(one) for one in asked]
    verdicts = [one["result"]["verdict"] for one in native if "result" in one]
    assert min(verdicts.count("accepted"), verdicts.count("refused")) > 50
    assert sum(bool(one.get("result", {}).get("lines")) for one in native) > 50
    for request, here, there in zip(asked, answers, native, strict=True):
        same = plain(json.dumps(there, sort_keys=True)) == plain(json.dumps(json.loads(here), sort_keys=True))
        assert same, f"{request}\n{here}\n{there}"


# -- what is shown ---------------------------------------------------------------------------------------------------


def shown(part: Part) -> Any:
    """A part of a document as the page's script has it."""
    if isinstance(part, Note):
        return {"kind": "note", "text": part.text}
    if isinstance(part, Table):
        return {
            "kind": "table",
            "columns": list(part.columns),
            "rows": [[cell(one) for one in row] for row in part.rows],
        }
    if isinstance(part, Facts):
        return {"kind": "facts", "pairs": [[name, cell(one)] for name, one in part.pairs]}
    if isinstance(part, Code):
        return {
            "kind": "code",
            "lines": [asdict(line) for line in part.lines],
            "caption": part.caption,
            "signs": part.signs,
        }
    assert isinstance(part, Fold)
    parts = [shown(one) for one in part.parts]
    return {"kind": "fold", "summary": part.summary, "parts": parts, "mark": part.mark, "opened": part.opened}


def cell(one: Any) -> dict[str, Any]:
    return {"text": one.text, "mark": one.mark, "code": one.code}


def fits(value: Any) -> bool:
    """Whether the page shows all of it: no list and no text is longer than it shows."""
    if isinstance(value, str):
        return len(value) <= 20_000
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return len(inner) <= 300 and all(map(fits, inner))


def as_shown(document: Document) -> dict[str, Any]:
    return {"title": document.title, "parts": [shown(part) for part in document.parts]}


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_a_path_and_its_costs_are_told_as_in_a_notebook_word_for_word(visit: Visits, lang: str) -> None:
    """In French, which only has other words, a part of the cases; every advice on costs in both."""
    asked = [one for one in requests() if one["do"] == "trace" and one["operation"] != "read"]
    asked = asked[:: {"en": 1, "fr": 2}[lang]]
    questions: list[dict[str, Any]] = [
        {"old": "", **{key: one[key] for key in ("definition", "object", "old", "fieldValidation") if key in one}}
        for one in asked
    ]
    questions += [{"old": "", "object": "", "definition": json.dumps(body)} for body in ADVISED.values()]
    page = visit(lang)
    judged(page)
    views = page.evaluate(JUDGE, questions)
    compared = advised = 0
    with speaking(lang):
        source = json.loads((ROOT / "labkit/site/playground" / f"{lang}.json").read_text("utf-8"))["costs.source"]
        for question, view in zip(questions, views, strict=True):
            request = {key: text for key, text in question.items() if text}
            answer = engine().ask({"do": "trace", **request})
            told = as_shown(trace.full_document(Trace.from_answer(answer["result"]))) if "result" in answer else None
            if told and fits(told):
                compared += 1
                seen = {"title": view["verdict"]["summary"], "parts": view["verdict"]["parts"]}
                assert plain(json.dumps(seen)) == plain(json.dumps(told))
            if view.get("costs"):
                result = engine().ask({"do": "cel-cost", "definition": question["definition"]})["result"]
                costs = Costs.from_answer(result, source)
                known = as_shown(celcost.document(costs))
                if fits(known):
                    advised += any(one.advice for one in costs.expressions)
                    assert plain(json.dumps(view["costs"])) == plain(json.dumps(known))
    assert compared > {"en": 50, "fr": 25}[lang]
    assert advised >= len(ADVISED)
    assert {"en": "one more would be too many", "fr": "un de plus serait de trop"}[lang] in json.dumps(views)


def test_the_titles_of_stages_and_the_reasons_of_skipped_rules_are_those_of_the_program() -> None:
    stages, reasons = {}, set()
    for request in (_request(case) for case in load() if not case.defines):
        for stage in engine().ask(request).get("result", {}).get("stages", ()):
            stages[f"stage.{stage['name']}"] = stage["title"]
            reasons |= {f"skipped.{rule['skipped']}" for rule in stage.get("rules", ()) if rule["skipped"]}
    words = trace_words.WORDS
    assert stages == {key: text for key, text in words.items() if key.startswith("stage.")}
    assert reasons == {key for key in words if key.startswith("skipped.")}


# -- as kubectl prints it --------------------------------------------------------------------------------------------


def test_the_first_exercises_objects_get_the_lines_that_kubectl_printed(loaded: Page) -> None:
    commands = list(recorded())
    assert [(one.name, one.validate) for one in commands] == [
        ("a", "Strict"), ("a", "Ignore"), ("b", "Strict"), ("c", "Strict"), ("d", "Strict"),
    ]  # fmt: skip
    for one in commands:
        judged(loaded, definition=EXAMPLE.definition, object=one.object, validate=one.validate)
        assert tuple(line.rstrip() for line in printed(loaded)) == one.said


def test_a_definition_that_the_server_refuses_is_refused_in_kubectls_words_and_its_costs_are_told(loaded: Page) -> None:
    definition = (CRD / "03-e-liste-sans-borne.yaml").read_text("utf-8")
    assert judged(loaded, definition=definition, object="") == "The definition: refused"
    said = printed(loaded)
    assert said[0].rstrip() == 'The CustomResourceDefinition "colis.cours.example.com" is invalid:'
    assert [line[2:] for line in said[1:]] == list(engine().define(definition).lines)
    advice = loaded.locator("#costs").inner_text()
    assert "maxItems: 659 on spec.fenetres makes it cost 9,999,668 (one more would be too many)" in advice


def test_what_is_there_already_is_replaced_and_a_rule_compares_with_it(loaded: Page) -> None:
    old = yaml.safe_load((CRD / "objects/principal.yaml").read_text("utf-8")) | {"apiVersion": "cours.example.com/v1"}
    new = json.loads(json.dumps(old))
    new["spec"]["version"] = "0.0.1"
    loaded.click("#replaced > summary")
    told = judged(loaded, definition=EXAMPLE.definition, object=json.dumps(new), old=json.dumps(old), validate="Strict")
    assert told == "Colis principal in ch54, v1, sent in place of what is stored: refused"
    assert "pas de retour" in printed(loaded)[0]
    assert judged(loaded, object=json.dumps(old)).endswith(": accepted")
    assert printed(loaded) == ["colis.cours.example.com/principal replaced"]
    judged(loaded, old="")


def test_the_way_of_a_reader_by_keyboard_in_both_languages(visit: Visits) -> None:
    for lang, told, link in (("en", "Colis invalide in ch54, v1", "Français"), ("fr", "Colis invalide", "English")):
        page = visit(lang)
        assert page.locator("html").get_attribute("lang") == lang
        seen = []
        for _ in range(12):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
            if seen[-1] == "judge":
                break
        in_order = [one for one in seen if one in (link, "definition", "object", "validate", "judge")]
        assert in_order == [link, "definition", "object", "validate", "judge"]
        page.keyboard.press("Enter")
        assert verdict(page).startswith(told)
        expect(page.locator("#judge")).to_be_focused()
        page.focus("#object")
        page.keyboard.press("Control+End")
        page.keyboard.type("x: 1")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#results")).to_contain_text('unknown field "x"')
        verdict(page)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") != "object"


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_every_field_and_button_has_a_name_and_the_verdict_is_announced(visit: Visits, lang: str) -> None:
    page = visit(lang)
    named = page.locator("textarea, select, button, input")
    for place in range(named.count()):
        one = named.nth(place)
        label = one.evaluate("one => one.labels?.[0]?.textContent ?? one.textContent")
        assert label.strip(), one.get_attribute("id")
    status = page.locator("#status")
    assert (status.get_attribute("role"), status.get_attribute("aria-live")) == ("status", "polite")
    assert page.locator("#size").inner_text().count(",") + page.locator("#size").inner_text().count(".") >= 1


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("width", [390, 800, 1400])
def test_nothing_is_wider_than_the_window(visit: Visits, lang: str, width: int) -> None:
    page = visit(lang, width=width)
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        judged(page)
        page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")


def test_lines_are_numbered_beside_each_field(visit: Visits) -> None:
    page = visit()
    lines = EXAMPLE.definition.count("\n") + 1
    numbers = page.locator(".field:has(#definition) .numbers")
    assert numbers.text_content() == "\n".join(map(str, range(1, lines + 1)))
    place = "one => { const {top, height} = one.getBoundingClientRect(); return [top, height]; }"
    field, beside = (page.locator(one).evaluate(place) for one in ("#definition", ".field:has(#definition) .numbers"))
    assert beside == pytest.approx(field, abs=2)
    page.locator("#definition").evaluate("one => { one.scrollTop = 200; }")
    expect(numbers).to_have_js_property("scrollTop", 200)


def test_on_paper_all_stages_and_the_whole_texts_are_there_and_no_button(visit: Visits) -> None:
    page = visit(width=800)
    judged(page)
    page.emulate_media(media="print")
    stages = page.locator("#results details")
    assert stages.count() == stages.locator("> summary + p:visible").count() > 5
    assert page.locator("button:visible, select:visible, nav:visible").count() == 0
    for field in ("#definition", "#object"):
        assert page.eval_on_selector(field, "one => one.scrollHeight <= one.clientHeight")
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
