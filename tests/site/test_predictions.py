"""Predictions on a page: what each answer gets in a notebook is what it gets in a browser, in both languages."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from labkit.course.notebook import load_all
from labkit.errors import NotebookError
from labkit.languages import LANGUAGES, speaking
from labkit.observe.foreseen import foresee
from labkit.observe.prediction import Prediction, score
from labkit.observe.verdict import GRAVEST_FIRST
from labkit.show import prediction as view
from labkit.show.document import Table
from labkit.site import predictions
from tests import browser

from .conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
STEP = "path/predict"
EVERY_ANSWER = """([outcomes, fields, rules]) => {
    const form = document.querySelector(".form form");
    const told = document.querySelector(".form [role=status]");
    const texts = (row) => [...row.cells].map((one) => one.textContent);
    const answers = [];
    for (const outcome of outcomes) for (const field of fields) for (const rule of rules) {
        form.reset();
        form.querySelector(`input[value="${outcome}"]`).checked = true;
        form.elements.field.value = field;
        form.elements.rule.value = rule;
        form.requestSubmit();
        const tables = [...told.querySelectorAll("table")].map((table) => [...table.rows].map(texts));
        const marks = [...told.querySelectorAll("tbody td")].map((one) => one.className);
        answers.push([told.querySelector(".labkit-title").textContent, tables, marks]);
    }
    return answers;
}"""


def notebook(path: Path = ROOT / "notebooks/03-path.ipynb") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def cell(told: dict[str, Any], step: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in told["cells"] if one["metadata"].get("labkit", {}).get("step") == step)
    return found


def form(lang: str) -> str:
    told = notebook()
    made = predictions.form(cell(told, STEP), told, lang, root=ROOT)
    assert made is not None
    return made


def small(lang: str, step: str = "cel/refused-default", name: str = "04-cel.ipynb") -> str:
    made = predictions.question(cell(notebook(ROOT / "notebooks" / name), step), lang)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in each language with the form, and one question that it accepts and one that it refuses."""
    folder = tmp_path_factory.mktemp("predictions")
    for name, content in predictions.FILES:
        (folder / name).write_bytes(content)
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'none'"
    for lang in LANGUAGES:
        accepted = small(lang, "a-new-type/anything-goes", "01-a-new-type.ipynb")
        (folder / f"{lang}.html").write_text(
            f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8"><title>x</title>'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<link rel="stylesheet" href="predictions.css"><script src="predictions.js" defer></script></head>'
            f'<body><main><h1>x</h1><div class="form">{form(lang)}</div><div class="refused">{small(lang)}</div>'
            f'<div class="accepted">{accepted}</div></main></body></html>',
            encoding="utf-8",
        )
    return folder


def opened(pages: Path, chromium: Browser, lang: str = "en", *, forbids: bool = False, script: bool = True) -> Page:
    context = chromium.new_context(java_script_enabled=script)
    page = context.new_page()
    page.set_default_timeout(browser.LIMIT_S * 1000)
    page.on("console", lambda message: pytest.fail(message.text))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    if forbids:
        page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
        )
    page.goto(f"{pages.as_uri()}/{lang}.html")
    return page


def options(html: str, name: str) -> list[str]:
    """The values of a select."""
    found: dict[str, list[str]] = {}

    class Reader(HTMLParser):
        now = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag == "select":
                self.now = given["name"] or ""
            if tag == "option":
                found.setdefault(self.now, []).append(given["value"] or "")

    Reader().feed(html)
    return found[name]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_answer_gets_in_a_browser_the_words_it_gets_in_a_notebook(
    pages: Path, chromium: Browser, lang: str
) -> None:
    html = form(lang)
    said: list[list[str]] = [list(GRAVEST_FIRST), options(html, "field"), options(html, "rule")]
    assert [len(one) > 6 for one in said[1:]] == [True, True]
    page = opened(pages, chromium, lang)
    shown = page.evaluate(EVERY_ANSWER, said)
    page.context.close()
    lab = predictions._Asking(ROOT)
    manifest = lab.load("crd/objects/mauvais.yaml")
    manifest["metadata"]["name"] = "mauvais-2"
    seen = foresee(manifest, lab.load("crd/02-colis-schema.yaml"), checking="warn")
    titles = set()
    with speaking(lang):
        for (outcome, field, rule), (title, tables, marks) in zip(product(*said), shown, strict=True):
            document = view.document(score(Prediction.of(outcome, field, rule), seen))
            titles.add(document.title)
            assert title == document.title, (outcome, field, rule)
            parts = [part for part in document.parts if isinstance(part, Table)]
            texts = [[list(one.columns), *([c.text for c in row] for row in one.rows)] for one in parts]
            assert tables == texts, (outcome, field, rule)
            cells = [one for part in parts for row in part.rows for one in row]
            assert marks == [f"labkit-{one.mark}" if one.mark else "" for one in cells]
    assert len(titles) == 3


def test_a_reader_predicts_by_keyboard_alone_and_is_told_the_result(pages: Path, chromium: Browser) -> None:
    page = opened(pages, chromium)
    told = page.locator(".form [role=status]")
    assert told.get_attribute("aria-live") == "polite"
    expect(page.locator(".form details")).to_be_hidden()
    keys = page.keyboard
    keys.press("Tab")
    keys.press("ArrowUp")  # from no choice to the last: refused
    assert page.locator(".form input:checked").get_attribute("value") == "refused"
    keys.press("Tab")
    keys.type("spec.api.replicas")
    keys.press("Tab")
    keys.type("type")
    keys.press("Tab")
    assert page.locator(".form button[type=submit]").evaluate("(one) => one === document.activeElement")
    keys.press("Enter")
    expect(told).to_contain_text("your prediction is right")
    expect(told).to_contain_text("must be of type integer")
    page.context.close()


def test_each_control_has_a_name_that_is_read_aloud(pages: Path, chromium: Browser) -> None:
    page = opened(pages, chromium)
    for role, name in (
        ("group", "outcome"),
        ("combobox", "field"),
        ("combobox", "rule"),
        ("radio", "refused: not stored"),
    ):
        expect(page.locator(".form").get_by_role(role, name=name, exact=True)).to_be_visible()  # type: ignore[arg-type]
    page.context.close()


def test_an_answer_is_kept_in_the_browser_until_it_is_forgotten(pages: Path, chromium: Browser) -> None:
    page = opened(pages, chromium)
    box = page.locator(".form")
    box.locator("input[value=pruned]").check()
    box.locator("select[name=field]").select_option("spec.wroker")
    box.locator("button[type=submit]").click()
    before = box.locator("[role=status]").inner_text()
    page.goto(f"{pages.as_uri()}/fr.html")
    expect(box.locator("input[value=pruned]")).to_be_checked()
    expect(box.locator("[role=status]")).to_contain_text("mauvais-2")
    page.goto(f"{pages.as_uri()}/en.html")
    assert box.locator("[role=status]").inner_text() == before
    box.locator("button[type=reset]").click()
    expect(box.locator("[role=status]")).to_be_empty()
    page.reload()
    expect(box.locator("input:checked")).to_have_count(0)
    assert page.evaluate("localStorage.length") == 0
    page.context.close()


@pytest.mark.parametrize("left", ["{", "null", "3", '{"outcome": "maybe", "field": "spec.gone", "rule": 7}'])
def test_what_an_older_page_has_kept_does_no_harm(pages: Path, chromium: Browser, left: str) -> None:
    page = opened(pages, chromium)
    page.evaluate("(left) => localStorage.setItem('labkit.prediction.path/predict', left)", left)
    page.reload()
    page.locator(".form input[value=refused]").check()
    page.locator(".form button[type=submit]").click()
    expect(page.locator(".form [role=status]")).to_contain_text("your prediction is right")
    page.context.close()


def test_a_browser_that_keeps_nothing_scores_all_the_same(pages: Path, chromium: Browser) -> None:
    page = opened(pages, chromium, forbids=True)
    page.locator(".form button[type=submit]").click()
    expect(page.locator(".form [role=status]")).to_contain_text("Choose an outcome first")
    page.locator(".form input[value=refused]").check()
    page.locator(".form button[type=submit]").click()
    expect(page.locator(".form [role=status]")).to_contain_text("your prediction is right")
    page.locator(".form button[type=reset]").click()
    expect(page.locator(".form [role=status]")).to_be_empty()
    page.context.close()


def test_without_a_script_the_choices_and_the_folded_verdict_can_be_read(pages: Path, chromium: Browser) -> None:
    page = opened(pages, chromium, script=False)
    expect(page.locator(".form form")).to_be_hidden()
    assert page.locator(".form li").count() == 4
    answer = page.locator(".form details table")
    expect(answer).to_be_hidden()
    page.locator(".form summary").click()
    expect(answer).to_contain_text("must be of type integer")
    page.context.close()


@pytest.mark.parametrize(("right", "wrong"), [("refused", "accepted"), ("accepted", "refused")])
def test_a_surprise_is_a_question_of_two_answers(pages: Path, chromium: Browser, right: str, wrong: str) -> None:
    page = opened(pages, chromium)
    box = page.locator(f".{right}")
    for said, result in ((wrong, "wrong"), (right, "right")):
        box.locator(f"input[value={said}]").check()
        box.locator("button[type=submit]").click()
        expect(box.locator("[role=status]")).to_contain_text(f"your prediction is {result}: the server")
    page.context.close()


def test_surprises_that_write_one_thing_are_asked_about_and_no_other_cell() -> None:
    asked = [
        (one["metadata"]["labkit"]["step"], one["metadata"]["labkit"]["expect"])
        for path in NOTEBOOKS
        for one in notebook(path)["cells"]
        if one["cell_type"] == "code" and predictions.question(one, "en") is not None
    ]
    steps = {step.id: step for told in load_all(ROOT / "notebooks") for step in told.steps}
    assert len(asked) > 5 and {expect for _, expect in asked} == {"accepted", "refused"}
    assert all(steps[name].surprise and steps[name].expect == said for name, said in asked)


def test_only_cells_that_predict_have_a_form_and_no_exercise_has() -> None:
    with_form = [
        one["id"]
        for path in NOTEBOOKS
        for told in [notebook(path)]
        for one in told["cells"]
        if predictions.form(one, told, "en", root=ROOT) is not None
    ]
    assert with_form == ["path-predict"]


def test_a_form_is_one_block_of_html_without_script_or_handler_and_says_nothing_of_the_answer_in_sight() -> None:
    for lang in LANGUAGES:
        for html in (form(lang), small(lang)):
            assert html.startswith("<div ") and html.endswith("</div>") and "\n\n" not in html
            assert not re.search(r"<script|<style| style=| on\w+=", html)
    shown = form("en").partition(">")[2]
    before, _, after = shown.partition("<details")
    assert "must be of type" not in before + after.partition("</details>")[2]


def test_what_is_in_an_object_stays_text(tmp_path: Path, chromium: Browser) -> None:
    evil = "<img src=x onerror=document.title='hacked'>\"'&"
    told = notebook()
    source = cell(told, STEP)
    lines = f'other["metadata"]["name"] = "mauvais-2"\nother["spec"][{evil!r}] = 1\nlab.predict(other, validate="warn")'
    source["source"] = f'other = lab.load("crd/objects/mauvais.yaml")\n{lines}'
    follows = cell(told, "path/request-refused")
    follows["outputs"][0]["text"].insert(0, f"Warning: unknown field {json.dumps(f'spec.{evil}')}\n")
    html = predictions.form(source, told, "en", root=ROOT)
    assert html is not None and "<img" not in html
    for name, content in predictions.FILES:
        (tmp_path / name).write_bytes(content)
    page = tmp_path / "en.html"
    page.write_text(
        f'<meta charset="utf-8"><title>x</title><div class="form">{html}</div><script src="predictions.js"></script>'
    )
    shown = opened(tmp_path, chromium)
    shown.locator(".form input[value=refused]").check()
    shown.locator("select[name=field]").select_option(next(one for one in options(html, "field") if "hacked" in one))
    shown.locator(".form button[type=submit]").click()
    expect(shown.locator("[role=status]")).to_contain_text(evil)
    assert shown.locator("img").count() == 0 and shown.title() == "x"
    shown.context.close()


def test_a_record_that_says_something_else_than_the_trace_is_refused() -> None:
    told = notebook()
    other = copy.deepcopy(told)
    cell(other, "path/request-refused")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["created"]}]
    with pytest.raises(NotebookError, match="does not record its verdict"):
        predictions.form(cell(other, STEP), other, "en", root=ROOT)
    other["cells"] = other["cells"][: other["cells"].index(cell(other, STEP)) + 1]
    with pytest.raises(NotebookError, match="does not record its verdict"):
        predictions.form(cell(other, STEP), other, "en", root=ROOT)


def test_an_object_that_is_accepted_is_scored_by_what_is_filled_in() -> None:
    told = notebook()
    asks = cell(told, STEP)
    asks["source"] = 'lab.predict("crd/objects/mini.yaml")'
    follows = cell(told, "path/request-refused")
    follows["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": ["colis.cours.example.com/mini created\n"]}
    ]
    html = predictions.form(asks, told, "en", root=ROOT)
    assert html is not None and "completed" in html.partition("<details")[2].partition("</details>")[0]
    asks["source"] = 'lab.predict("crd/objects/mini.yaml", "completed")'
    assert predictions.form(asks, told, "en", root=ROOT) is None
